//! How one JSON object becomes a typed value and is written again: the rules that hold for every item.
//!
//! A required field that is missing, a value of a wrong type, an unknown closed name: the whole item does not
//! load. An unknown field is dropped. `null` is the same as missing in an optional field and an error in a required
//! one. Nothing is converted. What the fields of each kind are stands in [`kinds`](super::kinds).
//!
//! The program also loads some odd forms that nothing was seen to write: an integer as `type`, a list of fields in place of an
//! object, a closed name as `{"high":null}`. They are refused here: which integer and which order of fields is known for some
//! kinds only, and a reader that guessed at the others would be wrong without saying so.

use crate::json::{Json, Numbers, Object, ObjectWriter, write_string};
use std::collections::BTreeMap;
use std::fmt;

/// Why an item, or a part of one, does not fit its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError {
    /// The way from the item to the bad spot, innermost first.
    reversed_path: Vec<Segment>,
    problem: ShapeProblem,
}

/// A step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Key(String),
    Index(usize),
}

/// What is wrong at the bad spot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeProblem {
    /// A required field is not there.
    Missing,
    /// The value is of another JSON type.
    WrongType {
        /// What the shape takes: "a string".
        expected: &'static str,
        /// What stands there: "null".
        found: &'static str,
    },
    /// A closed set of names does not have this one.
    UnknownName {
        /// The name that stands there.
        name: String,
        /// The names that would fit.
        known: &'static [&'static str],
    },
    /// An integer that fits 64 bits neither signed nor unsigned stands somewhere in the item.
    OversizedInteger(String),
}

impl ShapeError {
    pub(crate) fn new(problem: ShapeProblem) -> ShapeError {
        ShapeError { reversed_path: Vec::new(), problem }
    }

    pub(crate) fn wrong_type(expected: &'static str, found: &Json) -> ShapeError {
        ShapeError::new(ShapeProblem::WrongType { expected, found: found.describe() })
    }

    pub(crate) fn under(mut self, key: &str) -> ShapeError {
        self.reversed_path.push(Segment::Key(key.to_owned()));
        self
    }

    pub(crate) fn at(mut self, index: usize) -> ShapeError {
        self.reversed_path.push(Segment::Index(index));
        self
    }

    /// What is wrong.
    pub fn problem(&self) -> &ShapeProblem {
        &self.problem
    }

    /// The way to the bad spot: `content[0].detail`; empty where the item itself is the spot.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for segment in self.reversed_path.iter().rev() {
            match segment {
                Segment::Key(key) if path.is_empty() => path.push_str(key),
                Segment::Key(key) => path.extend([".", key]),
                Segment::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }
}

/// `content[0].detail: expected one of "auto", "low", "high", "original", found "medium"`.
///
/// A name from the input is shown shortened and escaped, so that it can hold neither a terminal escape nor a novel.
impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if !path.is_empty() {
            write!(f, "{}: ", shown(&path))?;
        }
        match &self.problem {
            ShapeProblem::Missing => f.write_str("is required and missing"),
            ShapeProblem::WrongType { expected, found } => write!(f, "expected {expected}, found {found}"),
            ShapeProblem::UnknownName { name, known } => {
                write!(f, "expected one of {known:?}, found \"{}\"", shown(name))
            }
            // The digits themselves are content.
            ShapeProblem::OversizedInteger(digits) => {
                write!(
                    f,
                    "an integer of {} digits does not fit 64 bits",
                    digits.trim_start_matches('-').len()
                )
            }
        }
    }
}

impl std::error::Error for ShapeError {}

/// The longest piece of the input that an error shows, in characters.
const SHOWN_CHARS: usize = 60;

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// A value that is loaded from JSON by its shape and written in the wire form.
pub trait Shape: Sized {
    /// Loads the value.
    ///
    /// # Errors
    /// Where `json` does not fit; see [`ShapeError`].
    fn load(json: Json) -> Result<Self, ShapeError>;

    /// Writes the wire form.
    fn write(&self, out: &mut Vec<u8>);
}

