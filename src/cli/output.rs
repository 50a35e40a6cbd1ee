//! Writing to stdout and stderr.

use super::Exit;
use crate::report::{shown_path, shown_words};
use anstream::AutoStream;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

/// Stdout for a person: colours reach it only where they are wanted (a terminal, and no NO_COLOR).
pub(super) fn for_people() -> impl Write {
    BufWriter::new(AutoStream::auto(io::stdout()))
}

/// Stdout for programs.
pub(super) fn for_programs() -> impl Write {
    BufWriter::new(io::stdout())
}

/// Whether a person looks at stdout.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Tells the user why a path is of no use.
pub(super) fn complain(path: &str, why: &str) {
    // If stderr is closed, the exit status still says it.
    let _ = writeln!(io::stderr(), "error: {}: {}", shown_path(path), shown_words(why));
}

/// Tells the user why something that is no path is of no use: the command line, the subject, a subcommand.
pub(super) fn complain_of(what: &'static str, why: &str) {
    let _ = writeln!(io::stderr(), "error: {what}: {}", shown_words(why));
}

/// Tells the user something about a path that is no error.
pub(super) fn remark(path: &str, what: &str) {
    let _ = writeln!(io::stderr(), "{}: {}", shown_path(path), shown_words(what));
}

/// Tells the user something about what is no path, and no error.
pub(super) fn remark_of(what: &'static str, words: &str) {
    let _ = writeln!(io::stderr(), "{what}: {}", shown_words(words));
}

/// Tells the user what to type next.
pub(super) fn suggest(what: &str, command: &str) {
    let _ = writeln!(io::stderr(), "{what}: {}", shown_words(command));
}

/// The exit status after writing: a reader that went away (`| head`) is no failure, anything else is.
pub(super) fn after_writing(written: io::Result<()>, exit: Exit) -> Exit {
    match written {
        Ok(()) => exit,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit,
        Err(error) => {
            complain_of("standard output", &format!("cannot be written: {error}"));
            Exit::Unusable
        }
    }
}
