//! Ids of synthetic outputs.

use super::view::{call_of, output_of};
use super::{CODEX, Check, Invariant, Needs, Observed, Sighting, Verdict};
use crate::item::ItemId;
use crate::pairing::OutputKind;
use std::collections::HashMap;
use uuid::Uuid;

pub(super) const NAMED_BY_ITEM_ID: Invariant = Invariant {
    id: "identity/named-by-item-id",
    statement: "The id of a synthetic output is its kind's prefix and the version 5 UUID of the prefix and the call's item id.",
    law: "o synthetic for c, c.id ∉ {⊥, \"\"} ⇒ o.id = prefix + \"_\" + uuid5(90d38d3e-6a5b-4d52-bfe2-2f1e634bfac4, prefix + \":\" + c.id)",
    why: "An id that depends on anything else changes between requests, and spoils the prompt cache.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(|sighting| named(sighting, true)),
};

pub(super) const ABSENT_WITHOUT_ITEM_ID: Invariant = Invariant {
    id: "identity/absent-without-item-id",
    statement: "A synthetic output has no id where its call has none, or an empty one.",
    law: "o synthetic for c, c.id ∈ {⊥, \"\"} ⇒ o.id = ⊥",
    why: "There is nothing stable to make an id of; calls without ids would all share one.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(|sighting| named(sighting, false)),
};

pub(super) const STABLE: Invariant = Invariant {
    id: "identity/stable",
    statement: "As long as a call stays open, its synthetic output has the same id in every request.",
    law: "o, o' synthetic for the same c in two projections of a trace ⇒ o.id = o'.id",
    why: "The session is sent again with each request: a changed id is a changed prompt.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Trace(stable),
};

const NAMESPACE: Uuid = Uuid::from_u128(0x90d38d3e_6a5b_4d52_bfe2_2f1e634bfac4);

/// Stated a second time on purpose; see [`content`](super::content).
fn prefix(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Function => "fco",
        OutputKind::CustomTool => "ctco",
        OutputKind::ToolSearch => "tso",
    }
}

fn named(sighting: &Sighting<'_>, with_item_id: bool) -> Verdict {
    let mut checked = 0;
    for (at, kind, call_id) in sighting.synthetic() {
        // Where it does not stand right after its call, the position family says so.
        let Some(call) = at.checked_sub(1).and_then(|at| sighting.items().get(at)) else { continue };
        if call_of(call).is_none_or(|(call, id)| call.output() != kind || id != call_id) {
            continue;
        }
        let seed = call.id().map(ItemId::as_str).filter(|id| !id.is_empty());
        if seed.is_some() != with_item_id {
            continue;
        }
        checked += 1;
        let id = sighting.items().get(at).and_then(|item| item.id()).map(ItemId::as_str);
        let (fits, should) = match seed {
            None => (id.is_none(), "has an id, and its call has none"),
            Some(seed) => (is_named(id, kind, seed), "has not the id that its call's item id gives"),
        };
        if !fits {
            return Verdict::broken(format!("{} {should}", sighting.in_request(at)));
        }
    }
    Verdict::holds_if_any(checked)
}

fn is_named(id: Option<&str>, kind: OutputKind, seed: &str) -> bool {
    let prefix = prefix(kind);
    let uuid = Uuid::new_v5(&NAMESPACE, [prefix, ":", seed].concat().as_bytes());
    let mut buffer = Uuid::encode_buffer();
    let uuid: &str = uuid.hyphenated().encode_lower(&mut buffer);
    id.and_then(|id| id.strip_prefix(prefix)).and_then(|rest| rest.strip_prefix('_')) == Some(uuid)
}

/// The ids under which a kind of synthetic output was seen: by kind, call id and the call's item id.
type Seen<'a> = HashMap<(OutputKind, &'a str, Option<&'a str>), Option<&'a str>, foldhash::fast::RandomState>;

fn stable(observed: &Observed<'_>) -> Verdict {
    let (mut seen, mut compared) = (Seen::default(), 0);
    for sighting in &observed.sightings {
        for (at, kind, call_id) in sighting.synthetic() {
            for projected in [Some(sighting.projected), sighting.again].into_iter().flatten() {
                // Where the second answer puts something else there, or there is no call before it, other families say so.
                let Some([call, output]) = at.checked_sub(1).and_then(|call| projected.items.get(call..=at))
                else {
                    continue;
                };
                let answers = call_of(call).is_some_and(|(call, id)| call.output() == kind && id == call_id);
                if !answers || output_of(output) != Some((kind, call_id)) {
                    continue;
                }
                let id = output.id().map(ItemId::as_str);
                match seen.insert((kind, call_id, call.id().map(ItemId::as_str)), id) {
                    None => {}
                    Some(before) if before == id => compared += 1,
                    Some(_) => {
                        let kind = kind.type_name();
                        return Verdict::broken(format!(
                            "the synthetic {kind} for call id {call_id:?} has another id than in an earlier request"
                        ));
                    }
                }
            }
        }
    }
    Verdict::holds_if_any(compared)
}
