//! Passes that take items away: first all of a call id at once, so that no half of a pair is left behind, then alone.

use super::edits::{Edit, Unit, placed};
use super::walk::Plan;
use crate::case::Case;
use crate::item::CallId;
use std::collections::HashMap;

/// Call ids with all their items; an item without a call id alone.
pub(super) fn without_call_ids(case: &Case) -> Plan {
    let mut units: Vec<Unit> = Vec::new();
    let mut by_id: HashMap<&CallId, usize> = HashMap::new();
    for (place, item) in placed(case) {
        let next = units.len();
        let unit = item.call_id().map_or(next, |call_id| *by_id.entry(call_id).or_insert(next));
        match units.get_mut(unit) {
            Some(unit) => unit.push(Edit::DropItem(place)),
            None => units.push(vec![Edit::DropItem(place)]),
        }
    }
    Plan::Together(units)
}

/// Item by item.
pub(super) fn without_items(case: &Case) -> Plan {
    Plan::Together(placed(case).map(|(place, _)| vec![Edit::DropItem(place)]).collect())
}
