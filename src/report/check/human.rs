//! For a person: a head a file, then what is wrong, where, and what the next request will hold; a verdict as the last line.

use super::{Reporter, Summary};
use crate::check::{Checked, Finding, Note, Rule, Severity};
use crate::item::ResponseItem;
use crate::report::style::{BOLD, DIM, GREEN, RED, YELLOW, styled};
use crate::report::{counted, shown_path};
use crate::source::Place;
use std::io::{self, Write};

pub(super) struct Human<W> {
    out: W,
    show_content: bool,
}

/// The longest version of a recording program that is shown, in characters.
const VERSION_CHARS: usize = 30;

/// What stands below a finding is set in by so much.
const INDENT: &str = "           ";

impl<W: Write> Human<W> {
    pub(super) fn new(out: W, show_content: bool) -> Human<W> {
        Human { out, show_content }
    }

    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let place = place(&finding.place, finding.index);
        self.line(finding.rule.severity(), &place, &finding.message)?;
        writeln!(self.out, "{INDENT}{}", finding.next)?;
        if let Some(item) = finding.item.as_ref().filter(|_| self.show_content) {
            writeln!(self.out, "{INDENT}{}", content(item))?;
        }
        writeln!(self.out, "{INDENT}{}", styled(DIM, finding.rule.id()))
    }

    fn line(&mut self, severity: Severity, place: &str, message: &str) -> io::Result<()> {
        let style = match severity {
            Severity::Error => RED,
            Severity::Warning => YELLOW,
            Severity::Note => DIM,
        };
        let word = styled(style, &format!("{:<8}", severity.as_str()));
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        writeln!(self.out, "  {word} {place}{message}")
    }

    /// Lines that are skipped for the same reason, as one.
    fn skipped_lines(&mut self, checked: &Checked) -> io::Result<()> {
        let mut groups: Vec<(Finding, Vec<usize>)> = Vec::new();
        for finding in checked.not_loaded().filter(|finding| finding.rule == Rule::LineSkipped) {
            let Some(line) = finding.place.line else { continue };
            match groups.iter_mut().find(|(first, _)| first.message == finding.message) {
                Some((_, lines)) => lines.push(line),
                None => groups.push((finding.clone(), vec![line])),
            }
        }
        for (mut finding, lines) in groups {
            if lines.len() > 1 {
                finding.place = Place::default();
                finding.message = format!("lines {}: {}", list(&lines), finding.message);
            }
            self.finding(&finding)?;
        }
        Ok(())
    }

    fn note(&mut self, note: &Note) -> io::Result<()> {
        self.line(Severity::Note, &place(&note.place, note.index), &note.message)
    }
}

impl<W: Write> Reporter for Human<W> {
    fn file(&mut self, path: &str, checked: &Checked) -> io::Result<()> {
        let head = head(checked);
        writeln!(self.out, "{}: {head}", styled(BOLD, &shown_path(path)))?;
        for severity in [Severity::Error, Severity::Warning, Severity::Note] {
            let wanted = |rule: Rule| rule.severity() == severity && rule != Rule::LineSkipped;
            checked.findings_by(wanted).try_for_each(|finding| self.finding(&finding))?;
            if severity == Severity::Warning {
                self.skipped_lines(checked)?;
            }
        }
        checked.notes.iter().try_for_each(|note| self.note(note))
    }

    /// Said on stderr, by the command.
    fn unusable(&mut self, _path: &str, _why: &str) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let found = summary.findings;
        let verdict = match (summary.unusable, found.errors) {
            (0, 0) => styled(GREEN, "ok"),
            (0, _) => styled(RED, "FAIL"),
            (_, _) => styled(RED, "UNUSABLE"),
        };
        let mut text = format!(
            "{verdict}: {}, {}, {} in {} with {}",
            counted(found.errors, "error"),
            counted(found.warnings, "warning"),
            counted(found.notes, "note"),
            counted(summary.files, "file"),
            counted(summary.items, "item"),
        );
        if summary.unusable > 0 {
            text.push_str(&format!("; {} could not be checked", counted(summary.unusable, "path")));
        }
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }
}

/// What a file is: `Codex rollout recorded by 0.144.6, 14 lines, 7 items`.
pub(in crate::report) fn head(checked: &Checked) -> String {
    let version = checked
        .recorded_by
        .as_deref()
        .map(|version| format!(" recorded by {}", crate::projection::shown_up_to(version, VERSION_CHARS)));
    format!(
        "{}{}, {}, {}",
        checked.kind,
        version.unwrap_or_default(),
        counted(checked.physical_lines, "line"),
        counted(checked.items(), "item"),
    )
}

/// `line 14, /input/3, item 6`; empty for the whole file.
pub(in crate::report) fn place(place: &Place, index: Option<usize>) -> String {
    let line = place.line.map(|line| format!("line {line}"));
    let index = index.map(|index| format!("item {index}"));
    let words: Vec<String> = [line, place.pointer.clone(), index].into_iter().flatten().collect();
    words.join(", ")
}

/// So many numbers of lines are listed.
const LISTED_LINES: usize = 10;

fn list(lines: &[usize]) -> String {
    let listed: Vec<String> = lines.iter().take(LISTED_LINES).map(ToString::to_string).collect();
    match lines.len().saturating_sub(LISTED_LINES) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// The longest content that is shown, in characters.
const CONTENT_CHARS: usize = 2000;

/// An item in full, as JSON without control characters.
pub(in crate::report) fn content(item: &ResponseItem) -> String {
    let wire = item.to_wire();
    let visible = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    let mut text: String = wire.chars().take(CONTENT_CHARS).map(visible).collect();
    if wire.chars().nth(CONTENT_CHARS).is_some() {
        text.push('…');
    }
    text
}
