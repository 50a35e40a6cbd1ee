//! The shape `callpair.verify/1`: one document; fields may be added, none changed.
//!
//! It is written member by member and not through serde: a case nests deeper than `serde_json` reads, and its numbers must
//! come back digit for digit.

use super::{Settings, redact};
use crate::invariant::by_id;
use crate::json::{Numbers, ObjectWriter, write_list, write_string};
use crate::report::{EscapeControls, write_json_number};
use crate::verify::{InvariantCount, LabelCount, Outcome, Violation};
use std::io::{self, Write};

/// The name of the form.
const SCHEMA: &str = "callpair.verify/1";

/// Writes the result as one JSON document, and a line end.
///
/// `{"schema","subject":{"name","version"},"profile","seed","cases","elapsed_ms","verdict","refused","interrupted","promise",
/// "invariants":[{"id","checked","violations"}],
/// "violations":[{"invariant","message","case":{"steps":[…]},"items","case_number","replay","statement","known","note",
/// "content_shown"}],"labels":[{"label","cases","floor_per_mille","low"}],"stale":[…],"known":[{"invariant","reason"}]}`
///
/// `promise` is N where what is rarer than 1 case in N may be missed. Where `content_shown` is false, each content of the
/// case is replaced by its size. `replay`, `known` and `note` are null where there is none.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_json(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let mut text = Vec::new();
    write_outcome(&mut text, outcome, settings);
    text.push(b'\n');
    let mut out = EscapeControls::new(out);
    out.write_all(&text)?;
    out.flush()
}

fn write_outcome(text: &mut Vec<u8>, outcome: &Outcome, settings: &Settings<'_>) {
    let mut writer = ObjectWriter::open(text);
    writer.string("schema", SCHEMA);
    let mut subject = ObjectWriter::open(writer.key("subject"));
    subject.string("name", &outcome.subject.name);
    subject.string("version", &outcome.subject.version);
    subject.close();
    writer.string("profile", outcome.profile.as_str());
    writer.string("seed", &outcome.seed.to_string());
    write_json_number(writer.key("cases"), outcome.cases);
    let elapsed = u64::try_from(outcome.elapsed.as_millis()).unwrap_or(u64::MAX);
    write_json_number(writer.key("elapsed_ms"), elapsed);
    writer.string("verdict", outcome.verdict.as_str());
    write_json_number(writer.key("refused"), outcome.refused);
    write_bool(writer.key("interrupted"), outcome.interrupted);
    write_json_number(writer.key("promise"), outcome.promise());
    write_list(writer.key("invariants"), &outcome.invariants, write_count);
    write_list(writer.key("violations"), outcome.violations.iter().enumerate(), |(at, violation), text| {
        write_violation(violation, settings, settings.replay.get(at).map(String::as_str), text);
    });
    let judged = outcome.judges_floors();
    write_list(writer.key("labels"), &outcome.labels, |label, text| {
        write_label(label, judged && label.is_low(outcome.cases), text);
    });
    write_list(writer.key("stale"), &outcome.stale, |id, text| write_string(id, text));
    let known = outcome
        .violations
        .iter()
        .filter_map(|violation| Some((violation.invariant, violation.known.as_ref()?)));
    write_list(writer.key("known"), known, |(id, reason), text| {
        let mut writer = ObjectWriter::open(text);
        writer.string("invariant", id);
        writer.string("reason", reason);
        writer.close();
    });
    writer.close();
}

fn write_count(count: &InvariantCount, text: &mut Vec<u8>) {
    let mut writer = ObjectWriter::open(text);
    writer.string("id", count.id);
    write_json_number(writer.key("checked"), count.checked);
    write_json_number(writer.key("violations"), count.violations);
    writer.close();
}

fn write_label(label: &LabelCount, low: bool, text: &mut Vec<u8>) {
    let mut writer = ObjectWriter::open(text);
    writer.string("label", label.label.as_str());
    write_json_number(writer.key("cases"), label.cases);
    write_json_number(writer.key("floor_per_mille"), u64::from(label.floor));
    write_bool(writer.key("low"), low);
    writer.close();
}

fn write_violation(violation: &Violation, settings: &Settings<'_>, replay: Option<&str>, text: &mut Vec<u8>) {
    let show = settings.show_content;
    let mut writer = ObjectWriter::open(text);
    writer.string("invariant", violation.invariant);
    writer.string("message", &redact::message(&violation.message, show));
    let case = if show { violation.case.to_json() } else { redact::case(&violation.case) };
    case.write(writer.key("case"), Numbers::AsWritten);
    write_json_number(writer.key("items"), violation.case.item_count() as u64);
    write_json_number(writer.key("case_number"), violation.case_number);
    write_optional(writer.key("replay"), replay);
    write_optional(writer.key("statement"), by_id(violation.invariant).map(|invariant| invariant.statement));
    write_optional(writer.key("known"), violation.known.as_deref());
    write_optional(writer.key("note"), violation.note.as_deref());
    write_bool(writer.key("content_shown"), show);
    writer.close();
}

fn write_optional(text: &mut Vec<u8>, value: Option<&str>) {
    match value {
        Some(value) => write_string(value, text),
        None => text.extend_from_slice(b"null"),
    }
}

fn write_bool(text: &mut Vec<u8>, value: bool) {
    text.extend_from_slice(if value { b"true" } else { b"false" });
}
