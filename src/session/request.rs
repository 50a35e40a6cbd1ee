//! The request: what a [`Prompt`] holds, and how it becomes the bytes of a body.
//!
//! A prompt has no field for the world state, its snapshots or the step context. What the model is told of them stands in
//! `input`, as items of the history.

use crate::item::{ContentPart, Message, ResponseItem, Text};
use crate::json::{Json, Numbers, ObjectWriter, write_list};
use std::sync::Arc;

/// What a sampling request asks of the model.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The projection of the history.
    pub input: Vec<Arc<ResponseItem>>,
    /// The tools, each as the API describes it.
    pub tools: Vec<Json>,
    /// Whether the model may call several at once.
    pub parallel_tool_calls: bool,
    /// The instructions of the thread, fixed when it started.
    pub base_instructions: Arc<str>,
    /// What the answer must look like.
    pub output_schema: Option<Json>,
}

/// What the request says besides the prompt.
#[derive(Debug, Clone)]
pub struct RequestControls {
    /// The model.
    pub model: String,
    /// `{"effort":…}` and what else; `None` for a model that is not in the catalogue, which is sent as `null`.
    pub reasoning: Option<Json>,
    /// Sent only where it is set.
    pub service_tier: Option<String>,
    /// The thread.
    pub prompt_cache_key: String,
    /// How long answers are to be.
    pub verbosity: Option<String>,
    /// Who asks.
    pub client_metadata: Vec<(String, String)>,
    /// How instructions and tools are sent.
    pub form: RequestForm,
    /// Whether items are sent with their ids.
    pub item_ids: bool,
}

/// How instructions and tools are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestForm {
    /// As fields of the body.
    #[default]
    Fields,
    /// As the first two items of the input, which are neither in the history nor in the file.
    Lite,
}

/// A body, encoded once. A transport retry sends these very bytes again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRequest {
    body: Arc<[u8]>,
}

impl EncodedRequest {
    /// The bytes.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// Encodes a prompt, fields in the program's order.
pub fn encode(prompt: &Prompt, controls: &RequestControls) -> EncodedRequest {
    let mut out = Vec::new();
    let mut body = ObjectWriter::open(&mut out);
    body.string("model", &controls.model);
    if controls.form == RequestForm::Fields {
        body.string("instructions", &prompt.base_instructions);
    }
    write_input(body.key("input"), prompt, controls);
    if controls.form == RequestForm::Fields {
        write_tools(body.key("tools"), &prompt.tools);
    }
    body.string("tool_choice", "auto");
    write_bool(body.key("parallel_tool_calls"), prompt.parallel_tool_calls);
    controls.reasoning.clone().unwrap_or_default().write(body.key("reasoning"), Numbers::AsWritten);
    write_bool(body.key("store"), false);
    write_bool(body.key("stream"), true);
    let include: &[u8] =
        if controls.reasoning.is_some() { br#"["reasoning.encrypted_content"]"# } else { b"[]" };
    body.key("include").extend_from_slice(include);
    if let Some(tier) = &controls.service_tier {
        body.string("service_tier", tier);
    }
    body.string("prompt_cache_key", &controls.prompt_cache_key);
    if controls.verbosity.is_some() || prompt.output_schema.is_some() {
        write_text_controls(body.key("text"), prompt, controls);
    }
    let mut metadata = ObjectWriter::open(body.key("client_metadata"));
    controls.client_metadata.iter().for_each(|(key, value)| metadata.string(key, value));
    metadata.close();
    body.close();
    EncodedRequest { body: out.into() }
}

fn write_bool(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

fn write_tools(out: &mut Vec<u8>, tools: &[Json]) {
    write_list(out, tools, |tool, out| tool.write(out, Numbers::AsWritten));
}

fn write_input(out: &mut Vec<u8>, prompt: &Prompt, controls: &RequestControls) {
    let lead = match controls.form {
        RequestForm::Fields => Vec::new(),
        RequestForm::Lite => lite_lead(prompt),
    };
    let items = lead.iter().chain(prompt.input.iter().map(|item| &**item));
    write_list(out, items, |item, out| match item.id() {
        Some(_) if !controls.item_ids => without_id(item).write_wire(out),
        _ => item.write_wire(out),
    });
}

fn without_id(item: &ResponseItem) -> ResponseItem {
    let mut item = item.clone();
    if let Some(id) = item.id_mut() {
        *id = None;
    }
    item
}

/// Tools and instructions as items.
fn lite_lead(prompt: &Prompt) -> Vec<ResponseItem> {
    let tools =
        crate::item::AdditionalTools { id: None, role: "developer".to_owned(), tools: prompt.tools.clone() };
    let instructions = ContentPart::InputText(Text { text: prompt.base_instructions.to_string() });
    let message =
        Message { id: None, role: "developer".to_owned(), content: vec![instructions], phase: None };
    vec![ResponseItem::AdditionalTools(tools), ResponseItem::Message(message)]
}

fn write_text_controls(out: &mut Vec<u8>, prompt: &Prompt, controls: &RequestControls) {
    let mut text = ObjectWriter::open(out);
    if let Some(verbosity) = &controls.verbosity {
        text.string("verbosity", verbosity);
    }
    if let Some(schema) = &prompt.output_schema {
        let mut format = ObjectWriter::open(text.key("format"));
        format.string("type", "json_schema");
        write_bool(format.key("strict"), true);
        schema.write(format.key("schema"), Numbers::AsWritten);
        format.string("name", "codex_output_schema");
        format.close();
    }
    text.close();
}
