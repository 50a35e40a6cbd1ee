//! The kill matrix, for `callpair faults`.

use crate::verify::Matrix;
use std::io::{self, Write};

/// Writes the matrix for a person; the last line is the verdict.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_human(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    writeln!(out, "{} faults", matrix.rows.len())
}

/// Writes the shape `callpair.faults/1`.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_json(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    writeln!(out, "{}", matrix.rows.len())
}
