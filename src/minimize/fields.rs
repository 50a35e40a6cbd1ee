//! Passes over what stands within an item: elements of lists, optional fields, values.
//!
//! An item is looked at as JSON, so that every field of every kind is reached by one walk; what does not load as an item
//! afterwards is no candidate.

use super::edits::{Edit, Place, placed};
use super::walk::{Choices, Plan, rewrite};
use crate::case::Case;
use crate::item::ResponseItem;
use crate::json::{Json, Object};
use std::ops::Range;

/// The way from an item to a value within it.
pub(super) type Path = Vec<Key>;

/// A step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A member.
    Name(Box<str>),
    /// An element, counted from 0.
    Index(usize),
}

/// What becomes of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// It goes.
    Remove,
    /// Another takes its place.
    Set(Json),
    /// These characters of the text, counted from 0, become letters `a`.
    Letters(Range<usize>, Letters),
}

/// How many letters `a` come in a character's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    /// None: the text gets shorter.
    None,
    /// One.
    One,
    /// As many as the character has bytes.
    AsBytes,
}

/// Words that mean something, by the name of their field, the plainest first. They are not cut letter by letter.
const WORDS: &[(&str, &[&str])] = &[
    ("role", &["user", "assistant", "developer", "system"]),
    ("status", &["completed", "in_progress", "incomplete"]),
    ("execution", &["client", "server"]),
    ("phase", &["commentary", "final_answer"]),
    ("detail", &["auto", "low", "high", "original"]),
    ("image_url", &["", "data:"]),
    ("type", &["input_text", "encrypted_content", "input_image", "reasoning_text", "other", "search"]),
];

fn words(key: &str) -> &'static [&'static str] {
    WORDS.iter().find(|(name, _)| *name == key).map_or(&[], |(_, words)| words)
}

/// The plainest word of a field.
pub(super) fn plain_word(key: &str) -> Option<&'static str> {
    words(key).first().copied()
}

/// Whether a value is a word that has its meaning as a whole.
pub(super) fn is_word(path: &[Key], value: &str) -> bool {
    match path.last() {
        Some(Key::Name(name)) => **name == *"type" || words(name).contains(&value),
        _ => false,
    }
}

/// Names are the business of another pass.
pub(super) fn is_name(path: &[Key]) -> bool {
    matches!(path, [Key::Name(name)] if matches!(&**name, "id" | "call_id"))
}

/// The item as JSON; `None` where it is nested too deep to be read back.
pub(super) fn tree(item: &ResponseItem) -> Option<Json> {
    let mut text = Vec::new();
    item.write_recorded(&mut text);
    Json::parse(std::str::from_utf8(&text).ok()?).ok()
}

