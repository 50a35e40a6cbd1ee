//! What an object looks like from outside: which keys it has. Enough to tell what it is, not what it holds.

use super::Dialect;
use super::scan::Parts;
use crate::json::Json;

/// The keys that tell, of one JSON object.
#[derive(Debug, Clone, Default)]
pub(super) struct Sketch {
    type_name: Option<String>,
    role: Option<String>,
    schema: Option<String>,
    keys: Keys,
    /// The types of the parts in its `content`, the first few of them.
    content_types: Vec<String>,
    /// What the messages in its `messages` are, where one of them tells.
    messages: Option<Dialect>,
}

/// Which of the telling keys are there.
#[derive(Debug, Clone, Copy, Default)]
struct Keys {
    payload: bool,
    timestamp: bool,
    input: bool,
    input_list: bool,
    messages: bool,
    contents: bool,
    content: bool,
    parts: bool,
    chat_only: bool,
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    RolloutLine,
    Item,
    Body,
    SavedCase,
    /// A message or a body of another dialect.
    Foreign(Dialect),
    /// A message without a type, of any dialect that has such.
    UntypedMessage,
    Unknown,
}

/// A longer value of a telling key tells nothing.
const LONGEST_NAME: usize = 200;

/// So many elements of a list are looked at.
const ELEMENTS: usize = 200;

impl Sketch {
    /// The sketch of a text that is one whole object, blanks around it apart.
    pub(super) fn of(text: &str) -> Option<Sketch> {
        let mut sketch = Sketch::of_element(text)?;
        let messages = members(text)?.filter(|(key, _)| key == "messages").last();
        if let Some((_, messages)) = messages {
            sketch.messages =
                elements(messages).find_map(|element| match Sketch::of_element(element)?.look() {
                    Look::Foreign(dialect) => Some(dialect),
                    _ => None,
                });
        }
        Some(sketch)
    }

    /// The same without a look into `messages`: hostile nesting must not become recursion.
    pub(super) fn of_element(text: &str) -> Option<Sketch> {
        let mut sketch = Sketch::default();
        for part in Parts::of(text).filter(|parts| !parts.is_list())? {
            let part = part.ok()?;
            sketch.note(part.key(text)?.as_str(), text.get(part.value.clone())?);
        }
        Some(sketch)
    }

    fn note(&mut self, key: &str, value: &str) {
        match key {
            "type" => self.type_name = short_string(value),
            "role" => self.role = short_string(value),
            "schema" => self.schema = short_string(value),
            "payload" => self.keys.payload = true,
            "timestamp" => self.keys.timestamp = true,
            "input" => {
                self.keys.input = true;
                self.keys.input_list = value.starts_with('[');
            }
            "messages" => self.keys.messages = true,
            "contents" => self.keys.contents = true,
            "parts" => self.keys.parts = true,
            "tool_calls" | "tool_call_id" | "function_call" => self.keys.chat_only = true,
            "content" => {
                self.keys.content = true;
                self.content_types = content_types(value);
            }
            _ => {}
        }
    }

    pub(super) fn look(&self) -> Look {
        let keys = self.keys;
        match &self.type_name {
            Some(_) if keys.payload || (keys.timestamp && self.role.is_none()) => Look::RolloutLine,
            // Only Anthropic answers with a typed message whose parts have types of its own.
            Some(name) if name == "message" && self.has_anthropic_parts() => {
                Look::Foreign(Dialect::Anthropic)
            }
            // A body can have a type (`response.create`); an item's input is a text.
            Some(_) if keys.input_list => Look::Body,
            Some(_) => Look::Item,
            None if self.schema.as_deref() == Some("callpair.case/1") => Look::SavedCase,
            None if keys.input => Look::Body,
            None if keys.contents => Look::Foreign(Dialect::Gemini),
            None if keys.messages => Look::Foreign(self.messages.unwrap_or(Dialect::Chat)),
            None if keys.parts => Look::Foreign(Dialect::Gemini),
            None if keys.chat_only || self.has_chat_role() || self.has_part(&["image_url"]) => {
                Look::Foreign(Dialect::Chat)
            }
            None if self.has_anthropic_parts() => Look::Foreign(Dialect::Anthropic),
            None if self.role.is_some() && keys.content => Look::UntypedMessage,
            None => Look::Unknown,
        }
    }

