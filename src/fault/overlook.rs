//! Slips that leave a single call without its output. The honest hand overlooks none.

use super::{Hand, Slip};
use crate::history::is_turn_start;
use crate::item::{ItemId, LocalShellStatus, ResponseItem};
use crate::pairing::CallKind;

impl Hand {
    /// Whether the call at `at` is overlooked.
    pub(super) fn overlooks(&self, items: &[ResponseItem], at: usize) -> bool {
        let (Some(slip), Some(item)) = (self.slip, items.get(at)) else { return false };
        let Some((kind, call_id)) = self.call(item) else { return false };
        let earlier_call = |same: &dyn Fn(CallKind, &str) -> bool| {
            items.iter().take(at).filter_map(|item| self.call(item)).any(|(kind, id)| same(kind, id))
        };
        match slip {
            Slip::ForgetFunctionCall => kind == CallKind::Function,
            Slip::ForgetLocalShellCall => kind == CallKind::LocalShell,
            Slip::ForgetCustomToolCall => kind == CallKind::CustomTool,
            Slip::ForgetToolSearchCall => kind == CallKind::ToolSearch,
            Slip::ForgetServerSearch
            | Slip::ForgetInProgressShellCall
            | Slip::ForgetIncompleteCustomCall
            | Slip::ForgetNamespacedCall => is_odd(slip, item),
            Slip::ForgetCallWithoutItemId => item.id().map_or("", ItemId::as_str).is_empty(),
            Slip::ForgetForeignPrefix => !call_id.starts_with("call_"),
            Slip::ForgetBeyond64 => at >= 64,
            Slip::ForgetBeforeLast32 => at + 32 < items.len(),
            Slip::ForgetEarlierTurns => items.iter().skip(at).any(is_turn_start),
            Slip::ForgetCallAtTheEnd => at + 1 == items.len(),
            Slip::ForgetBatch => items.get(at + 1).is_some_and(|next| self.call(next).is_some()),
            Slip::ForgetSecondCall => earlier_call(&|other, id| other == kind && id == call_id),
            Slip::ForgetOtherKind => earlier_call(&|other, id| other != kind && id == call_id),
            _ => false,
        }
    }
}

/// Whether the call has the field's value for which the slip overlooks it.
fn is_odd(slip: Slip, item: &ResponseItem) -> bool {
    match (slip, item) {
        (Slip::ForgetServerSearch, ResponseItem::ToolSearchCall(call)) => call.execution == "server",
        (Slip::ForgetInProgressShellCall, ResponseItem::LocalShellCall(call)) => {
            call.status == LocalShellStatus::InProgress
        }
        (Slip::ForgetIncompleteCustomCall, ResponseItem::CustomToolCall(call)) => {
            call.status.as_deref() == Some("incomplete")
        }
        (Slip::ForgetNamespacedCall, ResponseItem::FunctionCall(call)) => call.namespace.is_some(),
        _ => false,
    }
}
