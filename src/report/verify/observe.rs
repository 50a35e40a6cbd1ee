//! JSON lines in the OpenPBTStats form, which Tyche shows: a line a judged case while the run goes on, and at its end a line
//! for each smallest case and what is to be said of the run as a whole.
//!
//! All judged cases stand under one property, the run; each broken invariant is a property of its own with its smallest case.
//! Tyche draws a chart of each feature: numbers as they are, labels as `yes` and `no`.

use super::laws::{promise, verdict_word, verdict_words};
use super::{Settings, Start, redact, subject_name};
use crate::case::{Case, SavedCase, Step};
use crate::generate::labels::{Label, Labels};
use crate::json::{ObjectWriter, write_list, write_string};
use crate::report::text::{grouped, per_mille, share};
use crate::report::{EscapeControls, case_line, write_json_number};
use crate::subject::{Capabilities, Profile};
use crate::verify::{JudgedCase, Outcome, Violation};
use std::io::{self, Write};

/// Writes a line for one judged case. Lines may come in any order.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_observed(
    out: &mut impl Write,
    start: &Start<'_>,
    observed: &JudgedCase<'_>,
    settings: &Settings<'_>,
) -> io::Result<()> {
    let (status, reason) = match (observed.broken, observed.refused) {
        ([], true) => ("gave_up", "the subject declined it".to_owned()),
        ([], false) => ("passed", String::new()),
        (broken, _) => ("failed", format!("broken: {}", broken.join(", "))),
    };
    // Tyche takes equal texts for one case drawn twice: without its content a case is told apart by its number.
    let representation = match settings.show_content {
        true => SavedCase::bare(observed.case.clone()).to_json(),
        false => format!("case {}: {}", observed.case_number, case_line(observed.case)),
    };
    let line = TestCase {
        property: &run_property(start.subject, start.profile),
        status,
        reason: &reason,
        representation: &representation,
        case: observed.case,
        how: &format!("seed {}, case {}", start.seed, observed.case_number),
        case_number: observed.case_number,
        labels: Some(observed.labels),
    };
    write_line(out, line.to_json(settings))
}

/// Writes what stands at the end: each broken invariant with its smallest case, the verdict, and what must not be missed.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_observe(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    for violation in &outcome.violations {
        write_line(out, smallest(violation, outcome, settings))?;
    }
    let run = run_property(&outcome.subject, outcome.profile);
    let message = |kind: &str, title: &str, content: &str| {
        let mut text = Vec::new();
        let mut writer = ObjectWriter::open(&mut text);
        for (key, value) in [("type", kind), ("title", title), ("content", content), ("property", &run)] {
            writer.string(key, value);
        }
        write_seconds(writer.key("run_start"), settings);
        writer.close();
        text
    };
    let verdict = format!("{}: {}", verdict_word(outcome.verdict), verdict_words(outcome));
    write_line(out, message("info", "Verdict", &verdict))?;
    write_line(out, message("info", "Promise", &promise(outcome)))?;
    write_line(out, message("info", "Invariants", &invariant_table(outcome)))?;
    for label in outcome.low_labels() {
        let share = share(label.cases, outcome.cases);
        let floor = per_mille(u64::from(label.floor));
        let content = format!("{}: {share}, floor {floor}", label.label.as_str());
        write_line(out, message("alert", "A label is below its floor", &content))?;
    }
    for stale in &outcome.stale {
        write_line(out, message("alert", "A known failure no longer fails", stale))?;
    }
    out.flush()
}

/// The line of a broken invariant. One smallest case may break several; each names its invariant, since Tyche marks a property
/// whose texts it has seen before as one that draws too little, in place of one that failed.
fn smallest(violation: &Violation, outcome: &Outcome, settings: &Settings<'_>) -> Vec<u8> {
    let message = redact::message(&violation.message, settings.show_content);
    let reason = match &violation.known {
        Some(known) => format!("known failure ({known}): {message}"),
        None => message,
    };
    let how = match violation.saved_case() {
        Some(name) => format!("the saved case {name}"),
        None => format!("the smallest case, from seed {}, case {}", outcome.seed, violation.case_number),
    };
    let representation = match settings.show_content {
        true => violation.saved(&outcome.subject.name, outcome.profile).to_json(),
        false => format!("{}: {}", violation.invariant, case_line(&violation.case)),
    };
    let line = TestCase {
        property: violation.invariant,
        status: "failed",
        reason: &reason,
        representation: &representation,
        case: &violation.case,
        how: &how,
        case_number: violation.case_number,
        labels: None,
    };
    line.to_json(settings)
}

fn run_property(subject: &Capabilities, profile: Profile) -> String {
    format!("callpair verify: {}, profile {profile}", subject_name(subject))
}

/// A table in Markdown, as the form asks of texts for people.
fn invariant_table(outcome: &Outcome) -> String {
    let mut table = String::from("| invariant | cases | violations |\n| --- | ---: | ---: |\n");
    for count in &outcome.invariants {
        let (checked, violations) = (grouped(count.checked), grouped(count.violations));
        table.push_str(&format!("| {} | {checked} | {violations} |\n", count.id));
    }
    table
}

fn write_line(out: &mut impl Write, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    EscapeControls::new(out).write_all(&line)
}

/// The form asks for seconds since 1970 as a number.
fn write_seconds(text: &mut Vec<u8>, settings: &Settings<'_>) {
    let start = settings.run_start;
    text.extend_from_slice(format!("{}.{:03}", start.as_secs(), start.subsec_millis()).as_bytes());
}

/// A line of type `test_case`.
struct TestCase<'a> {
    property: &'a str,
    status: &'a str,
    reason: &'a str,
    representation: &'a str,
    case: &'a Case,
    how: &'a str,
    case_number: u64,
    labels: Option<Labels>,
}

impl TestCase<'_> {
    fn to_json(&self, settings: &Settings<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        let mut writer = ObjectWriter::open(&mut text);
        writer.string("type", "test_case");
        write_seconds(writer.key("run_start"), settings);
        writer.string("property", self.property);
        writer.string("status", self.status);
        writer.string("status_reason", self.reason);
        writer.string("representation", self.representation);
        writer.key("arguments").extend_from_slice(b"{}");
        writer.string("how_generated", self.how);
        self.write_features(writer.key("features"));
        writer.key("coverage").extend_from_slice(b"null");
        writer.key("timing").extend_from_slice(b"{}");
        let mut metadata = ObjectWriter::open(writer.key("metadata"));
        write_json_number(metadata.key("case_number"), self.case_number);
        let steps = self.case.steps.iter().map(Step::name);
        write_list(metadata.key("steps"), steps, write_string);
        metadata.close();
        writer.close();
        text
    }

    fn write_features(&self, text: &mut Vec<u8>) {
        let mut writer = ObjectWriter::open(text);
        write_json_number(writer.key("items"), self.case.item_count() as u64);
        write_json_number(writer.key("steps"), self.case.steps.len() as u64);
        for label in self.labels.iter().flat_map(|_| Label::ALL) {
            let has = self.labels.is_some_and(|labels| labels.has(*label));
            writer.string(label.as_str(), if has { "yes" } else { "no" });
        }
        writer.close();
    }
}
