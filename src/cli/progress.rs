//! The line on a terminal that says how far a command is. It goes to stderr, and nowhere but to a terminal.

use std::io::{self, IsTerminal, Write};

/// Shows a line in place of the one before.
pub(super) fn show(line: &str) {
    let mut stderr = io::stderr().lock();
    if takes_lines(&stderr) {
        // If nobody can be told, the work goes on all the same.
        let _ = write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush());
    }
}

/// Takes the line away.
pub(super) fn clear() {
    show("");
}

/// Whether a line can be written over: a dumb terminal would show every one of them.
fn takes_lines(stderr: &impl IsTerminal) -> bool {
    stderr.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