    fn has_chat_role(&self) -> bool {
        self.role.as_deref().is_some_and(|role| matches!(role, "tool" | "function"))
    }

    fn has_anthropic_parts(&self) -> bool {
        self.has_part(&["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"])
    }

    fn has_part(&self, names: &[&str]) -> bool {
        self.content_types.iter().any(|name| names.contains(&name.as_str()))
    }
}

fn short_string(value: &str) -> Option<String> {
    if value.len() > LONGEST_NAME {
        // A name that is too long to tell anything is a name all the same.
        return value.starts_with('"').then(String::new);
    }
    match Json::parse(value) {
        Ok(Json::String(text)) => Some(text),
        _ => None,
    }
}

/// The members of a text that is an object, as far as it is one.
fn members(text: &str) -> Option<impl Iterator<Item = (String, &str)>> {
    let parts = Parts::of(text).filter(|parts| !parts.is_list())?;
    Some(parts.map_while(move |part| {
        let part = part.ok()?;
        Some((part.key(text)?, text.get(part.value)?))
    }))
}

/// The first elements of a text that is a list.
pub(super) fn elements(text: &str) -> impl Iterator<Item = &str> {
    let parts = Parts::of(text).filter(Parts::is_list).into_iter().flatten();
    parts.map_while(move |part| text.get(part.ok()?.value)).take(ELEMENTS)
}

fn content_types(content: &str) -> Vec<String> {
    let type_of =
        |part| members(part)?.find(|(key, _)| key == "type").and_then(|(_, name)| short_string(name));
    elements(content).filter_map(type_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &str) -> Look {
        Sketch::of(text).expect("a whole object").look()
    }

    #[test]
    fn an_object_is_told_by_its_keys() {
        assert_eq!(look(r#"{"timestamp":"t","type":"event_msg","payload":{}}"#), Look::RolloutLine);
        assert_eq!(look(r#"{"payload":{},"type":"session_meta"}"#), Look::RolloutLine);
        assert_eq!(look(r#"{"type":"message","role":"user","content":[]}"#), Look::Item);
        assert_eq!(look(r#"{"model":"m","input":[]}"#), Look::Body);
        assert_eq!(look(r#"{"type":"response.create","input":[]}"#), Look::Body);
        assert_eq!(look(r#"{"type":"custom_tool_call","input":"[]"}"#), Look::Item);
        assert_eq!(look(r#"{"schema":"callpair.case/1","steps":[]}"#), Look::SavedCase);
        assert_eq!(look(r#"{"a":1}"#), Look::Unknown);
    }

    #[test]
    fn messages_of_other_dialects_are_told_apart() {
        let foreign = [
            (r#"{"role":"tool","tool_call_id":"a","content":"x"}"#, Dialect::Chat),
            (r#"{"role":"assistant","content":null,"tool_calls":[]}"#, Dialect::Chat),
            (r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}"#, Dialect::Chat),
            (r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}"#, Dialect::Anthropic),
            (r#"{"type":"message","role":"assistant","content":[{"type":"tool_use"}]}"#, Dialect::Anthropic),
            (r#"{"role":"model","parts":[]}"#, Dialect::Gemini),
            (r#"{"contents":[]}"#, Dialect::Gemini),
            (r#"{"messages":[]}"#, Dialect::Chat),
            (r#"{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#, Dialect::Anthropic),
        ];
        for (text, dialect) in foreign {
            assert_eq!(look(text), Look::Foreign(dialect), "{text}");
        }
        assert_eq!(look(r#"{"role":"user","content":"hi"}"#), Look::UntypedMessage);
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = |open: &str, close: &str| format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(look(&deep(r#"{"content":["#, "]}")), Look::Unknown);
        assert_eq!(look(&deep(r#"{"messages":["#, "]}")), Look::Foreign(Dialect::Chat));
    }

    #[test]
    fn a_torn_object_has_no_sketch() {
        assert!(Sketch::of(r#"{"type":"message""#).is_none());
        assert!(Sketch::of(r#"{"type":"message"} {}"#).is_none());
        assert!(Sketch::of("[]").is_none());
    }
}
