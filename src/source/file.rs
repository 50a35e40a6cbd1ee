//! Items as they stand in a file that is no rollout: an array, a request body, or one a line.
//!
//! Nothing is filtered, cut or prepared here: such a file is a request's input already, or a history that a runtime holds.

use super::scan::Parts;
use super::sketch::{Look, Sketch};
use super::{Kind, SourceError};
use crate::item::{ItemList, ResponseItem, ShapeError};
use crate::json::{Json, JsonError};
use crate::rollout::{Caps, Lines};
use std::fmt;
use std::io::Read;
use std::sync::Arc;

/// The items of a file that is no rollout.
#[derive(Debug, Clone)]
pub struct ItemFile {
    /// How they are wrapped.
    pub kind: Kind,
    /// Those that load, in order.
    pub items: ItemList,
    /// Where each stands, in the same order.
    pub(super) places: Vec<ElementPlace>,
    /// Those that do not load, the first [`MOST_UNLOADED`] of them.
    pub unloaded: Vec<Unloaded>,
    /// How many more do not load.
    pub more_unloaded: usize,
    /// The number of physical lines.
    pub physical_lines: usize,
    /// Whether a byte order mark stands before it, which was passed over.
    pub byte_order_mark: bool,
    /// Whether it is a body whose input is a text: it has no items.
    pub input_is_text: bool,
}

/// So many of the elements that do not load are kept one by one; the rest is counted.
pub const MOST_UNLOADED: usize = 1000;

/// Where an element stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ElementPlace {
    /// The physical line on which it begins, counted from 1.
    pub(super) line: usize,
    /// Its place in the list, counted from 0.
    pub(super) element: usize,
}

/// An element that does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unloaded {
    /// The physical line on which it begins, counted from 1.
    pub line: usize,
    /// The JSON pointer to it, in an array or a body.
    pub pointer: Option<String>,
    /// Why.
    pub problem: ItemProblem,
}

/// `line 3, /input/2: arguments: is required and missing`
impl fmt::Display for Unloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(pointer) = &self.pointer {
            write!(f, ", {pointer}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// Why an element does not load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ItemProblem {
    /// The line is no text.
    #[error("not UTF-8 at byte {0} of the line")]
    NotUtf8(usize),
    /// It is no JSON.
    #[error("{0}")]
    NotJson(JsonError),
    /// It does not fit its shape.
    #[error("{0}")]
    Shape(ShapeError),
}

fn load(text: &str) -> Result<ResponseItem, ItemProblem> {
    let json = Json::parse(text).map_err(ItemProblem::NotJson)?;
    ResponseItem::load(json).map_err(ItemProblem::Shape)
}

impl ItemFile {
    fn new(kind: Kind) -> ItemFile {
        ItemFile {
            kind,
            items: ItemList::new(),
            places: Vec::new(),
            unloaded: Vec::new(),
            more_unloaded: 0,
            physical_lines: 0,
            byte_order_mark: false,
            input_is_text: false,
        }
    }

