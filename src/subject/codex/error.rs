//! What can go wrong between callpair and the program, as values that say what to do.

use std::fmt;
use std::time::Duration;

/// Why a projection of the real program was not had. Texts of the program are kept short and without control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodexError {
    /// The executable cannot be run.
    #[error("cannot start {program}: {reason}; give the path of a codex executable")]
    CannotStart {
        /// The path as it was given.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// The private folder or the server on loopback cannot be had.
    #[error("cannot prepare the program's surroundings ({what}): {reason}")]
    NoSurroundings {
        /// What was wanted.
        what: &'static str,
        /// What the system said.
        reason: String,
    },
    /// The program ended, or wrote what is no JSON-RPC.
    #[error("the program would not speak while {doing}: {reason}{stderr}")]
    WillNotSpeak {
        /// What was under way.
        doing: &'static str,
        /// What was seen in place of an answer.
        reason: String,
        /// The end of what it wrote to stderr.
        stderr: StderrTail,
    },
    /// No answer came in time. The program was killed and started again.
    #[error("the program did not answer within {limit:?} while {doing}{stderr}")]
    TimedOut {
        /// What was under way.
        doing: &'static str,
        /// The time it was given.
        limit: Duration,
        /// The end of what it wrote to stderr.
        stderr: StderrTail,
    },
    /// The program answered with an error: it will not load such a file, or does not know the method.
    #[error("the program refused while {doing}: {message}")]
    Refused {
        /// What was under way.
        doing: &'static str,
        /// The program's own words.
        message: String,
    },
    /// The turn did not end well, though the server answered as it should.
    #[error("the turn ended as {status:?}: {message}")]
    TurnFailed {
        /// The program's word for it.
        status: String,
        /// The program's own words, where it gave any.
        message: String,
    },
    /// The request or the rollout does not look as every version seen so far makes it, so the projection cannot be told
    /// from the new turn.
    #[error("the projection cannot be told from the new turn: {0}")]
    NotTold(String),
}

/// The last lines that a program wrote to stderr.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StderrTail(pub String);

impl fmt::Display for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trim() {
            "" => f.write_str("; it wrote nothing to stderr"),
            text => write!(f, "; the end of its stderr:\n{text}"),
        }
    }
}

/// How much of a program's message is kept, in characters.
const MESSAGE_CHARS: usize = 600;

/// A program's text, fit for a terminal: no control characters but the line end, and not without end.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).take(MESSAGE_CHARS).collect()
}
