//! The durable record holds what happened and nothing else. It is seen through what a resume makes of it.

use super::image::pictures;
use super::view::{same_but_pictures, without_id};
use super::{BOTH, CODEX, Check, Invariant, Needs, Observed, Verdict};
use crate::case::{Items, Step};
use crate::history::is_turn_start;
use crate::item::{ImageDetail, ResponseItem};
use crate::projection::summary;
use crate::rollout::{PictureVerdict, examine};
use std::sync::Arc;

pub(super) const RESUME_LOSES_NOTHING: Invariant = Invariant {
    id: "durable/resume-loses-nothing",
    statement: "After a resume, every item of the live history is there again, in order, value for value.",
    law: "H ⊑ resume(R)",
    why: "Work that was done is lost with the process.",
    needs: Needs::Resume,
    profiles: BOTH,
    reports: &[],
    check: Check::Trace(|observed| resumed(observed, loses)),
};

pub(super) const RESUME_ADDS_NOTHING: Invariant = Invariant {
    id: "durable/resume-adds-nothing",
    statement: "After a resume, nothing is in the live history that was not there before: no repair became durable.",
    law: "resume(R) ⊑ H",
    why: "A synthetic output in the record says that something happened which did not, for ever.",
    needs: Needs::Resume,
    profiles: BOTH,
    reports: &[],
    check: Check::Trace(|observed| resumed(observed, adds)),
};

pub(super) const RESUME_PREPARES: Invariant = Invariant {
    id: "durable/resume-prepares-pictures",
    statement: "After a resume, a text stands in place of every picture that can never be sent.",
    law: "resume(R) = prepare(resume(R))",
    why: "A remote or damaged picture is refused by the API in every request of the session, for ever.",
    needs: Needs::Preparation,
    profiles: CODEX,
    reports: &[],
    check: Check::Trace(resume_prepares),
};

pub(super) const FORK_KEEPS_HISTORY: Invariant = Invariant {
    id: "durable/fork-keeps-history",
    statement: "A fork begins with the history of its source; only missing and empty item ids may be filled.",
    law: "fork(H) = H, ids of items without one apart",
    why: "The fork goes on from something else than what was forked.",
    needs: Needs::Fork,
    profiles: BOTH,
    reports: &[],
    check: Check::Trace(fork_keeps_history),
};

/// What a resume did wrong, given the history before and after and whether the subject prepares pictures: the place of an
/// item, in the one or the other.
type Wrong = fn(&[Arc<ResponseItem>], &[Arc<ResponseItem>], bool) -> Option<String>;

/// The first item that is not there again in order.
fn loses(before: &[Arc<ResponseItem>], after: &[Arc<ResponseItem>], prepares: bool) -> Option<String> {
    let mut rest = after.iter();
    let at = before.iter().position(|item| !rest.any(|other| same_loaded(item, other, prepares)))?;
    Some(format!("item {at}, {}, is not there again as it was", summary(before.get(at)?)))
}

/// The first item of which there are more than before, by kind and call id: an item with other values is not one more.
fn adds(before: &[Arc<ResponseItem>], after: &[Arc<ResponseItem>], _prepares: bool) -> Option<String> {
    let mut left: Vec<&Arc<ResponseItem>> = before.iter().collect();
    let at = after.iter().position(|item| {
        let alike =
            |other: &&Arc<ResponseItem>| other.kind() == item.kind() && other.call_id() == item.call_id();
        left.iter().position(alike).map(|at| left.remove(at)).is_none()
    })?;
    Some(format!("item {at}, {}, is new", summary(after.get(at)?)))
}

/// Equal; where the subject prepares pictures on loading, pictures apart.
pub(super) fn same_loaded(a: &Arc<ResponseItem>, b: &Arc<ResponseItem>, prepares: bool) -> bool {
    Arc::ptr_eq(a, b)
        || a == b
        || prepares
            && (same_but_pictures(std::slice::from_ref(a), std::slice::from_ref(b))
                || same_but_pictures(std::slice::from_ref(b), std::slice::from_ref(a)))
}

fn resumed(observed: &Observed<'_>, wrong: Wrong) -> Verdict {
    let prepares = observed.capabilities.prepares_pictures;
    let mut checked = 0;
    for (before, after) in resumes(observed) {
        checked += 1;
        if let Some(what) = wrong(before, after, prepares) {
            let (before, after) = (before.len(), after.len());
            return Verdict::broken(format!(
                "the resume gave another history ({before} items before, {after} after): {what}"
            ));
        }
    }
    Verdict::holds_if_any(checked)
}

