//! Passes that put the plainest item of a kind, or of a plainer kind, in an item's place.

use super::edits::{Edit, Place, Unit, placed};
use super::walk::{Choices, Plan, rewrite};
use crate::case::Case;
use crate::item::*;
use crate::json::Json;
use crate::pairing::{CallKind, OutputKind, Role};
use crate::projection::role;
use std::collections::HashMap;
use std::sync::Arc;

/// The kinds, the plainest first: what everybody knows before what few do.
const PLAINEST_FIRST: [ItemKind; 17] = [
    ItemKind::Message,
    ItemKind::FunctionCall,
    ItemKind::FunctionCallOutput,
    ItemKind::CustomToolCall,
    ItemKind::CustomToolCallOutput,
    ItemKind::LocalShellCall,
    ItemKind::ToolSearchCall,
    ItemKind::ToolSearchOutput,
    ItemKind::Reasoning,
    ItemKind::AgentMessage,
    ItemKind::WebSearchCall,
    ItemKind::ImageGenerationCall,
    ItemKind::Compaction,
    ItemKind::ContextCompaction,
    ItemKind::AdditionalTools,
    ItemKind::CompactionTrigger,
    ItemKind::Other,
];

/// How many of them are tried in a history of many items; all of them only in one of few.
const FEW_KINDS: usize = 3;

/// Up to how many items all kinds are tried.
const FEW_ITEMS: usize = 4;

/// Up to how many call ids are tried one by one.
const CALL_ID_LIMIT: usize = 64;

/// An item's place among the kinds, the plainest 0.
pub(super) fn rank(item: &ResponseItem) -> usize {
    let kind = item.kind();
    PLAINEST_FIRST.iter().position(|plain| *plain == kind).unwrap_or(PLAINEST_FIRST.len())
}

/// The plainest item of a kind with these ids.
fn plain(kind: ItemKind, id: Option<ItemId>, call_id: Option<CallId>) -> ResponseItem {
    let some_call_id = || call_id.clone().unwrap_or_else(|| CallId::from("a"));
    let text = String::new;
    let word = |key| super::fields::plain_word(key).unwrap_or_default().to_owned();
    match kind {
        ItemKind::Message => {
            ResponseItem::Message(Message { id, role: word("role"), content: Vec::new(), phase: None })
        }
        ItemKind::AgentMessage => ResponseItem::AgentMessage(AgentMessage {
            id,
            author: text(),
            recipient: text(),
            content: Vec::new(),
        }),
        ItemKind::Reasoning => ResponseItem::Reasoning(Reasoning {
            id,
            summary: Vec::new(),
            content: ReasoningContent(None),
            encrypted_content: None,
        }),
        ItemKind::LocalShellCall => plain_shell_call(id, call_id),
        ItemKind::FunctionCall => ResponseItem::FunctionCall(FunctionCall {
            id,
            name: text(),
            namespace: None,
            arguments: text(),
            call_id: some_call_id(),
        }),
        ItemKind::ToolSearchCall => ResponseItem::ToolSearchCall(ToolSearchCall {
            id,
            call_id,
            status: None,
            execution: word("execution"),
            arguments: Json::Null,
        }),
        ItemKind::FunctionCallOutput => ResponseItem::FunctionCallOutput(FunctionCallOutput {
            id,
            call_id: some_call_id(),
            output: ToolOutput::Text(text()),
        }),
        ItemKind::CustomToolCall => ResponseItem::CustomToolCall(CustomToolCall {
            id,
            status: None,
            call_id: some_call_id(),
            name: text(),
            namespace: None,
            input: text(),
        }),
        ItemKind::CustomToolCallOutput => ResponseItem::CustomToolCallOutput(CustomToolCallOutput {
            id,
            call_id: some_call_id(),
            name: None,
            output: ToolOutput::Text(text()),
        }),
        ItemKind::ToolSearchOutput => ResponseItem::ToolSearchOutput(ToolSearchOutput {
            id,
            call_id,
            status: word("status"),
            execution: word("execution"),
            tools: Vec::new(),
        }),
        ItemKind::WebSearchCall => {
            ResponseItem::WebSearchCall(WebSearchCall { id, status: None, action: None })
        }
        ItemKind::ImageGenerationCall => ResponseItem::ImageGenerationCall(ImageGenerationCall {
            id,
            status: word("status"),
            revised_prompt: None,
            result: text(),
        }),
        ItemKind::Compaction => ResponseItem::Compaction(Compaction { id, encrypted_content: text() }),
        ItemKind::ContextCompaction => {
            ResponseItem::ContextCompaction(ContextCompaction { id, encrypted_content: None })
        }
        ItemKind::AdditionalTools => {
            ResponseItem::AdditionalTools(AdditionalTools { id, role: word("role"), tools: Vec::new() })
        }
        ItemKind::CompactionTrigger => ResponseItem::CompactionTrigger,
        ItemKind::Other => ResponseItem::Other("other".to_owned()),
    }
}

