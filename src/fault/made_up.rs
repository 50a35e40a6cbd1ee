//! What is made up for a call whose output never came.

use super::{Hand, Slip};
use crate::item::{
    CallId, CustomToolCallOutput, FunctionCallOutput, OutputPart, ResponseItem, Text, ToolOutput,
    ToolSearchOutput,
};
use crate::json::Json;
use crate::pairing::{CallKind, OutputKind};

/// A call without an output.
pub(super) struct Hole<'a> {
    /// The call's place in the history.
    pub(super) at: usize,
    /// What was made up before, for calls before this one.
    pub(super) earlier: &'a [(usize, ResponseItem)],
    /// The call's kind.
    pub(super) kind: CallKind,
    /// The call.
    pub(super) call: &'a ResponseItem,
    /// Its call id.
    pub(super) call_id: &'a str,
}

impl Hand {
    /// The output that stands in for the one that never came.
    pub(super) fn made_up_output(&self, hole: &Hole<'_>) -> ResponseItem {
        let kind = self.kind_to_make_up(hole.kind);
        let id = self.made_up_id(hole, kind);
        let call_id = match hole.call.id() {
            Some(id) if self.slips(Slip::ContentItemId) => CallId::from(id.as_str()),
            _ => CallId::from(hole.call_id),
        };
        match kind {
            OutputKind::Function => {
                let cancelled = self.slips(Slip::ContentFunctionCancelled);
                let output =
                    if cancelled { ToolOutput::Text("cancelled".to_owned()) } else { self.aborted() };
                ResponseItem::FunctionCallOutput(FunctionCallOutput { id, call_id, output })
            }
            OutputKind::CustomTool => {
                let name = match hole.call {
                    ResponseItem::CustomToolCall(call) if self.slips(Slip::ContentCustomName) => {
                        Some(call.name.clone())
                    }
                    _ => None,
                };
                let output = self.aborted();
                ResponseItem::CustomToolCallOutput(CustomToolCallOutput { id, call_id, name, output })
            }
            OutputKind::ToolSearch => ResponseItem::ToolSearchOutput(ToolSearchOutput {
                id,
                call_id: Some(call_id),
                status: self.search_status().to_owned(),
                execution: self.search_execution(hole.call).to_owned(),
                tools: if self.slips(Slip::ContentNullTool) { vec![Json::Null] } else { Vec::new() },
            }),
        }
    }

    fn kind_to_make_up(&self, call: CallKind) -> OutputKind {
        match (call, self.slip) {
            (CallKind::Function, Some(Slip::CustomOutputForFunction))
            | (CallKind::LocalShell, Some(Slip::CustomOutputForShell)) => OutputKind::CustomTool,
            (CallKind::CustomTool, Some(Slip::FunctionOutputForCustom))
            | (CallKind::ToolSearch, Some(Slip::FunctionOutputForSearch)) => OutputKind::Function,
            (CallKind::Function | CallKind::LocalShell, _) => OutputKind::Function,
            (CallKind::CustomTool, _) => OutputKind::CustomTool,
            (CallKind::ToolSearch, _) => OutputKind::ToolSearch,
        }
    }

    fn aborted(&self) -> ToolOutput {
        match self.slip {
            Some(Slip::ContentCancelled) => ToolOutput::Text("cancelled".to_owned()),
            Some(Slip::ContentEmpty) => ToolOutput::Text(String::new()),
            Some(Slip::ContentParts) => {
                ToolOutput::Parts(vec![OutputPart::InputText(Text { text: "aborted".to_owned() })])
            }
            _ => ToolOutput::Text("aborted".to_owned()),
        }
    }

    fn search_status(&self) -> &'static str {
        match self.slip {
            Some(Slip::ContentSearchStatus) => "incomplete",
            Some(Slip::ContentSearchAborted) => "aborted",
            _ => "completed",
        }
    }

    fn search_execution<'a>(&self, call: &'a ResponseItem) -> &'a str {
        match (self.slip, call) {
            (Some(Slip::ContentServerExecution), _) => "server",
            (Some(Slip::ContentCallExecution), ResponseItem::ToolSearchCall(call)) => &call.execution,
            _ => "client",
        }
    }
}
