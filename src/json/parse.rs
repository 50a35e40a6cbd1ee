//! Reading JSON text into a [`Json`] value: strict RFC 8259, bounded in depth.
//!
//! Not streaming and not forgiving: the caller cuts a file into lines first, and what is not JSON is an error.

use super::{Json, Number, Object};
use std::fmt;

/// How many lists and objects may stand inside each other: the program refuses the 128th level.
pub const MAX_DEPTH: usize = 127;

/// A key that serde_json uses inside for numbers; a text that holds it is read by the program as a number.
const MAGIC_NUMBER_KEY: &str = "$serde_json::private::Number";

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {offset}: {problem}")]
pub struct JsonError {
    /// Offset into the text, in bytes from 0.
    pub offset: usize,
    /// What is wrong there.
    pub problem: JsonProblem,
}

/// What keeps a text from being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonProblem {
    /// The text ends in the middle of a value: a torn line.
    UnexpectedEnd,
    /// Something else was expected here.
    Expected(&'static str),
    /// A value is followed by more text.
    Trailing,
    /// More than [`MAX_DEPTH`] lists and objects inside each other.
    TooDeep,
    /// An escape `\ud800`…`\udfff` without its other half: no text can hold it.
    LoneSurrogate,
    /// A backslash before a letter that makes no escape.
    BadEscape,
    /// A character below U+0020 stands raw in a string.
    ControlCharacter,
}

impl fmt::Display for JsonProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonProblem::UnexpectedEnd => f.write_str("the text ends in the middle of a value"),
            JsonProblem::Expected(what) => write!(f, "expected {what}"),
            JsonProblem::Trailing => f.write_str("a value is followed by more text"),
            JsonProblem::TooDeep => write!(f, "nested too deep: over {MAX_DEPTH} levels"),
            JsonProblem::LoneSurrogate => f.write_str("an escape is half of a surrogate pair"),
            JsonProblem::BadEscape => f.write_str("no such escape"),
            JsonProblem::ControlCharacter => f.write_str("a control character stands raw in a string"),
        }
    }
}

