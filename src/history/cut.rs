//! Cutting of long tool outputs, as the program does while it records and while it resumes.
//!
//! Only function and custom tool outputs are cut: not messages, arguments, tool search tools or encrypted parts.

use crate::item::{OutputPart, ResponseItem, Text, ToolOutput};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A model's limit on tool outputs. The budget is 1.2 times the limit, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolOutputLimit {
    /// In bytes.
    Bytes(u64),
    /// In tokens, of which each counts as 4 bytes.
    Tokens(u64),
}

/// The default is 10000 tokens: a budget of 48000 bytes.
impl Default for ToolOutputLimit {
    fn default() -> ToolOutputLimit {
        ToolOutputLimit::Tokens(10_000)
    }
}

/// What the program reckons a token at, in bytes.
const BYTES_PER_TOKEN: u64 = 4;

/// Whether a marker counts characters or tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Tokens,
}

/// An item as it is after cutting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CutItem {
    /// It fits: the very same item.
    Whole(Arc<ResponseItem>),
    /// It was too long.
    Shortened(Arc<ResponseItem>),
}

impl CutItem {
    /// The item, whole or shortened.
    pub fn into_item(self) -> Arc<ResponseItem> {
        match self {
            CutItem::Whole(item) | CutItem::Shortened(item) => item,
        }
    }
}

impl ToolOutputLimit {
    /// Cuts an item that holds a function or custom tool output over the budget.
    pub fn cut(self, item: Arc<ResponseItem>) -> CutItem {
        let (ResponseItem::FunctionCallOutput(_) | ResponseItem::CustomToolCallOutput(_)) = &*item else {
            return CutItem::Whole(item);
        };
        let shortened = match &*item {
            ResponseItem::FunctionCallOutput(output) => self.cut_output(&output.output).map(|short| {
                let mut output = output.clone();
                output.output = short;
                ResponseItem::FunctionCallOutput(output)
            }),
            ResponseItem::CustomToolCallOutput(output) => self.cut_output(&output.output).map(|short| {
                let mut output = output.clone();
                output.output = short;
                ResponseItem::CustomToolCallOutput(output)
            }),
            _ => None,
        };
        match shortened {
            Some(short) => CutItem::Shortened(Arc::new(short)),
            None => CutItem::Whole(item),
        }
    }

    fn unit(self) -> Unit {
        match self {
            ToolOutputLimit::Bytes(_) => Unit::Bytes,
            ToolOutputLimit::Tokens(_) => Unit::Tokens,
        }
    }

    /// 1.2 times the limit, rounded up, in the limit's own unit.
    fn budget(self) -> u64 {
        let (ToolOutputLimit::Bytes(limit) | ToolOutputLimit::Tokens(limit)) = self;
        let fifth = limit / 5 + u64::from(!limit.is_multiple_of(5));
        limit.saturating_add(fifth)
    }

    /// `None` where the output fits.
    fn cut_output(self, output: &ToolOutput) -> Option<ToolOutput> {
        let budget = self.budget();
        match output {
            ToolOutput::Text(text) => cut_text(text, budget, self.unit()).map(ToolOutput::Text),
            ToolOutput::Parts(parts) => cut_parts(parts, budget, self.unit()).map(ToolOutput::Parts),
        }
    }
}

/// One budget for all text parts, in order. Pictures and encrypted parts always stay and cost nothing.
fn cut_parts(parts: &[OutputPart], budget: u64, unit: Unit) -> Option<Vec<OutputPart>> {
    let (mut left, mut omitted, mut changed) = (budget, 0_usize, false);
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        let OutputPart::InputText(Text { text }) = part else {
            kept.push(part.clone());
            continue;
        };
        if left == 0 {
            omitted += 1;
            continue;
        }
        match cut_text(text, left, unit) {
            None => {
                left -= cost(text, unit).min(left);
                kept.push(part.clone());
            }
            Some(text) => {
                (left, changed) = (0, true);
                kept.push(OutputPart::InputText(Text { text }));
            }
        }
    }
    if omitted > 0 {
        let text = format!("[omitted {omitted} text items ...]");
        kept.push(OutputPart::InputText(Text { text }));
    }
    (changed || omitted > 0).then_some(kept)
}

fn cost(text: &str, unit: Unit) -> u64 {
    let bytes = text.len() as u64;
    match unit {
        Unit::Bytes => bytes,
        Unit::Tokens => bytes.div_ceil(BYTES_PER_TOKEN),
    }
}

/// Cuts a text to a number of tokens, as the program does with the oldest user message that a message-only compaction
/// keeps. `None` where the text fits.
pub fn cut_text_to_tokens(text: &str, tokens: u64) -> Option<String> {
    cut_text(text, tokens, Unit::Tokens)
}

