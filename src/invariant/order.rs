//! Conservation: what must survive does, in order, value for value, and nothing else is there. Without it a projector that
//! returns nothing keeps every other law.

use super::view::{call_of, output_of, same_item};
use super::{BOTH, Check, Fate, Invariant, Needs, Sighting, Verdict};
use crate::item::ResponseItem;
use crate::subject::Profile;
use std::sync::Arc;

pub(super) const CALLS_SURVIVE: Invariant = Invariant {
    id: "order/calls-survive",
    statement: "Every call of the history is in the request. (Profile responses: every call that has an output.)",
    law: "∀ call c ∈ H: c ∈ P(H)",
    why: "The model forgets what it did, and does it again.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(|sighting| survive(sighting, |item| call_of(item).is_some())),
};

pub(super) const OUTPUTS_SURVIVE: Invariant = Invariant {
    id: "order/outputs-survive",
    statement: "Every output of the history that answers a call is in the request. (Profile responses: one for each call.)",
    law: "∀ output o ∈ H, o answers some c ∈ H: o ∈ P(H)",
    why: "What really happened gives way to \"aborted\", or to nothing.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(|sighting| survive(sighting, |item| output_of(item).is_some())),
};

pub(super) const OTHERS_SURVIVE: Invariant = Invariant {
    id: "order/others-survive",
    statement: "Every item of the history that is neither call nor output is in the request.",
    law: "∀ i ∈ H, i neither call nor output: i ∈ P(H)",
    why: "Messages, reasoning and summaries are lost: the model loses the thread, and a call without its reasoning is refused.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(|sighting| {
        survive(sighting, |item| call_of(item).is_none() && output_of(item).is_none())
    }),
};

pub(super) const SEQUENCE: Invariant = Invariant {
    id: "order/sequence",
    statement: "The items of the history stand in the request in the order of the history.",
    law: "i before j in H, i, j ∈ P(H) ⇒ i before j in P(H)",
    why: "A moved item changes what is being said, and the prompt cache is lost from there on.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(sequence),
};

pub(super) const VALUE_FOR_VALUE: Invariant = Invariant {
    id: "order/value-for-value",
    statement: "An item that survives is sent value for value. (Profile responses: kind, call id, arguments and texts.)",
    law: "i ∈ H survives as i' ⇒ i' = i, pictures apart",
    why: "A changed id, argument or phase is another history, and a changed byte loses the prompt cache.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(value_for_value),
};

pub(super) const NOTHING_INVENTED: Invariant = Invariant {
    id: "order/nothing-invented",
    statement: "Nothing is in the request but items of the history and an output for each call that has none.",
    law: "i ∈ P(H), i ∉ H ⇒ i is an output and answers a call of H that has none in H",
    why: "The model is told of things that did not happen.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(nothing_invented),
};

/// What happened to an item that is not where it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// It is in the request, at another place.
    Moved(usize),
    /// Something that can only be it is in the request, with other values.
    Altered(usize),
    Lost,
}

/// The items that are not where they should be, each with what happened to it.
fn losses<'a>(sighting: &'a Sighting<'_>) -> impl Iterator<Item = (usize, &'a Arc<ResponseItem>, Loss)> {
    let nothing_missing = sighting.alignment.missing.is_empty();
    let mut extra = if nothing_missing { Vec::new() } else { sighting.alignment.extra.clone() };
    sighting.alignment.missing.iter().filter_map(move |&at| {
        let own = sighting.before.get(at)?;
        let mut take = |is_it: &dyn Fn(&Arc<ResponseItem>) -> bool| {
            let found = extra.iter().position(|&place| sighting.items().get(place).is_some_and(is_it))?;
            Some(extra.remove(found))
        };
        let moved = take(&|item| same_item(own, item, sighting.profile));
        let loss =
            match moved.map(Loss::Moved).or_else(|| take(&|item| is_altered(own, item)).map(Loss::Altered)) {
                Some(loss) => loss,
                None => Loss::Lost,
            };
        Some((at, own, loss))
    })
}