pub(super) fn parse(text: &str, max_depth: usize) -> Result<Json, JsonError> {
    let mut parser = Parser { text, at: 0, depth_left: max_depth };
    let value = parser.value()?;
    parser.blanks();
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.error(JsonProblem::Trailing)),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth_left: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self) -> Result<Json, JsonError> {
        self.blanks();
        match self.peek() {
            None => Err(self.error(JsonProblem::UnexpectedEnd)),
            Some(b'{') => self.nested(Parser::object),
            Some(b'[') => self.nested(Parser::array),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Json::Number(self.number()?)),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.error(JsonProblem::Expected("a value"))),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, JsonError>) -> Result<Json, JsonError> {
        if self.depth_left == 0 {
            return Err(self.error(JsonProblem::TooDeep));
        }
        self.depth_left -= 1;
        let value = read(self);
        self.depth_left += 1;
        value
    }

    fn object(&mut self) -> Result<Json, JsonError> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.eat(b'}') {
            return Ok(Json::Object(Object::new()));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key"));
            }
            let key = self.string()?.into_boxed_str();
            self.blanks();
            if !self.eat(b':') {
                return Err(self.expected("':'"));
            }
            members.push((key, self.value()?));
            self.blanks();
            if self.eat(b'}') {
                break;
            }
            if !self.eat(b',') {
                return Err(self.expected("',' or '}'"));
            }
        }
        if members.first().is_some_and(|(key, _)| **key == *MAGIC_NUMBER_KEY) {
            return self.magic_number(&members);
        }
        Ok(Json::Object(Object::from_members(members)))
    }

    /// The program reads `{"$serde_json::private::Number":"1.0"}` as the number `1.0` and refuses any other object
    /// that begins with this key.
    fn magic_number(&self, members: &[(Box<str>, Json)]) -> Result<Json, JsonError> {
        let refused = || self.expected("a number's text alone under serde_json's private key");
        let [(_, Json::String(text))] = members else { return Err(refused()) };
        let mut inner = Parser { text, at: 0, depth_left: 0 };
        match inner.number() {
            Ok(number) if inner.at == text.len() => Ok(Json::Number(number)),
            _ => Err(refused()),
        }
    }

    fn array(&mut self) -> Result<Json, JsonError> {
        self.at += 1;
        let mut elements = Vec::new();
        self.blanks();
        if self.eat(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value()?);
            self.blanks();
            if self.eat(b']') {
                elements.shrink_to_fit();
                return Ok(Json::Array(elements));
            }
            if !self.eat(b',') {
                return Err(self.expected("',' or ']'"));
            }
        }
    }

    /// A string; the parser stands on its opening quote.
    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut owned = String::new();
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let plain = rest.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20).unwrap_or(rest.len());
            owned.push_str(self.slice(self.at, self.at + plain));
            self.at += plain;
            match self.peek() {
                None => return Err(self.error(JsonProblem::UnexpectedEnd)),
                Some(b'"') => {
                    self.at += 1;
                    owned.shrink_to_fit();
                    return Ok(owned);
                }
                Some(b'\\') => owned.push(self.escape()?),
                Some(_) => return Err(self.error(JsonProblem::ControlCharacter)),
            }
        }
    }

    /// The character behind a backslash.
    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let Some(letter) = self.peek() else { return Err(self.error(JsonProblem::UnexpectedEnd)) };
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(self.error(JsonProblem::BadEscape)),
        })
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let lone = self.error(JsonProblem::LoneSurrogate);
        if !((0xd800..0xdc00).contains(&first) && self.eat(b'\\') && self.eat(b'u')) {
            return Err(lone);
        }
        let second = self.hex4()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(lone);
        }
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(lone)
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte) => char::from(byte).to_digit(16),
                None => return Err(self.error(JsonProblem::UnexpectedEnd)),
            };
            value = value * 16 + digit.ok_or_else(|| self.error(JsonProblem::BadEscape))?;
            self.at += 1;
        }
        Ok(value)
    }

    /// A number by the grammar of JSON; what follows it is the caller's.
    fn number(&mut self) -> Result<Number, JsonError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        Ok(Number::from_checked_text(self.slice(start, self.at)))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &'static str, value: Json) -> Result<Json, JsonError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        if word.as_bytes().starts_with(rest) {
            return Err(JsonError { offset: self.text.len(), problem: JsonProblem::UnexpectedEnd });
        }
        Err(self.error(JsonProblem::Expected("a value")))
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Both ends stand next to ASCII or at the ends of the text, hence on whole characters.
    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn expected(&self, what: &'static str) -> JsonError {
        match self.peek() {
            None => self.error(JsonProblem::UnexpectedEnd),
            Some(_) => self.error(JsonProblem::Expected(what)),
        }
    }

    fn error(&self, problem: JsonProblem) -> JsonError {
        JsonError { offset: self.at, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Json, JsonError> {
        super::parse(text, MAX_DEPTH)
    }

    fn problem(text: &str) -> JsonProblem {
        parse(text).expect_err("the text is not JSON").problem
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let bad = [
            "",
            " ",
            "01",
            "+1",
            ".5",
            "1.",
            "NaN",
            "1e",
            "-",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "[1 2]",
            "\"a\u{1}\"",
            "\"\\x\"",
            "tru",
            "nulll",
            "{}{}",
            "\u{feff}{}",
            "\u{c}{}",
            "\u{a0}1",
            "'a'",
            "[",
            "{\"a\"",
            "\"abc",
        ];
        for text in bad {
            assert!(parse(text).is_err(), "{text:?} was read");
        }
    }

    #[test]
    fn a_torn_text_is_told_from_a_wrong_one() {
        for torn in ["{\"a\":", "[1,", "\"ab", "tr", "\"\\u00", "{", "-"] {
            assert_eq!(problem(torn), JsonProblem::UnexpectedEnd, "{torn:?}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_refused_and_a_whole_one_is_read() {
        for half in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\u0041""#, r#""\ud800x""#, r#""\udfff\ud800""#] {
            assert_eq!(problem(half), JsonProblem::LoneSurrogate, "{half}");
        }
        assert_eq!(parse(r#""\ud83d\ude00\u00e9\/\u2028""#).ok(), Some(Json::from("😀é/\u{2028}")));
    }

    #[test]
    fn nesting_ends_at_127_levels() {
        assert!(parse(&format!("{}{}", "[".repeat(127), "]".repeat(127))).is_ok());
        assert_eq!(problem(&format!("{}{}", "[".repeat(128), "]".repeat(128))), JsonProblem::TooDeep);
        assert_eq!(problem(&"[".repeat(200_000)), JsonProblem::TooDeep);
        assert_eq!(problem(&"{\"a\":".repeat(200_000)), JsonProblem::TooDeep);
    }

    #[test]
    fn the_private_key_of_serde_json_reads_as_the_program_reads_it() {
        assert_eq!(
            parse(r#"{"$serde_json::private::Number":"1.0"}"#).map(|v| v.to_string()).as_deref(),
            Ok("1.0")
        );
        for hostile in [
            r#"{"$serde_json::private::Number":1}"#,
            r#"{"$serde_json::private::Number":"x"}"#,
            r#"{"$serde_json::private::Number":" 1"}"#,
            r#"{"$serde_json::private::Number":"1","a":2}"#,
        ] {
            assert!(parse(hostile).is_err(), "{hostile}");
        }
        assert!(parse(r#"{"a":1,"$serde_json::private::Number":"x"}"#).is_ok());
        assert!(parse(r#"{"$serde_json::private::RawValue":"x"}"#).is_ok());
    }
}
