//! Tells what a file is.
//!
//! Mostly the first line says it. Where it does not (a list or an object over many lines, a torn or a foreign line), the
//! whole text is tried as one JSON value, and after that the lines one by one until one is known.

use super::SourceError;
use super::scan::Parts;
use super::sketch::{Look, Sketch, elements};
use crate::json::JsonProblem;
use crate::rollout::{Caps, Lines, LinesError};
use std::io::{Read, Seek};

/// What a file is to be read as.
#[derive(Debug)]
pub(super) enum Told {
    Rollout,
    /// Items, one a line.
    Lines,
    /// One JSON value, whose text is this.
    Whole(Vec<u8>),
}

/// `forced` says that the file holds Responses items, whatever it looks like.
pub(super) fn tell(reader: &mut (impl Read + Seek), forced: bool, caps: Caps) -> Result<Told, SourceError> {
    let Some(first) = first_line(reader, caps)? else {
        return if forced { Ok(Told::Lines) } else { Err(SourceError::Empty) };
    };
    match first {
        Look::RolloutLine => return Ok(Told::Rollout),
        Look::Item => return Ok(Told::Lines),
        _ => reader.rewind()?,
    }
    let broken = match whole_text(reader, caps)? {
        Whole::Value(text) => return check_whole(text, forced),
        Whole::Broken(line, error) => Some((line, error)),
        Whole::None => None,
    };
    reader.rewind()?;
    search_lines(reader, forced, caps)?.ok_or(SourceError::NotTold { broken })
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text without a mark at its start and blanks around it.
fn trimmed(text: &str) -> &str {
    text.trim_start_matches(BYTE_ORDER_MARK).trim_matches([' ', '\t', '\r', '\n'])
}

/// What the first line that is not blank looks like; none where there is no such line.
fn first_line(reader: &mut impl Read, caps: Caps) -> Result<Option<Look>, SourceError> {
    let mut lines = Lines::new(reader, caps)?;
    while let Some(line) = lines.next_line()? {
        let text = String::from_utf8_lossy(line.bytes);
        let text = trimmed(&text);
        if !text.is_empty() {
            return Ok(Some(look_of(text)));
        }
    }
    Ok(None)
}

fn look_of(line: &str) -> Look {
    Sketch::of(line).map_or(Look::Unknown, |sketch| sketch.look())
}

/// What the text is when it is taken as one value.
enum Whole {
    Value(Vec<u8>),
    /// It begins like a list or an object; the line where it breaks, counted from 1, and why.
    Broken(usize, JsonProblem),
    /// It begins otherwise, or is longer than a line may be.
    None,
}

fn whole_text(reader: &mut impl Read, caps: Caps) -> Result<Whole, SourceError> {
    let mut lines = Lines::new(reader, caps)?;
    let mut bytes = Vec::new();
    while let Some(line) = lines.next_line()? {
        if bytes.len().saturating_add(line.bytes.len()) >= caps.line_bytes {
            return Ok(Whole::None);
        }
        bytes.extend_from_slice(line.bytes);
        if line.ended {
            bytes.push(b'\n');
        }
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(SourceError::NotUtf8 { line: 1, byte: 0, utf16: true });
    }
    let text = String::from_utf8_lossy(&bytes);
    let Some(parts) = Parts::of(text.trim_start_matches(BYTE_ORDER_MARK)) else { return Ok(Whole::None) };
    match parts.filter_map(Result::err).next() {
        None => Ok(Whole::Value(bytes)),
        Some(error) => {
            let before = text.as_bytes().get(..error.offset).unwrap_or_default();
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            Ok(Whole::Broken(line, error.problem))
        }
    }
}

fn check_whole(bytes: Vec<u8>, forced: bool) -> Result<Told, SourceError> {
    let told = {
        let text = String::from_utf8_lossy(&bytes);
        let text = trimmed(&text);
        if text.starts_with('[') { list_error(text) } else { object_error(look_of(text)) }
    };
    match told {
        Some(error) if !forced => Err(error),
        _ => Ok(Told::Whole(bytes)),
    }
}

fn object_error(look: Look) -> Option<SourceError> {
    match look {
        Look::Body | Look::Item => None,
        Look::SavedCase => Some(SourceError::SavedCase),
        Look::Foreign(dialect) => Some(SourceError::OtherDialect(dialect)),
        Look::UntypedMessage => Some(SourceError::Ambiguous),
        Look::RolloutLine | Look::Unknown => Some(SourceError::NotTold { broken: None }),
    }
}

/// What keeps a list from being one of items. An empty list is one.
fn list_error(text: &str) -> Option<SourceError> {
    let looks: Vec<Look> = elements(text).map(element_look).collect();
    if looks.is_empty() || looks.contains(&Look::Item) {
        return None;
    }
    if looks.contains(&Look::RolloutLine) {
        return Some(SourceError::RolloutLinesInArray);
    }
    let foreign = looks.iter().find(|look| matches!(look, Look::Foreign(_)));
    let untyped = looks.iter().find(|look| matches!(look, Look::UntypedMessage));
    object_error(*foreign.or(untyped).unwrap_or(&Look::Unknown))
}

fn element_look(element: &str) -> Look {
    Sketch::of_element(element).map_or(Look::Unknown, |sketch| sketch.look())
}

/// Looks for the first line that is known.
fn search_lines(reader: &mut impl Read, forced: bool, caps: Caps) -> Result<Option<Told>, SourceError> {
    let mut lines = Lines::new(reader, caps)?;
    let mut foreign: Option<SourceError> = None;
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            // What was told so far says more about the file than a line too long behind it.
            Err(error @ LinesError::LineTooLong { .. }) => return Err(foreign.unwrap_or(error.into())),
            Err(error) => return Err(error.into()),
        };
        let number = line.number;
        let text = String::from_utf8_lossy(line.bytes);
        match look_of(trimmed(&text)) {
            Look::RolloutLine => return Ok(Some(Told::Rollout)),
            Look::Item => return Ok(Some(Told::Lines)),
            Look::Unknown => {}
            Look::Body => {
                foreign.get_or_insert(SourceError::SeveralBodies { line: number });
            }
            look @ (Look::SavedCase | Look::Foreign(_) | Look::UntypedMessage) => {
                if foreign.is_none() {
                    foreign = object_error(look);
                }
            }
        }
    }
    match foreign {
        _ if forced => Ok(Some(Told::Lines)),
        Some(error) => Err(error),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const META: &str = r#"{"timestamp":"t","type":"session_meta","payload":{}}"#;
    const ITEM: &str = r#"{"type":"message","role":"user","content":[]}"#;

    fn told(text: &str) -> Result<&'static str, SourceError> {
        tell(&mut Cursor::new(text), false, Caps::default()).map(|told| match told {
            Told::Rollout => "rollout",
            Told::Lines => "lines",
            Told::Whole(_) => "whole",
        })
    }

    #[test]
    fn a_file_is_told_by_its_content() {
        assert_eq!(told(&format!("{META}\n")).ok(), Some("rollout"));
        assert_eq!(told(&format!("\u{feff}\n {META}")).ok(), Some("rollout"));
        assert_eq!(told(&format!("{ITEM}\n{ITEM}")).ok(), Some("lines"));
        assert_eq!(told(&format!("[{ITEM}]")).ok(), Some("whole"));
        assert_eq!(told(&format!("[\n  {ITEM},\n  {ITEM}\n]\n")).ok(), Some("whole"));
        assert_eq!(told(&format!("{{\n\"input\":\n[{ITEM}]}}")).ok(), Some("whole"));
        assert_eq!(told("[]").ok(), Some("whole"));
    }

    #[test]
    fn junk_before_the_first_known_line_is_passed_over() {
        assert_eq!(told(&format!("hello\n[1]\n{{\"times\n{META}")).ok(), Some("rollout"));
        assert_eq!(told(&format!("{{\"type\":\"mess\n{ITEM}")).ok(), Some("lines"));
    }

    #[test]
    fn what_cannot_be_told_says_how_to_name_it() {
        let error = |text: &str| told(text).expect_err(text).to_string();
        assert!(error(" \n\t\n").contains("is empty"));
        assert!(error("hello").contains("--dialect responses"));
        assert!(error("[0,0]").contains("--dialect responses"));
        assert!(error("[{\"type\":\"message\"").contains("line 1"));
        assert!(error(r#"[{"role":"user","content":"hi"}]"#).contains("ambiguous"));
        assert!(error(r#"{"messages":[{"role":"tool"}]}"#).contains("dialect chat"));
        assert!(error("{\"contents\":[]}").contains("dialect gemini"));
        assert!(error("{\"schema\":\"callpair.case/1\"}").contains("callpair replay"));
        assert!(error(&format!("[{META}]")).contains("array of rollout lines"));
        assert!(error("{\"input\":[]}\n{\"input\":[]}").contains("several"));
        let utf16 = tell(&mut Cursor::new(b"\xff\xfe[\0]\0"), false, Caps::default());
        assert!(utf16.expect_err("UTF-16").to_string().contains("UTF-16"));
    }

    #[test]
    fn a_named_dialect_settles_what_is_ambiguous() {
        let forced = |text: &str| tell(&mut Cursor::new(text), true, Caps::default());
        assert!(matches!(forced(r#"[{"role":"user","content":"hi"}]"#), Ok(Told::Whole(_))));
        assert!(matches!(forced("hello"), Ok(Told::Lines)));
        assert!(matches!(forced(""), Ok(Told::Lines)));
        assert!(matches!(forced(META), Ok(Told::Rollout)));
    }
}
