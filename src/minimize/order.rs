//! The last pass: items in one order, and the items of a step in the earliest step that will do.

use super::edits::Place;
use super::kinds::rank;
use super::walk::{Choices, Plan};
use crate::case::{Case, Items, Step};

/// Up to how many items neighbours are swapped one pair at a time.
const SWAP_LIMIT: usize = 16;

/// Plainer kinds before others: each step sorted, then by swapping neighbours.
pub(super) fn ordered(case: &Case) -> Plan {
    let mut places: Vec<Choices> = vec![vec![Box::new(|case: &Case| sorted(case))]];
    if case.item_count() <= SWAP_LIMIT {
        for (step, content) in case.steps.iter().enumerate() {
            let items = content.items();
            let pairs = items.iter().zip(items.iter().skip(1)).enumerate();
            let wrong = pairs.filter(|(_, (first, second))| rank(first) > rank(second));
            places.extend(wrong.map(|(item, _)| {
                let swap: Choices = vec![Box::new(move |case: &Case| swapped(case, Place { step, item }))];
                swap
            }));
        }
    }
    Plan::Again(places)
}

fn sorted(case: &Case) -> Option<Case> {
    let mut case = case.clone();
    case.steps.iter_mut().filter_map(items_mut).for_each(|items| items.sort_by_key(|item| rank(item)));
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
