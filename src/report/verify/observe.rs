//! Writes what stands at the end of the observations.

use super::Settings;
use crate::verify::Outcome;
use std::io::{self, Write};

/// Writes what stands at the end of the observations.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_observe(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let _ = settings;
    writeln!(out, "{}", outcome.verdict.as_str())
}

/// One judged case.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// Its number.
    pub case_number: u64,
    /// The case.
    pub case: &'a crate::case::Case,
    /// What it contains.
    pub labels: crate::generate::labels::Labels,
    /// The ids of the invariants that it breaks.
    pub broken: &'a [&'static str],
    /// Whether the subject declined it.
    pub refused: bool,
}

/// Writes a line for one judged case.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_observed(
    out: &mut impl Write,
    start: &super::Start<'_>,
    observed: &Observed<'_>,
    settings: &Settings<'_>,
) -> io::Result<()> {
    let _ = settings;
    writeln!(out, "{} {}", start.seed, observed.case_number)
}
