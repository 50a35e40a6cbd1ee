//! The result of `check`, written file by file as they are done, so that a folder of sessions needs the memory of one.

mod human;
mod json;
mod junit;
mod sarif;

pub(super) use human::{content as shown_item, head, place as place_text};

use crate::check::{Checked, Tally};
use std::io::{self, Write};

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a person.
    Human,
    /// The shape `callpair.check/1`.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for the test pages of CI systems.
    Junit,
}

/// All files together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files that were checked.
    pub files: usize,
    /// Items in them.
    pub items: usize,
    /// What was found.
    pub findings: Tally,
    /// Paths that gave nothing to check.
    pub unusable: usize,
}

impl Summary {
    /// Counts one more file.
    pub fn add(&mut self, checked: &Checked) {
        let tally = checked.tally();
        self.files += 1;
        self.items += checked.items();
        self.findings.errors += tally.errors;
        self.findings.warnings += tally.warnings;
        self.findings.notes += tally.notes;
    }
}

/// Writes one format. The order of the calls is: any number of files and unusable paths, then the end.
pub trait Reporter {
    /// Writes a file that was checked.
    ///
    /// # Errors
    /// Where the output cannot be written.
    fn file(&mut self, path: &str, checked: &Checked) -> io::Result<()>;

    /// Writes a path that gave nothing to check, and why.
    ///
    /// # Errors
    /// Where the output cannot be written.
    fn unusable(&mut self, path: &str, why: &str) -> io::Result<()>;

    /// Ends the report.
    ///
    /// # Errors
    /// Where the output cannot be written.
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}

/// A reporter that writes to `out`. With `show_content` the items that findings are about are shown whole; without it
/// nothing that a user wrote is.
pub fn reporter<'a>(format: Format, out: impl Write + 'a, show_content: bool) -> Box<dyn Reporter + 'a> {
    match format {
        Format::Human => Box::new(human::Human::new(out, show_content)),
        Format::Json => Box::new(json::JsonReport::new(out, show_content)),
        Format::Sarif => Box::new(sarif::Sarif::new(out)),
        Format::Junit => Box::new(junit::Junit::new(out)),
    }
}
