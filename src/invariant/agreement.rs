//! Agreement with release rust-v0.144.6: a plain comparison with an exact model. It catches nearly everything, and most
//! subjects in the world have no model; so the other families must catch it too.

use super::durable::RollbackReach;
use super::live::first_difference;
use super::{CODEX, Check, Invariant, Needs, Observed, Sighting, Verdict};
use crate::case::Step;
use crate::history::rollback_cut;
use crate::projection::project_slice;
use std::sync::Arc;

pub(super) const PROJECTION: Invariant = Invariant {
    id: "agreement/projection",
    statement: "The request is what release rust-v0.144.6 makes of the subject's own live history.",
    law: "P(H) = P₀(H), P₀ the projection of rust-v0.144.6",
    why: "Two runtimes that share sessions must make one prompt of them.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(projection),
};

pub(super) const ROLLBACK: Invariant = Invariant {
    id: "agreement/rollback",
    statement: "A rollback takes off what release rust-v0.144.6 takes off: the last turns, and the context before them.",
    law: "rollback(H, n) = rollback₀(H, n)",
    why: "One turn too many loses work; one too few repeats what the user took back.",
    needs: Needs::Rollback,
    profiles: CODEX,
    reports: &[],
    check: Check::Trace(rollback),
};

fn projection(sighting: &Sighting<'_>) -> Verdict {
    let (mut sent, mut same) = (sighting.items().iter(), true);
    project_slice(sighting.before, sighting.modalities, |expected| {
        same = same && sent.next().is_some_and(|sent| Arc::ptr_eq(expected, sent) || expected == sent);
    });
    if same && sent.next().is_none() {
        return Verdict::Holds;
    }
    let mut expected = Vec::new();
    project_slice(sighting.before, sighting.modalities, |item| expected.push(Arc::clone(item)));
    let difference = first_difference(&expected, sighting.items()).unwrap_or_default();
    Verdict::broken(format!("the request differs from that of rust-v0.144.6: {difference}"))
}

fn rollback(observed: &Observed<'_>) -> Verdict {
    let mut checked = 0;
    let mut reach = RollbackReach::default();
    for (step, before, after) in observed.changes() {
        reach.see(step, before);
        let Step::Rollback(turns) = step else { continue };
        // What the record makes of it then is another matter: see there.
        if observed.capabilities.seen_by_resuming && reach.behind_a_replacement {
            continue;
        }
        checked += 1;
        let len = rollback_cut(before.iter().map(Arc::as_ref), u64::from(*turns)).unwrap_or(before.len());
        let expected = before.get(..len).unwrap_or_default();
        if let Some(difference) = first_difference(expected, after) {
            return Verdict::broken(format!("the rollback of {turns} left another history: {difference}"));
        }
    }
    Verdict::holds_if_any(checked)
}
