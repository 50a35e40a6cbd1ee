//! One result shown in several ways.
//!
//! Nothing is decided here: what is wrong, and whether that is a failure, the other rooms say. Texts are shown so that no
//! control character of the input reaches a terminal.

pub mod check;
mod escape;
mod html;
mod junit;
pub mod matrix;
pub mod progress;
pub mod project;
mod style;
mod text;
pub mod verify;

pub use escape::EscapeControls;
pub use text::counted;

use crate::case::{Case, Items, Step};
use crate::projection::{shown_up_to, summary};

/// The longest path that is shown whole, in characters.
const PATH_CHARS: usize = 4096;

/// A path as it is shown to a person: quoted and escaped where it would not stand for itself.
pub fn shown_path(path: &str) -> String {
    shown_up_to(path, PATH_CHARS)
}

/// Words as they are shown to a person: what a terminal would obey in them is written as an escape.
pub fn shown_words(words: &str) -> String {
    text::plain(words)
}

/// A case in one line, without texts: `record function_call a + 3 x message user, 0 parts; project text`.
pub fn case_line(case: &Case) -> String {
    let step = |step: &Step| match step {
        Step::Project(modalities) => format!("project {modalities}"),
        Step::Rollback(turns) => format!("rollback {turns}"),
        Step::Record(items) | Step::Replace(items) if items.is_empty() => format!("{} nothing", step.name()),
        Step::Record(items) | Step::Replace(items) => format!("{} {}", step.name(), items_line(items)),
        Step::Snapshot | Step::Resume | Step::Fork => step.name().to_owned(),
    };
    case.steps.iter().map(step).collect::<Vec<_>>().join("; ")
}

/// Items in one line; those that look the same and follow each other are counted.
fn items_line(items: &Items) -> String {
    let summaries: Vec<String> = items.iter().map(|item| summary(item)).collect();
    let runs = summaries.chunk_by(|a, b| a == b).map(|run| match run {
        [one] => one.clone(),
        [first, ..] => format!("{} x {first}", run.len()),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(" + ")
}

/// Writes a JSON number.
fn write_json_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}
