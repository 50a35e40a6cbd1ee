//! One result shown in several ways.
//!
//! Nothing is decided here: what is wrong, and whether that is a failure, the other rooms say. Texts are shown so that no
//! control character of the input reaches a terminal.

pub mod check;
mod escape;
pub mod matrix;
pub mod project;
mod style;
pub mod verify;

pub use escape::EscapeControls;

use crate::projection::shown_up_to;

/// The longest path that is shown whole, in characters.
const PATH_CHARS: usize = 4096;

/// A path as it is shown to a person: quoted and escaped where it would not stand for itself.
pub fn shown_path(path: &str) -> String {
    shown_up_to(path, PATH_CHARS)
}

/// `1 file`, `2 files`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
