//! The result of `project`: the request input as JSON, or what was changed to make it.

use super::check::{head, place_text, shown_item};
use super::style::{BOLD, DIM, GREEN, RED, YELLOW, styled};
use super::{counted, shown_path};
use crate::check::{Checked, NoteKind};
use crate::pairing::Action;
use crate::projection::Projection;
use std::io::{self, Write};

/// Writes the request input in the program's wire form: with `brackets` one JSON array, without them an item a line.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_input(out: &mut impl Write, projection: &Projection, brackets: bool) -> io::Result<()> {
    let (open, separator, close): (&[u8], &[u8], &[u8]) =
        if brackets { (b"[\n", b",\n", b"\n]\n") } else { (b"", b"\n", b"\n") };
    let mut line = Vec::new();
    let mut first = true;
    out.write_all(open)?;
    for item in projection.rows().filter_map(|row| row.sent) {
        line.clear();
        if !std::mem::take(&mut first) {
            line.extend_from_slice(separator);
        }
        item.write_wire(&mut line);
        out.write_all(&line)?;
    }
    match (first, brackets) {
        (false, _) => out.write_all(close)?,
        (true, true) => out.write_all(b"]\n")?,
        (true, false) => {}
    }
    out.flush()
}

/// Writes what becomes of the history: a head, what did not load, and the notation of the projection. With `show_content`
/// each item stands below its line.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_diff(out: &mut impl Write, path: &str, checked: &Checked, show_content: bool) -> io::Result<()> {
    writeln!(out, "{}: {}", styled(BOLD, &shown_path(path)), head(checked))?;
    let projection = checked.projection();
    let count = |wanted: fn(Action) -> bool| {
        projection.plan().edits().iter().filter(|edit| wanted(edit.action())).count()
    };
    let sent = counted(projection.len(), "item");
    let inserted = count(|action| matches!(action, Action::InsertAfter(_)));
    let removed = count(|action| action == Action::Remove);
    let replaced = count(|action| action == Action::Replace);
    writeln!(out, "the next request: {sent}, {inserted} inserted, {removed} removed, {replaced} replaced")?;
    write_loading(out, checked)?;
    let columns = projection.columns();
    for row in projection.rows() {
        let text = columns.text(&row);
        let text = match row.mark {
            '+' => styled(GREEN, &text),
            '-' => styled(RED, &text),
            '~' => styled(YELLOW, &text),
            _ => text,
        };
        writeln!(out, "{text}")?;
        if show_content {
            writeln!(out, "    {}", styled(DIM, &shown_item(row.sent.unwrap_or(row.item))))?;
        }
    }
    out.flush()
}

/// So many of the lines that do not load are listed.
const LISTED: usize = 10;

/// What happened to the file while it was loaded.
fn write_loading(out: &mut impl Write, checked: &Checked) -> io::Result<()> {
    let not_loaded = checked.not_loaded().count();
    for finding in checked.not_loaded().take(LISTED) {
        let place = place_text(&finding.place, None);
        writeln!(out, "{}", styled(DIM, &format!("skipped: {place}: {}", finding.message)))?;
    }
    if not_loaded > LISTED {
        let more = not_loaded - LISTED;
        writeln!(out, "{}", styled(DIM, &format!("skipped: {more} more; `callpair check` lists them")))?;
    }
    let of_loading = |kind| matches!(kind, NoteKind::OutputCut | NoteKind::Picture | NoteKind::UnknownKind);
    for note in checked.notes.iter().filter(|note| of_loading(note.kind)) {
        let place = place_text(&note.place, note.index);
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        writeln!(out, "{}", styled(DIM, &format!("note: {place}{}", note.message)))?;
    }
    Ok(())
}