    fn take(&mut self, place: ElementPlace, loaded: Result<ResponseItem, ItemProblem>) {
        match loaded {
            Ok(item) => {
                self.items.push(Arc::new(item));
                self.places.push(place);
            }
            Err(_) if self.unloaded.len() >= MOST_UNLOADED => self.more_unloaded += 1,
            Err(problem) => {
                let pointer = pointer(self.kind, place.element);
                self.unloaded.push(Unloaded { line: place.line, pointer, problem });
            }
        }
    }
}

/// The JSON pointer to an element, where there is a document that it points into.
pub(super) fn pointer(kind: Kind, element: usize) -> Option<String> {
    match kind {
        Kind::ItemArray => Some(format!("/{element}")),
        Kind::RequestBody => Some(format!("/input/{element}")),
        Kind::ItemLines | Kind::CodexRollout => None,
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads items, one a line. Blank lines are passed over.
pub(super) fn read_lines(reader: impl Read, caps: Caps) -> Result<ItemFile, SourceError> {
    let mut lines = Lines::new(reader, caps)?;
    let mut file = ItemFile::new(Kind::ItemLines);
    let mut element = 0;
    while let Some(line) = lines.next_line()? {
        file.physical_lines = line.number;
        let mut bytes = line.bytes;
        if line.number == 1
            && let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK)
        {
            (bytes, file.byte_order_mark) = (rest, true);
        }
        if bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            continue;
        }
        let loaded = match std::str::from_utf8(bytes) {
            Ok(text) => load(text),
            Err(error) => Err(ItemProblem::NotUtf8(error.valid_up_to())),
        };
        file.take(ElementPlace { line: line.number, element }, loaded);
        element += 1;
        lines.keep()?;
    }
    Ok(file)
}

/// Reads the items of an array or of a body; `forced` takes a lone object for an item, whatever it looks like.
pub(super) fn read_whole(bytes: &[u8], forced: bool) -> Result<ItemFile, SourceError> {
    let all = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
    let text = all.strip_prefix('\u{feff}').unwrap_or(all);
    let document = Document { all, start: all.len() - text.len() };
    let mut file = ItemFile::new(Kind::ItemArray);
    if Parts::of(text).is_some_and(|parts| parts.is_list()) {
        document.read_list(&mut file, document.start..all.len())?;
    } else {
        document.read_object(&mut file, forced)?;
    }
    file.byte_order_mark = document.start > 0;
    file.physical_lines = all.split_inclusive('\n').count();
    Ok(file)
}

fn not_utf8(bytes: &[u8], byte: usize) -> SourceError {
    SourceError::NotUtf8 { line: LineCounter::default().line_of(bytes, byte), byte, utf16: false }
}

/// The line of a byte, for bytes in ascending order.
#[derive(Debug, Default)]
struct LineCounter {
    seen: usize,
    ends: usize,
}

impl LineCounter {
    fn line_of(&mut self, text: &[u8], byte: usize) -> usize {
        let between = text.get(self.seen..byte).unwrap_or_default();
        self.ends += between.iter().filter(|byte| **byte == b'\n').count();
        self.seen = self.seen.max(byte);
        self.ends + 1
    }
}

/// The text of a whole file, and where its one value begins.
struct Document<'a> {
    all: &'a str,
    start: usize,
}

