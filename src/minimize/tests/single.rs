//! By brute force: whether a single removal of a result still fails. Written without the passes that it checks.

use crate::case::{Case, Step};
use crate::item::ResponseItem;
use crate::json::{Json, Object};
use std::sync::Arc;

/// Every case that lacks one thing of this one: a step, an item, an element, a field, a character of a text.
pub(super) fn single_removals(case: &Case) -> Vec<Case> {
    let mut removals = Vec::new();
    for (at, step) in case.steps.iter().enumerate() {
        let mut without = case.clone();
        without.steps.remove(at);
        removals.push(without);
        for (place, item) in step.items().iter().enumerate() {
            removals.push(with_item(case, at, place, None));
            let mut text = Vec::new();
            item.write_recorded(&mut text);
            let json = Json::parse(&String::from_utf8(text).unwrap()).unwrap();
            let loaded = smaller(&json, "").into_iter().filter_map(|json| ResponseItem::load(json).ok());
            removals.extend(loaded.map(|item| with_item(case, at, place, Some(item))));
        }
    }
    removals.retain(|removal| removal != case);
    removals
}

fn with_item(case: &Case, step: usize, place: usize, item: Option<ResponseItem>) -> Case {
    let mut case = case.clone();
    let (Step::Record(items) | Step::Replace(items)) = &mut case.steps[step] else {
        panic!("no items there")
    };
    match item {
        Some(item) => items[place] = Arc::new(item),
        None => drop(items.remove(place)),
    }
    case
}

/// Fields that are no free text: names, and words that mean something.
const NO_TEXTS: [&str; 8] = ["type", "id", "call_id", "role", "status", "execution", "detail", "phase"];

/// The value with one thing less.
fn smaller(json: &Json, key: &str) -> Vec<Json> {
    match json {
        Json::Array(elements) => {
            let without = (0..elements.len()).map(|gone| {
                let kept = elements.iter().enumerate().filter(|(at, _)| *at != gone);
                Json::Array(kept.map(|(_, element)| element.clone()).collect())
            });
            let within = elements.iter().enumerate().flat_map(|(at, element)| {
                smaller(element, "").into_iter().map(move |smaller| {
                    let mut elements = elements.clone();
                    elements[at] = smaller;
                    Json::Array(elements)
                })
            });
            without.chain(within).collect()
        }
        Json::Object(object) => {
            let members: Vec<(&str, &Json)> = object.iter().collect();
            let rebuilt = |members: Vec<(&str, Json)>| {
                Json::Object(
                    members.into_iter().map(|(key, value)| (Box::from(key), value)).collect::<Object>(),
                )
            };
            let mut all = Vec::new();
            for (at, (key, value)) in members.iter().enumerate() {
                let mut without: Vec<(&str, Json)> =
                    members.iter().map(|(k, v)| (*k, (*v).clone())).collect();
                for smaller in smaller(value, key) {
                    without[at].1 = smaller;
                    all.push(rebuilt(without.clone()));
                }
                without.remove(at);
                all.push(rebuilt(without));
            }
            all
        }
        Json::String(text) if !NO_TEXTS.contains(&key) => {
            let letters: Vec<char> = text.chars().collect();
            let without = |gone: usize| {
                let kept = letters.iter().enumerate().filter(|(at, _)| *at != gone);
                Json::String(kept.map(|(_, letter)| *letter).collect())
            };
            (0..letters.len()).map(without).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}
