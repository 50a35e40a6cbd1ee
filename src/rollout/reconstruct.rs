//! From the lines of a rollout to the history that the program resumes with.
//!
//! First it is settled where reading begins, walking from the last line back, since a rollback can take away a
//! compaction. Then the lines are read forward: items are added (filtered and cut as while recording), a compaction
//! replaces all, a rollback takes off.

use super::line::{Compacted, Event, RolloutLine};
use super::pieces::{Fate, walk_back};
use super::read::Located;
use crate::history::{
    CutItem, ToolOutputLimit, cut_text_to_tokens, is_api_message, is_context_message, rollback_cut,
};
use crate::item::{ContentPart, ItemList, Message, ResponseItem, Text};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Where an item of a reconstructed history comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The physical line, counted from 1.
    pub line: usize,
    /// The place within the `replacement_history` of that line, counted from 0, where it is from one.
    pub inside: Option<usize>,
}

/// The history that a rollout gives, before pictures are prepared.
#[derive(Debug, Clone, Default)]
pub struct Reconstruction {
    /// The items, oldest first.
    pub items: ItemList,
    /// Where each is from, in the same order.
    pub origins: Vec<Origin>,
    /// The lines whose tool output was over the limit and was cut; also such as a compaction took away later.
    pub cut_lines: Vec<usize>,
}

/// Reconstructs the history. `limit` is that of the model of the resume; `None` cuts nothing.
///
/// Works on any lines, also of a file that the program would refuse as a whole.
pub fn reconstruct(lines: &[Located<RolloutLine>], limit: Option<ToolOutputLimit>) -> Reconstruction {
    let mut reading = Reading { limit, history: Vec::new(), cut_lines: Vec::new() };
    let start = reading_start(lines);
    if let Start::With(at) = start
        && let Some(Located { line, value: RolloutLine::Compacted(compacted) }) = lines.get(at)
    {
        reading.compact(*line, compacted);
    }
    let from = match start {
        Start::AtTheBeginning => 0,
        Start::With(at) | Start::EmptyAfter(at) => at + 1,
    };
    lines.iter().skip(from).for_each(|line| reading.take(line));
    let (items, origins): (Vec<_>, Vec<_>) = reading.history.into_iter().unzip();
    Reconstruction { items: items.into_iter().collect(), origins, cut_lines: reading.cut_lines }
}

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    AtTheBeginning,
    /// With the replacement history of the compaction at this place.
    With(usize),
    /// With nothing, behind the compaction at this place: it was taken back.
    EmptyAfter(usize),
}

