//! A JSON value that loses nothing: numbers keep their text, objects keep the order of their keys.
//!
//! The program that callpair mirrors keeps a number with a point or an exponent as text, so a value that
//! went through `f64` would differ. `serde_json` can do the same, but only by a feature (`arbitrary_precision`)
//! that changes every other crate of a build. Hence a small value of our own.
//!
//! It is not a general JSON library: it reads strict RFC 8259 text into memory, bounded in depth as the
//! program bounds it, and writes it again, compact, in one of two [`Numbers`] styles.

mod number;
mod parse;
mod write;

pub use number::Number;
pub use parse::{JsonError, JsonProblem, MAX_DEPTH};
pub use write::{Numbers, ObjectWriter, write_list, write_string};

use std::fmt;

/// Any JSON value.
///
/// Equality is by meaning: the order of keys does not count, and numbers are equal when they are the same
/// decimal (`1.0` equals `1`, `1e400` equals `10e399`).
#[derive(Debug, Clone, Default)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(Number),
    /// A string, unescaped.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// An object, keys in the order of the text.
    Object(Object),
}

impl Json {
    /// Reads one JSON text; blanks around it are space, tab, CR and LF.
    ///
    /// # Errors
    /// Says at which byte the text stops being JSON: also for nesting over [`MAX_DEPTH`] and for an escape
    /// that is half of a surrogate pair.
    ///
    /// ```
    /// # use callpair::json::Json;
    /// let value = Json::parse(r#"{"b": 1.50, "a": 1e5, "b": 2.0}"#)?;
    /// assert_eq!(value.to_string(), r#"{"b":2.0,"a":1e5}"#); // the last `b` counts, at the first one's place
    /// # Ok::<(), callpair::json::JsonError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        parse::parse(text, MAX_DEPTH)
    }

    /// Reads one JSON text that holds further ones inside `wrappers` lists and objects: a request body around its items,
    /// say. The bound on nesting is that much higher.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_wrapped(text: &str, wrappers: u8) -> Result<Json, JsonError> {
        parse::parse(text, MAX_DEPTH + usize::from(wrappers))
    }

    /// The value under `key`, where this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// The text, where this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, where this is a list.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members, where this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The number, where this is an integer from 0 to 18446744073709551615 (`1.0` is no integer; `-0` is).
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// What kind of value this is, as a person says it: "a string", "null".
    pub fn describe(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        }
    }

    /// The first integer in here that does not fit 64 bits, signed or unsigned. The program skips a line that
    /// holds one, in whatever field it stands.
    pub fn oversized_integer(&self) -> Option<&Number> {
        match self {
            Json::Number(number) => number.is_oversized_integer().then_some(number),
            Json::Array(elements) => elements.iter().find_map(Json::oversized_integer),
            Json::Object(object) => object.iter().find_map(|(_, value)| value.oversized_integer()),
            Json::Null | Json::Bool(_) | Json::String(_) => None,
        }
    }

    /// Writes the value behind what `out` holds, compact.
    pub fn write(&self, out: &mut Vec<u8>, numbers: Numbers) {
        write::write(self, out, numbers);
    }
}

/// Compact, numbers as they were written.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::new();
        self.write(&mut bytes, Numbers::AsWritten);
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Null, Json::Null) => true,
            (Json::Bool(a), Json::Bool(b)) => a == b,
            (Json::Number(a), Json::Number(b)) => a == b,
            (Json::String(a), Json::String(b)) => a == b,
            (Json::Array(a), Json::Array(b)) => a == b,
            (Json::Object(a), Json::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Json {}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        Json::Number(value.into())
    }
}

