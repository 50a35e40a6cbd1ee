//! Writes the shape `callpair.verify/1`.

use super::Settings;
use crate::verify::Outcome;
use std::io::{self, Write};

/// Writes the shape `callpair.verify/1`.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_json(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let _ = settings;
    writeln!(out, "{}", outcome.verdict.as_str())
}