/// Of one kind, and under one call id or, where there is none, one item id: with other values.
fn is_altered(own: &ResponseItem, sent: &ResponseItem) -> bool {
    let alike = own.kind() == sent.kind() && own.call_id() == sent.call_id();
    alike && (own.call_id().is_some() || own.id() == sent.id() || sent.id().is_none())
}

fn survive(sighting: &Sighting<'_>, concerns: fn(&ResponseItem) -> bool) -> Verdict {
    let concerned = |at: usize| {
        let must_stay = sighting.alignment.fates.get(at) == Some(&Fate::Stays);
        must_stay && sighting.before.get(at).is_some_and(|item| concerns(item))
    };
    for (at, item, loss) in losses(sighting) {
        if loss == Loss::Lost && concerned(at) && !may_go(sighting, at, item) {
            return Verdict::broken(format!("{} is not in the request", sighting.in_history(at)));
        }
    }
    Verdict::holds_if_any((0..sighting.before.len()).filter(|&at| concerned(at)).count())
}

/// Profile responses leaves it to a runtime whether it answers an open call or leaves it out, and whether it sends a
/// second output of one call.
fn may_go(sighting: &Sighting<'_>, at: usize, item: &ResponseItem) -> bool {
    if sighting.profile == Profile::Codex {
        return false;
    }
    if let Some((kind, call_id)) = call_of(item) {
        return !sighting.history.has_output(kind.output(), call_id);
    }
    let Some((kind, call_id)) = output_of(item) else { return false };
    let another =
        |(other, item): (usize, &Arc<ResponseItem>)| other != at && output_of(item) == Some((kind, call_id));
    sighting.before.iter().enumerate().any(another) && sighting.request.has_output(kind, call_id)
}

fn sequence(sighting: &Sighting<'_>) -> Verdict {
    let moved = losses(sighting).find_map(|(at, _, loss)| match loss {
        Loss::Moved(place) => Some((at, place)),
        _ => None,
    });
    match moved {
        Some((at, place)) => {
            Verdict::broken(format!("{} was moved to place {place} of the request", sighting.in_history(at)))
        }
        None => Verdict::holds_if_any(sighting.alignment.matched.len().saturating_sub(1)),
    }
}

fn value_for_value(sighting: &Sighting<'_>) -> Verdict {
    let altered = losses(sighting).find_map(|(at, _, loss)| match loss {
        Loss::Altered(place) => Some((at, place)),
        _ => None,
    });
    match altered {
        Some((at, place)) => Verdict::broken(format!(
            "{} is sent with other values, as {}",
            sighting.in_history(at),
            sighting.in_request(place)
        )),
        None => Verdict::holds_if_any(sighting.alignment.matched.len()),
    }
}

fn nothing_invented(sighting: &Sighting<'_>) -> Verdict {
    let explained: Vec<usize> = losses(sighting)
        .filter_map(|(_, _, loss)| match loss {
            Loss::Moved(place) | Loss::Altered(place) => Some(place),
            Loss::Lost => None,
        })
        .chain(sighting.synthetic().map(|(at, ..)| at))
        .chain(kept_orphans(sighting))
        .collect();
    match sighting.alignment.extra.iter().find(|at| !explained.contains(at)) {
        Some(&at) => Verdict::broken(format!(
            "{} is neither in the history nor an output for a call that has none",
            sighting.in_request(at)
        )),
        None => Verdict::holds_if_any(sighting.items().len()),
    }
}

/// Places in the request of orphans of the history: the orphan family judges them.
fn kept_orphans(sighting: &Sighting<'_>) -> impl Iterator<Item = usize> {
    let goes = |at: usize| sighting.alignment.fates.get(at) == Some(&Fate::Goes);
    let orphans: Vec<_> =
        sighting.before.iter().enumerate().filter(|(at, _)| goes(*at)).map(|(_, item)| item).collect();
    let is_orphan = move |at: &&usize| {
        let sent = sighting.items().get(**at);
        sent.is_some_and(|sent| orphans.iter().any(|orphan| same_item(orphan, sent, sighting.profile)))
    };
    sighting.alignment.extra.iter().filter(is_orphan).copied()
}
