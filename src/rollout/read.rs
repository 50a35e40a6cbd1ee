//! Reading a rollout: every line with its number, and every line that is skipped with its reason.

use super::line::{Event, LineProblem, RolloutLine, SessionMeta};
use super::lines::{Caps, Lines, LinesError};
use std::io::Read;

/// Something with the place that it has in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// The physical line, counted from 1.
    pub line: usize,
    /// What stands there.
    pub value: T,
}

/// A rollout as it was read. Lines that the program skips in silence are skipped here too, and kept in `skipped`.
#[derive(Debug, Clone, Default)]
pub struct Rollout {
    /// The lines that load, in order.
    pub lines: Vec<Located<RolloutLine>>,
    /// The lines that do not, in order; blank lines are neither.
    pub skipped: Vec<Located<LineProblem>>,
    /// The number of physical lines.
    pub physical_lines: usize,
    /// Whether the file ends in the middle of a line or without a line end. 0.144.6 writes its next line straight behind
    /// it, and loses one or both.
    pub unfinished: bool,
    /// Whether the file was compressed.
    pub compressed: bool,
}

/// Why the program refuses to resume a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// One byte is enough, also in a line that would be skipped.
    #[error("line {line}: stream did not contain valid UTF-8; the program does not resume such a file")]
    NotUtf8 {
        /// Where.
        line: usize,
    },
    /// No line loads.
    #[error("the file is empty: no line of it loads")]
    Empty,
    /// The first item, or the end, comes before a session_meta that loads.
    #[error(
        "the file does not start with session metadata: a session_meta line must stand before the first item"
    )]
    NoSessionMeta {
        /// The line of the first item, where there is one.
        first_item: Option<usize>,
    },
}

impl Rollout {
    /// Reads a rollout, plain or compressed.
    ///
    /// # Errors
    /// Where reading itself fails, or a cap is exceeded. What the lines hold is never an error; see [`refusal`](Self::refusal).
    pub fn read(reader: impl Read, caps: Caps) -> Result<Rollout, LinesError> {
        let mut lines = Lines::new(reader, caps)?;
        let mut rollout = Rollout { compressed: lines.compressed(), ..Rollout::default() };
        while let Some(physical) = lines.next_line()? {
            rollout.physical_lines = physical.number;
            rollout.unfinished = !physical.ended;
            rollout.take(physical.number, physical.bytes);
            lines.keep()?;
        }
        Ok(rollout)
    }

    /// Reads a rollout that is in memory; the same as [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_bytes(bytes: &[u8]) -> Result<Rollout, LinesError> {
        Rollout::read(bytes, Caps::default())
    }

    fn take(&mut self, line: usize, bytes: &[u8]) {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let value = LineProblem::NotUtf8(error.valid_up_to());
                return self.skipped.push(Located { line, value });
            }
        };
        if text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return;
        }
        match RolloutLine::load(text) {
            Ok(value) => self.lines.push(Located { line, value }),
            Err(value) => self.skipped.push(Located { line, value }),
        }
    }

    /// Why the program would not resume this file, if so.
    pub fn refusal(&self) -> Option<Refusal> {
        let not_utf8 = |skipped: &&Located<LineProblem>| matches!(skipped.value, LineProblem::NotUtf8(_));
        if let Some(skipped) = self.skipped.iter().find(not_utf8) {
            return Some(Refusal::NotUtf8 { line: skipped.line });
        }
        if self.lines.is_empty() {
            return Some(Refusal::Empty);
        }
        if self.session_meta().is_some() {
            return None;
        }
        let first_item = self.lines.iter().find(|line| is_item(&line.value)).map(|line| line.line);
        Some(Refusal::NoSessionMeta { first_item })
    }

    /// The session_meta that counts: the first one, if it stands before the first item. Later ones, of forks, are ignored.
    pub fn session_meta(&self) -> Option<&SessionMeta> {
        self.lines.iter().take_while(|line| !is_item(&line.value)).find_map(|line| match &line.value {
            RolloutLine::SessionMeta(meta) => Some(meta),
            _ => None,
        })
    }

    /// Whether the last turn was left open: it began and neither ended nor was broken off.
    pub fn ends_in_a_turn(&self) -> bool {
        let last = self.lines.iter().rev().find_map(|line| match &line.value {
            RolloutLine::Event(event @ (Event::TaskStarted { .. } | Event::TaskComplete { .. })) => {
                Some(event)
            }
            RolloutLine::Event(event @ Event::TurnAborted { .. }) => Some(event),
            _ => None,
        });
        matches!(last, Some(Event::TaskStarted { .. }))
    }
}

