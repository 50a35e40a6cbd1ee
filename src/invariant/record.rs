//! What recording does to items: who is left out, what is cut, and that everything else is appended as it is.

use super::durable::same_loaded;
use super::live::first_difference;
use super::{CODEX, Check, Invariant, Needs, Observed, Verdict};
use crate::case::{Items, Step};
use crate::history::{CutItem, is_api_message};
use crate::item::ResponseItem;
use crate::projection::summary;
use std::sync::Arc;

pub(super) const FILTERS: Invariant = Invariant {
    id: "record/filters",
    statement: "System messages, compaction triggers and unknown kinds are not recorded into the live history.",
    law: "record(H, i) = H where i is not for the model",
    why: "They are for the runtime; the API refuses unknown kinds.",
    needs: Needs::Stateful,
    profiles: CODEX,
    reports: &[],
    check: Check::Trace(filters),
};

pub(super) const APPENDS: Invariant = Invariant {
    id: "record/appends",
    statement: "Every item for the model is appended in order, value for value, but for cut outputs; earlier items stay.",
    law: "record(H, i) = H ++ [i] where i is for the model and fits the limit",
    why: "What is lost while recording is lost for good.",
    needs: Needs::Stateful,
    profiles: CODEX,
    reports: &[],
    check: Check::Trace(appends),
};

pub(super) const CUTS: Invariant = Invariant {
    id: "record/cuts",
    statement: "A function or custom tool output over 1.2 times the limit is cut in the middle, exactly as the program does.",
    law: "record(H, o) = H ++ [cut(o)] where o is an output over the limit",
    why: "A long output fills the context window; one cut twice, or inside a character, is damaged.",
    needs: Needs::Truncation,
    profiles: CODEX,
    reports: &[],
    check: Check::Trace(cuts),
};

pub(super) const REPLACE_INSTALLS: Invariant = Invariant {
    id: "record/replace-installs",
    statement: "After a replacement the live history is exactly the items that it was replaced by: neither filtered nor cut.",
    law: "replace(H, I) = I",
    why: "A compaction decides what the model is told; nobody else does.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Trace(replace_installs),
};

/// The records of a trace: what was recorded, the history before, and what stands behind it afterwards.
fn records<'a>(observed: &Observed<'a>) -> impl Iterator<Item = (&'a Items, &'a Items, &'a Items)> {
    observed.changes().filter_map(|(step, before, after)| match step {
        Step::Record(items) => Some((items, before, after)),
        _ => None,
    })
}

fn filters(observed: &Observed<'_>) -> Verdict {
    let mut checked = 0;
    for (items, before, after) in records(observed) {
        let left_out =
            |items: &[Arc<ResponseItem>]| items.iter().filter(|item| !is_api_message(item)).count();
        let drawn = left_out(items);
        checked += drawn;
        if drawn > 0 && left_out(after) > left_out(before) {
            let found = after.iter().rev().find(|item| !is_api_message(item));
            let item = found.map_or_else(String::new, |item| summary(item));
            return Verdict::broken(format!("{item} was recorded, and is not for the model"));
        }
    }
    Verdict::holds_if_any(checked)
}

/// An item as it must stand in the history, and whether it had to be cut.
fn as_recorded(observed: &Observed<'_>, item: &Arc<ResponseItem>) -> (Arc<ResponseItem>, bool) {
    let Some(limit) = observed.capabilities.truncation else { return (Arc::clone(item), false) };
    match limit.cut(Arc::clone(item)) {
        CutItem::Whole(item) => (item, false),
        CutItem::Shortened(item) => (item, true),
    }
}

/// Whether an item stands in the history as it was given. Where that is only seen after a resume, pictures apart.
fn installed(observed: &Observed<'_>, item: &Arc<ResponseItem>, found: &Arc<ResponseItem>) -> bool {
    let can = observed.capabilities;
    same_loaded(item, found, can.seen_by_resuming && can.prepares_pictures)
}

fn appends(observed: &Observed<'_>) -> Verdict {
    let mut checked = 0;
    for (items, before, after) in records(observed) {
        checked += items.len();
        let kept = after.get(..before.len()).unwrap_or(after);
        if let Some(difference) = first_difference(before, kept) {
            return Verdict::broken(format!("recording changed what stood there: {difference}"));
        }
        // What should have been left out is the law's before.
        let mut appended = after.iter().skip(before.len()).filter(|item| is_api_message(item));
        for item in items.iter().filter(|item| is_api_message(item)) {
            let is_cut = || as_recorded(observed, item).1;
            let same = |found: &Arc<ResponseItem>| {
                installed(observed, item, found) || item.kind() == found.kind() && is_cut()
            };
            if !appended.next().is_some_and(same) {
                return Verdict::broken(format!("{} was not appended as it is", summary(item)));
            }
        }
        if let Some(more) = appended.next() {
            return Verdict::broken(format!("{} was appended, and nobody recorded it", summary(more)));
        }
    }
    Verdict::holds_if_any(checked)
}

fn cuts(observed: &Observed<'_>) -> Verdict {
    let mut checked = 0;
    for (items, before, after) in records(observed) {
        let mut appended: &[Arc<ResponseItem>] = after.get(before.len()..).unwrap_or_default();
        for item in items.iter().filter(|item| is_api_message(item)) {
            let is_it =
                |found: &Arc<ResponseItem>| found.kind() == item.kind() && found.call_id() == item.call_id();
            // Where it was not appended at all, the law's before says so.
            let Some(at) = appended.iter().position(is_it) else { continue };
            let (found, rest) = (appended.get(at), appended.get(at + 1..).unwrap_or_default());
            appended = rest;
            let (expected, cut) = as_recorded(observed, item);
            let Some(found) = found.filter(|_| cut) else { continue };
            checked += 1;
            if !installed(observed, &expected, found) {
                return Verdict::broken(format!(
                    "{} was over the limit, and became {}",
                    summary(item),
                    summary(found)
                ));
            }
        }
    }
    Verdict::holds_if_any(checked)
}

fn replace_installs(observed: &Observed<'_>) -> Verdict {
    let mut checked = 0;
    for (step, _, after) in observed.changes() {
        let Step::Replace(items) = step else { continue };
        checked += 1;
        let same = items.len() == after.len()
            && items.iter().zip(after).all(|(item, found)| installed(observed, item, found));
        if let (false, Some(difference)) = (same, first_difference(items, after)) {
            return Verdict::broken(format!("the history is not what it was replaced by: {difference}"));
        }
    }
    Verdict::holds_if_any(checked)
}