/// The histories before and after each resume of which it is known what it must give.
fn resumes<'a>(observed: &Observed<'a>) -> Vec<(&'a Items, &'a Items)> {
    let mut reach = RollbackReach::default();
    let resumes = observed.changes().filter(|(step, before, _)| {
        reach.see(step, before);
        **step == Step::Resume && !reach.behind_a_replacement
    });
    resumes.map(|(_, before, after)| (before, after)).collect()
}

fn resume_prepares(observed: &Observed<'_>) -> Verdict {
    let mut checked = 0;
    for (_, after) in resumes(observed) {
        for item in after {
            for image in pictures(item) {
                checked += 1;
                let detail = |wanted| image.detail == Some(wanted);
                let verdict =
                    examine(&image.image_url, detail(ImageDetail::Low), detail(ImageDetail::Original));
                if matches!(verdict, PictureVerdict::Refused(_)) {
                    return Verdict::broken(format!(
                        "{} still holds a picture that can never be sent",
                        summary(item)
                    ));
                }
            }
        }
    }
    Verdict::holds_if_any(checked)
}

/// Whether a rollback has taken back more turns than began since the last replacement. What a resume makes of that is the
/// program's own rule (it can lose the whole replacement), and promised by nobody.
#[derive(Debug, Default)]
pub(super) struct RollbackReach {
    turns_since_replacement: Option<u64>,
    pub(super) behind_a_replacement: bool,
}

impl RollbackReach {
    pub(super) fn see(&mut self, step: &Step, before: &[Arc<ResponseItem>]) {
        match step {
            Step::Replace(_) => *self = RollbackReach { turns_since_replacement: Some(0), ..*self },
            Step::Record(items) => {
                if let Some(turns) = &mut self.turns_since_replacement {
                    *turns += items.iter().filter(|item| is_turn_start(item)).count() as u64;
                }
            }
            Step::Rollback(turns) => {
                let all = before.iter().filter(|item| is_turn_start(item)).count() as u64;
                let taken = u64::from(*turns).min(all);
                if let Some(since) = &mut self.turns_since_replacement {
                    self.behind_a_replacement |= u64::from(*turns) > *since;
                    *since = since.saturating_sub(taken);
                }
            }
            Step::Project(_) | Step::Snapshot | Step::Resume | Step::Fork => {}
        }
    }
}

fn fork_keeps_history(observed: &Observed<'_>) -> Verdict {
    let prepares = observed.capabilities.prepares_pictures;
    let mut checked = 0;
    let mut reach = RollbackReach::default();
    for (step, before, after) in observed.changes() {
        reach.see(step, before);
        if *step != Step::Fork || reach.behind_a_replacement {
            continue;
        }
        checked += 1;
        let same = |(own, forked): (&Arc<ResponseItem>, &Arc<ResponseItem>)| {
            let missing = own.id().is_none_or(|id| id.as_str().is_empty());
            let same_id = own.id() == forked.id();
            match missing && !same_id {
                true => same_loaded(&without_id(own), &without_id(forked), prepares),
                false => same_id && same_loaded(own, forked, prepares),
            }
        };
        if before.len() != after.len() || !before.iter().zip(after).all(same) {
            let (before, after) = (before.len(), after.len());
            return Verdict::broken(format!(
                "the fork has another history: {before} items before, {after} after"
            ));
        }
    }
    Verdict::holds_if_any(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Message;

    #[test]
    fn a_rollback_reaches_behind_a_replacement_only_where_it_takes_more_turns_than_began_since() {
        let turn = || {
            let content = Vec::new();
            Arc::new(ResponseItem::Message(Message {
                id: None,
                role: "user".to_owned(),
                content,
                phase: None,
            }))
        };
        let mut reach = RollbackReach::default();
        let history = [turn(), turn(), turn(), turn()];
        reach.see(&Step::Rollback(9), &history);
        assert!(!reach.behind_a_replacement, "there is none yet");
        reach.see(&Step::Replace(vec![turn()]), &history);
        reach.see(&Step::Record(vec![turn(), turn()]), &history);
        reach.see(&Step::Record(vec![turn()]), &history);
        reach.see(&Step::Rollback(2), &history);
        assert!(!reach.behind_a_replacement, "two of three");
        reach.see(&Step::Rollback(1), &history);
        assert!(!reach.behind_a_replacement, "the third");
        reach.see(&Step::Rollback(1), &history);
        assert!(reach.behind_a_replacement, "none was left");
        reach.see(&Step::Replace(Vec::new()), &history);
        assert!(reach.behind_a_replacement, "that stays so");
    }
}
