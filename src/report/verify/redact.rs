//! What may be told of a case that holds a user's words: kinds, ids and sizes.

use crate::case::{Case, FailureKind};
use crate::json::{Json, Numbers, Object};

/// Fields whose texts are kinds, ids and names of the API, and no content.
const KEPT: [&str; 7] = ["type", "role", "id", "call_id", "status", "execution", "phase"];

/// Fields that hold parts, which are looked into; everything else is content as a whole.
const PARTS: [&str; 3] = ["content", "output", "summary"];

/// A case in its JSON form, `{"steps":[…]}`, in which each content is replaced by its size: `"<12 bytes>"`.
pub(super) fn case(case: &Case) -> Json {
    let mut steps = Vec::new();
    for step in case.to_json().get("steps").and_then(Json::as_array).unwrap_or_default() {
        let mut shown = Object::new();
        for (name, value) in step.as_object().into_iter().flat_map(Object::iter) {
            let brings_items = matches!(name, "record" | "replace");
            let value = match value {
                Json::Array(items) if brings_items => Json::Array(items.iter().map(part).collect()),
                other => other.clone(),
            };
            shown.set(name, value);
        }
        steps.push(Json::Object(shown));
    }
    let mut shown = Object::new();
    shown.set("steps", Json::Array(steps));
    Json::Object(shown)
}

/// An item, or a part of one.
fn part(json: &Json) -> Json {
    let Some(object) = json.as_object() else { return size(json) };
    let mut shown = Object::new();
    for (key, value) in object.iter() {
        let value = match value {
            Json::Null => Json::Null,
            Json::String(_) if KEPT.contains(&key) => value.clone(),
            Json::Array(parts) if PARTS.contains(&key) => Json::Array(parts.iter().map(part).collect()),
            content => size(content),
        };
        shown.set(key, value);
    }
    Json::Object(shown)
}

fn size(content: &Json) -> Json {
    let bytes = match content.as_str() {
        Some(text) => text.len(),
        None => {
            let mut text = Vec::new();
            content.write(&mut text, Numbers::AsWritten);
            text.len()
        }
    };
    Json::String(format!("<{bytes} bytes>"))
}

const KINDS: [FailureKind; 5] = [
    FailureKind::Refused,
    FailureKind::Crashed,
    FailureKind::Hung,
    FailureKind::Protocol,
    FailureKind::MethodMissing,
];

/// How the invariant is broken. What invariants say names kinds, ids and sizes only; but the message of a step that failed
/// quotes the subject, which may quote the history: that part is left out where content is not shown.
pub fn message(message: &str, show_content: bool) -> String {
    if show_content {
        return message.to_owned();
    }
    let quoted = KINDS.iter().filter_map(|kind| {
        let lead = format!("failed: {}: ", kind.as_str());
        message.find(&lead).map(|at| at + lead.len() - 2)
    });
    match quoted.min() {
        Some(end) => {
            let own = message.get(..end).unwrap_or_default();
            format!("{own} (the subject's own words may hold content: --show-content shows them)")
        }
        None => message.to_owned(),
    }
}