/// A text over the budget keeps its first and its last half, with a marker between them. `None` where it fits.
fn cut_text(text: &str, budget: u64, unit: Unit) -> Option<String> {
    let bytes = match unit {
        Unit::Bytes => budget,
        Unit::Tokens => budget.saturating_mul(BYTES_PER_TOKEN),
    };
    // A budget that no text can exceed needs no cutting.
    let budget = usize::try_from(bytes).ok().filter(|&budget| budget < text.len())?;
    let head = text.get(..floor_boundary(text, budget / 2)).unwrap_or_default();
    let tail_from = ceil_boundary(text, text.len() - (budget - budget / 2));
    let tail = text.get(tail_from..).unwrap_or_default();
    let marker = match unit {
        Unit::Bytes => {
            let kept = head.chars().count() + tail.chars().count();
            format!("…{} chars truncated…", text.chars().count() - kept)
        }
        Unit::Tokens => {
            let over = (text.len() - budget) as u64;
            format!("…{} tokens truncated…", over.div_ceil(BYTES_PER_TOKEN))
        }
    };
    Some(format!("{head}{marker}{tail}"))
}

/// The last place up to `at` where a character begins.
fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The first place from `at` on where a character begins, or the end.
fn ceil_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// Why a limit cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a tool output limit: {0:?}; write bytes:N or tokens:N, N a whole number")]
pub struct LimitError(String);

/// Reads `bytes:10000` or `tokens:10000`.
impl FromStr for ToolOutputLimit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<ToolOutputLimit, LimitError> {
        let error = || LimitError(text.chars().take(40).collect());
        let (unit, limit) = text.split_once(':').ok_or_else(error)?;
        let limit = limit.parse().map_err(|_| error())?;
        match unit {
            "bytes" => Ok(ToolOutputLimit::Bytes(limit)),
            "tokens" => Ok(ToolOutputLimit::Tokens(limit)),
            _ => Err(error()),
        }
    }
}

/// As it is read.
impl fmt::Display for ToolOutputLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolOutputLimit::Bytes(limit) => write!(f, "bytes:{limit}"),
            ToolOutputLimit::Tokens(limit) => write!(f, "tokens:{limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(texts: &[&str]) -> Vec<OutputPart> {
        texts.iter().map(|text| OutputPart::InputText(Text { text: (*text).to_owned() })).collect()
    }

    #[test]
    fn the_budget_is_the_limit_and_a_fifth_rounded_up() {
        let bytes = |limit| ToolOutputLimit::Bytes(limit).budget();
        assert_eq!([bytes(4), bytes(28), bytes(404), bytes(10_000), bytes(0)], [5, 34, 485, 12_000, 0]);
        let tokens = |limit| ToolOutputLimit::Tokens(limit).budget() * 4;
        assert_eq!([tokens(1), tokens(7), tokens(101), tokens(10_000)], [8, 36, 488, 48_000]);
        assert_eq!(bytes(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_text_one_byte_over_loses_one_character() {
        let cut = cut_text(&"x".repeat(12_001), 12_000, Unit::Bytes);
        let half = "x".repeat(6000);
        assert_eq!(cut, Some(format!("{half}…1 chars truncated…{half}")));
        assert_eq!(cut_text(&"x".repeat(12_000), 12_000, Unit::Bytes), None);
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let text = "é€😀".repeat(50);
        for budget in 0..=text.len() as u64 {
            for unit in [Unit::Bytes, Unit::Tokens] {
                let cut = cut_text(&text, budget, unit);
                assert_eq!(cut.is_none(), cost_in_bytes(budget, unit) >= text.len() as u64);
            }
        }
    }

    fn cost_in_bytes(budget: u64, unit: Unit) -> u64 {
        if unit == Unit::Bytes { budget } else { budget * 4 }
    }

    #[test]
    fn parts_share_one_budget() {
        let (x, y) = ("x".repeat(6000), "y".repeat(7000));
        let cut = cut_parts(&parts(&[&x, &y, "zzzzzzzzzz"]), 12_000, Unit::Bytes);
        let y = "y".repeat(3000);
        let middle = format!("{y}…1000 chars truncated…{y}");
        assert_eq!(cut, Some(parts(&[&x, &middle, "[omitted 1 text items ...]"])));
    }

    #[test]
    fn nothing_is_said_to_be_omitted_where_the_last_text_is_cut() {
        let cut = cut_parts(&parts(&["xx", "yyyyyy"]), 4, Unit::Bytes);
        assert_eq!(cut, Some(parts(&["xx", "y…4 chars truncated…y"])));
    }

    #[test]
    fn an_exact_fit_leaves_nothing_for_later_parts_not_even_empty_ones() {
        let cut = cut_parts(&parts(&["xxxx", "", ""]), 4, Unit::Bytes);
        assert_eq!(cut, Some(parts(&["xxxx", "[omitted 2 text items ...]"])));
        assert_eq!(cut_parts(&parts(&["xxx", "", ""]), 4, Unit::Bytes), None);
    }

    #[test]
    fn a_limit_is_read_as_it_is_shown() {
        for text in ["bytes:0", "tokens:10000", "bytes:18446744073709551615"] {
            assert_eq!(text.parse::<ToolOutputLimit>().map(|limit| limit.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "bytes", "bytes:", "bytes:-1", "chars:1", "tokens:1.5", "bytes:18446744073709551616"]
        {
            assert!(text.parse::<ToolOutputLimit>().is_err(), "{text}");
        }
    }
}