/// Writes a value into a report of `serde_json`, numbers as they were written.
impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let raw = serde_json::value::RawValue::from_string(self.to_string()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// The members of a JSON object, in the order of the text. A key that came twice is here once: its last
/// value, at its first place, as the program reads it.
#[derive(Debug, Clone, Default)]
pub struct Object {
    members: Vec<(Box<str>, Json)>,
}

/// From this many members on, finding a member by a walk costs more than a table of the keys.
const WALK_LIMIT: usize = 16;

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members.iter().find(|(k, _)| **k == *key).map(|(_, value)| value)
    }

    /// Takes the member `key` out, without keeping the order of the rest.
    pub fn take(&mut self, key: &str) -> Option<Json> {
        let at = self.members.iter().position(|(k, _)| **k == *key)?;
        Some(self.members.swap_remove(at).1)
    }

    /// Sets `key`: at its place where it stands already, at the end otherwise.
    pub fn set(&mut self, key: impl Into<Box<str>>, value: Json) {
        let key = key.into();
        match self.members.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.members.push((key, value)),
        }
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.members.iter().map(|(key, value)| (&**key, value))
    }

    /// Keys that come twice fall together, as in [`Object`]'s description.
    pub(crate) fn from_members(mut members: Vec<(Box<str>, Json)>) -> Object {
        if members.len() < WALK_LIMIT {
            let mut at = 1;
            while let Some((key, _)) = members.get(at) {
                match members.iter().take(at).position(|(earlier, _)| earlier == key) {
                    Some(first) => {
                        let (_, value) = members.remove(at);
                        if let Some(slot) = members.get_mut(first) {
                            slot.1 = value;
                        }
                    }
                    None => at += 1,
                }
            }
        } else {
            members = merge_by_table(members);
        }
        members.shrink_to_fit();
        Object { members }
    }
}

fn merge_by_table(members: Vec<(Box<str>, Json)>) -> Vec<(Box<str>, Json)> {
    let mut places = std::collections::HashMap::with_capacity(members.len());
    let mut merged: Vec<(Box<str>, Json)> = Vec::with_capacity(members.len());
    for (key, value) in members {
        match places.get(&key).and_then(|&place: &usize| merged.get_mut(place)) {
            Some(slot) => slot.1 = value,
            None => {
                places.insert(key.clone(), merged.len());
                merged.push((key, value));
            }
        }
    }
    merged
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        if self.len() != other.len() {
            return false;
        }
        // The order mostly agrees, and then no look-up is needed.
        if self.members.iter().zip(&other.members).all(|(a, b)| a.0 == b.0) {
            return self.members.iter().zip(&other.members).all(|(a, b)| a.1 == b.1);
        }
        if self.len() < WALK_LIMIT {
            return self.iter().all(|(key, value)| other.get(key) == Some(value));
        }
        let table: std::collections::HashMap<&str, &Json> = other.iter().collect();
        self.iter().all(|(key, value)| table.get(key) == Some(&value))
    }
}

impl Eq for Object {}

impl FromIterator<(Box<str>, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (Box<str>, Json)>>(members: I) -> Object {
        Object::from_members(members.into_iter().collect())
    }
}

impl IntoIterator for Object {
    type Item = (Box<str>, Json);
    type IntoIter = std::vec::IntoIter<(Box<str>, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Json {
        Json::parse(text).expect("the text is JSON")
    }

    #[test]
    fn a_doubled_key_keeps_its_first_place_and_its_last_value() {
        assert_eq!(parse(r#"{"v":1,"w":2,"v":3}"#).to_string(), r#"{"v":3,"w":2}"#);
        assert_eq!(parse(r#"{"a":1,"\u0061":2}"#).to_string(), r#"{"a":2}"#);
        assert_eq!(parse(r#"{"a":1,"a":2,"a":3,"b":4,"a":5}"#).to_string(), r#"{"a":5,"b":4}"#);
    }

    #[test]
    fn doubled_keys_fall_together_in_large_objects_too() {
        let keys: Vec<String> = (0..100).chain(0..50).map(|n| format!("\"k{n}\":{n}")).collect();
        let object = parse(&format!("{{{}}}", keys.join(",")));
        assert_eq!(object.as_object().map(Object::len), Some(100));
    }

    #[test]
    fn equality_is_by_meaning() {
        assert_eq!(parse(r#"{"a":1,"b":[2.0]}"#), parse(r#"{"b":[2],"a":1.00}"#));
        assert_ne!(parse(r#"{"a":null}"#), parse("{}"));
        assert_ne!(parse("[1,2]"), parse("[2,1]"));
        assert_ne!(parse(r#""1""#), parse("1"));
    }

    #[test]
    fn an_oversized_integer_is_found_at_any_depth() {
        assert!(parse(r#"{"a":[{"b":18446744073709551616}]}"#).oversized_integer().is_some());
        assert!(parse(r#"{"a":[-9223372036854775809]}"#).oversized_integer().is_some());
        assert!(
            parse("[18446744073709551615,-9223372036854775808,1e400,9e99,1.0]").oversized_integer().is_none()
        );
    }
}
