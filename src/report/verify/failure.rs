//! A violation as it is shown: the steps of its smallest case, what is due at the projection that went wrong, what came.

use crate::case::{Case, Items, Outcome, Projected, Step, Trace};
use crate::item::{ItemList, Modalities};
use crate::projection::{Projection, project};
use crate::subject::{Reference, Subject};
use crate::verify::Violation;

/// A step of the case.
#[derive(Debug)]
pub(super) struct StepView {
    /// What is done: `record`, `project for a text-only model`.
    pub(super) title: String,
    /// The items that it brings.
    pub(super) brings: Items,
    /// The live history behind it, where the step alone does not say what it is.
    pub(super) live: Option<Items>,
    /// How it failed, in two words at most.
    pub(super) failed: Option<&'static str>,
}

/// The projection that went wrong.
#[derive(Debug)]
pub(super) struct Sighted {
    /// What the reference makes of the live history.
    pub(super) due: Projection,
    /// For which model.
    pub(super) modalities: Modalities,
    /// What the subject answered, where it is known.
    pub(super) came: Option<Items>,
}

/// What is shown of a violation.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) steps: Vec<StepView>,
    pub(super) sighted: Option<Sighted>,
}

impl Failure {
    pub(super) fn of(violation: &Violation) -> Failure {
        match &violation.trace {
            Some(trace) => Failure { steps: steps_of_trace(trace), sighted: sighted(trace) },
            None => Failure {
                steps: violation.case.steps.iter().map(StepView::of).collect(),
                sighted: by_the_reference(&violation.case),
            },
        }
    }
}

impl StepView {
    fn of(step: &Step) -> StepView {
        let title = match step {
            Step::Record(_) => "record".to_owned(),
            Step::Replace(_) => "replace the whole history".to_owned(),
            Step::Project(modalities) => format!("project for {}", model(*modalities)),
            Step::Snapshot => "look at the live history".to_owned(),
            Step::Resume => "resume from the durable record".to_owned(),
            Step::Rollback(1) => "roll back 1 turn".to_owned(),
            Step::Rollback(turns) => format!("roll back {turns} turns"),
            Step::Fork => "fork, and go on in the fork".to_owned(),
        };
        StepView { title, brings: step.items().to_vec(), live: None, failed: None }
    }
}

/// The model in words.
pub(super) fn model(modalities: Modalities) -> &'static str {
    match modalities {
        Modalities::Text => "a text-only model",
        Modalities::TextAndImage => "a model that takes pictures",
    }
}

/// The steps that were run, without those that only look, and without the second of two equal projections.
fn steps_of_trace(trace: &Trace) -> Vec<StepView> {
    let mut views: Vec<StepView> = Vec::new();
    let mut live: Items = Vec::new();
    let mut last: Option<&Step> = None;
    for (step, outcome) in trace.iter() {
        let looks = *step == Step::Snapshot;
        let repeats = matches!(step, Step::Project(_)) && last == Some(step);
        if !looks && !repeats {
            views.push(StepView::of(step));
        }
        match (outcome, views.last_mut()) {
            (Outcome::Snapshot(now), view) => {
                if let (Some(view), Some(step)) = (view, last)
                    && told_by(step, &live).as_ref() != Some(now)
                {
                    view.live = Some(now.clone());
                }
                live.clone_from(now);
            }
            (Outcome::Failed(failure), Some(view)) => view.failed = Some(failure.kind.as_str()),
            _ => {}
        }
        last = Some(step);
    }
    views
}

/// The live history behind a step, where the step and the history before it say what it is.
fn told_by(step: &Step, before: &Items) -> Option<Items> {
    match step {
        Step::Record(items) => Some(before.iter().chain(items).cloned().collect()),
        Step::Replace(items) => Some(items.clone()),
        Step::Project(_) | Step::Snapshot => Some(before.clone()),
        Step::Resume | Step::Rollback(_) | Step::Fork => None,
    }
}

/// The first projection whose answer is not the reference's; where all are, the last.
fn sighted(trace: &Trace) -> Option<Sighted> {
    let mut live: Option<&Items> = None;
    let mut found = None;
    for (step, outcome) in trace.iter() {
        match (step, outcome) {
            (_, Outcome::Snapshot(items)) => live = Some(items),
            (Step::Project(modalities), Outcome::Projected(Projected { items, .. })) => {
                let due = due(live?, *modalities);
                let agrees = due.to_items() == *items;
                found = Some(Sighted { due, modalities: *modalities, came: Some(items.clone()) });
                if !agrees {
                    return found;
                }
            }
            (Step::Project(modalities), Outcome::Failed(_)) => {
                return Some(Sighted { due: due(live?, *modalities), modalities: *modalities, came: None });
            }
            _ => {}
        }
    }
    found
}

/// Where it is not known what the subject did: the last projection, as the reference does it.
fn by_the_reference(case: &Case) -> Option<Sighted> {
    let trace = Reference::new().trace(case.script(&[Modalities::TextAndImage]));
    let projects = trace.script.iter().rev().find_map(|step| match step {
        Step::Project(modalities) => Some(*modalities),
        _ => None,
    });
    let modalities = projects?;
    Some(Sighted { due: due(trace.last_snapshot()?, modalities), modalities, came: None })
}

fn due(live: &Items, modalities: Modalities) -> Projection {
    let live: ItemList = live.iter().cloned().collect();
    project(&live, modalities)
}

/// What is shown of a long list: rows, and gaps between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// The row of this place.
    Row(usize),
    /// So many rows are left out.
    Gap(usize),
}

/// A list of so many rows is shown whole.
const WHOLE: usize = 40;

/// So many rows are shown around one that matters, and at each end.
const AROUND: usize = 3;

/// Which rows of a list are shown: all of a short one; of a long one the ends, and what stands around rows that matter, as
/// long as there are not too many of them.
pub(super) fn shown(rows: usize, matters: impl Fn(usize) -> bool) -> Vec<Shown> {
    if rows <= WHOLE {
        return (0..rows).map(Shown::Row).collect();
    }
    let mut keep = vec![false; rows];
    let ends = [0, rows - 1];
    let around = ends.into_iter().chain((0..rows).filter(|&at| matters(at)).take(WHOLE));
    for at in around {
        let near = at.saturating_sub(AROUND)..(at + AROUND + 1).min(rows);
        keep.get_mut(near).unwrap_or_default().fill(true);
    }
    let mut shown = Vec::new();
    for (at, keep) in keep.into_iter().enumerate() {
        match (keep, shown.last_mut()) {
            (true, _) => shown.push(Shown::Row(at)),
            (false, Some(Shown::Gap(gap))) => *gap += 1,
            (false, _) => shown.push(Shown::Gap(1)),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_shows_its_ends_and_what_matters() {
        assert_eq!(shown(40, |_| false).len(), 40);
        let rows = shown(1000, |at| at == 500);
        let expected: Vec<Shown> = (0..4)
            .map(Shown::Row)
            .chain([Shown::Gap(493)])
            .chain((497..504).map(Shown::Row))
            .chain([Shown::Gap(492)])
            .chain((996..1000).map(Shown::Row))
            .collect();
        assert_eq!(rows, expected);
        assert!(shown(100_000, |_| true).len() < 60, "however much matters");
    }
}