impl Document<'_> {
    fn read_list(&self, file: &mut ItemFile, list: std::ops::Range<usize>) -> Result<(), SourceError> {
        let (offset, text) = (list.start, self.all.get(list).unwrap_or_default());
        let mut lines = LineCounter::default();
        for (element, part) in Parts::of(text).into_iter().flatten().enumerate() {
            let part = part.map_err(|error| self.not_json(offset, error))?;
            let line = lines.line_of(self.all.as_bytes(), offset + part.value.start);
            let value = text.get(part.value).unwrap_or_default();
            file.take(ElementPlace { line, element }, load(value));
        }
        Ok(())
    }

    fn read_object(&self, file: &mut ItemFile, forced: bool) -> Result<(), SourceError> {
        let text = self.all.get(self.start..).unwrap_or_default();
        let mut input = None;
        for part in Parts::of(text).into_iter().flatten() {
            let part = part.map_err(|error| self.not_json(self.start, error))?;
            let (key, range) = (part.key(text), part.value);
            if key.as_deref() == Some("input") {
                // As everywhere: of a key that comes twice the last one counts.
                input = Some(self.start + range.start..self.start + range.end);
            } else {
                let value = text.get(range.clone()).unwrap_or_default();
                Json::parse(value).map_err(|error| self.not_json(self.start + range.start, error))?;
            }
        }
        let is_item = Sketch::of_element(text).is_some_and(|sketch| sketch.look() == Look::Item);
        match input {
            Some(input) if !is_item => self.read_input(file, input),
            _ if is_item || forced => {
                file.kind = Kind::ItemLines;
                let start = text.len() - text.trim_start().len();
                let line = LineCounter::default().line_of(self.all.as_bytes(), self.start + start);
                file.take(ElementPlace { line, element: 0 }, load(text));
                Ok(())
            }
            _ => Err(SourceError::NotTold { broken: None }),
        }
    }

    fn read_input(&self, file: &mut ItemFile, input: std::ops::Range<usize>) -> Result<(), SourceError> {
        file.kind = Kind::RequestBody;
        let text = self.all.get(input.clone()).unwrap_or_default();
        if text.starts_with('[') {
            return self.read_list(file, input);
        }
        match Json::parse(text).map_err(|error| self.not_json(input.start, error))? {
            Json::String(_) => file.input_is_text = true,
            other => {
                let line = LineCounter::default().line_of(self.all.as_bytes(), input.start);
                return Err(SourceError::InputNotAList { line, found: other.describe() });
            }
        }
        Ok(())
    }

    /// An error at its place in the whole file.
    fn not_json(&self, offset: usize, error: JsonError) -> SourceError {
        let error = JsonError { offset: offset + error.offset, ..error };
        SourceError::NotJson {
            line: LineCounter::default().line_of(self.all.as_bytes(), error.offset),
            error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"type":"function_call","name":"ls","arguments":"{}","call_id":"a"}"#;

    fn whole(text: &str) -> Result<ItemFile, SourceError> {
        read_whole(text.as_bytes(), false)
    }

    fn places(file: &ItemFile) -> Vec<(usize, usize)> {
        file.places.iter().map(|place| (place.line, place.element)).collect()
    }

    #[test]
    fn every_element_has_its_line_and_its_pointer() {
        let file = whole(&format!("\u{feff}\n[\n {CALL},\n 7, {CALL}]\n")).expect("an array");
        assert_eq!(places(&file), [(3, 0), (4, 2)]);
        assert_eq!(file.unloaded[0].to_string(), "line 4, /1: expected an object, found a number");
        assert!(file.byte_order_mark);
        assert_eq!(file.physical_lines, 4);
    }

    #[test]
    fn the_last_input_of_a_body_counts() {
        let body = format!("{{\"input\":[7],\n\"model\":\"m\",\n\"input\":\n[{CALL}, {{}}]}}");
        let file = whole(&body).expect("a body");
        assert_eq!((file.kind, places(&file)), (Kind::RequestBody, vec![(4, 0)]));
        assert_eq!(file.unloaded[0].to_string(), "line 4, /input/1: type: is required and missing");
    }

    #[test]
    fn a_body_that_is_no_json_says_where() {
        let error = whole("{\"input\":[],\n\"model\":tru}").expect_err("broken").to_string();
        assert!(error.starts_with("line 2: not JSON at byte "), "{error}");
        assert!(matches!(whole("{\"input\":3}"), Err(SourceError::InputNotAList { found: "a number", .. })));
        assert!(whole("{\"input\":\"hi\"}").expect("a body").input_is_text);
    }

    #[test]
    fn bytes_that_are_no_text_are_named_by_line() {
        let error = read_whole(b"[\n\"\xff\"]", false).expect_err("no text");
        assert!(matches!(error, SourceError::NotUtf8 { line: 2, byte: 3, utf16: false }), "{error}");
    }

    #[test]
    fn a_line_that_does_not_load_is_kept_with_its_reason() {
        let text = format!("{CALL}\n\nnonsense\n{{\"type\":\"function_call\"}}\n");
        let file = read_lines(text.as_bytes(), Caps::default()).expect("lines");
        assert_eq!(places(&file), [(1, 0)]);
        let unloaded: Vec<String> = file.unloaded.iter().map(ToString::to_string).collect();
        assert!(unloaded[0].starts_with("line 3: not JSON at byte 0"), "{unloaded:?}");
        assert_eq!(unloaded[1], "line 4: name: is required and missing");
    }

    #[test]
    fn elements_without_end_are_counted_and_not_kept() {
        let zeros = format!("[{}0]", "0,".repeat(5000));
        let file = whole(&zeros).expect("an array");
        assert_eq!((file.unloaded.len(), file.more_unloaded), (MOST_UNLOADED, 5001 - MOST_UNLOADED));
    }
}
