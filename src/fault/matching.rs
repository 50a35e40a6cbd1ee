//! What is a call, what an output, what answers what: the bank's own statement of the pairing table.

use super::{Hand, Slip};
use crate::item::ResponseItem;
use crate::pairing::{CallKind, OutputKind};

/// A kind and a call id as it is compared.
pub(super) type Key<K> = (K, String);

impl Hand {
    /// The call that an item is, if it is one that an output must answer.
    pub(super) fn call<'a>(&self, item: &'a ResponseItem) -> Option<(CallKind, &'a str)> {
        let required = |call_id: Option<&'a _>| match call_id.map(crate::item::CallId::as_str) {
            None if self.slips(Slip::InventWithoutCallId) => Some(""),
            call_id => call_id,
        };
        let call = match item {
            ResponseItem::FunctionCall(call) => (CallKind::Function, call.call_id.as_str()),
            ResponseItem::LocalShellCall(call) => (CallKind::LocalShell, required(call.call_id.as_ref())?),
            ResponseItem::CustomToolCall(call) => (CallKind::CustomTool, call.call_id.as_str()),
            ResponseItem::ToolSearchCall(call) => (CallKind::ToolSearch, required(call.call_id.as_ref())?),
            ResponseItem::WebSearchCall(call) if self.slips(Slip::InventForWebSearch) => {
                (CallKind::Function, call.id.as_ref()?.as_str())
            }
            _ => return None,
        };
        Some(call).filter(|(_, call_id)| !(call_id.is_empty() && self.slips(Slip::ForgetEmptyCallId)))
    }

    /// The output that an item is, if it names a call.
    pub(super) fn output<'a>(&self, item: &'a ResponseItem) -> Option<(OutputKind, &'a str)> {
        match item {
            ResponseItem::FunctionCallOutput(output) => Some((OutputKind::Function, output.call_id.as_str())),
            ResponseItem::CustomToolCallOutput(output) => {
                Some((OutputKind::CustomTool, output.call_id.as_str()))
            }
            ResponseItem::ToolSearchOutput(output) => {
                if output.execution == "server" && self.slips(Slip::IgnoreServerOutputs) {
                    return None;
                }
                Some((OutputKind::ToolSearch, output.call_id.as_ref()?.as_str()))
            }
            _ => None,
        }
    }

    /// The kinds of output that answer a call.
    pub(super) fn answers(&self, call: CallKind) -> &'static [OutputKind] {
        use OutputKind::{CustomTool, Function, ToolSearch};
        match (call, self.slip) {
            (_, Some(Slip::AcceptAnyKind)) => &[Function, CustomTool, ToolSearch],
            (CallKind::Function, Some(Slip::AcceptCustomForFunction)) => &[Function, CustomTool],
            (CallKind::CustomTool, Some(Slip::AcceptFunctionForCustom)) => &[CustomTool, Function],
            (CallKind::ToolSearch, Some(Slip::AcceptFunctionForSearch)) => &[ToolSearch, Function],
            (CallKind::LocalShell, Some(Slip::RejectFunctionForShell)) => &[],
            (CallKind::Function | CallKind::LocalShell, _) => &[Function],
            (CallKind::CustomTool, _) => &[CustomTool],
            (CallKind::ToolSearch, _) => &[ToolSearch],
        }
    }

    /// The kinds of call that an output can belong to.
    pub(super) fn owners(&self, output: OutputKind) -> &'static [CallKind] {
        match (output, self.slip) {
            (_, Some(Slip::KeepByAnyKind)) => &CallKind::ALL,
            (OutputKind::Function, Some(Slip::TakeShellOutputs)) => &[CallKind::Function],
            (OutputKind::Function, _) => &[CallKind::Function, CallKind::LocalShell],
            (OutputKind::CustomTool, _) => &[CallKind::CustomTool],
            (OutputKind::ToolSearch, _) => &[CallKind::ToolSearch],
        }
    }

    /// A call id as it is compared: byte for byte.
    pub(super) fn compared(&self, call_id: &str) -> String {
        match self.slip {
            Some(Slip::MatchFirst64) => call_id.chars().take(64).collect(),
            Some(Slip::MatchIgnoringCase) => call_id.to_lowercase(),
            Some(Slip::MatchTrimmed) => call_id.trim().to_owned(),
            Some(Slip::MatchWithoutAccents) => without_accents(call_id),
            Some(Slip::MatchByLength) => call_id.len().to_string(),
            Some(Slip::MatchAsNumber) => {
                call_id.parse::<f64>().map_or_else(|_| call_id.to_owned(), |number| number.to_string())
            }
            Some(Slip::MatchWithoutPrefix) => call_id.strip_prefix("call_").unwrap_or(call_id).to_owned(),
            Some(Slip::MatchCString) => call_id.split('\0').next().unwrap_or_default().to_owned(),
            _ => call_id.to_owned(),
        }
    }
}

/// As a normalisation would leave it: the composed letter of the pools taken apart, and combining accents off.
fn without_accents(text: &str) -> String {
    text.replace('\u{e9}', "e").replace('\u{301}', "")
}
