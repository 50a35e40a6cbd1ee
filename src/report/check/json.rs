//! The shape `callpair.check/1`: one document, its fields documented in the command's help and fixed.

use super::{Reporter, Summary};
use crate::check::{Checked, Finding, Note, Repair};
use crate::item::ResponseItem;
use crate::report::EscapeControls;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use std::io::{self, Write};

pub(super) struct JsonReport<W> {
    out: EscapeControls<W>,
    show_content: bool,
    files: usize,
    unusable: Vec<Unusable>,
}

#[derive(Debug, Serialize)]
struct Unusable {
    path: String,
    message: String,
}

impl<W: Write> JsonReport<W> {
    pub(super) fn new(out: W, show_content: bool) -> JsonReport<W> {
        JsonReport { out: EscapeControls::new(out), show_content, files: 0, unusable: Vec::new() }
    }

    /// What stands before the next file.
    fn lead(&mut self) -> io::Result<()> {
        let lead = if self.files == 0 { r#"{"schema":"callpair.check/1","files":["# } else { "," };
        self.files += 1;
        self.out.write_all(lead.as_bytes())
    }
}

impl<W: Write> Reporter for JsonReport<W> {
    fn file(&mut self, path: &str, checked: &Checked) -> io::Result<()> {
        self.lead()?;
        let file = FileReport {
            path,
            kind: checked.kind.as_str(),
            recorded_by: checked.recorded_by.as_deref(),
            items: checked.items(),
            findings: Findings { checked, show_content: self.show_content },
            notes: checked.notes.iter().map(NoteReport::from).collect(),
        };
        serde_json::to_writer(&mut self.out, &file)?;
        self.out.write_all(b"\n")
    }

    fn unusable(&mut self, path: &str, why: &str) -> io::Result<()> {
        self.unusable.push(Unusable { path: path.to_owned(), message: why.to_owned() });
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        if self.files == 0 {
            self.lead()?;
        }
        self.out.write_all(b"],\"unusable\":")?;
        serde_json::to_writer(&mut self.out, &self.unusable)?;
        self.out.write_all(b",\"summary\":")?;
        let found = summary.findings;
        let summary = SummaryReport {
            files: summary.files,
            findings: found.total(),
            errors: found.errors,
            warnings: found.warnings,
            notes: found.notes,
            unusable: summary.unusable,
        };
        serde_json::to_writer(&mut self.out, &summary)?;
        self.out.write_all(b"}\n")?;
        self.out.flush()
    }
}

#[derive(Serialize)]
struct SummaryReport {
    files: usize,
    findings: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    unusable: usize,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_by: Option<&'a str>,
    items: usize,
    findings: Findings<'a>,
    notes: Vec<NoteReport<'a>>,
}

/// The findings, made one by one as they are written.
struct Findings<'a> {
    checked: &'a Checked,
    show_content: bool,
}

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = |finding| FindingReport { finding, show_content: self.show_content };
        serializer.collect_seq(self.checked.findings().map(shown))
    }
}

struct FindingReport {
    finding: Finding,
    show_content: bool,
}

impl Serialize for FindingReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = &self.finding;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rule", finding.rule.id())?;
        map.serialize_entry("severity", finding.rule.severity().as_str())?;
        map.serialize_entry("line", &finding.place.line)?;
        if let Some(pointer) = &finding.place.pointer {
            map.serialize_entry("pointer", pointer)?;
        }
        map.serialize_entry("index", &finding.index)?;
        map.serialize_entry("call_id", &finding.call_id.as_ref().map(|id| id.as_str()))?;
        map.serialize_entry("message", &finding.message)?;
        map.serialize_entry("next", &finding.next)?;
        let repair = finding.repair.as_ref().map(|repair| RepairReport::new(repair, self.show_content));
        map.serialize_entry("repair", &repair)?;
        if let Some(item) = finding.item.as_ref().filter(|_| self.show_content) {
            map.serialize_entry("item", &Wire(item))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum RepairReport<'a> {
    Insert {
        after: usize,
        item: Wire<'a>,
    },
    Remove {
        index: usize,
    },
    Replace {
        index: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        item: Option<Wire<'a>>,
    },
}

impl<'a> RepairReport<'a> {
    fn new(repair: &'a Repair, show_content: bool) -> RepairReport<'a> {
        match repair {
            Repair::Insert { after, item } => RepairReport::Insert { after: *after, item: Wire(item) },
            Repair::Remove { index } => RepairReport::Remove { index: *index },
            Repair::Replace { index, item } => {
                RepairReport::Replace { index: *index, item: show_content.then_some(Wire(item)) }
            }
        }
    }
}

/// An item in the wire form.
struct Wire<'a>(&'a ResponseItem);

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = serde_json::value::RawValue::from_string(self.0.to_wire()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

#[derive(Serialize)]
struct NoteReport<'a> {
    note: &'static str,
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<&'a str>,
    index: Option<usize>,
    message: &'a str,
}

impl<'a> From<&'a Note> for NoteReport<'a> {
    fn from(note: &'a Note) -> NoteReport<'a> {
        NoteReport {
            note: note.kind.as_str(),
            line: note.place.line,
            pointer: note.place.pointer.as_deref(),
            index: note.index,
            message: &note.message,
        }
    }
}
