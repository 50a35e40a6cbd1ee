//! The kill matrix, for `callpair faults`: what catches each planted fault, after how many cases, how small the smallest is.

mod html;
mod json;

pub use html::write_html;
pub use json::write_json;

use super::style::{BOLD, DIM, GREEN, RED, YELLOW, styled};
use super::text::{counted, duration, grouped};
use crate::verify::{Caught, Matrix};
use std::io::{self, Write};

/// Writes the matrix for a person: a row a fault, then what is wrong in capitals; the last line is the verdict.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_human(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    let wide = matrix.rows.iter().map(|row| row.fault.len()).max().unwrap_or_default().max("Fault".len());
    let head = format!(
        "{:<wide$} {:>7} {:>7} {:>9} {:>5}  caught first by",
        "Fault", "any", "laws", "time", "items"
    );
    writeln!(out, "{}", styled(BOLD, &head))?;
    for row in &matrix.rows {
        write_row(out, row, wide)?;
    }
    let legend = "any, laws: cases until any invariant, or one that is no agreement, caught it; time: by a law; items: of the \
                  smallest case";
    writeln!(out, "{}\n", styled(DIM, legend))?;
    for (word, id, words) in wrong(matrix) {
        writeln!(out, "{} {id}: {words}", styled(RED, word))?;
    }
    let style = if passes(matrix) { GREEN } else { RED };
    writeln!(out, "{}: {}", styled(style, verdict_word(matrix)), verdict_words(matrix))?;
    out.flush()
}

/// What is wrong: a word in capitals, the fault or invariant, and how.
pub(in crate::report) fn wrong(matrix: &Matrix) -> Vec<(&'static str, &'static str, String)> {
    let limit = counted(matrix.limit, "case");
    let uncaught = matrix.rows.iter().filter(|row| row.after_by_laws.is_none()).map(|row| {
        let by = match row.after {
            None => "by nothing".to_owned(),
            Some(after) => format!("by no law (agreement caught it after {})", counted(after, "case")),
        };
        ("UNCAUGHT", row.fault, format!("{by}, within {limit}; {}", row.why))
    });
    let unneeded = matrix.unneeded().into_iter().map(|id| {
        ("UNNEEDED", id, "no fault needs it: plant one that only it catches, or take it out".to_owned())
    });
    uncaught.chain(unneeded).collect()
}

fn write_row(out: &mut impl Write, row: &Caught, wide: usize) -> io::Result<()> {
    let number = |after: Option<u64>| after.map_or("never".to_owned(), grouped);
    let caught = row.after_by_laws.is_some();
    let time = if caught { duration(row.elapsed) } else { "-".to_owned() };
    let items = row.smallest.as_ref().map_or("-".to_owned(), |case| case.item_count().to_string());
    let line = format!(
        "{:<wide$} {:>7} {:>7} {time:>9} {items:>5}  {}",
        row.fault,
        number(row.after),
        number(row.after_by_laws),
        row.first_law.unwrap_or("nothing"),
    );
    writeln!(out, "{}", if caught { line } else { styled(YELLOW, &line) })
}

/// The word before the colon of the verdict.
fn verdict_word(matrix: &Matrix) -> &'static str {
    if passes(matrix) { "pass" } else { "FAIL" }
}

/// What follows it: `all 52 faults are caught by the laws alone, the median after 9 cases, …`
fn verdict_words(matrix: &Matrix) -> String {
    let (uncaught, unneeded) = (matrix.uncaught().len(), matrix.unneeded().len());
    let faults = matrix.rows.len();
    let within = counted(matrix.limit, "case");
    if faults == 0 {
        return "there is no fault".to_owned();
    }
    if !passes(matrix) {
        let faults = counted(faults, "fault");
        let unneeded = counted(unneeded, "invariant");
        return format!("{uncaught} of {faults} uncaught within {within}, {unneeded} unneeded");
    }
    let mut after: Vec<u64> = matrix.rows.iter().filter_map(|row| row.after_by_laws).collect();
    after.sort_unstable();
    let median = after.get(after.len() / 2).copied().unwrap_or_default();
    let most = after.last().copied().unwrap_or_default();
    let sizes = matrix.rows.iter().filter_map(|row| Some(row.smallest.as_ref()?.item_count()));
    let largest = sizes.max().unwrap_or_default();
    let (median, most) = (counted(median, "case"), grouped(most));
    let items = counted(largest, "item");
    format!(
        "all {faults} faults are caught by the laws alone, the median after {median}, the last after {most}; no smallest case \
         has more than {items}"
    )
}

fn passes(matrix: &Matrix) -> bool {
    !matrix.rows.is_empty() && matrix.uncaught().is_empty() && matrix.unneeded().is_empty()
}
