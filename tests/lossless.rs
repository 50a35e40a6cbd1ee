//! The lossless form loses nothing, and the wire form of the wire form is itself: over every recorded session and every
//! conformance vector.

#![allow(clippy::expect_used, clippy::panic)]

mod vectors;

use callpair::item::{ItemKind, LosslessItem, ReasoningContent, ResponseItem};
use callpair::json::Json;
use callpair::rollout::{Caps, Lines};
use std::path::PathBuf;
use vectors::{list, rollout_bytes, vectors};

/// The recorded rollouts, plain and compressed.
fn recorded_rollouts() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rollouts");
    let files = std::fs::read_dir(folder).expect("the rollouts are part of the repository");
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.to_string_lossy().ends_with(".jsonl") || path.to_string_lossy().ends_with(".zst"))
        .collect();
    paths.sort();
    paths
}

/// The lines that are text, with what is JSON of them.
fn json_lines(bytes: &[u8]) -> Vec<(String, Json)> {
    let mut lines = Lines::new(bytes, Caps::default()).expect("a rollout opens");
    let mut found = Vec::new();
    while let Some(line) = lines.next_line().expect("a rollout can be read") {
        let Ok(text) = std::str::from_utf8(line.bytes) else { continue };
        if let Ok(json) = Json::parse(text) {
            found.push((text.to_owned(), json));
        }
    }
    found
}

/// The items of a line: of a response_item itself, of a compaction all of its replacement history.
fn items_of(line: &Json) -> Vec<&Json> {
    let payload = line.get("payload").into_iter();
    match line.get("type").and_then(Json::as_str) {
        Some("response_item") => payload.collect(),
        Some("compacted") => payload.flat_map(|payload| list(payload, "replacement_history")).collect(),
        _ => Vec::new(),
    }
}

/// The one exception: thoughts without any `reasoning_text` are not written, and where none are written `null` is read. The
/// program does both.
fn nulled(item: &ResponseItem) -> ResponseItem {
    let mut item = item.clone();
    if let ResponseItem::Reasoning(reasoning) = &mut item
        && reasoning.content.sent().is_none()
    {
        reasoning.content = ReasoningContent(None);
    }
    item
}

fn assert_is_a_fixed_point_on_the_wire(item: &ResponseItem) {
    let wire = item.to_wire();
    let again = ResponseItem::load(Json::parse(&wire).expect("the wire form is JSON"));
    let again = again.unwrap_or_else(|error| panic!("{wire}: {error}"));
    assert_eq!(again.to_wire(), nulled(item).to_wire());
    match item {
        // The name of an unknown kind is not sent.
        ResponseItem::Other(_) => assert_eq!(again, ResponseItem::Other("other".to_owned())),
        known => assert_eq!(&again, known),
    }
}

fn assert_loses_nothing(payload: &Json) {
    let item = LosslessItem::from_json(payload.clone()).expect("the payload is an object");
    let text = item.to_string();
    let again = Json::parse(&text).expect("the lossless form is JSON");
    assert_eq!(&again, payload);
    assert_eq!(again.to_string(), text);
    assert_eq!(text, payload.to_string(), "digit for digit, keys in their order");
}

#[test]
fn every_line_of_every_recorded_session_comes_back_to_the_letter() {
    let paths = recorded_rollouts();
    assert_eq!(paths.len(), 36);
    let mut lines = 0;
    for path in paths {
        let bytes = std::fs::read(&path).expect("the rollout can be read");
        for (text, json) in json_lines(&bytes) {
            assert_eq!(json.to_string(), text, "{}", path.display());
            lines += 1;
        }
    }
    assert!(lines > 700, "{lines}");
}

#[test]
fn every_item_of_every_recorded_session_survives_the_lossless_form() {
    let mut items = 0;
    for path in recorded_rollouts() {
        let bytes = std::fs::read(&path).expect("the rollout can be read");
        for (text, line) in json_lines(&bytes) {
            for payload in items_of(&line) {
                assert_loses_nothing(payload);
                let item = LosslessItem::from_json(payload.clone()).expect("an object");
                assert!(text.contains(&item.to_string()), "the text stands in its line as it is");
                items += 1;
            }
        }
    }
    assert!(items > 200, "{items}");
}

#[test]
fn the_wire_form_of_every_recorded_item_is_a_fixed_point() {
    let mut items = 0;
    for path in recorded_rollouts() {
        let bytes = std::fs::read(&path).expect("the rollout can be read");
        for (_, line) in json_lines(&bytes) {
            for payload in items_of(&line) {
                let lossless = LosslessItem::from_json(payload.clone()).expect("an object");
                assert_is_a_fixed_point_on_the_wire(&lossless.load().expect("a recorded item loads"));
                items += 1;
            }
        }
    }
    assert!(items > 200, "{items}");
}

#[test]
fn the_items_of_every_vector_survive_both_forms() {
    let mut loaded = 0;
    for file in ["named.jsonl", "generated.jsonl"] {
        for vector in vectors(file) {
            for payload in list(&vector, "history") {
                assert_loses_nothing(payload);
                // What the program skips does not load here either.
                if let Ok(item) = ResponseItem::load(payload.clone()) {
                    assert_is_a_fixed_point_on_the_wire(&item);
                    loaded += 1;
                }
            }
        }
    }
    assert!(loaded > 4_000, "{loaded}");
}

#[test]
fn what_the_program_sent_is_a_fixed_point_to_the_letter() {
    let (mut sent, mut exceptions) = (0, 0);
    for file in ["named.jsonl", "generated.jsonl", "rollout_lines.jsonl"] {
        for vector in vectors(file) {
            for projected in list(&vector, "projected") {
                let item = ResponseItem::load(projected.clone()).expect("the program sends what it reads");
                let wire = Json::parse(&item.to_wire()).expect("the wire form is JSON");
                let is_exception = item.kind() == ItemKind::Reasoning && projected.get("content").is_none();
                assert!(&wire == projected || is_exception, "{projected}");
                exceptions += usize::from(is_exception);
                assert_is_a_fixed_point_on_the_wire(&item);
                sent += 1;
            }
        }
    }
    assert!(sent > 4_000 && exceptions * 20 < sent, "{exceptions} of {sent}");
}

#[test]
fn the_items_of_every_rollout_vector_survive_both_forms() {
    let mut items = 0;
    for vector in vectors("rollout_lines.jsonl") {
        for (_, line) in json_lines(&rollout_bytes(&vector)) {
            for payload in items_of(&line).into_iter().filter(|payload| payload.as_object().is_some()) {
                assert_loses_nothing(payload);
                if let Ok(item) = ResponseItem::load(payload.clone()) {
                    assert_is_a_fixed_point_on_the_wire(&item);
                    items += 1;
                }
            }
        }
    }
    assert!(items > 200, "{items}");
}
