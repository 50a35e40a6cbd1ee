//! A projection written so that a reviewer reads it in seconds: a line an item, in front of it what became of it.
//!
//! ```text
//!   0 function_call a #fc_1
//! +   function_call_output a #fco_d08ee114-ed5d-5706-8dbd-16ccacd40aa4   no function_call_output answers this function_call
//! - 1 custom_tool_call_output b   no call of this custom_tool_call_output
//! ~ 2 message user 2 parts   the model takes no images, and here is 1
//! ```
//!
//! It holds kinds, ids and sizes, no texts: it may stand in a public report. Control characters are escaped.

use super::Projection;
use crate::item::{ResponseItem, ToolOutput};
use crate::pairing::Action;
use std::fmt;

/// An item in a few words: kind, call id, own id after `#`, and its size.
pub fn summary(item: &ResponseItem) -> String {
    let mut words = vec![item.kind().as_str().to_owned()];
    if let ResponseItem::Other(name) = item {
        words.push(shown(name));
    }
    words.extend(item.call_id().map(|id| shown(id.as_str())));
    words.extend(item.id().map(|id| format!("#{}", shown(id.as_str()))));
    match item {
        ResponseItem::Message(message) => {
            words.push(shown(&message.role));
            words.push(parts(message.content.len()));
        }
        ResponseItem::AgentMessage(message) => words.push(parts(message.content.len())),
        ResponseItem::FunctionCallOutput(output) => words.push(size(&output.output)),
        ResponseItem::CustomToolCallOutput(output) => words.push(size(&output.output)),
        ResponseItem::ToolSearchOutput(output) => {
            words.push(shown(&output.execution));
            words.push(counted(output.tools.len(), "tool"));
        }
        ResponseItem::ToolSearchCall(call) => words.push(shown(&call.execution)),
        _ => {}
    }
    words.join(" ")
}

fn size(output: &ToolOutput) -> String {
    match output {
        ToolOutput::Text(text) => counted(text.len(), "byte"),
        ToolOutput::Parts(list) => parts(list.len()),
    }
}

fn parts(count: usize) -> String {
    counted(count, "part")
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The longest id or name that is shown whole, in characters.
const SHOWN_CHARS: usize = 80;

/// An id or a name, quoted where it would not stand for itself, and shortened.
fn shown(text: &str) -> String {
    let plain = !text.is_empty() && text.chars().all(|c| !c.is_control() && !c.is_whitespace() && c != '"');
    let short: String = text.chars().take(SHOWN_CHARS).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    if plain { format!("{short}{more}") } else { format!("{short:?}{more}") }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.base.len().saturating_sub(1).to_string().len();
        let mut edits = self.edits().peekable();
        for (index, item) in self.base.iter().enumerate() {
            let edit = edits.next_if(|(edit, _)| edit.index == index);
            let (mark, why) = match edit.map(|(edit, _)| (edit.action(), edit.reason)) {
                None | Some((Action::InsertAfter(_), _)) => (' ', String::new()),
                Some((Action::Remove, reason)) => ('-', format!("   {reason}")),
                Some((Action::Replace, reason)) => ('~', format!("   {reason}")),
            };
            writeln!(f, "{mark} {index:width$} {}{why}", summary(item))?;
            if let Some((edit, Some(made))) = edit
                && matches!(edit.action(), Action::InsertAfter(_))
            {
                writeln!(f, "+ {:width$} {}   {}", "", summary(made), edit.reason)?;
            }
        }
        Ok(())
    }
}