fn is_item(line: &RolloutLine) -> bool {
    matches!(line, RolloutLine::ResponseItem(_) | RolloutLine::InterAgent(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonProblem;

    const META: &str = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/","originator":"o","cli_version":"1"}}"#;
    const ITEM: &str = r#"{"timestamp":"t","type":"response_item","payload":{"type":"web_search_call"}}"#;
    const TRIGGER: &str =
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"compaction_trigger"}}"#;

    fn read(lines: &[&str]) -> Rollout {
        Rollout::from_bytes(lines.join("\n").as_bytes()).expect("memory can be read")
    }

    fn event(payload: &str) -> String {
        format!(r#"{{"timestamp":"t","type":"event_msg","payload":{payload}}}"#)
    }

    #[test]
    fn every_line_keeps_its_physical_number_whatever_stands_before_it() {
        let rollout = read(&[META, "", " \t\r", "junk", ITEM, "{}", ""]);
        assert_eq!(rollout.lines.iter().map(|line| line.line).collect::<Vec<_>>(), [1, 5]);
        assert_eq!(rollout.skipped.iter().map(|line| line.line).collect::<Vec<_>>(), [4, 6]);
        assert_eq!((rollout.physical_lines, rollout.unfinished), (6, false));
    }

    #[test]
    fn blanks_are_space_tab_and_cr_and_nothing_else() {
        let around = |blank: &str| read(&[META, &format!("{blank}{ITEM}{blank}")]).skipped.len();
        let alone = |blank: &str| read(&[META, blank]).skipped.len();
        for blank in [" ", "\t", "\r"] {
            assert_eq!((around(blank), alone(blank)), (0, 0), "{blank:?}");
        }
        for blank in ["\u{c}", "\u{b}", "\u{a0}", "\u{3000}", "\u{feff}", "\u{2028}"] {
            assert_eq!((around(blank), alone(blank)), (1, 1), "{blank:?}");
        }
    }

    #[test]
    fn glued_and_torn_lines_are_skipped_with_their_reason() {
        let glued = format!("{ITEM}{ITEM}");
        let rollout = read(&[META, &glued, &ITEM[..20]]);
        let problems: Vec<_> = rollout.skipped.iter().map(|line| &line.value).collect();
        let [LineProblem::NotJson(glued), LineProblem::NotJson(torn)] = problems[..] else {
            panic!("expected two lines that are no JSON, got {problems:?}")
        };
        assert_eq!((glued.problem, glued.offset), (JsonProblem::Trailing, ITEM.len()));
        assert_eq!((torn.problem, torn.offset), (JsonProblem::UnexpectedEnd, 20));
        assert!(rollout.unfinished);
    }

    #[test]
    fn a_byte_that_is_no_text_is_refused_before_all_else() {
        let bytes = [META.as_bytes(), b"\n\nju\xffnk\n", ITEM.as_bytes()].concat();
        let rollout = Rollout::from_bytes(&bytes).expect("memory can be read");
        assert_eq!(rollout.refusal(), Some(Refusal::NotUtf8 { line: 3 }));
        assert_eq!(rollout.skipped, [Located { line: 3, value: LineProblem::NotUtf8(2) }]);
        assert_eq!(rollout.lines.len(), 2, "what can be read is");
        let only_junk = Rollout::from_bytes(b"\xff").expect("memory can be read");
        assert_eq!(only_junk.refusal(), Some(Refusal::NotUtf8 { line: 1 }));
    }

    #[test]
    fn a_file_of_which_no_line_loads_is_empty() {
        for lines in [&[""][..], &["junk", "{}"], &[&format!("\u{feff}{META}")], &["\r"]] {
            assert_eq!(read(lines).refusal(), Some(Refusal::Empty), "{lines:?}");
        }
    }

    #[test]
    fn a_session_meta_must_stand_before_the_first_item_that_loads() {
        let bad_item = r#"{"timestamp":"t","type":"response_item","payload":{"type":"message"}}"#;
        let before = [bad_item, "junk", r#"{"timestamp":"t","type":"turn_context","payload":{}}"#];
        for line in before {
            assert_eq!(read(&[line, META, ITEM]).refusal(), None, "{line}");
        }
        for line in [ITEM, TRIGGER] {
            let refusal = Some(Refusal::NoSessionMeta { first_item: Some(2) });
            assert_eq!(read(&["junk", line, META]).refusal(), refusal, "{line}");
        }
        let world = r#"{"timestamp":"t","type":"world_state","payload":{}}"#;
        assert_eq!(read(&[world]).refusal(), Some(Refusal::NoSessionMeta { first_item: None }));
    }

    #[test]
    fn a_compressed_rollout_is_known_as_one() {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        let plain = format!("{META}\n{ITEM}\n").into_bytes();
        let packed = compress_to_vec(plain.as_slice(), CompressionLevel::Fastest);
        let read = |bytes: &[u8]| Rollout::from_bytes(bytes).expect("it is read");
        assert!(!read(&plain).compressed && read(&packed).compressed);
        assert_eq!(read(&packed).physical_lines, 2);
    }

    #[test]
    fn the_first_session_meta_counts_and_later_ones_do_not() {
        let other = META.replace("11111111", "22222222");
        let id = |rollout: &Rollout| rollout.session_meta().map(|meta| meta.id.to_string());
        let rollout = read(&[META, ITEM, &other]);
        assert_eq!(id(&rollout).as_deref(), Some("11111111-1111-7111-8111-111111111111"));
        assert_eq!(id(&read(&[ITEM, &other])), None);
    }

    #[test]
    fn a_turn_is_open_from_its_start_to_its_end_or_its_breaking_off() {
        let started = event(r#"{"type":"turn_started","turn_id":"a"}"#);
        let complete = event(r#"{"type":"task_complete","turn_id":"a"}"#);
        let aborted = event(r#"{"type":"turn_aborted","reason":"interrupted"}"#);
        assert!(!read(&[META]).ends_in_a_turn());
        assert!(read(&[META, &started, ITEM]).ends_in_a_turn());
        assert!(!read(&[META, &started, ITEM, &complete]).ends_in_a_turn());
        assert!(!read(&[META, &started, &aborted, ITEM]).ends_in_a_turn());
        assert!(read(&[META, &started, &complete, &started]).ends_in_a_turn());
    }
}
