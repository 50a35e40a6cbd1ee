//! The live history stays as it is.

use super::{BOTH, Check, Invariant, Needs, Sighting, Verdict};
use crate::item::ResponseItem;
use std::sync::Arc;

pub(super) const HISTORY_UNCHANGED: Invariant = Invariant {
    id: "live/history-unchanged",
    statement: "A projection leaves the live history as it was.",
    law: "H before P = H after P",
    why: "A repair that is written back looks like something that happened: a late output then meets a false one.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(history_unchanged),
};

fn history_unchanged(sighting: &Sighting<'_>) -> Verdict {
    let answered = [Some(sighting.projected), sighting.again].into_iter().flatten();
    let told = answered.filter_map(|projected| projected.history_after.as_deref());
    let mut checked = 0;
    for after in told.chain(sighting.after) {
        checked += 1;
        if let Some(difference) = first_difference(sighting.before, after) {
            return Verdict::broken(format!("the projection changed the live history: {difference}"));
        }
    }
    Verdict::holds_if_any(checked)
}

/// The first place where two histories differ, as a sentence.
pub(super) fn first_difference(before: &[Arc<ResponseItem>], after: &[Arc<ResponseItem>]) -> Option<String> {
    use crate::projection::summary;
    let same = |(a, b): (&Arc<ResponseItem>, &Arc<ResponseItem>)| Arc::ptr_eq(a, b) || a == b;
    let at = before.iter().zip(after).position(|pair| !same(pair));
    let at = at.or_else(|| (before.len() != after.len()).then_some(before.len().min(after.len())))?;
    Some(match (before.get(at), after.get(at)) {
        (Some(a), Some(b)) => format!("item {at} was {} and is {}", summary(a), summary(b)),
        (Some(a), None) => format!("item {at}, {}, is gone", summary(a)),
        (None, Some(b)) => format!("item {at}, {}, is new", summary(b)),
        (None, None) => return None,
    })
}