/// The fields of an object shape, without the `type` that a union puts before them.
pub(crate) trait Fields: Sized {
    fn load_fields(object: &mut Object) -> Result<Self, ShapeError>;
    fn write_fields(&self, writer: &mut ObjectWriter<'_>);
}

impl Shape for String {
    fn load(json: Json) -> Result<String, ShapeError> {
        match json {
            Json::String(text) => Ok(text),
            other => Err(ShapeError::wrong_type("a string", &other)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_string(self, out);
    }
}

impl Shape for u64 {
    fn load(json: Json) -> Result<u64, ShapeError> {
        json.as_u64()
            .ok_or_else(|| ShapeError::wrong_type("an integer from 0 to 18446744073709551615", &json))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.to_string().as_bytes());
    }
}

impl Shape for bool {
    fn load(json: Json) -> Result<bool, ShapeError> {
        match json {
            Json::Bool(value) => Ok(value),
            other => Err(ShapeError::wrong_type("true or false", &other)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

/// Any JSON: nothing to check, and `null` is a value like others.
impl Shape for Json {
    fn load(json: Json) -> Result<Json, ShapeError> {
        Ok(json)
    }

    fn write(&self, out: &mut Vec<u8>) {
        Json::write(self, out, Numbers::Wire);
    }
}

impl<T: Shape> Shape for Box<T> {
    fn load(json: Json) -> Result<Box<T>, ShapeError> {
        T::load(json).map(Box::new)
    }

    fn write(&self, out: &mut Vec<u8>) {
        T::write(self, out);
    }
}

impl<T: Shape> Shape for Vec<T> {
    fn load(json: Json) -> Result<Vec<T>, ShapeError> {
        match json {
            Json::Array(elements) => elements
                .into_iter()
                .enumerate()
                .map(|(index, element)| T::load(element).map_err(|error| error.at(index)))
                .collect(),
            other => Err(ShapeError::wrong_type("a list", &other)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (index, element) in self.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            element.write(out);
        }
        out.push(b']');
    }
}

/// The environment of a local shell call. The program's own key order varies from run to run; ours is sorted.
impl Shape for BTreeMap<String, String> {
    fn load(json: Json) -> Result<Self, ShapeError> {
        let members = object(json)?.into_iter();
        members
            .map(|(key, value)| match String::load(value) {
                Ok(value) => Ok((String::from(key), value)),
                Err(error) => Err(error.under(&key)),
            })
            .collect()
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut writer = ObjectWriter::open(out);
        for (key, value) in self {
            writer.string(key, value);
        }
        writer.close();
    }
}

pub(crate) fn object(json: Json) -> Result<Object, ShapeError> {
    match json {
        Json::Object(object) => Ok(object),
        other => Err(ShapeError::wrong_type("an object", &other)),
    }
}

/// A field that must be there; `null` fits only where the shape takes any JSON.
pub(crate) fn required<T: Shape>(object: &mut Object, key: &str) -> Result<T, ShapeError> {
    match object.take(key) {
        Some(value) => T::load(value).map_err(|error| error.under(key)),
        None => Err(ShapeError::new(ShapeProblem::Missing).under(key)),
    }
}

/// A field that may be missing or `null`.
pub(crate) fn optional<T: Shape>(object: &mut Object, key: &str) -> Result<Option<T>, ShapeError> {
    match object.take(key) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => T::load(value).map(Some).map_err(|error| error.under(key)),
    }
}

/// The `type` of an object, which chooses its shape.
pub(crate) fn take_type(object: &mut Object) -> Result<String, ShapeError> {
    required(object, "type")
}

/// Declares a struct by its fields, in the order in which they are written. The word before a field says what becomes
/// of it: `need` (required), `omit` (optional, left out when there is none), `null` (optional, written as `null`).
macro_rules! object_shape {
    (@type need $type:ty) => { $type };
    (@type $optional:ident $type:ty) => { Option<$type> };
    (@load need $object:ident $key:expr) => { $crate::item::shape::required($object, $key)? };
    (@load $optional:ident $object:ident $key:expr) => { $crate::item::shape::optional($object, $key)? };
    (@write need $writer:ident $key:expr, $value:expr) => {
        $crate::item::shape::Shape::write(&$value, $writer.key($key))
    };
    (@write omit $writer:ident $key:expr, $value:expr) => {
        if let Some(value) = &$value {
            $crate::item::shape::Shape::write(value, $writer.key($key));
        }
    };
    (@write null $writer:ident $key:expr, $value:expr) => {
        match &$value {
            Some(value) => $crate::item::shape::Shape::write(value, $writer.key($key)),
            None => $writer.key($key).extend_from_slice(b"null"),
        }
    };
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $mode:ident $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $crate::item::shape::object_shape!(@type $mode $type),)*
        }

        impl $crate::item::shape::Fields for $name {
            fn load_fields(object: &mut $crate::json::Object) -> Result<Self, $crate::item::ShapeError> {
                Ok($name {
                    $($field: $crate::item::shape::object_shape!(@load $mode object stringify!($field)),)*
                })
            }

            fn write_fields(&self, writer: &mut $crate::json::ObjectWriter<'_>) {
                $($crate::item::shape::object_shape!(@write $mode writer stringify!($field), self.$field);)*
            }
        }
    };
}

/// Declares an enum whose variants are told by the field `type`; every type that is not listed is an error.
macro_rules! tagged_shape {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $type:literal => $variant:ident($fields:ty),)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_meta])* $variant($fields),)*
        }

        impl $crate::item::Shape for $name {
            fn load(json: $crate::json::Json) -> Result<Self, $crate::item::ShapeError> {
                let mut object = $crate::item::shape::object(json)?;
                let name = $crate::item::shape::take_type(&mut object)?;
                match name.as_str() {
                    $($type => $crate::item::shape::Fields::load_fields(&mut object).map($name::$variant),)*
                    _ => Err($crate::item::shape::unknown_name(name, &[$($type),*]).under("type")),
                }
            }

            fn write(&self, out: &mut Vec<u8>) {
                let mut writer = $crate::json::ObjectWriter::open(out);
                match self {
                    $($name::$variant(fields) => {
                        writer.string("type", $type);
                        $crate::item::shape::Fields::write_fields(fields, &mut writer);
                    })*
                }
                writer.close();
            }
        }
    };
}

/// Declares an enum that is a string of a closed set.
macro_rules! closed_name {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $text:literal => $variant:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name as it stands in JSON.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }
        }

        impl $crate::item::Shape for $name {
            fn load(json: $crate::json::Json) -> Result<Self, $crate::item::ShapeError> {
                let name = String::load(json)?;
                match name.as_str() {
                    $($text => Ok($name::$variant),)*
                    _ => Err($crate::item::shape::unknown_name(name, &[$($text),*])),
                }
            }

            fn write(&self, out: &mut Vec<u8>) {
                $crate::json::write_string(self.as_str(), out);
            }
        }
    };
}

pub(crate) fn unknown_name(name: String, known: &'static [&'static str]) -> ShapeError {
    ShapeError::new(ShapeProblem::UnknownName { name, known })
}

pub(crate) use {closed_name, object_shape, tagged_shape};
