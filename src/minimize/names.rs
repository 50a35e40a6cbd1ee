//! Passes over names: call ids and item ids become `a`, `b`, … in order of appearance, where the failure does not hang on
//! them; and what shares a name by accident gets one of its own.

use super::edits::{Edit, placed};
use super::walk::{Choices, Plan, Rewrite};
use crate::case::{Case, Items, Step};
use crate::item::{CallId, ItemId, ResponseItem};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Up to how many names are changed one by one.
const NAME_LIMIT: usize = 64;

/// The two sorts of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Call,
    Item,
}

pub(super) const SORTS: [Sort; 2] = [Sort::Call, Sort::Item];

impl Sort {
    pub(super) fn of(self, item: &ResponseItem) -> Option<&str> {
        match self {
            Sort::Call => item.call_id().map(CallId::as_str),
            Sort::Item => item.id().map(ItemId::as_str),
        }
    }

    /// The item under another name; only for one that has a name of the sort.
    fn named(self, item: &ResponseItem, name: &str) -> ResponseItem {
        let mut item = item.clone();
        match self {
            Sort::Item => {
                if let Some(id) = item.id_mut() {
                    *id = Some(ItemId::from(name));
                }
            }
            Sort::Call => set_call_id(&mut item, CallId::from(name)),
        }
        item
    }

    /// The names in order of appearance, each once.
    pub(super) fn names(self, case: &Case) -> Vec<&str> {
        let mut known = HashSet::new();
        case.items().filter_map(|item| self.of(item)).filter(|name| known.insert(*name)).collect()
    }
}

fn set_call_id(item: &mut ResponseItem, call_id: CallId) {
    match item {
        ResponseItem::LocalShellCall(call) => call.call_id = Some(call_id),
        ResponseItem::FunctionCall(call) => call.call_id = call_id,
        ResponseItem::ToolSearchCall(call) => call.call_id = Some(call_id),
        ResponseItem::CustomToolCall(call) => call.call_id = call_id,
        ResponseItem::FunctionCallOutput(output) => output.call_id = call_id,
        ResponseItem::CustomToolCallOutput(output) => output.call_id = call_id,
        ResponseItem::ToolSearchOutput(output) => output.call_id = Some(call_id),
        ResponseItem::Message(_)
        | ResponseItem::AgentMessage(_)
        | ResponseItem::Reasoning(_)
        | ResponseItem::WebSearchCall(_)
        | ResponseItem::ImageGenerationCall(_)
        | ResponseItem::Compaction(_)
        | ResponseItem::ContextCompaction(_)
        | ResponseItem::AdditionalTools(_)
        | ResponseItem::CompactionTrigger
        | ResponseItem::Other(_) => {}
    }
}

/// The names `a` to `z`, then `aa`, `ab`, …
pub(super) fn plain_name(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (number % 26) as u8));
        if number < 26 {
            return letters.into_iter().rev().collect();
        }
        number = number / 26 - 1;
    }
}

/// The case with names of a sort changed; a name that is not in the table stays.
pub(super) fn renamed(case: &Case, sort: Sort, names: &HashMap<&str, String>) -> Case {
    let items = |items: &Items| {
        let renamed = items.iter().map(|item| match sort.of(item).and_then(|name| names.get(name)) {
            Some(name) => Arc::new(sort.named(item, name)),
            None => Arc::clone(item),
        });
        renamed.collect()
    };
    let steps = case.steps.iter().map(|step| match step {
        Step::Record(content) => Step::Record(items(content)),
        Step::Replace(content) => Step::Replace(items(content)),
        other => other.clone(),
    });
    Case { steps: steps.collect() }
}

fn all_plain(case: &Case, sort: Sort) -> Case {
    let names = sort.names(case).into_iter().enumerate();
    renamed(case, sort, &names.map(|(number, name)| (name, plain_name(number))).collect())
}

/// All names at once: of both sorts, or of one.
pub(super) fn plain_names(_: &Case) -> Plan {
    let both: Rewrite = Box::new(|case| Some(all_plain(&all_plain(case, Sort::Call), Sort::Item)));
    let one = |sort| -> Choices { vec![Box::new(move |case| Some(all_plain(case, sort)))] };
    Plan::Choices(vec![vec![both], one(Sort::Call), one(Sort::Item)])
}

/// A name of its own for each item that shares one with an earlier item.
pub(super) fn apart(case: &Case) -> Plan {
    let mut units = Vec::new();
    for sort in SORTS {
        let mut known = HashSet::new();
        let taken: HashSet<&str> = sort.names(case).into_iter().collect();
        let mut spare = (0..).map(plain_name).filter(|name| !taken.contains(name.as_str()));
        for (place, item) in placed(case) {
            let Some(name) = sort.of(item) else { continue };
            if !known.insert(name)
                && let Some(spare) = spare.next()
            {
                units.push(vec![Edit::SetItem(place, Arc::new(sort.named(item, &spare)))]);
            }
        }
    }
    Plan::Together(units)
}

/// Whether a name is one of those that [`one_by_one`] gives to `count` names.
pub(super) fn is_plain(name: &str, count: usize) -> bool {
    (0..=count).any(|number| plain_name(number) == name)
}

/// One name after the other, where not all can be changed at once. The second choice is for what must not have the name
/// of something else, such as an item and its call.
pub(super) fn one_by_one(case: &Case) -> Plan {
    let mut places: Vec<Choices> = Vec::new();
    for sort in SORTS {
        let names = sort.names(case);
        let odd = names.iter().filter(|name| !is_plain(name, names.len()));
        for name in odd.take(NAME_LIMIT) {
            let name = (*name).to_owned();
            places.push((0..2).map(|choice| to_spare_name(sort, name.clone(), choice)).collect());
        }
    }
    Plan::Choices(places)
}

fn to_spare_name(sort: Sort, name: String, choice: usize) -> Rewrite {
    Box::new(move |case| {
        let taken: HashSet<&str> = sort.names(case).into_iter().collect();
        let mut spare = (0..).map(plain_name).filter(|spare| !taken.contains(spare.as_str()));
        Some(renamed(case, sort, &HashMap::from([(name.as_str(), spare.nth(choice)?)])))
    })
}
