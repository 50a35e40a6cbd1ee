//! SARIF 2.1.0, the format of code scanning. The part of it that is written here is small, so it is written plainly.

use super::human::place;
use super::{Reporter, Summary};
use crate::check::{Checked, Finding, Rule};
use crate::report::EscapeControls;
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

pub(super) struct Sarif<W> {
    out: EscapeControls<W>,
    begun: bool,
    results: usize,
    notifications: Vec<serde_json::Value>,
}

impl<W: Write> Sarif<W> {
    pub(super) fn new(out: W) -> Sarif<W> {
        Sarif { out: EscapeControls::new(out), begun: false, results: 0, notifications: Vec::new() }
    }

    fn begin(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let rules: Vec<_> = Rule::ALL.iter().map(|rule| rule_report(*rule)).collect();
        let driver = json!({
            "name": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        });
        let head = r#"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":"#;
        write!(self.out, "{head}{driver}}},\"results\":[")
    }
}

impl<W: Write> Reporter for Sarif<W> {
    fn file(&mut self, path: &str, checked: &Checked) -> io::Result<()> {
        self.begin()?;
        let uri = uri(path);
        for finding in checked.findings() {
            if self.results > 0 {
                self.out.write_all(b",\n")?;
            }
            self.results += 1;
            serde_json::to_writer(&mut self.out, &ResultReport::new(&uri, &finding))?;
        }
        Ok(())
    }

    fn unusable(&mut self, path: &str, why: &str) -> io::Result<()> {
        let location = json!({"physicalLocation": {"artifactLocation": {"uri": uri(path)}}});
        self.notifications.push(json!({
            "level": "error",
            "message": {"text": why},
            "locations": [location],
        }));
        Ok(())
    }

    fn end(&mut self, _summary: &Summary) -> io::Result<()> {
        self.begin()?;
        let invocation = json!([{
            "executionSuccessful": self.notifications.is_empty(),
            "toolExecutionNotifications": self.notifications,
        }]);
        writeln!(self.out, "],\"invocations\":{invocation},\"columnKind\":\"unicodeCodePoints\"}}]}}")?;
        self.out.flush()
    }
}

fn rule_report(rule: Rule) -> serde_json::Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.statement()},
        "defaultConfiguration": {"level": rule.severity().as_str()},
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultReport<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location<'a>; 1],
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: PhysicalLocation<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'a> {
    artifact_location: ArtifactLocation<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation<'a> {
    uri: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
}

impl<'a> ResultReport<'a> {
    fn new(uri: &'a str, finding: &Finding) -> ResultReport<'a> {
        let whole = place(&finding.place, finding.index);
        let text = format!("{}. {}.", finding.message, finding.next);
        let name = if finding.index.is_some() || finding.place.pointer.is_some() {
            vec![LogicalLocation { fully_qualified_name: whole }]
        } else {
            Vec::new()
        };
        ResultReport {
            rule_id: finding.rule.id(),
            rule_index: Rule::ALL.iter().position(|rule| *rule == finding.rule).unwrap_or_default(),
            level: finding.rule.severity().as_str(),
            message: Text { text },
            locations: [Location {
                physical_location: PhysicalLocation {
                    artifact_location: ArtifactLocation { uri },
                    region: finding.place.line.map(|start_line| Region { start_line }),
                },
                logical_locations: name,
            }],
        }
    }
}

/// A path as a relative or absolute URI reference: what is no plain character of a path is percent-encoded.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encoded: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if path.starts_with('/') { format!("file://{encoded}") } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_becomes_a_uri_without_blanks_and_controls() {
        assert_eq!(uri("a b/\u{1b}[31m.jsonl"), "a%20b/%1B%5B31m.jsonl");
        assert_eq!(uri("/srv/é"), "file:///srv/%C3%A9");
    }
}
