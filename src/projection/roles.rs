//! What each kind of item is to pairing.

use crate::item::{CallId, ItemList, ResponseItem};
use crate::pairing::{CallKind, Ledger, OutputKind, Role};
use std::sync::Arc;

/// The execution of a tool search that the server did by itself: its output needs no call.
pub(crate) const SERVER: &str = "server";

/// The role of an item. A call or an output without a call id is a bystander: it is never paired and never removed.
pub fn role(item: &ResponseItem) -> Role<&CallId> {
    let call = |kind, call_id| Role::Call { kind, call_id };
    let output = |kind, call_id| Role::Output { kind, call_id, exempt: false };
    match item {
        ResponseItem::FunctionCall(item) => call(CallKind::Function, &item.call_id),
        ResponseItem::CustomToolCall(item) => call(CallKind::CustomTool, &item.call_id),
        ResponseItem::LocalShellCall(item) => match &item.call_id {
            Some(call_id) => call(CallKind::LocalShell, call_id),
            None => Role::Bystander,
        },
        ResponseItem::ToolSearchCall(item) => match &item.call_id {
            Some(call_id) => call(CallKind::ToolSearch, call_id),
            None => Role::Bystander,
        },
        ResponseItem::FunctionCallOutput(item) => output(OutputKind::Function, &item.call_id),
        ResponseItem::CustomToolCallOutput(item) => output(OutputKind::CustomTool, &item.call_id),
        ResponseItem::ToolSearchOutput(item) => match &item.call_id {
            Some(call_id) => {
                Role::Output { kind: OutputKind::ToolSearch, call_id, exempt: item.execution == SERVER }
            }
            None => Role::Bystander,
        },
        ResponseItem::Message(_)
        | ResponseItem::AgentMessage(_)
        | ResponseItem::Reasoning(_)
        | ResponseItem::WebSearchCall(_)
        | ResponseItem::ImageGenerationCall(_)
        | ResponseItem::Compaction(_)
        | ResponseItem::ContextCompaction(_)
        | ResponseItem::AdditionalTools(_)
        | ResponseItem::CompactionTrigger
        | ResponseItem::Other(_) => Role::Bystander,
    }
}

/// The ledger of a history, its call ids borrowed.
pub fn ledger(items: &ItemList) -> Ledger<&CallId> {
    ledger_of(items.chunks(), items.len())
}

/// The ledger of the `len` items that come in these chunks.
pub(super) fn ledger_of<'a>(
    chunks: impl Iterator<Item = &'a [Arc<ResponseItem>]>,
    len: usize,
) -> Ledger<&'a CallId> {
    let mut ledger = Ledger::with_capacity(len);
    for block in chunks.flat_map(|chunk| chunk.chunks(FETCHED_AHEAD)) {
        fetch(block);
        block.iter().for_each(|item| ledger.push(role(item)));
    }
    ledger
}

/// How many items are fetched before they are looked at: as many as fit the innermost cache with their call ids.
const FETCHED_AHEAD: usize = 64;

/// Has items and their call ids fetched into the cache. They lie scattered in memory, and a loop that does nothing but touch them
/// waits for many at once, where one that works with each waits for one after the other. What is in no cache is read about one and
/// a half times as fast for it.
fn fetch(items: &[Arc<ResponseItem>]) {
    let last_byte = |id: &CallId| id.as_str().as_bytes().last().copied().map_or(0, usize::from);
    std::hint::black_box(items.iter().filter_map(|item| item.call_id()).map(last_byte).sum::<usize>());
}
