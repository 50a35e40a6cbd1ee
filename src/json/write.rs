//! Writing JSON, compact, in one of two styles of numbers.

use super::Json;

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Digit for digit as they were read: the lossless form.
    AsWritten,
    /// As the program sends them: see [`Number::wire_text`](super::Number::wire_text).
    Wire,
}

pub(super) fn write(value: &Json, out: &mut Vec<u8>, numbers: Numbers) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => {
            let text = match numbers {
                Numbers::AsWritten => number.text(),
                Numbers::Wire => number.wire_text(),
            };
            out.extend_from_slice(text.as_bytes());
        }
        Json::String(text) => write_string(text, out),
        Json::Array(elements) => write_list(out, elements, |element, out| write(element, out, numbers)),
        Json::Object(object) => {
            let mut writer = ObjectWriter::open(out);
            for (key, value) in object.iter() {
                write(value, writer.key(key), numbers);
            }
            writer.close();
        }
    }
}

/// Writes a string with its quotes. What must be escaped is, nothing else.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    // A vector takes every byte: this never fails.
    let _ = serde_json::to_writer(out, text);
}

/// Writes a list of whatever `write` makes of each element.
pub fn write_list<T>(
    out: &mut Vec<u8>,
    list: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    for (at, element) in list.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// Writes an object member by member, in the order of the calls.
#[derive(Debug)]
pub struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> ObjectWriter<'a> {
    /// Begins an object behind what `out` holds.
    pub fn open(out: &'a mut Vec<u8>) -> ObjectWriter<'a> {
        out.push(b'{');
        ObjectWriter { out, first: true }
    }

    /// Writes a key; the caller writes its value into what is returned.
    pub fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        write_string(key, self.out);
        self.out.push(b':');
        self.out
    }

    /// Writes a member whose value is a string.
    pub fn string(&mut self, key: &str, value: &str) {
        write_string(value, self.key(key));
    }

    /// Ends the object.
    pub fn close(self) {
        self.out.push(b'}');
    }
}