fn plain_shell_call(id: Option<ItemId>, call_id: Option<CallId>) -> ResponseItem {
    let action = LocalShellAction::Exec(Exec {
        command: Vec::new(),
        timeout_ms: None,
        working_directory: None,
        env: None,
        user: None,
    });
    ResponseItem::LocalShellCall(LocalShellCall {
        id,
        call_id,
        status: LocalShellStatus::Completed,
        action: Box::new(action),
    })
}

fn set(place: Place, item: ResponseItem) -> Edit {
    Edit::SetItem(place, Arc::new(item))
}

/// Each item the plainest of its kind, without an id.
pub(super) fn plain_items(case: &Case) -> Plan {
    plain_of_own_kind(case, |_| None)
}

/// The same, but the id stays.
pub(super) fn plain_items_with_ids(case: &Case) -> Plan {
    plain_of_own_kind(case, |item| item.id().cloned())
}

fn plain_of_own_kind(case: &Case, id: impl Fn(&ResponseItem) -> Option<ItemId>) -> Plan {
    let plainer = placed(case).filter_map(|(place, item)| {
        let plain = plain(item.kind(), id(item), item.call_id().cloned());
        (plain != **item).then(|| vec![set(place, plain)])
    });
    Plan::Together(plainer.collect())
}

/// All items of a call id of another kind of call at once, so that pairs stay pairs.
pub(super) fn plainer_kinds_by_call_id(case: &Case) -> Plan {
    let mut by_id: Vec<Vec<(Place, &ResponseItem)>> = Vec::new();
    let mut known: HashMap<&CallId, usize> = HashMap::new();
    for (place, item) in placed(case) {
        let Some(call_id) = item.call_id() else { continue };
        let at = *known.entry(call_id).or_insert(by_id.len());
        match by_id.get_mut(at) {
            Some(items) => items.push((place, item)),
            None => by_id.push(vec![(place, item)]),
        }
    }
    let several = by_id.into_iter().filter(|items| items.len() > 1).take(CALL_ID_LIMIT);
    let calls = [CallKind::Function, CallKind::CustomTool, CallKind::LocalShell, CallKind::ToolSearch];
    let places = several.map(|items| {
        let most = items.iter().map(|(_, item)| rank(item)).max().unwrap_or(0);
        let units = calls.into_iter().map(|call| as_call_kind(&items, call));
        let plainer = units.filter(|unit| !unit.is_empty() && top_rank(unit) < most);
        plainer.map(rewrite).collect::<Choices>()
    });
    Plan::Choices(places.collect())
}

fn as_call_kind(items: &[(Place, &ResponseItem)], call: CallKind) -> Unit {
    let item_kind = |item: &ResponseItem| match role(item) {
        Role::Call { .. } => Some(call_item(call)),
        Role::Output { .. } => Some(output_item(call.output())),
        Role::Bystander => None,
    };
    let edits = items.iter().filter_map(|(place, item)| {
        let plain = plain(item_kind(item)?, item.id().cloned(), item.call_id().cloned());
        Some(set(*place, plain))
    });
    edits.collect()
}

fn top_rank(unit: &Unit) -> usize {
    let ranks = unit.iter().map(|edit| match edit {
        Edit::SetItem(_, item) => rank(item),
        _ => 0,
    });
    ranks.max().unwrap_or(0)
}

fn call_item(kind: CallKind) -> ItemKind {
    match kind {
        CallKind::Function => ItemKind::FunctionCall,
        CallKind::LocalShell => ItemKind::LocalShellCall,
        CallKind::CustomTool => ItemKind::CustomToolCall,
        CallKind::ToolSearch => ItemKind::ToolSearchCall,
    }
}

fn output_item(kind: OutputKind) -> ItemKind {
    match kind {
        OutputKind::Function => ItemKind::FunctionCallOutput,
        OutputKind::CustomTool => ItemKind::CustomToolCallOutput,
        OutputKind::ToolSearch => ItemKind::ToolSearchOutput,
    }
}

/// Each item of a plainer kind, alone.
pub(super) fn plainer_kinds(case: &Case) -> Plan {
    let kinds = if case.item_count() <= FEW_ITEMS { PLAINEST_FIRST.len() } else { FEW_KINDS };
    let places = placed(case).map(|(place, item)| {
        let plainer = PLAINEST_FIRST.iter().take(rank(item).min(kinds));
        let forms = plainer.flat_map(|kind| {
            let without_id = plain(*kind, None, item.call_id().cloned());
            let with_id = item.id().map(|id| plain(*kind, Some(id.clone()), item.call_id().cloned()));
            std::iter::once(without_id).chain(with_id)
        });
        forms.map(|form| rewrite(vec![set(place, form)])).collect::<Choices>()
    });
    Plan::Choices(places.collect())
}
