//! Writes the result for a person; the last line is the verdict.

use super::Settings;
use crate::verify::Outcome;
use std::io::{self, Write};

/// Writes the result for a person; the last line is the verdict.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_human(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let _ = settings;
    writeln!(out, "{}", outcome.verdict.as_str())
}

/// Writes what the run was asked for, before it starts.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_start(out: &mut impl Write, start: &super::Start<'_>) -> io::Result<()> {
    writeln!(out, "{}", start.seed)
}