pub(super) fn reading_start(lines: &[Located<RolloutLine>]) -> Start {
    let (mut start, mut oldest_dropped) = (None, None);
    walk_back(lines, |piece, fate| {
        match fate {
            Fate::Kept => start = piece.compaction.map(Start::With),
            // On the way back the oldest comes last.
            Fate::Dropped => oldest_dropped = piece.compaction.or(oldest_dropped),
        }
        if start.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    start.or(oldest_dropped.map(Start::EmptyAfter)).unwrap_or(Start::AtTheBeginning)
}

struct Reading {
    limit: Option<ToolOutputLimit>,
    history: Vec<(Arc<ResponseItem>, Origin)>,
    cut_lines: Vec<usize>,
}

impl Reading {
    fn take(&mut self, line: &Located<RolloutLine>) {
        match &line.value {
            RolloutLine::ResponseItem(item) => self.record(line.line, Arc::clone(item)),
            RolloutLine::InterAgent(communication) => {
                self.record(line.line, Arc::new(communication.to_item()))
            }
            RolloutLine::Compacted(compacted) => self.compact(line.line, compacted),
            RolloutLine::Event(Event::ThreadRolledBack { num_turns }) => {
                let items = self.history.iter().map(|(item, _)| &**item);
                if let Some(len) = rollback_cut(items, u64::from(*num_turns)) {
                    self.history.truncate(len);
                }
            }
            RolloutLine::Event(_)
            | RolloutLine::SessionMeta(_)
            | RolloutLine::TurnContext { .. }
            | RolloutLine::WorldState(_)
            | RolloutLine::InterAgentMetadata => {}
        }
    }

    fn record(&mut self, line: usize, item: Arc<ResponseItem>) {
        if !is_api_message(&item) {
            return;
        }
        let item = match self.limit.map(|limit| limit.cut(Arc::clone(&item))) {
            Some(CutItem::Shortened(short)) => {
                self.cut_lines.push(line);
                short
            }
            Some(CutItem::Whole(_)) | None => item,
        };
        self.history.push((item, Origin { line, inside: None }));
    }

    /// What a compaction leaves: its replacement history as it is, neither filtered nor cut; or the user messages so far and
    /// its message.
    fn compact(&mut self, line: usize, compacted: &Compacted) {
        self.history = match &compacted.replacement_history {
            Some(items) => {
                let origin = |inside| Origin { line, inside: Some(inside) };
                items.iter().enumerate().map(|(inside, item)| (Arc::clone(item), origin(inside))).collect()
            }
            None => {
                let user_texts = self.history.iter().rev().filter_map(|(item, _)| summarised_text(item));
                let texts = newest_texts(user_texts);
                let summary = match compacted.message.as_str() {
                    "" => "(no summary available)",
                    message => message,
                };
                let texts = texts.into_iter().chain([summary.to_owned()]);
                texts.map(|text| (Arc::new(user_message(text)), Origin { line, inside: None })).collect()
            }
        };
    }
}

fn user_message(text: String) -> ResponseItem {
    let content = vec![ContentPart::InputText(Text { text })];
    ResponseItem::Message(Message { id: None, role: "user".to_owned(), content, phase: None })
}

/// How much of the user messages a message-only compaction keeps: 80000 bytes.
const KEPT_TOKENS: u64 = 20_000;

/// Of texts, the newest first, those up to [`KEPT_TOKENS`], the last of them cut in the middle; the oldest first.
pub(crate) fn newest_texts(texts: impl Iterator<Item = String>) -> VecDeque<String> {
    let (mut kept, mut left) = (VecDeque::new(), KEPT_TOKENS);
    for text in texts {
        if left == 0 {
            break;
        }
        match cut_text_to_tokens(&text, left) {
            Some(cut) => {
                left = 0;
                kept.push_front(cut);
            }
            None => {
                left -= (text.len() as u64).div_ceil(4).min(left);
                kept.push_front(text);
            }
        }
    }
    kept
}

/// The text of a message that a user wrote: no context, no earlier summary.
fn summarised_text(item: &ResponseItem) -> Option<String> {
    user_text(item).filter(|text| !begins_with_summary_lead(text))
}

/// The text of a message of role `user` that is no context.
pub(crate) fn user_text(item: &ResponseItem) -> Option<String> {
    let ResponseItem::Message(message) = item else { return None };
    if message.role != "user" || is_context_message(item) {
        return None;
    }
    let texts = message.content.iter().filter_map(|part| match part {
        ContentPart::InputText(text) => Some(text.text.as_str()),
        ContentPart::InputImage(_) | ContentPart::OutputText(_) => None,
    });
    Some(texts.collect())
}

/// The lead that the program puts before a summary is the vendor's text; it is known here by length and hash.
const SUMMARY_LEAD_BYTES: usize = 399;
const SUMMARY_LEAD_SHA256: [u8; 32] = [
    0xe9, 0xb0, 0x88, 0xe7, 0x94, 0xa6, 0xbb, 0x90, 0x82, 0xac, 0x05, 0x3f, 0xcc, 0x76, 0x0b, 0xd8, 0x18,
    0xd7, 0xe7, 0x20, 0xee, 0x4b, 0xdc, 0x72, 0xc6, 0xe4, 0x80, 0xde, 0x7b, 0x7c, 0xb0, 0xe0,
];

fn begins_with_summary_lead(text: &str) -> bool {
    let Some((lead, rest)) = text.as_bytes().split_at_checked(SUMMARY_LEAD_BYTES) else { return false };
    rest.first() == Some(&b'\n') && Sha256::digest(lead).as_slice() == SUMMARY_LEAD_SHA256
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::Rollout;

    const META: &str = r#"{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/","originator":"o","cli_version":"1"}"#;

    fn line(line_type: &str, payload: &str) -> String {
        format!("{{\"timestamp\":\"t\",\"type\":\"{line_type}\",\"payload\":{payload}}}\n")
    }

    fn said(role: &str, text: &str) -> String {
        line("response_item", &message(role, text))
    }

    fn message(role: &str, text: &str) -> String {
        format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    }

    fn compacted(texts: &[&str]) -> String {
        let items: Vec<String> = texts.iter().map(|text| message("user", text)).collect();
        line("compacted", &format!(r#"{{"message":"","replacement_history":[{}]}}"#, items.join(",")))
    }

    fn summarised(message: &str) -> String {
        line("compacted", &format!(r#"{{"message":"{message}"}}"#))
    }

    fn event(name: &str, rest: &str) -> String {
        line("event_msg", &format!(r#"{{"type":"{name}",{rest}}}"#))
    }

    fn started(turn: &str) -> String {
        event("task_started", &format!(r#""turn_id":"{turn}""#))
    }

    fn complete(turn: &str) -> String {
        event("task_complete", &format!(r#""turn_id":"{turn}""#))
    }

    fn rolled_back(turns: u32) -> String {
        event("thread_rolled_back", &format!(r#""num_turns":{turns}"#))
    }

    fn reconstruction(lines: &[String]) -> Reconstruction {
        let text = line("session_meta", META) + &lines.concat();
        let rollout = Rollout::from_bytes(text.as_bytes()).expect("memory can be read");
        assert_eq!(rollout.skipped, []);
        reconstruct(&rollout.lines, Some(ToolOutputLimit::Bytes(10)))
    }

    /// The texts of the history that the lines give.
    fn texts(lines: &[String]) -> Vec<String> {
        let items = reconstruction(lines).items;
        items.iter().filter_map(|item| user_text(item)).collect()
    }

    #[test]
    fn only_the_lead_itself_is_taken_for_the_lead_of_a_summary() {
        // The lead is not ours to write down, so what is tested is what is not it.
        let same_length = "x".repeat(SUMMARY_LEAD_BYTES);
        for text in
            ["", "\n", "x", &same_length, &format!("{same_length}\n"), &format!("{same_length}\nmore")]
        {
            assert!(!begins_with_summary_lead(text), "{} bytes", text.len());
        }
        // A character across the place where the lead would end.
        assert!(!begins_with_summary_lead(&format!("{}é\n", "x".repeat(SUMMARY_LEAD_BYTES - 1))));
        let [q1, summary] = ["q1", &format!("{same_length}\\nS1")].map(str::to_owned);
        let lines = [said("user", &q1), summarised(&summary), said("user", "q2"), summarised("S2")];
        assert_eq!(texts(&lines), ["q1", &summary.replace("\\n", "\n"), "q2", "S2"]);
    }

    #[test]
    fn a_compaction_without_a_list_keeps_80000_bytes_of_user_texts() {
        let [a, b, c] = ["a", "b", "c"].map(|letter| letter.repeat(40_000));
        let three = [said("user", &a), said("user", &b), said("user", &c), summarised("S")];
        assert_eq!(texts(&three), [&b, &c, "S"], "two fit to the byte, and the oldest goes");
        let one_over = [said("user", &a), said("user", "b"), said("user", &c), summarised("S")];
        let kept = texts(&one_over);
        let half = "a".repeat(19_998);
        // A text of 1 byte costs a whole token.
        assert_eq!(kept, [&format!("{half}…1 tokens truncated…{half}"), "b", &c, "S"]);
    }

    #[test]
    fn of_user_texts_only_what_a_person_wrote_is_kept() {
        let lines = [
            said("user", "<environment_context>x</environment_context>"),
            said("assistant", "r"),
            said("developer", "d"),
            said("user", "q"),
            summarised(""),
        ];
        assert_eq!(texts(&lines), ["q", "(no summary available)"]);
    }

    #[test]
    fn an_output_is_cut_with_its_line_noted_and_not_within_a_compaction() {
        let output =
            |text: &str| format!(r#"{{"type":"function_call_output","call_id":"c","output":"{text}"}}"#);
        let long = "x".repeat(100);
        let inside = format!(r#"{{"message":"","replacement_history":[{}]}}"#, output(&long));
        let lines = [line("compacted", &inside), line("response_item", &output(&long))];
        let Reconstruction { items, origins, cut_lines } = reconstruction(&lines);
        let wire: Vec<String> = items.iter().map(|item| item.to_wire()).collect();
        assert_eq!(wire, [output(&long), output("xxxxxx…88 chars truncated…xxxxxx")]);
        let origin = |line, inside| Origin { line, inside };
        assert_eq!(origins, [origin(2, Some(0)), origin(3, None)]);
        assert_eq!(cut_lines, [3]);
    }

    #[test]
    fn a_turn_is_closed_by_the_start_event_of_the_same_turn_only() {
        let compaction = || [started("t1"), compacted(&["S"]), complete("t1")];
        let turn = |start: &str, end: String| [started(start), said("user", "q2"), end];
        let rolled_back = |turn: [String; 3]| texts(&[&compaction()[..], &turn, &[rolled_back(1)]].concat());
        assert_eq!(rolled_back(turn("t2", complete("t2"))), ["S"]);
        assert_eq!(rolled_back(turn("t2", complete("zz"))), [""; 0], "the compaction falls to the same turn");
        let aborted = event("turn_aborted", r#""reason":"interrupted","turn_id":"t2""#);
        assert_eq!(rolled_back(turn("t2", aborted)), ["S"]);
        let aborted_elsewhere = event("turn_aborted", r#""reason":"interrupted","turn_id":"zz""#);
        assert_eq!(rolled_back(turn("t2", aborted_elsewhere)), [""; 0]);
        let aborted_without_id = event("turn_aborted", r#""reason":"interrupted""#);
        assert_eq!(rolled_back(turn("t2", aborted_without_id)), ["S"]);
        let context = line("turn_context", r#"{"turn_id":"zz"}"#);
        assert_eq!(rolled_back(turn("t2", context)), [""; 0]);
        let context_without_id = line("turn_context", "{}");
        assert_eq!(rolled_back(turn("t2", context_without_id)), ["S"]);
    }

    #[test]
    fn the_last_turn_id_before_the_start_event_is_the_one_that_counts() {
        // Read from the end, the first one met names the turn; later ones do not.
        let lines = [
            started("t1"),
            compacted(&["S"]),
            complete("t1"),
            started("t2"),
            line("turn_context", r#"{"turn_id":"zz"}"#),
            said("user", "q2"),
            complete("t2"),
            rolled_back(1),
        ];
        assert_eq!(texts(&lines), ["S"]);
    }

    #[test]
    fn a_turn_without_anything_of_a_user_costs_a_rollback_nothing() {
        let lines = [
            started("t1"),
            compacted(&["S"]),
            complete("t1"),
            started("t2"),
            said("user", "q2"),
            complete("t2"),
            started("t3"),
            said("assistant", "r3"),
            complete("t3"),
            rolled_back(1),
        ];
        assert_eq!(
            texts(&lines),
            ["S"],
            "the turn without a user is dropped on the way, the next one counts"
        );
    }

    #[test]
    fn a_number_of_turns_that_no_file_has_takes_all_of_them_without_overflow() {
        let lines = [said("user", "q1"), rolled_back(u32::MAX), rolled_back(u32::MAX), said("user", "q2")];
        assert_eq!(texts(&lines), ["q2"]);
    }
}
