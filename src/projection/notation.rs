//! A projection written so that a reviewer reads it in seconds: a row an item, in front of it what became of it.
//!
//! ```text
//!   0 message              user, 2 parts, 1 image
//!   1 function_call        a #fc_1
//! +   function_call_output a 7 bytes #fco_d08ee114-ed5d-5706-8dbd-16ccacd40aa4  <- made up for 1
//! - 2 tool_search_output   b client, 0 tools  <- no call
//! ```
//!
//! The columns: the mark (`+` put in, `-` taken out, `~` replaced), the place in the history from 0, the kind, the call id, sizes
//! and names, the item's own id after `#`, and behind `<-` why. It holds no texts, so it may stand in a public report. An id
//! that would not stand for itself is quoted, and everything in it that does not print is escaped.

use super::{Projection, image_count};
use crate::item::{ResponseItem, ToolOutput};
use crate::pairing::{Action, Edit, Reason};
use std::fmt;
use std::sync::Arc;

/// An item in a few words: kind, call id, sizes, and its own id after `#`. Safe to print, whatever the item holds.
///
/// ```
/// # use callpair::{item::ResponseItem, json::Json, projection::summary};
/// let output = r#"{"type":"function_call_output","call_id":"a b","id":"fco_1","output":"secret"}"#;
/// let output = ResponseItem::load(Json::parse(output)?).unwrap();
/// assert_eq!(summary(&output), r#"function_call_output "a b" 6 bytes #fco_1"#);
/// # Ok::<(), callpair::json::JsonError>(())
/// ```
pub fn summary(item: &ResponseItem) -> String {
    let Cells { kind, call_id, details } = Cells::of(item);
    let words = [kind.to_owned(), call_id, details];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What stands in the columns of an item's row.
#[derive(Debug, PartialEq, Eq)]
struct Cells {
    kind: &'static str,
    call_id: String,
    /// Sizes, names and the item's own id: not a column of its own each, since most are short and an id is long.
    details: String,
}

impl Cells {
    fn of(item: &ResponseItem) -> Cells {
        let call_id = item.call_id().map(|id| shown(id.as_str())).unwrap_or_default();
        let mut details = facts(item).join(", ");
        if let Some(id) = item.id() {
            let gap = if details.is_empty() { "" } else { " " };
            details.push_str(&format!("{gap}#{}", shown(id.as_str())));
        }
        Cells { kind: item.kind().as_str(), call_id, details }
    }
}

/// Names and sizes, no texts.
fn facts(item: &ResponseItem) -> Vec<String> {
    let mut facts = match item {
        ResponseItem::Message(message) => vec![shown(&message.role), counted(message.content.len(), "part")],
        ResponseItem::AgentMessage(message) => vec![counted(message.content.len(), "part")],
        ResponseItem::FunctionCallOutput(output) => vec![size(&output.output)],
        ResponseItem::CustomToolCallOutput(output) => vec![size(&output.output)],
        ResponseItem::ToolSearchCall(call) => vec![shown(&call.execution)],
        ResponseItem::ToolSearchOutput(output) => {
            vec![shown(&output.execution), counted(output.tools.len(), "tool")]
        }
        ResponseItem::Other(name) => vec![shown(name)],
        ResponseItem::Reasoning(_)
        | ResponseItem::LocalShellCall(_)
        | ResponseItem::FunctionCall(_)
        | ResponseItem::CustomToolCall(_)
        | ResponseItem::WebSearchCall(_)
        | ResponseItem::ImageGenerationCall(_)
        | ResponseItem::Compaction(_)
        | ResponseItem::ContextCompaction(_)
        | ResponseItem::AdditionalTools(_)
        | ResponseItem::CompactionTrigger => Vec::new(),
    };
    match image_count(item) {
        0 => {}
        count => facts.push(counted(count, "image")),
    }
    facts
}

fn size(output: &ToolOutput) -> String {
    match output {
        ToolOutput::Text(text) => counted(text.len(), "byte"),
        ToolOutput::Parts(list) => counted(list.len(), "part"),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The longest id or name that is shown whole, in characters.
const SHOWN_CHARS: usize = 80;

/// An id or a name, quoted where it would not stand for itself, and shortened. Letters, digits and the marks of ASCII stand for
/// themselves; blanks, accents that are written apart, marks that turn the direction of writing and the like do not.
pub(crate) fn shown(text: &str) -> String {
    shown_up_to(text, SHOWN_CHARS)
}

/// The same with at most so many characters.
pub(crate) fn shown_up_to(text: &str, chars: usize) -> String {
    let stands = |c: char| c.is_alphanumeric() || (c.is_ascii_punctuation() && c != '"');
    let plain = !text.is_empty() && !text.starts_with('#') && text.chars().take(chars).all(stands);
    let short: String = text.chars().take(chars).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    if plain { format!("{short}{more}") } else { format!("{short:?}{more}") }
}

/// A row of the notation.
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
    /// The edit behind the mark.
    pub edit: Option<Edit>,
}

impl NotationRow<'_> {
    fn why(&self) -> String {
        match self.edit {
            None => String::new(),
            Some(Edit { index, reason: Reason::CallWithoutOutput(_) }) => format!("  <- made up for {index}"),
            Some(Edit { reason: Reason::OutputWithoutCall(_), .. }) => "  <- no call".to_owned(),
            Some(Edit { reason: Reason::ImagesUnsupported(_), .. }) => {
                "  <- the model takes no images".to_owned()
            }
        }
    }
}

/// How wide the columns of a projection's notation are, in characters.
#[derive(Debug, Clone, Copy)]
pub struct NotationColumns {
    index: usize,
    kind: usize,
    call_id: usize,
}

/// The widest column of call ids, in characters: one long id must not push all else aside.
const WIDEST: usize = 24;

impl NotationColumns {
    /// A row as it is printed, without a line end.
    pub fn text(&self, row: &NotationRow<'_>) -> String {
        let NotationColumns { index: place, kind, call_id } = *self;
        let cells = Cells::of(row.item);
        let index = row.index.map(|index| index.to_string()).unwrap_or_default();
        let mut text = format!("{} {index:>place$} {:kind$}", row.mark, cells.kind);
        if call_id > 0 {
            text.push_str(&format!(" {:call_id$}", cells.call_id));
        }
        text.push_str(&format!(" {}", cells.details));
        format!("{}{}", text.trim_end(), row.why())
    }
}

impl Projection {
    /// The rows of the notation: an item of the history each, and behind a call the output that is made up for it.
    pub fn rows(&self) -> impl Iterator<Item = NotationRow<'_>> {
        let mut edits = self.edits().peekable();
        self.base.iter().enumerate().flat_map(move |(index, item)| {
            let row = |mark, sent, edit| NotationRow { mark, index: Some(index), item, sent, edit };
            let (row, inserted) = match edits.next_if(|(edit, _)| edit.index == index) {
                None => (row(' ', Some(item), None), None),
                Some((edit, made)) => match edit.action() {
                    Action::Remove => (row('-', None, Some(*edit)), None),
                    Action::Replace => (row('~', made, Some(*edit)), None),
                    Action::InsertAfter(_) => (row(' ', Some(item), None), made.map(|made| (made, *edit))),
                },
            };
            let put = |(item, edit)| NotationRow {
                mark: '+',
                index: None,
                item,
                sent: Some(item),
                edit: Some(edit),
            };
            std::iter::once(row).chain(inserted.map(put))
        })
    }

    /// How wide the columns of the notation are.
    pub fn columns(&self) -> NotationColumns {
        let index = self.base.len().saturating_sub(1).to_string().len();
        let mut columns = NotationColumns { index, kind: 0, call_id: 0 };
        for row in self.rows() {
            let cells = Cells::of(row.item);
            columns.kind = columns.kind.max(cells.kind.len());
            columns.call_id = columns.call_id.max(cells.call_id.chars().count()).min(WIDEST);
        }
        columns
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns();
        self.rows().try_for_each(|row| writeln!(f, "{}", columns.text(&row)))
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn only_what_stands_for_itself_is_shown_bare() {
        for plain in ["call_1", "fc-a.b:c", "日本", "é", "+", "a#"] {
            assert_eq!(shown(plain), plain);
        }
        let quoted = [
            ("", r#""""#),
            ("#a", r##""#a""##),
            ("a b", r#""a b""#),
            ("\"", r#""\"""#),
            ("e\u{301}", r#""e\u{301}""#),
            ("\u{1b}[31m", r#""\u{1b}[31m""#),
            ("\u{202e}a", r#""\u{202e}a""#),
            ("a\u{200b}", r#""a\u{200b}""#),
        ];
        for (text, expected) in quoted {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn a_long_id_is_shortened() {
        assert_eq!(shown(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(shown(&"é".repeat(81)), "é".repeat(80) + "…");
    }
}
