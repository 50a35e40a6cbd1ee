//! The items of an answer, loaded; what a loaded item would lose is a breach of the protocol.
//!
//! An answer is judged by its loaded items. If a field that they do not have were dropped in silence, a subject that
//! invents one would pass. So every member that an answer gives must be in the item as it was loaded.

use super::escaped::shown;
use crate::case::Items;
use crate::item::{ItemKind, ResponseItem};
use crate::json::{Json, Numbers, Object};
use std::sync::Arc;

/// The items under a key of a result, which must be there.
///
/// # Errors
/// The sentence that names the item and the field.
pub(super) fn required(result: &mut Object, key: &str) -> Result<Items, String> {
    optional(result, key)?.ok_or_else(|| format!("result.{key}: is required and missing"))
}

/// The items under a key of a result, if it is there and not `null`.
///
/// # Errors
/// As [`required`].
pub(super) fn optional(result: &mut Object, key: &str) -> Result<Option<Items>, String> {
    let elements = match result.take(key) {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::Array(elements)) => elements,
        Some(other) => {
            return Err(format!("result.{key}: expected a list of items, found {}", other.describe()));
        }
    };
    let load = |(index, given)| match load(given) {
        Ok(item) => Ok(Arc::new(item)),
        Err((kind, problem)) => {
            let kind = kind.map(|kind| format!(" ({})", shown(&kind, 40))).unwrap_or_default();
            Err(format!("result.{key}[{index}]{kind}: {problem}"))
        }
    };
    elements.into_iter().enumerate().map(load).collect::<Result<Items, _>>().map(Some)
}

/// The item, or the type that was given and what is wrong.
fn load(given: Json) -> Result<ResponseItem, (Option<String>, String)> {
    let mut given_text = Vec::new();
    given.write(&mut given_text, Numbers::Wire);
    let item = ResponseItem::load(given)
        .map_err(|error| (type_of(&parse(&given_text)), format!("does not load: {error}")))?;
    let mut held_text = Vec::new();
    item.write_recorded(&mut held_text);
    // Mostly nothing is lost, and then not even the text differs.
    if given_text == held_text {
        return Ok(item);
    }
    let (given, held) = (parse(&given_text), parse(&held_text));
    match (&given, &held) {
        (Json::Object(members), Json::Object(held)) => {
            let mut path = Vec::new();
            match lost_member(members, held, Some(&item), &mut path) {
                None => Ok(item),
                Some(loss) => {
                    let path: String = path.into_iter().rev().collect();
                    Err((type_of(&given), format!("{} {loss}", shown(&path, 100))))
                }
            }
        }
        _ => Ok(item),
    }
}

/// What was just written is JSON, so that there is a value.
fn parse(written: &[u8]) -> Json {
    std::str::from_utf8(written).ok().and_then(|text| Json::parse(text).ok()).unwrap_or_default()
}

fn type_of(given: &Json) -> Option<String> {
    given.get("type").and_then(Json::as_str).map(str::to_owned)
}

/// How the loaded form differs from what was given; the path is built innermost first.
fn lost(given: &Json, held: &Json, path: &mut Vec<String>) -> Option<&'static str> {
    match (given, held) {
        (Json::Object(given), Json::Object(held)) => lost_member(given, held, None, path),
        (Json::Array(given), Json::Array(held)) if given.len() == held.len() => {
            given.iter().zip(held).enumerate().find_map(|(index, (given, held))| {
                lost(given, held, path).inspect(|_| path.push(format!("[{index}]")))
            })
        }
        _ => (given != held).then_some("is dropped or changed when the item is loaded"),
    }
}

fn lost_member(
    given: &Object,
    held: &Object,
    item: Option<&ResponseItem>,
    path: &mut Vec<String>,
) -> Option<&'static str> {
    for (key, value) in given.iter() {
        if *value == Json::Null || item.is_some_and(|item| is_exempt(item, key)) {
            continue;
        }
        let loss = match held.get(key) {
            Some(held) => lost(value, held, path),
            None => Some("is a field that this kind of item does not have"),
        };
        if loss.is_some() {
            let dot = if item.is_some() { "" } else { "." };
            path.push(format!("{dot}{key}"));
            return loss;
        }
    }
    None
}

/// The type was read to choose the kind, and may be an older name of it; thoughts without a `reasoning_text` part are
/// never sent, and equal to none.
fn is_exempt(item: &ResponseItem, key: &str) -> bool {
    match item {
        ResponseItem::Reasoning(reasoning) if key == "content" => reasoning.content.sent().is_none(),
        ResponseItem::Other(_) => false,
        _ => key == "type" && item.kind() != ItemKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(items: &str) -> Object {
        match Json::parse(&format!(r#"{{"items":{items}}}"#)) {
            Ok(Json::Object(object)) => object,
            other => panic!("{other:?}"),
        }
    }

    fn problem(item: &str) -> String {
        required(&mut result(&format!("[{item}]")), "items").expect_err("the items are wrong")
    }

    #[test]
    fn what_loads_without_loss_is_taken() {
        let items = [
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a","annotations":null}],"x":null}"#,
            r#"{"type":"compaction_summary","encrypted_content":"e"}"#,
            r#"{"type":"reasoning","summary":[],"content":[{"type":"text","text":"t"}],"encrypted_content":null}"#,
            r#"{"type":"tool_search_call","execution":"client","arguments":{"a":1e5,"b":null},"call_id":null}"#,
            r#"{"type":"hologram"}"#,
            r#"{"type":"web_search_call","action":{"type":"other"}}"#,
        ];
        let loaded = required(&mut result(&format!("[{}]", items.join(","))), "items");
        assert_eq!(loaded.map(|items| items.len()), Ok(6));
    }

    #[test]
    fn a_field_that_the_item_does_not_have_is_named_however_deep_it_is() {
        let cases = [
            (
                r#"{"type":"message","role":"user","content":[],"audio":1}"#,
                "result.items[0] (message): audio is a field that this kind of item does not have",
            ),
            (
                r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a","annotations":[]}]}"#,
                "result.items[0] (message): content[0].annotations is a field that this kind of item does not have",
            ),
            (
                r#"{"type":"hologram","depth":3}"#,
                "result.items[0] (hologram): depth is a field that this kind of item does not have",
            ),
            (
                r#"{"type":"web_search_call","action":{"type":"click"}}"#,
                "result.items[0] (web_search_call): action.type is dropped or changed when the item is loaded",
            ),
            (
                r#"{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"t","n":1}]}"#,
                "result.items[0] (reasoning): content[0].n is a field that this kind of item does not have",
            ),
            (
                r#"{"type":"compaction_trigger","a\u001b":0}"#,
                "result.items[0] (compaction_trigger): a\\u{1b} is a field that this kind of item does not have",
            ),
        ];
        for (item, expected) in cases {
            assert_eq!(problem(item), expected);
        }
    }

    #[test]
    fn what_is_no_item_is_named_with_its_place() {
        assert_eq!(problem("1"), "result.items[0]: does not load: expected an object, found a number");
        assert_eq!(
            problem(r#"{"type":"function_call","name":"f","arguments":"{}"}"#),
            "result.items[0] (function_call): does not load: call_id: is required and missing"
        );
        assert_eq!(
            required(&mut result("{}"), "items").expect_err("no list"),
            "result.items: expected a list of items, found an object"
        );
        assert_eq!(
            required(&mut result("null"), "items").expect_err("none"),
            "result.items: is required and missing"
        );
        assert_eq!(optional(&mut result("[]"), "history_after"), Ok(None));
    }
}
