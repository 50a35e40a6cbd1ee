//! The durable side of a session: the lines that it appends to its rollout.
//!
//! The file begins to exist with the first line that says something; its head is written right before that. A line is
//! whole or it does not count: wherever a crash cuts the file, what stands before is what happened.

use super::host::Host;
use crate::item::{ContentPart, ResponseItem};
use crate::json::{Json, Object};
use crate::rollout::{RolloutWriter, WriteError, line_text};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rollout of a session, open for appending once it is needed.
pub(super) struct Record {
    path: PathBuf,
    host: Arc<dyn Host>,
    writer: Option<RolloutWriter>,
    /// The head, while the file does not exist.
    head: Option<Json>,
}

impl Record {
    /// A record that begins with `head` once there is something to say.
    pub(super) fn new(path: &Path, host: Arc<dyn Host>, head: Json) -> Record {
        Record { path: path.to_owned(), host, writer: None, head: Some(head) }
    }

    /// A record that goes on.
    pub(super) fn resumed(path: &Path, host: Arc<dyn Host>) -> Record {
        Record { path: path.to_owned(), host, writer: None, head: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether anything was written, in this process or before.
    pub(super) fn exists(&self) -> bool {
        self.head.is_none()
    }

    pub(super) fn append(&mut self, line_type: &str, payload: &Json) -> Result<(), WriteError> {
        self.write_head()?;
        self.append_line(line_type, payload)
    }

    /// Writes the head, unless it is written.
    pub(super) fn write_head(&mut self) -> Result<(), WriteError> {
        let Some(head) = self.head.take() else { return Ok(()) };
        let written = self.append_line("session_meta", &head);
        if written.is_err() {
            self.head = Some(head);
        }
        written
    }

    /// Appends a line that is whole already, as a fork does.
    pub(super) fn append_text(&mut self, line: &str) -> Result<(), WriteError> {
        let line = in_ascii(line);
        self.writer()?.append(&line)
    }

    /// For a slip: what the file ends with counts as whole.
    pub(super) fn take_end_for_whole(&mut self) -> Result<(), WriteError> {
        self.writer()?.take_end_for_whole();
        Ok(())
    }

    pub(super) fn event(&mut self, name: &str, members: Vec<(&str, Json)>) -> Result<(), WriteError> {
        let mut payload = Object::new();
        payload.set("type", Json::from(name));
        members.into_iter().for_each(|(key, value)| payload.set(key, value));
        self.append("event_msg", &Json::Object(payload))
    }

    /// Appends an item, unless it is of a kind that is never written.
    pub(super) fn item(&mut self, item: &ResponseItem, turn_id: Option<&str>) -> Result<(), WriteError> {
        match item {
            ResponseItem::Other(_) | ResponseItem::CompactionTrigger => Ok(()),
            _ => self.append("response_item", &item_payload(item, turn_id)),
        }
    }

    /// Appends a compaction. `message` is the summary as text.
    pub(super) fn compacted(
        &mut self,
        message: &str,
        replacement: &[Arc<ResponseItem>],
    ) -> Result<(), WriteError> {
        let mut payload = Object::new();
        payload.set("message", Json::from(message));
        let items = replacement.iter().map(|item| item_payload(item, None)).collect();
        payload.set("replacement_history", Json::Array(items));
        self.append("compacted", &Json::Object(payload))
    }

    /// `state` is a whole state, or a patch.
    pub(super) fn world_state(&mut self, full: bool, state: Json) -> Result<(), WriteError> {
        let mut payload = Object::new();
        payload.set("full", Json::Bool(full));
        payload.set("state", state);
        self.append("world_state", &Json::Object(payload))
    }

    /// The event that goes with a user message.
    pub(super) fn user_message(&mut self, content: &[ContentPart]) -> Result<(), WriteError> {
        let (mut text, mut images) = (String::new(), Vec::new());
        for part in content {
            match part {
                ContentPart::InputText(part) | ContentPart::OutputText(part) => text.push_str(&part.text),
                ContentPart::InputImage(image) => images.push(Json::from(image.image_url.as_str())),
            }
        }
        let members = vec![
            ("message", Json::from(text)),
            ("images", Json::Array(images)),
            ("local_images", Json::Array(Vec::new())),
            ("text_elements", Json::Array(Vec::new())),
        ];
        self.event("user_message", members)
    }

    fn append_line(&mut self, line_type: &str, payload: &Json) -> Result<(), WriteError> {
        self.append_text(&line_text(&self.host.timestamp(), line_type, payload))
    }

    fn writer(&mut self) -> Result<&mut RolloutWriter, WriteError> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            empty => Ok(empty.insert(RolloutWriter::append_to(&self.path)?)),
        }
    }
}

/// A JSON text without any character that takes more than a byte. One that a crash cuts in two would make the program
/// refuse the whole file. (Outside strings JSON has none.)
fn in_ascii(json: &str) -> Cow<'_, str> {
    if json.is_ascii() {
        return Cow::Borrowed(json);
    }
    let mut ascii = String::with_capacity(json.len() * 2);
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            let escapes =
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            ascii.push_str(&escapes);
        }
    }
    Cow::Owned(ascii)
}

/// An item as a line holds it: the wire form, and the turn that it is of.
fn item_payload(item: &ResponseItem, turn_id: Option<&str>) -> Json {
    // The wire form is JSON, at most as deep as what it was loaded from.
    let mut payload = Json::parse_wrapped(&item.to_wire(), u8::MAX).unwrap_or_default();
    let carries_turn = !matches!(item, ResponseItem::AdditionalTools(_) | ResponseItem::CompactionTrigger);
    if let (Json::Object(members), Some(turn_id), true) = (&mut payload, turn_id, carries_turn) {
        let mut metadata = Object::new();
        metadata.set("turn_id", Json::from(turn_id));
        members.set("internal_chat_message_metadata_passthrough", Json::Object(metadata));
    }
    payload
}
