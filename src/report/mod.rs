//! One result shown in several ways.
//!
//! Nothing is decided here: what is wrong, and whether that is a failure, the other rooms say. Texts are shown so that no
//! control character of the input reaches a terminal.

pub mod check;
mod escape;
pub mod matrix;
pub mod project;
mod style;
mod text;
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

/// Writes a JSON list.
fn write_json_list<T>(
    out: &mut Vec<u8>,
    list: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    for (at, element) in list.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// Writes a JSON number.
fn write_json_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}
