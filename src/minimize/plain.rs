//! What is plain: the order of the kinds, the plainest item of each, and one that still holds what another held.

use super::fields::{is_name, plain_word, text_part, texts_of, tree};
use crate::item::*;
use crate::json::{Json, Object};

/// The kinds, the plainest first: what everybody knows before what few do.
pub(super) const PLAINEST_FIRST: [ItemKind; 17] = [
    ItemKind::Message,
    ItemKind::FunctionCall,
    ItemKind::FunctionCallOutput,
    ItemKind::CustomToolCall,
    ItemKind::CustomToolCallOutput,
    ItemKind::LocalShellCall,
    ItemKind::ToolSearchCall,
    ItemKind::ToolSearchOutput,
    ItemKind::Reasoning,
    ItemKind::AgentMessage,
    ItemKind::WebSearchCall,
    ItemKind::ImageGenerationCall,
    ItemKind::Compaction,
    ItemKind::ContextCompaction,
    ItemKind::AdditionalTools,
    ItemKind::CompactionTrigger,
    ItemKind::Other,
];

/// A kind's place among them, the plainest 0.
pub(super) fn rank(kind: ItemKind) -> usize {
    PLAINEST_FIRST.iter().position(|plain| *plain == kind).unwrap_or(PLAINEST_FIRST.len())
}

/// The plainest item of a kind with these ids.
pub(super) fn plain(kind: ItemKind, id: Option<ItemId>, call_id: Option<CallId>) -> ResponseItem {
    let some_call_id = || call_id.clone().unwrap_or_else(|| CallId::from("a"));
    let text = String::new;
    let word = |key| plain_word(key).unwrap_or_default().to_owned();
    match kind {
        ItemKind::Message => {
            ResponseItem::Message(Message { id, role: word("role"), content: Vec::new(), phase: None })
        }
        ItemKind::AgentMessage => ResponseItem::AgentMessage(AgentMessage {
            id,
            author: text(),
            recipient: text(),
            content: Vec::new(),
        }),
        ItemKind::Reasoning => ResponseItem::Reasoning(Reasoning {
            id,
            summary: Vec::new(),
            content: ReasoningContent(None),
            encrypted_content: None,
        }),
        ItemKind::LocalShellCall => plain_shell_call(id, call_id),
        ItemKind::FunctionCall => ResponseItem::FunctionCall(FunctionCall {
            id,
            name: text(),
            namespace: None,
            arguments: text(),
            call_id: some_call_id(),
        }),
        ItemKind::ToolSearchCall => ResponseItem::ToolSearchCall(ToolSearchCall {
            id,
            call_id,
            status: None,
            execution: word("execution"),
            arguments: Json::Null,
        }),
        ItemKind::FunctionCallOutput => ResponseItem::FunctionCallOutput(FunctionCallOutput {
            id,
            call_id: some_call_id(),
            output: ToolOutput::Text(text()),
        }),
        ItemKind::CustomToolCall => ResponseItem::CustomToolCall(CustomToolCall {
            id,
            status: None,
            call_id: some_call_id(),
            name: text(),
            namespace: None,
            input: text(),
        }),
        ItemKind::CustomToolCallOutput => ResponseItem::CustomToolCallOutput(CustomToolCallOutput {
            id,
            call_id: some_call_id(),
            name: None,
            output: ToolOutput::Text(text()),
        }),
        ItemKind::ToolSearchOutput => ResponseItem::ToolSearchOutput(ToolSearchOutput {
            id,
            call_id,
            status: word("status"),
            execution: word("execution"),
            tools: Vec::new(),
        }),
        ItemKind::WebSearchCall => {
            ResponseItem::WebSearchCall(WebSearchCall { id, status: None, action: None })
        }
        ItemKind::ImageGenerationCall => ResponseItem::ImageGenerationCall(ImageGenerationCall {
            id,
            status: word("status"),
            revised_prompt: None,
            result: text(),
        }),
        ItemKind::Compaction => ResponseItem::Compaction(Compaction { id, encrypted_content: text() }),
        ItemKind::ContextCompaction => {
            ResponseItem::ContextCompaction(ContextCompaction { id, encrypted_content: None })
        }
        ItemKind::AdditionalTools => {
            ResponseItem::AdditionalTools(AdditionalTools { id, role: word("role"), tools: Vec::new() })
        }
        ItemKind::CompactionTrigger => ResponseItem::CompactionTrigger,
        ItemKind::Other => ResponseItem::Other("other".to_owned()),
    }
}

fn plain_shell_call(id: Option<ItemId>, call_id: Option<CallId>) -> ResponseItem {
    let action = LocalShellAction::Exec(Exec {
        command: Vec::new(),
        timeout_ms: None,
        working_directory: None,
        env: None,
        user: None,
    });
    let action = Box::new(action);
    ResponseItem::LocalShellCall(LocalShellCall { id, call_id, status: LocalShellStatus::Completed, action })
}

/// A message of a role.
pub(super) fn message_of(role: &str, content: Vec<ContentPart>) -> ResponseItem {
    ResponseItem::Message(Message { id: None, role: role.to_owned(), content, phase: None })
}

/// The plainest item with a picture.
pub(super) fn message_with_image() -> ResponseItem {
    let image = InputImage { image_url: String::new(), detail: None };
    message_of(plain_word("role").unwrap_or_default(), vec![ContentPart::InputImage(image)])
}

/// The fields in which an item holds its text or its parts.
const BODIES: [&str; 5] = ["content", "output", "arguments", "input", "result"];

/// The plainest item of a kind with an item's ids that holds what the item holds: fields of the same name, and its text
/// or parts.
pub(super) fn carried(kind: ItemKind, item: &ResponseItem) -> ResponseItem {
    let mut carried = plain(kind, item.id().cloned(), item.call_id().cloned());
    let (Some(Json::Object(from)), Some(Json::Object(mut to))) = (tree(item), tree(&carried)) else {
        return carried;
    };
    let mut put = |to: &mut Object, key: &str, value: Json| {
        let mut trial = to.clone();
        trial.set(key, value);
        let Ok(loaded) = ResponseItem::load(Json::Object(trial.clone())) else { return false };
        carried = loaded;
        *to = trial;
        true
    };
    let is_own = |key: &str| key == "type" || is_name(&[super::fields::Key::Name(key.into())]);
    for (key, value) in from.iter().filter(|(key, _)| !is_own(key)) {
        put(&mut to, key, value.clone());
    }
    let body = BODIES.iter().find_map(|key| from.get(key).filter(|value| is_body(value)));
    let own = BODIES.into_iter().find(|key| to.get(key).is_some());
    if let (Some(body), Some(own)) = (body, own)
        && from.get(own).is_none()
    {
        let forms = match body {
            Json::Array(parts) => [body.clone(), Json::String(texts_of(parts))],
            text => [text.clone(), Json::Array(vec![text_part(text.as_str().unwrap_or_default())])],
        };
        let _ = forms.into_iter().any(|form| put(&mut to, own, form));
    }
    carried
}

/// Whether this is a text or parts.
fn is_body(value: &Json) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
        || value.as_array().is_some_and(|parts| parts.iter().all(|part| part.get("type").is_some()))
}
