//! What a file is, and where each item of a history stands in it.
//!
//! A file is told by its content, never by its name: a Codex rollout (plain or Zstandard), a JSON array of items, a request
//! body `{"input":[…]}`, bare items one a line, or a saved case. [`read`] gives the items, each loaded by
//! [`ResponseItem::load`](crate::item::ResponseItem::load) and with its place; what does not load is kept with its place and
//! the reason. [`Source::load`] makes of it the history that a projection starts from.
//!
//! Not here: what is wrong with a history (`check/`), and finding files in folders (the command).

mod file;
mod loaded;
mod scan;
mod sketch;
mod tell;

pub use file::{ItemFile, ItemProblem, MOST_UNLOADED, Unloaded};
pub use loaded::{Loaded, Place};

use crate::json::{JsonError, JsonProblem};
use crate::rollout::{Caps, LinesError, Rollout};
use std::fmt;
use std::io::{Read, Seek};
use std::str::FromStr;

/// What a file that was read is.
#[derive(Debug, Clone)]
pub enum Source {
    /// A session that Codex recorded.
    Rollout(Rollout),
    /// Items as they stand, in one of three wrappings.
    Items(ItemFile),
}

/// How the items of a history are wrapped in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Lines of `{"timestamp":…,"type":…,"payload":…}`.
    CodexRollout,
    /// `[…]`
    ItemArray,
    /// `{"input":[…]}`
    RequestBody,
    /// An item a line.
    ItemLines,
}

impl Kind {
    /// The name in reports for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::CodexRollout => "codex-rollout",
            Kind::ItemArray => "item-array",
            Kind::RequestBody => "request-body",
            Kind::ItemLines => "item-lines",
        }
    }
}

/// As a person says it: `Codex rollout`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::CodexRollout => "Codex rollout",
            Kind::ItemArray => "array of items",
            Kind::RequestBody => "request body",
            Kind::ItemLines => "items, one a line",
        })
    }
}

/// The API whose history a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Items of the Responses API.
    Responses,
    /// Messages of the Chat Completions API.
    Chat,
    /// Messages of the Anthropic Messages API.
    Anthropic,
    /// Contents of the Gemini API.
    Gemini,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 4] = [Dialect::Responses, Dialect::Chat, Dialect::Anthropic, Dialect::Gemini];

    /// The name, as `--dialect` takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Responses => "responses",
            Dialect::Chat => "chat",
            Dialect::Anthropic => "anthropic",
            Dialect::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a dialect cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such dialect; known are responses, chat, anthropic and gemini")]
pub struct DialectError;

impl FromStr for Dialect {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Dialect, DialectError> {
        Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == text).ok_or(DialectError)
    }
}

/// Why a file gives no history. Each message says what to do; none holds a text of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It cannot be read, or breaks a cap.
    #[error("{0}")]
    Lines(#[from] LinesError),
    /// It cannot be read a second time, which telling what it is needs.
    #[error("cannot be read from its start again: {0}; copy it to a plain file")]
    Seek(#[from] std::io::Error),
    /// Nothing but blanks.
    #[error(
        "is empty, so that it cannot be told what it is; if no items at all are meant, say `--dialect responses`"
    )]
    Empty,
    /// No line and not the whole is anything that is known.
    #[error(
        "cannot be told: it is neither a Codex rollout, an array of items, a request body nor items one a line{}; \
         if it holds Responses items all the same, say `--dialect responses`",
        broken.as_ref().map(|(line, error)| format!(" (as one JSON value it breaks on line {line}: {error})")).unwrap_or_default()
    )]
    NotTold {
        /// Where and why the whole is no JSON, if it begins like it.
        broken: Option<(usize, JsonProblem)>,
    },
    /// Messages that fit more than one dialect.
    #[error(
        "is ambiguous: messages without a type may be of the dialect chat, anthropic or responses; say which with `--dialect`"
    )]
    Ambiguous,
    /// Another API's history.
    #[error(
        "looks like the dialect {0}, and only the Responses dialect is read; if it holds Responses items all the same, say \
         `--dialect responses`"
    )]
    OtherDialect(Dialect),
    /// A case of `verify`.
    #[error("is a saved case (callpair.case/1), not a history; use `callpair replay`")]
    SavedCase,
    /// An array of what are lines in a rollout.
    #[error("is an array of rollout lines; write them one a line again: `jq -c '.[]' FILE`")]
    RolloutLinesInArray,
    /// More than one body.
    #[error(
        "line {line} is one request body of several; only one a file is read: write each to a file of its own"
    )]
    SeveralBodies {
        /// The first body's line.
        line: usize,
    },
    /// The input of a body is neither a list nor a text.
    #[error("line {line}: `input` is {found}, not a list of items")]
    InputNotAList {
        /// Where it stands.
        line: usize,
        /// What it is: "a number".
        found: &'static str,
    },
    /// An array or a body that is no text.
    #[error(
        "line {line}: not UTF-8 at byte {byte} of the file{}; write it as UTF-8",
        if *utf16 { " (it begins as UTF-16 does)" } else { "" }
    )]
    NotUtf8 {
        /// The line, counted from 1.
        line: usize,
        /// The byte, counted from 0.
        byte: usize,
        /// Whether it begins with a mark of UTF-16.
        utf16: bool,
    },
    /// An array or a body that is no JSON.
    #[error("line {line}: {error} of the file; take a whole copy")]
    NotJson {
        /// The line, counted from 1.
        line: usize,
        /// Byte and reason.
        error: JsonError,
    },
}

impl SourceError {
    /// Whether the file is simply not a history, rather than a damaged or a foreign one: what a search of a folder passes
    /// over.
    pub fn is_no_history(&self) -> bool {
        matches!(self, SourceError::Empty | SourceError::NotTold { .. } | SourceError::SavedCase)
    }
}

/// Reads a file. `dialect` forces one; `None` tells it by the content.
///
/// ```
/// # use callpair::{rollout::Caps, source};
/// let mut file = std::io::Cursor::new(r#"[{"type":"function_call","name":"ls","arguments":"{}","call_id":"a"}, 7]"#);
/// let source::Source::Items(items) = source::read(&mut file, None, Caps::default())? else { unreachable!() };
/// assert_eq!((items.kind, items.items.len()), (source::Kind::ItemArray, 1));
/// assert_eq!(items.unloaded[0].to_string(), "line 1, /1: expected an object, found a number");
/// # Ok::<(), source::SourceError>(())
/// ```
///
/// # Errors
/// Where the file cannot be read, cannot be told, or is of another dialect.
pub fn read(
    reader: &mut (impl Read + Seek),
    dialect: Option<Dialect>,
    caps: Caps,
) -> Result<Source, SourceError> {
    if let Some(other) = dialect.filter(|dialect| *dialect != Dialect::Responses) {
        return Err(SourceError::OtherDialect(other));
    }
    let told = tell::tell(reader, dialect.is_some(), caps)?;
    reader.rewind()?;
    match told {
        tell::Told::Rollout => Ok(Source::Rollout(Rollout::read(reader, caps)?)),
        tell::Told::Lines => Ok(Source::Items(file::read_lines(reader, caps)?)),
        tell::Told::Whole(text) => Ok(Source::Items(file::read_whole(&text, dialect.is_some())?)),
    }
}
