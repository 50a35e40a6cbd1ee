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
use crate::pairing::{Action, Reason};
use std::fmt;
use std::sync::Arc;

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

/// An id or a name, quoted where it would not stand for itself (blanks, quotes, control and invisible characters), and
/// shortened.
pub(crate) fn shown(text: &str) -> String {
    shown_up_to(text, SHOWN_CHARS)
}

/// The same with at most so many characters.
pub(crate) fn shown_up_to(text: &str, chars: usize) -> String {
    let stands_for_itself = |c: char| c == '\'' || (!c.is_whitespace() && c.escape_debug().len() == 1);
    let plain = !text.is_empty() && text.chars().take(chars).all(stands_for_itself);
    let short: String = text.chars().take(chars).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    if plain { format!("{short}{more}") } else { format!("{short:?}{more}") }
}

/// A line of the notation.
#[derive(Debug, Clone, Copy)]
pub struct NotationRow<'a> {
    /// `+` inserted, `-` removed, `~` replaced, or a blank.
    pub mark: char,
    /// The item's place in the history, counted from 0; none where it is inserted.
    pub index: Option<usize>,
    /// The item of the history, or the one inserted.
    pub item: &'a Arc<ResponseItem>,
    /// The item that is sent: none where it is removed.
    pub sent: Option<&'a Arc<ResponseItem>>,
    /// Why the mark.
    pub reason: Option<Reason>,
}

impl Projection {
    /// The lines of the notation: an item of the history each, and behind a call the output that is made up for it.
    pub fn rows(&self) -> impl Iterator<Item = NotationRow<'_>> {
        let mut edits = self.edits().peekable();
        self.base.iter().enumerate().flat_map(move |(index, item)| {
            let edit = edits.next_if(|(edit, _)| edit.index == index);
            let row = |mark, sent, reason| NotationRow { mark, index: Some(index), item, sent, reason };
            let mut inserted = None;
            let row = match edit.map(|(edit, made)| (edit.action(), edit.reason, made)) {
                None => row(' ', Some(item), None),
                Some((Action::Remove, reason, _)) => row('-', None, Some(reason)),
                Some((Action::Replace, reason, made)) => row('~', made, Some(reason)),
                Some((Action::InsertAfter(_), reason, made)) => {
                    let put = |made| NotationRow {
                        mark: '+',
                        index: None,
                        item: made,
                        sent: Some(made),
                        reason: Some(reason),
                    };
                    inserted = made.map(put);
                    row(' ', Some(item), None)
                }
            };
            std::iter::once(row).chain(inserted)
        })
    }

    /// How wide the numbers of the notation are.
    fn index_width(&self) -> usize {
        self.base.len().saturating_sub(1).to_string().len()
    }

    /// A line of the notation as it is printed, without a line end.
    pub fn row_text(&self, row: &NotationRow<'_>) -> String {
        let index = row.index.map(|index| index.to_string()).unwrap_or_default();
        let why = row.reason.map(|reason| format!("   {reason}")).unwrap_or_default();
        format!("{} {index:width$} {}{why}", row.mark, summary(row.item), width = self.index_width())
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows().try_for_each(|row| writeln!(f, "{}", self.row_text(&row)))
    }
}
