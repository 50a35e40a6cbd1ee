//! The kill matrix as one JSON document.

use super::passes;
use crate::json::{Numbers, ObjectWriter, write_list, write_string};
use crate::report::{EscapeControls, write_json_number};
use crate::verify::{Caught, IMPLIED, Matrix};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The name of the form.
const SCHEMA: &str = "callpair.faults/1";

/// Writes the matrix as one JSON document, and a line end.
///
/// `{"schema","verdict","limit","seed","faults":[{"fault","why","after","after_by_laws","first_law","elapsed_ms","calls","items",
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
    write_json_number(writer.key("seed"), matrix.seed);
    write_list(writer.key("faults"), &matrix.rows, write_json_row);
    write_list(writer.key("uncaught"), matrix.uncaught(), write_string);
    write_list(writer.key("unneeded"), matrix.unneeded(), write_string);
    let mut needed = ObjectWriter::open(writer.key("needed"));
    for (id, faults) in matrix.needed_by() {
        write_list(needed.key(id), faults, write_string);
    }
    needed.close();
    write_list(writer.key("implied"), IMPLIED, |(id, why), text| {
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
