//! yoagent's compaction of a history that has grown too long: `compact_messages` of context.rs, the default strategy of its
//! agent loop, with a budget so small that most histories are over it. Called in process; served by callpair's own helper.
//!
//! Summarising and dropping is what it is for. The requests are those of `responses_request.rs`, which is private and sends
//! the messages one by one; so what is compared is the messages.
//!
//! Texts mean nothing to it. A message's parts, an output's value and what a call's arguments have no place for travel as
//! JSON inside a text.

use callpair::item::{
    CallId, ContentPart, FunctionCall, FunctionCallOutput, ItemKind, Message, ResponseItem, Text, ToolOutput,
};
use callpair::json::Json;
use callpair::subject::{Capabilities, Stateless, serve};
use serde_json::json;
use std::io;
use std::sync::Arc;
use yoagent::context::{ContextConfig, compact_messages};
use yoagent::types::{AgentMessage, Content, Message as Yo, StopReason, Usage};

const VERSION: &str = "0.26.6";
/// Before what travels as JSON.
const PACKED: &str = "callpair-packed:";

fn main() -> io::Result<()> {
    let kinds = vec![ItemKind::Message, ItemKind::FunctionCall, ItemKind::FunctionCallOutput];
    let capabilities = Capabilities {
        version: VERSION.to_owned(),
        kinds: Some(kinds),
        exact_numbers: false,
        ..Capabilities::stateless("yoagent")
    };
    let mut config = ContextConfig::default();
    config.max_context_tokens = 300;
    config.system_prompt_tokens = 0;
    config.keep_recent = 4;
    let mut subject = Stateless::new(capabilities, |history, _| {
        compact_messages(forth(history), &config).iter().flat_map(back).collect()
    });
    serve(&mut subject, io::stdin().lock(), io::stdout().lock())
}

/// What a model said in a row is one message: a text, then a batch of calls. Each output is a message.
fn forth(history: &[Arc<ResponseItem>]) -> Vec<AgentMessage> {
    let mut messages: Vec<Yo> = Vec::new();
    for item in history {
        match &**item {
            ResponseItem::FunctionCallOutput(output) => messages.push(Yo::ToolResult {
                tool_call_id: output.call_id.as_str().to_owned(),
                tool_name: "f".to_owned(),
                content: packed(item),
                is_error: false,
                timestamp: 0,
            }),
            ResponseItem::FunctionCall(call) => {
                let block = Content::tool_call(
                    call.call_id.as_str(),
                    call.name.as_str(),
                    json!({ "item": written(item) }),
                );
                match messages.last_mut() {
                    Some(Yo::Assistant { content, .. }) => content.push(block),
                    _ => messages.push(assistant(vec![block])),
                }
            }
            ResponseItem::Message(message) if message.role == "assistant" => {
                messages.push(assistant(packed(item)))
            }
            _ => messages.push(Yo::User { content: packed(item), timestamp: 0 }),
        }
    }
    messages.into_iter().map(AgentMessage::Llm).collect()
}

fn assistant(content: Vec<Content>) -> Yo {
    Yo::assistant(content, StopReason::Stop, "model", "provider", Usage::default())
}

/// The item as JSON.
fn written(item: &ResponseItem) -> String {
    let mut text = Vec::new();
    item.write_recorded(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The item as one text.
fn packed(item: &ResponseItem) -> Vec<Content> {
    vec![Content::Text { text: format!("{PACKED}{}", written(item)) }]
}

fn unpacked(text: &str) -> Option<ResponseItem> {
    ResponseItem::load(Json::parse(text).ok()?).ok()
}

/// The items of a message as it came back. A text that is no packed item is the package's own: a summary, or its marker.
fn back(message: &AgentMessage) -> Vec<Arc<ResponseItem>> {
    let AgentMessage::Llm(message) = message else { return Vec::new() };
    let (role, content) = match message {
        Yo::User { content, .. } => ("user", content),
        Yo::Assistant { content, .. } => ("assistant", content),
        Yo::ToolResult { tool_call_id, content, .. } => return vec![Arc::new(output(tool_call_id, content))],
    };
    content.iter().filter_map(|block| block_item(role, block)).map(Arc::new).collect()
}

/// An output by the call id that the message names.
fn output(call_id: &str, content: &[Content]) -> ResponseItem {
    let text = text_of(content);
    let own = text.strip_prefix(PACKED).and_then(unpacked);
    let value = match own {
        Some(ResponseItem::FunctionCallOutput(own)) => own.output,
        _ => ToolOutput::Text(text),
    };
    ResponseItem::FunctionCallOutput(FunctionCallOutput {
        id: None,
        call_id: CallId::from(call_id),
        output: value,
    })
}

fn text_of(content: &[Content]) -> String {
    let texts = content.iter().map(|block| match block {
        Content::Text { text } => text.as_str(),
        _ => "",
    });
    texts.collect()
}

fn block_item(role: &str, block: &Content) -> Option<ResponseItem> {
    match block {
        Content::ToolCall { id, name, arguments, .. } => Some(call(id, name, arguments)),
        Content::Text { text } => {
            Some(text.strip_prefix(PACKED).and_then(unpacked).unwrap_or_else(|| message(role, text)))
        }
        _ => None,
    }
}

/// A call by the id and the name that the block has.
fn call(id: &str, name: &str, arguments: &serde_json::Value) -> ResponseItem {
    let own = arguments.get("item").and_then(serde_json::Value::as_str).and_then(unpacked);
    let (namespace, arguments) = match own {
        Some(ResponseItem::FunctionCall(own)) => (own.namespace, own.arguments),
        _ => (None, arguments.to_string()),
    };
    ResponseItem::FunctionCall(FunctionCall {
        id: None,
        name: name.to_owned(),
        namespace,
        arguments,
        call_id: CallId::from(id),
    })
}

fn message(role: &str, text: &str) -> ResponseItem {
    let content = vec![ContentPart::InputText(Text { text: text.to_owned() })];
    ResponseItem::Message(Message { id: None, role: role.to_owned(), content, phase: None })
}
