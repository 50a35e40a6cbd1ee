//! The body of a request: four whole ones and the fields of 22, as recorded.

#![cfg(feature = "session")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must stop"
)]

mod session_support;

use callpair::item::ResponseItem;
use callpair::json::Json;
use callpair::session::{Prompt, RequestControls, RequestForm, encode};
use session_support::{json, object};
use std::sync::Arc;

/// What a recorded body (or the values of its fields) says besides the input, as controls.
fn controls(fields: &Json) -> RequestControls {
    let text = |key: &str| fields.get(key).and_then(Json::as_str).map(str::to_owned);
    let metadata = fields.get("client_metadata").cloned().map(object).unwrap_or_default();
    let metadata = metadata.iter().map(|(key, value)| (key.to_owned(), value.as_str().unwrap().to_owned()));
    RequestControls {
        model: text("model").unwrap(),
        reasoning: fields.get("reasoning").filter(|reasoning| **reasoning != Json::Null).cloned(),
        service_tier: text("service_tier"),
        prompt_cache_key: text("prompt_cache_key").unwrap_or_default(),
        verbosity: fields.get("text").and_then(|text| text.get("verbosity")?.as_str()).map(str::to_owned),
        client_metadata: metadata.collect(),
        form: RequestForm::Fields,
        item_ids: false,
    }
}

fn schema(fields: &Json) -> Option<Json> {
    fields.get("text")?.get("format")?.get("schema").cloned()
}

fn parallel(fields: &Json) -> bool {
    fields.get("parallel_tool_calls") == Some(&Json::Bool(true))
}

#[test]
fn four_recorded_bodies_are_encoded_as_they_were_sent() {
    let bodies = json(include_str!("session/request-bodies.json"));
    for (name, request) in bodies.as_object().unwrap().iter() {
        let body = request.get("body").unwrap();
        let mut input: Vec<Arc<ResponseItem>> = body
            .get("input")
            .and_then(Json::as_array)
            .unwrap()
            .iter()
            .map(|item| Arc::new(ResponseItem::load(item.clone()).unwrap()))
            .collect();
        let mut controls = controls(body);
        let (tools, instructions) = match body.get("instructions") {
            Some(instructions) => (
                body.get("tools").and_then(Json::as_array).unwrap().to_vec(),
                instructions.as_str().unwrap().to_owned(),
            ),
            None => {
                // What is sent as the first two items comes from the prompt.
                controls.form = RequestForm::Lite;
                let ResponseItem::AdditionalTools(tools) = &*input.remove(0) else {
                    panic!("tools come first")
                };
                let instructions = json(&input.remove(0).to_wire());
                let text =
                    instructions.get("content").and_then(Json::as_array).unwrap()[0].get("text").unwrap();
                (tools.tools.clone(), text.as_str().unwrap().to_owned())
            }
        };
        let prompt = Prompt {
            input,
            tools,
            parallel_tool_calls: parallel(body),
            base_instructions: instructions.into(),
            output_schema: schema(body),
        };
        let encoded = encode(&prompt, &controls);
        // As text: the order of fields is the program's.
        assert_eq!(std::str::from_utf8(encoded.body()).unwrap(), body.to_string(), "{name}");
    }
}

#[test]
fn the_fields_of_a_request_are_those_recorded_for_its_settings() {
    let records = json(include_str!("session/request-fields.json"));
    for (name, record) in records.as_object().unwrap().iter() {
        let values = record.get("values").unwrap();
        let mut controls = controls(values);
        let keys: Vec<&str> =
            record.get("keys").and_then(Json::as_array).unwrap().iter().filter_map(Json::as_str).collect();
        if !keys.contains(&"instructions") {
            controls.form = RequestForm::Lite;
        }
        let prompt = Prompt {
            input: Vec::new(),
            tools: Vec::new(),
            parallel_tool_calls: parallel(values),
            base_instructions: "".into(),
            output_schema: schema(values),
        };
        let encoded = encode(&prompt, &controls);
        let body = json(std::str::from_utf8(encoded.body()).unwrap());
        let body = body.as_object().unwrap();
        assert_eq!(body.iter().map(|(key, _)| key).collect::<Vec<_>>(), keys, "{name}: fields, in order");
        for (key, value) in values.as_object().unwrap().iter() {
            if !matches!(key, "input" | "tools" | "instructions" | "prompt_cache_key" | "client_metadata") {
                assert_eq!(body.get(key), Some(value), "{name}: {key}");
            }
        }
    }
}
