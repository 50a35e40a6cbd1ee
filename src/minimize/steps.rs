//! Passes over steps: one step in place of all, steps that go, steps that fall together.

use super::edits::Edit;
use super::names::plain_name;
use super::walk::{Choices, Plan, Rewrite};
use crate::case::{Case, Items, Step};
use crate::item::{ItemId, Modalities};
use std::sync::Arc;

/// All items in one step, with or without the last projection. Recording is plainer than replacing.
pub(super) fn one_step(case: &Case) -> Plan {
    let last = case.steps.iter().rev().find(|step| matches!(step, Step::Project(_))).cloned();
    let form = |step: fn(Items) -> Step, last: Option<Step>| -> Rewrite {
        Box::new(move |case| {
            let items = case.items().cloned().collect();
            let form = Case { steps: std::iter::once(step(items)).chain(last.clone()).collect() };
            (effort(&form) <= effort(case)).then_some(form)
        })
    };
    let mut forms = vec![
        form(Step::Record, None),
        form(Step::Record, last.clone()),
        form(Step::Replace, None),
        form(Step::Replace, last),
    ];
    if case.steps.contains(&Step::Fork) {
        forms.push(Box::new(|case| Some(recorded_with_ids(case))));
    }
    Plan::Choices(vec![forms])
}

/// How much a case does: the number of steps, and of those that are not the plainest of their sort.
fn effort(case: &Case) -> (usize, usize) {
    let replacements = case.steps.iter().filter(|step| matches!(step, Step::Replace(_)));
    (case.steps.len(), replacements.count())
}

/// All items in one step, each with an item id: what a fork does to them.
fn recorded_with_ids(case: &Case) -> Case {
    let items = case.items().enumerate().map(|(at, item)| {
        let mut item = Arc::clone(item);
        if item.id().is_none()
            && let Some(id) = Arc::make_mut(&mut item).id_mut()
        {
            *id = Some(ItemId::from(plain_name(at)));
        }
        item
    });
    Case { steps: vec![Step::Record(items.collect())] }
}

/// Steps away.
pub(super) fn without_steps(case: &Case) -> Plan {
    Plan::Together((0..case.steps.len()).map(|step| vec![Edit::DropStep(step)]).collect())
}

/// Steps merged, and each made simpler.
pub(super) fn simpler_steps(case: &Case) -> Plan {
    let mut places: Vec<Choices> = vec![vec![Box::new(|case| Some(all_for_text(case)))]];
    let bringing = |from: usize| {
        let rest = case.steps.iter().enumerate().skip(from);
        rest.filter(|(_, step)| brings_items(step)).map(|(at, _)| at).next()
    };
    for (at, step) in case.steps.iter().enumerate() {
        if brings_items(step)
            && let Some(next) = bringing(at + 1)
        {
            places.push(vec![merged(at, next, Merge::IntoFirst), merged(at, next, Merge::IntoSecond)]);
        }
        if !brings_items(step) && case.steps.get(at + 1).is_some_and(brings_items) {
            places.push(vec![swapped(at)]);
        }
        let simpler = simpler(step);
        places.push(simpler.into_iter().map(|simpler| replaced(at, simpler)).collect());
    }
    Plan::Again(places)
}

/// Every projection for a model that takes text only.
fn all_for_text(case: &Case) -> Case {
    let steps = case.steps.iter().map(|step| match step {
        Step::Project(_) => Step::Project(Modalities::Text),
        other => other.clone(),
    });
    Case { steps: steps.collect() }
}

fn brings_items(step: &Step) -> bool {
    matches!(step, Step::Record(_) | Step::Replace(_))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Merge {
    IntoFirst,
    IntoSecond,
}

/// The items of two steps in one of them; the other goes, and what stands between them stays.
fn merged(first: usize, second: usize, merge: Merge) -> Rewrite {
    Box::new(move |case| {
        let items = [first, second].map(|at| case.steps.get(at).map(Step::items));
        let [Some(of_first), Some(of_second)] = items else { return None };
        let all: Items = of_first.iter().chain(of_second).cloned().collect();
        let (kept, gone) = if merge == Merge::IntoFirst { (first, second) } else { (second, first) };
        let mut steps = case.steps.clone();
        match steps.get_mut(kept)? {
            Step::Record(items) | Step::Replace(items) => *items = all,
            _ => return None,
        }
        steps.remove(gone);
        Some(Case { steps })
    })
}

/// The step behind this one before it.
fn swapped(at: usize) -> Rewrite {
    Box::new(move |case| {
        let mut steps = case.steps.clone();
        let pair = steps.get_mut(at..at + 2)?;
        pair.reverse();
        Some(Case { steps })
    })
}

/// What is simpler than a step, the simplest first.
fn simpler(step: &Step) -> Vec<Step> {
    match step {
        Step::Replace(items) => vec![Step::Record(items.clone())],
        Step::Project(Modalities::TextAndImage) => vec![Step::Project(Modalities::Text)],
        Step::Fork => vec![Step::Resume],
        Step::Rollback(turns) => {
            let mut fewer = [1, turns / 2, turns.saturating_sub(1)].to_vec();
            fewer.retain(|fewer| fewer < turns && *fewer > 0);
            fewer.dedup();
            std::iter::once(Step::Resume).chain(fewer.into_iter().map(Step::Rollback)).collect()
        }
        Step::Record(_) | Step::Project(Modalities::Text) | Step::Snapshot | Step::Resume => Vec::new(),
    }
}

fn replaced(at: usize, step: Step) -> Rewrite {
    Box::new(move |case| {
        let mut steps = case.steps.clone();
        *steps.get_mut(at)? = step.clone();
        Some(Case { steps })
    })
}
