//! Finds where the members of an object, or the elements of a list, begin and end in JSON text.
//!
//! Builds no tree and keeps no stack, so that a file is told, and taken apart into items, in the memory of its text. It is
//! no validator: inside a part it only counts brackets. Whoever uses a part reads it with [`Json::parse`], which decides.

use crate::json::{Json, JsonError, JsonProblem};
use std::ops::Range;

/// A member of an object, or an element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Where the key stands, quotes included; none in a list.
    key: Option<Range<usize>>,
    /// Where the value stands, in bytes of the whole text.
    pub(super) value: Range<usize>,
}

impl Part {
    /// The key, unescaped.
    pub(super) fn key(&self, text: &str) -> Option<String> {
        match Json::parse(text.get(self.key.clone()?)?) {
            Ok(Json::String(key)) => Some(key),
            _ => None,
        }
    }
}

/// The parts of the list or object that is the outermost value of a text, one after the other, until its end or the first
/// error. After the end nothing but blanks may follow.
#[derive(Debug, Clone)]
pub(super) struct Parts<'a> {
    text: &'a [u8],
    at: usize,
    close: u8,
    first: bool,
    over: bool,
}

impl<'a> Parts<'a> {
    /// None where the text, blanks apart, does not begin with `[` or `{`.
    pub(super) fn of(text: &'a str) -> Option<Parts<'a>> {
        let at = after_blanks(text.as_bytes(), 0);
        let close = match text.as_bytes().get(at)? {
            b'[' => b']',
            b'{' => b'}',
            _ => return None,
        };
        Some(Parts { text: text.as_bytes(), at: at + 1, close, first: true, over: false })
    }

    /// Whether these are the elements of a list.
    pub(super) fn is_list(&self) -> bool {
        self.close == b']'
    }

    fn step(&mut self) -> Result<Option<Part>, JsonError> {
        self.blanks();
        if !self.first {
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == self.close => return self.end(),
                _ => return Err(self.expected("a comma or the end")),
            }
            self.blanks();
        } else if self.peek() == Some(self.close) {
            return self.end();
        }
        self.first = false;
        let key = if self.is_list() { None } else { Some(self.key()?) };
        let start = self.at;
        self.at = after_value(self.text, start)?;
        Ok(Some(Part { key, value: start..self.at }))
    }

    fn key(&mut self) -> Result<Range<usize>, JsonError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key"));
        }
        self.at = after_string(self.text, start)?;
        let key = start..self.at;
        self.blanks();
        if self.peek() != Some(b':') {
            return Err(self.expected("a colon"));
        }
        self.at += 1;
        self.blanks();
        Ok(key)
    }

    fn end(&mut self) -> Result<Option<Part>, JsonError> {
        self.at += 1;
        self.blanks();
        match self.peek() {
            None => Ok(None),
            Some(_) => Err(JsonError { offset: self.at, problem: JsonProblem::Trailing }),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        self.at = after_blanks(self.text, self.at);
    }

    fn expected(&self, what: &'static str) -> JsonError {
        expected(self.text, self.at, what)
    }
}

impl Iterator for Parts<'_> {
    type Item = Result<Part, JsonError>;

    fn next(&mut self) -> Option<Result<Part, JsonError>> {
        if self.over {
            return None;
        }
        let step = self.step().transpose();
        self.over = !matches!(step, Some(Ok(_)));
        step
    }
}

fn expected(text: &[u8], at: usize, what: &'static str) -> JsonError {
    let problem = if at < text.len() { JsonProblem::Expected(what) } else { JsonProblem::UnexpectedEnd };
    JsonError { offset: at, problem }
}

fn after_blanks(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
}

fn after_value(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match text.get(at) {
            None => return Err(expected(text, at, "a value")),
            Some(b'"') => at = after_string(text, at)?,
            Some(b'[' | b'{') => {
                depth += 1;
                at += 1;
            }
            Some(b']' | b'}') if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            Some(b']' | b'}' | b',' | b':') if depth == 0 => return Err(expected(text, at, "a value")),
            Some(b',' | b':' | b' ' | b'\t' | b'\r' | b'\n') => at += 1,
            Some(_) => at = after_word(text, at),
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// A number, a name, or what stands where one should.
fn after_word(text: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| {
        matches!(byte, b'"' | b'[' | b']' | b'{' | b'}' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n')
    };
    let rest = text.get(start..).unwrap_or_default();
    start + rest.iter().position(ends).unwrap_or(rest.len())
}

fn after_string(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let mut at = start + 1;
    loop {
        match text.get(at) {
            None => return Err(JsonError { offset: text.len(), problem: JsonProblem::UnexpectedEnd }),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<(Option<String>, &str)>, JsonError> {
        let parts = Parts::of(text).expect("a list or an object");
        parts.map(|part| part.map(|part| (part.key(text), &text[part.value.clone()]))).collect()
    }

    #[test]
    fn elements_are_found_whatever_they_hold() {
        let list = r#" [ {"a":[1,"]"]} , "x\"]," ,-1e5,[[]] ,null] "#;
        let found: Vec<&str> = values(list).expect("whole").into_iter().map(|(_, value)| value).collect();
        assert_eq!(found, [r#"{"a":[1,"]"]}"#, r#""x\"],""#, "-1e5", "[[]]", "null"]);
        assert_eq!(values("[]"), Ok(vec![]));
    }

    #[test]
    fn members_are_found_with_their_keys_unescaped() {
        let found = values(r#"{"\u0069nput" : [1,{"b":2}],"":"{"}"#).expect("whole");
        assert_eq!(found[0], (Some("input".to_owned()), r#"[1,{"b":2}]"#));
        assert_eq!(found[1], (Some(String::new()), r#""{""#));
    }

    #[test]
    fn a_torn_text_is_an_error_at_its_end() {
        for text in ["[", "[1", "[1,", r#"{"a""#, r#"{"a":"#, r#"{"a":["#, r#"["x"#, r#"["x\"#] {
            let error = values(text).expect_err(text);
            assert_eq!(error.problem, JsonProblem::UnexpectedEnd, "{text}");
            assert_eq!(error.offset, text.len(), "{text}");
        }
    }

    #[test]
    fn text_behind_the_value_is_an_error() {
        let error = values("[1] {}").expect_err("two values");
        assert_eq!((error.offset, error.problem), (4, JsonProblem::Trailing));
        assert!(values("[1 2]").is_err());
        assert!(values("[,]").is_err());
        assert!(values("{1:2}").is_err());
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = format!("[{}{}]", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(values(&deep).expect("whole").len(), 1);
    }

    #[test]
    fn what_the_parser_reads_the_scanner_takes_apart_alike() {
        for text in [r#"[1,[2,"a\\"],{"k":"}"}]"#, "[ ]", r#"["\\\"",3]"#, "[\t1\r\n,2]"] {
            let whole = Json::parse(text).expect("JSON");
            let parts = values(text).expect("whole");
            let read: Vec<Json> = parts.iter().map(|(_, part)| Json::parse(part).expect("JSON")).collect();
            assert_eq!(whole.as_array(), Some(&*read));
        }
    }
}
