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
