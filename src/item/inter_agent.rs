//! The payload of a rollout line in which one agent speaks to another, and the item that it becomes.

use super::shape::{Fields, object, object_shape, unknown_name};
use super::{AgentMessage, AgentPart, EncryptedContent, ItemId, ResponseItem, Shape, ShapeError, Text};
use crate::json::{Json, ObjectWriter};

object_shape! {
    /// What one agent says to another. Also looked for in the text of assistant messages, where it begins a turn.
    InterAgentCommunication {
        /// The item id of the message that it becomes.
        omit id: ItemId,
        /// Path of the agent that speaks.
        need author: AgentPath,
        /// Path of the agent that is spoken to.
        need recipient: AgentPath,
        /// Other readers; not sent.
        omit other_recipients: Vec<AgentPath>,
        /// What is said, where it is not encrypted.
        need content: String,
        /// What is said, for the vendor only; an empty text counts too.
        omit encrypted_content: String,
        /// Whether the recipient is to begin a turn.
        need trigger_turn: bool,
    }
}

/// `/root`, or `/root/` and names of `a-z 0-9 _` parted by `/`, none of them `root`; `/morpheus` was accepted too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPath(String);

impl AgentPath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_path(text: &str) -> bool {
        let is_name = |name: &str| {
            !name.is_empty()
                && name != "root"
                && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        };
        match text.strip_prefix("/root/") {
            Some(names) => names.split('/').all(is_name),
            None => matches!(text, "/root" | "/morpheus"),
        }
    }
}

impl Shape for AgentPath {
    fn load(json: Json) -> Result<AgentPath, ShapeError> {
        let text = String::load(json)?;
        if AgentPath::is_path(&text) {
            Ok(AgentPath(text))
        } else {
            Err(unknown_name(text, &["/root", "/root/NAME"]))
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
}

impl Shape for InterAgentCommunication {
    fn load(json: Json) -> Result<InterAgentCommunication, ShapeError> {
        InterAgentCommunication::load_fields(&mut object(json)?)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut writer = ObjectWriter::open(out);
        self.write_fields(&mut writer);
        writer.close();
    }
}

impl InterAgentCommunication {
    /// The item that the line becomes.
    pub fn to_item(&self) -> ResponseItem {
        let (author, recipient) = (self.author.as_str(), self.recipient.as_str());
        let text = |text| AgentPart::InputText(Text { text });
        let content = match &self.encrypted_content {
            None => vec![text(self.content.clone())],
            Some(encrypted) => {
                let kind = if self.trigger_turn { "NEW_TASK" } else { "MESSAGE" };
                let head =
                    format!("Message Type: {kind}\nTask name: {recipient}\nSender: {author}\nPayload:\n");
                let encrypted = EncryptedContent { encrypted_content: encrypted.clone() };
                vec![text(head), AgentPart::EncryptedContent(encrypted)]
            }
        };
        ResponseItem::AgentMessage(AgentMessage {
            id: self.id.clone(),
            author: author.to_owned(),
            recipient: recipient.to_owned(),
            content,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_paths_are_told_from_other_texts() {
        for path in ["/root", "/root/a", "/root/a_1/b", "/morpheus"] {
            assert!(AgentPath::is_path(path), "{path}");
        }
        for text in
            ["", "/", "root", "/root/", "/root//a", "/root/root", "/root/A", "/rootx", "/root/a/", "/x"]
        {
            assert!(!AgentPath::is_path(text), "{text}");
        }
    }
}
