//! Tools as far as a session knows them: callbacks that answer, fail, or never answer.

use super::interrupt::Interrupt;
use crate::item::{
    CallId, CustomToolCallOutput, FunctionCallOutput, ResponseItem, ToolOutput, ToolSearchOutput,
};
use crate::json::Json;
use std::sync::Arc;
use std::time::Duration;

/// Starts tools.
pub trait Tools: Send + Sync {
    /// Starts the tool that a call asks for. Called as soon as the call is recorded, while the stream goes on; should not
    /// block.
    fn start(&self, call: &Arc<ResponseItem>) -> Box<dyn ToolRun>;
}

/// A tool that was started.
pub trait ToolRun: Send {
    /// Blocks until the tool has ended, or the turn is interrupted. A tool that had ended before still gives its outcome.
    fn finish(self: Box<Self>, interrupt: &Interrupt) -> ToolOutcome;
}

/// Any closure that says how a tool ended.
impl<F: FnOnce(&Interrupt) -> ToolOutcome + Send> ToolRun for F {
    fn finish(self: Box<Self>, interrupt: &Interrupt) -> ToolOutcome {
        self(interrupt)
    }
}

/// How a tool ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolOutcome {
    /// It answered.
    Answered(ToolOutput),
    /// A search for tools found these.
    Found(Vec<Json>),
    /// It failed; the model reads why.
    Failed(String),
    /// The turn was interrupted first.
    Interrupted,
}

/// Whether an item is a call that the client must answer.
pub(super) fn is_call(item: &ResponseItem) -> bool {
    match item {
        ResponseItem::FunctionCall(_) | ResponseItem::CustomToolCall(_) => true,
        ResponseItem::LocalShellCall(call) => call.call_id.is_some(),
        ResponseItem::ToolSearchCall(call) => call.call_id.is_some() && call.execution != "server",
        _ => false,
    }
}

/// The item that records an outcome; `None` for what is no call. `ran` is how long the tool had run when the turn was
/// interrupted. (How the program records a search for tools that failed could not be seen: here it found none.)
pub(super) fn output_item(call: &ResponseItem, outcome: ToolOutcome, ran: Duration) -> Option<ResponseItem> {
    let call_id: CallId = call.call_id()?.clone();
    Some(match call {
        ResponseItem::FunctionCall(_) | ResponseItem::LocalShellCall(_) => {
            let output = outcome.into_output(ran);
            ResponseItem::FunctionCallOutput(FunctionCallOutput { id: None, call_id, output })
        }
        ResponseItem::CustomToolCall(_) => {
            let output = outcome.into_output(ran);
            ResponseItem::CustomToolCallOutput(CustomToolCallOutput { id: None, call_id, name: None, output })
        }
        ResponseItem::ToolSearchCall(_) => {
            let tools = match outcome {
                ToolOutcome::Found(tools) => tools,
                ToolOutcome::Answered(_) | ToolOutcome::Failed(_) | ToolOutcome::Interrupted => Vec::new(),
            };
            ResponseItem::ToolSearchOutput(ToolSearchOutput {
                id: None,
                call_id: Some(call_id),
                status: "completed".to_owned(),
                execution: "client".to_owned(),
                tools,
            })
        }
        _ => return None,
    })
}

impl ToolOutcome {
    fn into_output(self, ran: Duration) -> ToolOutput {
        match self {
            ToolOutcome::Answered(output) => output,
            ToolOutcome::Found(tools) => ToolOutput::Text(Json::Array(tools).to_string()),
            ToolOutcome::Failed(why) => ToolOutput::Text(why),
            ToolOutcome::Interrupted => {
                ToolOutput::Text(format!("aborted by user after {:.1}s", ran.as_secs_f64()))
            }
        }
    }
}
