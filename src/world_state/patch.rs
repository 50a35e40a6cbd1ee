//! RFC 7386 merge patches: the smallest one is made here, `json-patch` applies it.
//!
//! A patch is made on our own value, since the order of its keys shows in the file (what is removed first, then what
//! changed, each in the order of its snapshot) and `serde_json` without `preserve_order` would sort them. It is applied by
//! `json_patch::merge` to a stand-in: to a merge patch everything but objects and null is opaque, so each such value goes
//! through as a number under which it is found again. So no digit of a number is lost, and a second implementation
//! judges what ours wrote.

use crate::json::{Json, Object};
use serde_json::{Map, Value};

/// The smallest merge patch that makes `new` of `old`; `None` where they are equal. Only what changed is in it, at any
/// depth. Neither may hold null, of which a merge patch cannot speak.
///
/// ```
/// # use callpair::{json::Json, world_state::{apply, diff}};
/// let old = Json::parse(r#"{"a":{"x":1,"y":[1,2]},"b":true,"gone":0}"#)?;
/// let new = Json::parse(r#"{"a":{"x":1,"y":[2]},"b":true}"#)?;
/// let patch = diff(&old, &new).unwrap();
/// assert_eq!(patch.to_string(), r#"{"gone":null,"a":{"y":[2]}}"#);
/// assert_eq!(apply(&old, &patch), new);
/// # Ok::<(), callpair::json::JsonError>(())
/// ```
pub fn diff(old: &Json, new: &Json) -> Option<Json> {
    let (Json::Object(old), Json::Object(new)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let removed = old.iter().filter(|(key, _)| new.get(key).is_none()).map(|(key, _)| (key, Json::Null));
    let changed = new.iter().filter_map(|(key, value)| match old.get(key) {
        Some(before) => Some((key, diff(before, value)?)),
        None => Some((key, value.clone())),
    });
    let members: Object = removed.chain(changed).map(|(key, value)| (key.into(), value)).collect();
    (!members.is_empty()).then_some(Json::Object(members))
}

/// Applies a merge patch. Keys keep their place; new ones follow in the order of the patch.
pub fn apply(document: &Json, patch: &Json) -> Json {
    let mut opaque = Opaque::default();
    let mut merged = opaque.stand_in(document);
    json_patch::merge(&mut merged, &opaque.stand_in(patch));
    opaque.restore(&merged, Some(document), Some(patch))
}

/// The values that a merge patch takes as they are.
#[derive(Default)]
struct Opaque<'a> {
    values: Vec<&'a Json>,
}

impl<'a> Opaque<'a> {
    fn stand_in(&mut self, json: &'a Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Object(object) => {
                let members = object.iter().map(|(key, value)| (key.to_owned(), self.stand_in(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                self.values.push(json);
                Value::from(self.values.len() - 1)
            }
        }
    }

    /// Puts the values back, keys in the order of the document and then of the patch.
    fn restore(&self, merged: &Value, document: Option<&Json>, patch: Option<&Json>) -> Json {
        let Value::Object(map) = merged else {
            let place = merged.as_u64().and_then(|place| usize::try_from(place).ok());
            return place.and_then(|place| self.values.get(place)).map_or(Json::Null, |json| (*json).clone());
        };
        let (in_document, in_patch) = (document.and_then(Json::as_object), patch.and_then(Json::as_object));
        let mut members = Object::new();
        let keys = in_document.into_iter().chain(in_patch).flat_map(Object::iter).map(|(key, _)| key);
        for key in keys {
            if let Some(value) = map.get(key) {
                let document = in_document.and_then(|object| object.get(key));
                let patch = in_patch.and_then(|object| object.get(key));
                members.set(key, self.restore(value, document, patch));
            }
        }
        Json::Object(members)
    }
}
