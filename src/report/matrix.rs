//! The kill matrix, for `callpair faults`: what catches each planted fault, after how many cases, how small the smallest is.

use super::style::{BOLD, DIM, GREEN, RED, YELLOW, styled};
use super::text::{counted, duration, grouped};
use super::{EscapeControls, write_json_list, write_json_number};
use crate::json::{Numbers, ObjectWriter, write_string};
use crate::verify::{Caught, IMPLIED, Matrix};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The name of the JSON form.
const SCHEMA: &str = "callpair.faults/1";

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
    for row in matrix.rows.iter().filter(|row| row.after_by_laws.is_none()) {
        let by = match row.after {
            None => "by nothing".to_owned(),
            Some(after) => format!("by no law (agreement caught it after {})", counted(after, "case")),
        };
        let limit = counted(matrix.limit, "case");
        writeln!(out, "{} {}: {by}, within {limit}; {}", styled(RED, "UNCAUGHT"), row.fault, row.why)?;
    }
    for id in matrix.unneeded() {
        let words = "no fault needs it: plant one that only it catches, or take it out";
        writeln!(out, "{} {id}: {words}", styled(RED, "UNNEEDED"))?;
    }
    writeln!(out, "{}", verdict(matrix))?;
    out.flush()
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

/// `pass: all 52 faults caught by the laws alone within 1,000 cases: …`
fn verdict(matrix: &Matrix) -> String {
    let (uncaught, unneeded) = (matrix.uncaught().len(), matrix.unneeded().len());
    let faults = matrix.rows.len();
    let word = if passes(matrix) { styled(GREEN, "pass") } else { styled(RED, "FAIL") };
    let within = counted(matrix.limit, "case");
    if faults == 0 {
        return format!("{word}: there is no fault");
    }
    if !passes(matrix) {
        let faults = counted(faults as u64, "fault");
        let unneeded = counted(unneeded as u64, "invariant");
        return format!("{word}: {uncaught} of {faults} uncaught within {within}, {unneeded} unneeded");
    }
    let mut after: Vec<u64> = matrix.rows.iter().filter_map(|row| row.after_by_laws).collect();
    after.sort_unstable();
    let median = after.get(after.len() / 2).copied().unwrap_or_default();
    let most = after.last().copied().unwrap_or_default();
    let mut items: Vec<usize> =
        matrix.rows.iter().filter_map(|row| Some(row.smallest.as_ref()?.item_count())).collect();
    items.sort_unstable();
    let largest = items.last().copied().unwrap_or_default();
    let (median, most) = (counted(median, "case"), grouped(most));
    let items = counted(largest as u64, "item");
    format!(
        "{word}: all {faults} faults are caught by the laws alone, the median after {median}, the last after {most}; no \
         smallest case has more than {items}"
    )
}

fn passes(matrix: &Matrix) -> bool {
    !matrix.rows.is_empty() && matrix.uncaught().is_empty() && matrix.unneeded().is_empty()
}

/// Writes the matrix as one JSON document, and a line end.
///
/// `{"schema","verdict","limit","faults":[{"fault","why","after","after_by_laws","first_law","elapsed_ms","calls","items",
/// "case":{"steps":[…]},"codex":{invariant:cases},"responses":{invariant:cases}}],"uncaught":[…],"unneeded":[…],
/// "needed":{invariant:[faults]},"implied":[{"invariant","why"}]}`
///
/// Numbers of cases are null where nothing caught the fault. The cases are drawn, and hold nothing that a user wrote.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_json(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    let mut text = Vec::new();
    let mut writer = ObjectWriter::open(&mut text);
    writer.string("schema", SCHEMA);
    writer.string("verdict", if passes(matrix) { "pass" } else { "fail" });
    write_json_number(writer.key("limit"), matrix.limit);
    write_json_list(writer.key("faults"), &matrix.rows, write_json_row);
    write_json_list(writer.key("uncaught"), matrix.uncaught(), write_string);
    write_json_list(writer.key("unneeded"), matrix.unneeded(), write_string);
    let mut needed = ObjectWriter::open(writer.key("needed"));
    for (id, faults) in matrix.needed_by() {
        write_json_list(needed.key(id), faults, write_string);
    }
    needed.close();
    write_json_list(writer.key("implied"), IMPLIED, |(id, why), text| {
        let mut writer = ObjectWriter::open(text);
        writer.string("invariant", id);
        writer.string("why", why);
        writer.close();
    });
    writer.close();
    text.push(b'\n');
    let mut out = EscapeControls::new(out);
    out.write_all(&text)?;
    out.flush()
}

fn write_json_row(row: &Caught, text: &mut Vec<u8>) {
    let number = |text: &mut Vec<u8>, number: Option<u64>| match number {
        Some(number) => write_json_number(text, number),
        None => text.extend_from_slice(b"null"),
    };
    let mut writer = ObjectWriter::open(text);
    writer.string("fault", row.fault);
    writer.string("why", row.why);
    number(writer.key("after"), row.after);
    number(writer.key("after_by_laws"), row.after_by_laws);
    match row.first_law {
        Some(law) => writer.string("first_law", law),
        None => number(writer.key("first_law"), None),
    }
    let elapsed = u64::try_from(row.elapsed.as_millis()).unwrap_or(u64::MAX);
    write_json_number(writer.key("elapsed_ms"), elapsed);
    write_json_number(writer.key("calls"), row.calls as u64);
    number(writer.key("items"), row.smallest.as_ref().map(|case| case.item_count() as u64));
    match &row.smallest {
        Some(case) => case.to_json().write(writer.key("case"), Numbers::AsWritten),
        None => number(writer.key("case"), None),
    }
    write_after(writer.key("codex"), &row.codex);
    write_after(writer.key("responses"), &row.responses);
    writer.close();
}

fn write_after(text: &mut Vec<u8>, after: &BTreeMap<&'static str, u64>) {
    let mut writer = ObjectWriter::open(text);
    for (id, cases) in after {
        write_json_number(writer.key(id), *cases);
    }
    writer.close();
}
