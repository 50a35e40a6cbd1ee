//! Changes that a person would make to a history to break it.

use crate::case::{Case, Items, Step};
use crate::generate::Draw;
use crate::item::{CallId, Modalities, ResponseItem};
use crate::json::Json;
use crate::pairing::Role;
use crate::projection::role;
use std::sync::Arc;

/// Makes one change, where the case has what it needs. `other` gives a history to take a piece of.
pub(super) fn edit(case: &mut Case, other: impl Fn() -> Case, draw: &mut impl Draw) {
    match draw.below(10) {
        0 => swap(case, draw),
        1 => duplicate(case, draw),
        2 | 3 => retarget(case, draw),
        4 | 5 => drop_one_side(case, draw),
        6 => drop_item(case, draw),
        7 => splice(case, &other(), draw),
        8 => add_step(case, draw),
        _ => drop_step(case, draw),
    }
}

/// The beginning of one case and the end of another.
pub(super) fn joined(front: &Case, back: &Case, draw: &mut impl Draw) -> Case {
    let until = draw.below(front.steps.len() + 1);
    let from = draw.below(back.steps.len() + 1);
    let front = front.steps.iter().take(until);
    Case { steps: front.chain(back.steps.iter().skip(from)).cloned().collect() }
}

/// Two items change places.
fn swap(case: &mut Case, draw: &mut impl Draw) {
    let Some(items) = some_items(case, draw) else { return };
    if items.len() > 1 {
        let (a, b) = (draw.below(items.len()), draw.below(items.len()));
        items.swap(a, b);
    }
}

/// An item comes again, anywhere.
fn duplicate(case: &mut Case, draw: &mut impl Draw) {
    let Some(items) = some_items(case, draw) else { return };
    let again = items.get(draw.below(items.len())).cloned();
    let at = draw.below(items.len() + 1);
    items.splice(at..at, again);
}

/// An item gets the call id of another, or one that is nearly its own.
fn retarget(case: &mut Case, draw: &mut impl Draw) {
    let ids: Vec<CallId> = case.items().filter_map(|item| item.call_id().cloned()).collect();
    if ids.is_empty() {
        return;
    }
    let near = draw.chance(1, 4);
    let target = draw.pick(&ids).as_str();
    let target = if near { nearly(target, draw) } else { target.to_owned() };
    let Some(items) = some_items(case, draw) else { return };
    let with_id: Vec<usize> =
        (0..items.len()).filter(|&at| items.get(at).is_some_and(|item| item.call_id().is_some())).collect();
    if with_id.is_empty() {
        return;
    }
    let at = *draw.pick(&with_id);
    if let Some(item) = items.get_mut(at)
        && let Some(retargeted) = with_call_id(item, &target)
    {
        *item = Arc::new(retargeted);
    }
}

fn nearly(id: &str, draw: &mut impl Draw) -> String {
    match draw.below(4) {
        0 => String::new(),
        1 => format!("{id} "),
        2 => id.to_uppercase(),
        _ => id.chars().skip(1).collect(),
    }
}

/// The item under another call id, or under one where it had none.
fn with_call_id(item: &ResponseItem, call_id: &str) -> Option<ResponseItem> {
    let mut text = Vec::new();
    item.write_recorded(&mut text);
    let mut json = Json::parse(std::str::from_utf8(&text).ok()?).ok()?;
    if let Json::Object(fields) = &mut json {
        fields.set("call_id", Json::String(call_id.to_owned()));
    }
    ResponseItem::load(json).ok()
}

/// A pair loses its call or its output.
fn drop_one_side(case: &mut Case, draw: &mut impl Draw) {
    let calls = draw.chance(1, 2);
    let Some(items) = some_items(case, draw) else { return };
    let of_side: Vec<usize> = (0..items.len())
        .filter(|&at| match items.get(at).map(|item| role(item)) {
            Some(Role::Call { .. }) => calls,
            Some(Role::Output { .. }) => !calls,
            _ => false,
        })
        .collect();
    if !of_side.is_empty() {
        items.remove(*draw.pick(&of_side));
    }
}

fn drop_item(case: &mut Case, draw: &mut impl Draw) {
    if let Some(items) = some_items(case, draw) {
        items.remove(draw.below(items.len()));
    }
}

/// A piece of another history is put in.
fn splice(case: &mut Case, other: &Case, draw: &mut impl Draw) {
    let theirs: Items = other.items().cloned().collect();
    let from = draw.below(theirs.len() + 1);
    let until = theirs.len().min(from + 1 + draw.below(8));
    let piece = theirs.get(from..until).unwrap_or_default().to_vec();
    match some_items(case, draw) {
        Some(items) => {
            let at = draw.below(items.len() + 1);
            items.splice(at..at, piece);
        }
        None => case.steps.insert(0, Step::Record(piece)),
    }
}

fn add_step(case: &mut Case, draw: &mut impl Draw) {
    let step = match draw.below(5) {
        0 => Step::Resume,
        1 => Step::Rollback(draw.below(4) as u32),
        2 => Step::Fork,
        // A replacement by a part of what was recorded, as a compaction makes it.
        3 => Step::Replace(case.items().filter(|_| draw.chance(1, 2)).cloned().collect()),
        _ => Step::Project(*draw.pick(&Modalities::ALL)),
    };
    case.steps.insert(draw.below(case.steps.len() + 1), step);
}

fn drop_step(case: &mut Case, draw: &mut impl Draw) {
    if !case.steps.is_empty() {
        case.steps.remove(draw.below(case.steps.len()));
    }
}

/// The items of one of the steps that bring some.
fn some_items<'a>(case: &'a mut Case, draw: &mut impl Draw) -> Option<&'a mut Items> {
    let mut lists: Vec<&mut Items> = case.steps.iter_mut().filter_map(items_of).collect();
    if lists.is_empty() { None } else { Some(lists.swap_remove(draw.below(lists.len()))) }
}

fn items_of(step: &mut Step) -> Option<&mut Items> {
    match step {
        Step::Record(items) | Step::Replace(items) if !items.is_empty() => Some(items),
        _ => None,
    }
}
