//! The rules of recording: what is for the model, how long outputs are cut, what a rollback takes off.

use super::{Hand, Slip};
use crate::history::{ToolOutputLimit, is_context_message, rollback_cut};
use crate::item::{OutputPart, ResponseItem, ToolOutput};
use std::sync::Arc;

/// The limit of tool outputs; the same as the reference's, so that one generator fits both.
pub(super) const LIMIT: ToolOutputLimit = ToolOutputLimit::Bytes(100);

/// What an output may have under that limit, in bytes.
const BUDGET: usize = 120;

/// A limit whose budget is what [`LIMIT`] seems to say: 100 bytes.
const TIGHT: ToolOutputLimit = ToolOutputLimit::Bytes(83);

impl Hand {
    /// An item as it is recorded; `None` where it is not for the model.
    pub(super) fn recorded(&self, item: &ResponseItem, last: Option<&ResponseItem>) -> Option<ResponseItem> {
        let item = Some(item).filter(|item| self.is_for_the_model(item))?;
        let recorded = self.cut(item);
        (!(self.slips(Slip::FilterRepeats) && last == Some(&recorded))).then_some(recorded)
    }

    /// Everything but system messages, compaction triggers and unknown kinds.
    pub(super) fn is_for_the_model(&self, item: &ResponseItem) -> bool {
        match item {
            ResponseItem::Message(message) => match self.slip {
                Some(Slip::RecordSystem) => true,
                Some(Slip::FilterDevelopers) => message.role != "system" && message.role != "developer",
                Some(Slip::FilterOddRoles) => {
                    ["user", "assistant", "developer"].contains(&message.role.as_str())
                }
                _ => message.role != "system",
            },
            ResponseItem::CompactionTrigger => self.slips(Slip::RecordTrigger),
            ResponseItem::Other(_) => self.slips(Slip::RecordUnknown),
            ResponseItem::Reasoning(_) => !self.slips(Slip::FilterReasoning),
            _ => true,
        }
    }

    /// The item with a long function or custom tool output cut.
    pub(super) fn cut(&self, item: &ResponseItem) -> ResponseItem {
        let by = |limit: ToolOutputLimit| Arc::unwrap_or_clone(limit.cut(Arc::new(item.clone())).into_item());
        let Some(output) = tool_output(item) else { return item.clone() };
        match (self.slip, output) {
            (Some(Slip::CutNothing), _) => item.clone(),
            (Some(Slip::CutNotCustom), _) if matches!(item, ResponseItem::CustomToolCallOutput(_)) => {
                item.clone()
            }
            (Some(Slip::CutNotParts), ToolOutput::Parts(_)) => item.clone(),
            (Some(Slip::CutByCharacters), ToolOutput::Text(text)) if text.chars().count() <= BUDGET => {
                item.clone()
            }
            (Some(Slip::CutAtTheLimit), _) => by(TIGHT),
            (Some(Slip::CutHeadOnly), ToolOutput::Text(text)) if text.len() > BUDGET => {
                with_output(item, ToolOutput::Text(head(text)))
            }
            (Some(Slip::CutEachPart), ToolOutput::Parts(parts)) => {
                let parts = parts.iter().flat_map(|part| self.cut_alone(item, part)).collect();
                with_output(item, ToolOutput::Parts(parts))
            }
            _ => by(LIMIT),
        }
    }

    /// A part cut as if it were the only one of its item.
    fn cut_alone(&self, item: &ResponseItem, part: &OutputPart) -> Vec<OutputPart> {
        let alone = with_output(item, ToolOutput::Parts(vec![part.clone()]));
        match tool_output(&LIMIT.cut(Arc::new(alone)).into_item()) {
            Some(ToolOutput::Parts(parts)) => parts.clone(),
            _ => Vec::new(),
        }
    }

    /// Takes the last turns off a history.
    pub(super) fn take_back(&self, items: &mut Vec<ResponseItem>, turns: u32) {
        let turns = match self.slip {
            Some(Slip::RollbackTooMany) => u64::from(turns) + 1,
            Some(Slip::RollbackTooFew) => u64::from(turns.saturating_sub(1)),
            _ => u64::from(turns),
        };
        let cut = match self.slip {
            Some(Slip::RollbackByItems) => {
                Some(items.len().saturating_sub(usize::try_from(turns).unwrap_or(0)))
            }
            Some(Slip::RollbackCountsContext) => {
                let users =
                    |item: &ResponseItem| matches!(item, ResponseItem::Message(m) if m.role == "user");
                let starts = items.iter().enumerate().filter(|(_, item)| users(item)).map(|(at, _)| at);
                starts.rev().take(usize::try_from(turns).unwrap_or(0)).last()
            }
            _ => rollback_cut(&*items, turns),
        };
        let Some(mut cut) = cut else { return };
        if self.slips(Slip::RollbackKeepsContext) {
            cut += items.iter().skip(cut).take_while(|item| is_context_message(item)).count();
        }
        let is_all = rollback_cut(&*items, u64::MAX) == Some(cut);
        items.truncate(if is_all && self.slips(Slip::RollbackClearsAll) { 0 } else { cut });
    }
}

fn tool_output(item: &ResponseItem) -> Option<&ToolOutput> {
    match item {
        ResponseItem::FunctionCallOutput(output) => Some(&output.output),
        ResponseItem::CustomToolCallOutput(output) => Some(&output.output),
        _ => None,
    }
}

fn with_output(item: &ResponseItem, output: ToolOutput) -> ResponseItem {
    let mut item = item.clone();
    match &mut item {
        ResponseItem::FunctionCallOutput(old) => old.output = output,
        ResponseItem::CustomToolCallOutput(old) => old.output = output,
        _ => {}
    }
    item
}

/// The beginning of a text, as long as the budget allows.
fn head(text: &str) -> String {
    let mut length = 0;
    let fits = |c: &char| {
        length += c.len_utf8();
        length <= BUDGET
    };
    text.chars().take_while(fits).chain("…".chars()).collect()
}