/// Calls `visit` for each value within an item, outer ones first.
pub(super) fn walk(json: &Json, path: &mut Path, visit: &mut impl FnMut(&Path, &Json)) {
    if !path.is_empty() {
        visit(path, json);
    }
    let mut inner = |key, json| {
        path.push(key);
        walk(json, path, visit);
        path.pop();
    };
    match json {
        Json::Array(elements) => {
            elements.iter().enumerate().for_each(|(at, element)| inner(Key::Index(at), element));
        }
        Json::Object(object) => object.iter().for_each(|(key, value)| inner(Key::Name(key.into()), value)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// The item with these changes, whatever their order; `None` where it does not load.
pub(super) fn edited(item: &ResponseItem, mut changes: Vec<(&Path, &Change)>) -> Option<ResponseItem> {
    // From the end on and from within, so that places stay what they are; the characters of one text in order.
    changes.sort_by(|a, b| b.0.cmp(a.0).then(start(a.1).cmp(&start(b.1))));
    let mut json = tree(item)?;
    for of_one_value in changes.chunk_by(|a, b| a.0 == b.0 && is_text_change(a.1) && is_text_change(b.1)) {
        let (path, _) = of_one_value.first()?;
        let changes: Vec<&Change> = of_one_value.iter().map(|(_, change)| *change).collect();
        json = changed(json, path, &changes)?;
    }
    ResponseItem::load(json).ok()
}

fn is_text_change(change: &Change) -> bool {
    matches!(change, Change::Letters(..))
}

fn start(change: &Change) -> usize {
    match change {
        Change::Letters(range, _) => range.start,
        Change::Remove | Change::Set(_) => 0,
    }
}

/// The value with a change at the end of `path`, or with several of one text; `None` where there is no such place.
fn changed(json: Json, path: &[Key], changes: &[&Change]) -> Option<Json> {
    let goes = changes == [&Change::Remove];
    match (json, path) {
        (json, []) => changed_here(json, changes),
        (Json::Array(mut elements), [Key::Index(at), rest @ ..]) => {
            let element = elements.get_mut(*at)?;
            if goes && rest.is_empty() {
                elements.remove(*at);
            } else {
                *element = changed(std::mem::take(element), rest, changes)?;
            }
            Some(Json::Array(elements))
        }
        (Json::Object(object), [Key::Name(name), rest @ ..]) => {
            let mut members = Vec::with_capacity(object.len());
            for (key, value) in object {
                if key != *name {
                    members.push((key, value));
                } else if !(goes && rest.is_empty()) {
                    members.push((key, changed(value, rest, changes)?));
                }
            }
            Some(Json::Object(members.into_iter().collect::<Object>()))
        }
        _ => None,
    }
}

fn changed_here(json: Json, changes: &[&Change]) -> Option<Json> {
    match (changes, json) {
        ([Change::Set(value)], _) => Some(value.clone()),
        (_, Json::String(text)) => with_letters(&text, changes).map(Json::String),
        _ => None,
    }
}

/// The text, with letters `a` in place of ranges of its characters; the ranges in order.
fn with_letters(text: &str, changes: &[&Change]) -> Option<String> {
    let mut changed = String::with_capacity(text.len());
    let mut changes = changes.iter().peekable();
    for (at, letter) in text.chars().enumerate() {
        while let Some(Change::Letters(range, _)) = changes.peek()
            && range.end <= at
        {
            changes.next();
        }
        match changes.peek() {
            Some(Change::Letters(range, letters)) if range.contains(&at) => {
                let count = match letters {
                    Letters::None => 0,
                    Letters::One => 1,
                    Letters::AsBytes => letter.len_utf8(),
                };
                (0..count).for_each(|_| changed.push('a'));
            }
            None | Some(Change::Letters(..)) => changed.push(letter),
            Some(Change::Remove | Change::Set(_)) => return None,
        }
    }
    Some(changed)
}

/// Each value of each item, with its place.
pub(super) fn each_value(case: &Case, mut visit: impl FnMut(Place, &ResponseItem, &Path, &Json)) {
    for (place, item) in placed(case) {
        if let Some(tree) = tree(item) {
            walk(&tree, &mut Path::new(), &mut |path, value| visit(place, item, path, value));
        }
    }
}

/// Elements of lists away: parts of a message, of an output, of a summary; tools; words of a command.
pub(super) fn without_elements(case: &Case) -> Plan {
    let mut units = Vec::new();
    each_value(case, |place, _, path, _| {
        if matches!(path.last(), Some(Key::Index(_))) {
            units.push(vec![Edit::Inside(place, path.clone(), Change::Remove)]);
        }
    });
    Plan::Together(units)
}

/// Every word the plainest of its field.
pub(super) fn plain_words(case: &Case) -> Plan {
    let mut units = Vec::new();
    each_value(case, |place, item, path, value| {
        let Some(Key::Name(key)) = path.last() else { return };
        if let (Some(word), Some(text)) = (plain_word(key), value.as_str())
            && word != text
            && path.len() > 1
        {
            let change = Change::Set(Json::from(word));
            if edited(item, vec![(path, &change)]).is_some() {
                units.push(vec![Edit::Inside(place, path.clone(), change)]);
            }
        }
    });
    Plan::Together(units)
}

/// Fields away, and values plainer.
pub(super) fn simpler_values(case: &Case) -> Plan {
    let mut places: Vec<Choices> = Vec::new();
    each_value(case, |place, item, path, value| {
        let loads =
            |change: &Change| edited(item, vec![(path, change)]).is_some_and(|simpler| simpler != *item);
        let changes = plainer(path, value).into_iter().filter(loads);
        let choices: Choices =
            changes.map(|change| rewrite(vec![Edit::Inside(place, path.clone(), change)])).collect();
        if !choices.is_empty() {
            places.push(choices);
        }
    });
    Plan::Choices(places)
}

/// What is plainer than a value, the plainest first.
fn plainer(path: &Path, value: &Json) -> Vec<Change> {
    let key = match path.last() {
        Some(Key::Name(name)) => &**name,
        _ => "",
    };
    if path.len() == 1 && key == "type" {
        return Vec::new();
    }
    let mut changes = Vec::new();
    if !key.is_empty() {
        changes.push(Change::Remove);
    }
    if is_name(path) {
        return changes;
    }
    let words = words(key);
    if let Some(text) = value.as_str().filter(|_| !words.is_empty()) {
        let plainer = words.iter().take_while(|word| **word != text);
        changes.extend(plainer.map(|word| Change::Set(Json::from(*word))));
        return changes;
    }
    if let ([Key::Name(_)], Some(parts)) = (path.as_slice(), value.as_array()) {
        changes.push(Change::Set(Json::String(texts_of(parts))));
        if parts.len() > 1 {
            changes.push(Change::Set(Json::Array(vec![text_part(&texts_of(parts))])));
        }
    }
    let plainer = plain_values().into_iter().take_while(|plain| plain != value);
    changes.extend(plainer.map(Change::Set));
    changes.extend(within(value).into_iter().take(HOIST_LIMIT).cloned().map(Change::Set));
    if let Json::Number(number) = value
        && number.text().len() > INEXACT.to_string().len()
    {
        changes.push(Change::Set(Json::from(INEXACT)));
    }
    if matches!(path.as_slice(), [Key::Name(_), Key::Index(_)]) && value.as_object().is_some() {
        changes.push(Change::Set(text_part("")));
    }
    changes
}

/// The least integer that a double cannot hold: stands for all numbers that lose a digit.
const INEXACT: u64 = (1 << 53) + 1;

/// How many of the values within a value are tried in its place.
const HOIST_LIMIT: usize = 8;

/// The values right within a list or an object.
fn within(value: &Json) -> Vec<&Json> {
    match value {
        Json::Array(elements) => elements.iter().collect(),
        Json::Object(object) => object.iter().map(|(_, value)| value).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}

/// The texts of parts, one behind the other.
pub(super) fn texts_of(parts: &[Json]) -> String {
    parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
}

/// One value of each JSON type, the plainest first.
fn plain_values() -> [Json; 6] {
    let empty_object = Json::Object(Object::new());
    [Json::Null, Json::from(""), Json::Bool(false), Json::from(0), Json::Array(Vec::new()), empty_object]
}

/// A part of a message or an output.
pub(super) fn text_part(text: &str) -> Json {
    let member = |(key, value): (&str, &str)| (Box::from(key), Json::from(value));
    Json::Object([("type", "input_text"), ("text", text)].map(member).into_iter().collect())
}
