//! The last passes: items in one order, and a way out where no single change leads on.

use super::edits::{Edit, Place};
use super::kinds::few_plainer;
use super::plain::rank;
use super::walk::{Choices, Plan, rewrite};
use crate::case::{Case, Items, Step};
use std::sync::Arc;

/// Up to how many items neighbours are swapped one pair at a time.
const SWAP_LIMIT: usize = 16;

/// Plainer kinds before others: each step sorted, then by swapping neighbours.
pub(super) fn ordered(case: &Case) -> Plan {
    let mut places: Vec<Choices> = vec![vec![Box::new(|case: &Case| sorted(case))]];
    if case.item_count() <= SWAP_LIMIT {
        for (step, content) in case.steps.iter().enumerate() {
            let items = content.items();
            let pairs = items.iter().zip(items.iter().skip(1)).enumerate();
            let wrong = pairs.filter(|(_, (first, second))| rank(first.kind()) > rank(second.kind()));
            places.extend(wrong.map(|(item, _)| {
                let swap: Choices = vec![Box::new(move |case: &Case| swapped(case, Place { step, item }))];
                swap
            }));
        }
    }
    Plan::Again(places)
}

/// Up to how many items one is taken away and the others are put into another order.
const SHUFFLE_LIMIT: usize = 4;

/// One item less, and the others in another order or another one of a plainer kind: a way out where neither alone fails.
pub(super) fn fewer_in_another_order(case: &Case) -> Plan {
    let mut places: Vec<Choices> = Vec::new();
    for (step, content) in case.steps.iter().enumerate() {
        let count = content.items().len();
        if !(2..=SHUFFLE_LIMIT).contains(&count) {
            continue;
        }
        for dropped in 0..count {
            let kept: Vec<usize> = (0..count).filter(|at| *at != dropped).collect();
            let orders = orders(&kept).into_iter().filter(|order| *order != kept);
            places.extend(orders.map(|order| {
                let choice: Choices = vec![Box::new(move |case: &Case| picked(case, step, &order))];
                choice
            }));
            places.extend(kept.iter().map(|&other| {
                let drop = Edit::DropItem(Place { step, item: dropped });
                let place = Place { step, item: other };
                let item = content.items().get(other);
                let plainer = item.map_or_else(Vec::new, |item| few_plainer(item));
                let units =
                    plainer.into_iter().map(|item| vec![drop.clone(), Edit::SetItem(place, Arc::new(item))]);
                units.map(rewrite).collect::<Choices>()
            }));
        }
    }
    Plan::Again(places)
}

/// All orders of a few numbers.
fn orders(numbers: &[usize]) -> Vec<Vec<usize>> {
    if numbers.is_empty() {
        return vec![Vec::new()];
    }
    let begun = numbers.iter().flat_map(|first| {
        let rest: Vec<usize> = numbers.iter().copied().filter(|number| number != first).collect();
        orders(&rest).into_iter().map(move |rest| std::iter::once(*first).chain(rest).collect())
    });
    begun.collect()
}

fn picked(case: &Case, step: usize, order: &[usize]) -> Option<Case> {
    let mut case = case.clone();
    let items = case.steps.get_mut(step).and_then(items_mut)?;
    *items = order.iter().map(|at| items.get(*at).cloned()).collect::<Option<_>>()?;
    Some(case)
}

fn sorted(case: &Case) -> Option<Case> {
    let mut case = case.clone();
    case.steps.iter_mut().filter_map(items_mut).for_each(|items| items.sort_by_key(|item| rank(item.kind())));
    Some(case)
}

fn swapped(case: &Case, first: Place) -> Option<Case> {
    let mut case = case.clone();
    let items = case.steps.get_mut(first.step).and_then(items_mut)?;
    if first.item + 1 >= items.len() {
        return None;
    }
    items.swap(first.item, first.item + 1);
    Some(case)
}

fn items_mut(step: &mut Step) -> Option<&mut Items> {
    match step {
        Step::Record(items) | Step::Replace(items) => Some(items),
        _ => None,
    }
}
