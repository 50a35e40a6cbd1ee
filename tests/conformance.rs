//! The reference gives what the real program gave: every vector of `tests/conformance/`, strictly.
//!
//! The vectors were recorded from the published release 0.144.6 against a model server on loopback; see the README there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod vectors;

use callpair::json::Json;
use callpair::pairing::Level;
use vectors::{list, modalities, projection, rollout_bytes, rollout_of, text, vectors};

/// Vectors with a picture that the program re-encodes, which callpair leaves out. None of the vectors here has one.
const REENCODED: &[&str] = &[];

/// Equal as text, or, where only the order of keys differs (the program's own order in `action.env` varies), as values.
fn assert_sent(name: &str, sent: &str, expected: &[Json]) {
    let expected = Json::Array(expected.to_vec());
    let parsed = Json::parse_wrapped(sent, 1).expect("the wire form is JSON");
    if sent == expected.to_string() || REENCODED.contains(&name) {
        return;
    }
    assert_eq!(parsed, expected, "{name}");
    let sorted = |json: &Json| {
        let mut characters: Vec<char> = json.to_string().chars().collect();
        characters.sort_unstable();
        characters
    };
    // Values are equal by meaning; the same characters in all says that the numbers are equal to the letter, too.
    assert_eq!(sorted(&parsed), sorted(&expected), "{name}: a number is written differently");
}

fn assert_agrees(vector: &Json) {
    let name = text(vector, "name");
    let rollout = rollout_of(list(vector, "history"));
    let projection = projection(rollout.as_bytes(), modalities(vector)).expect("the rollout resumes");
    assert_sent(name, &projection.to_wire(), list(vector, "projected"));
    let notices = projection.notices();
    for (level, key) in [(Level::Error, "errors"), (Level::Info, "infos")] {
        let ours: Vec<String> =
            notices.iter().filter(|notice| notice.level() == level).map(ToString::to_string).collect();
        let theirs: Vec<&str> = list(vector, key).iter().filter_map(Json::as_str).collect();
        assert_eq!(ours, theirs, "{name}: {key}");
    }
}

#[test]
fn every_hand_written_vector_agrees() {
    let vectors = vectors("named.jsonl");
    assert_eq!(vectors.len(), 103);
    vectors.iter().for_each(assert_agrees);
}

#[test]
fn every_generated_vector_agrees() {
    let vectors = vectors("generated.jsonl");
    assert_eq!(vectors.len(), 600);
    vectors.iter().for_each(assert_agrees);
}

#[test]
fn every_rollout_vector_agrees() {
    let vectors = vectors("rollout_lines.jsonl");
    assert_eq!(vectors.len(), 116);
    for vector in &vectors {
        let name = text(vector, "name");
        assert_eq!(text(vector, "tool_output_limit"), "bytes:10000", "{name}");
        let outcome = projection(&rollout_bytes(vector), modalities(vector));
        match (vector.get("error").and_then(Json::as_str), outcome) {
            (Some(error), Err(refusal)) => assert!(refusal.contains(error), "{name}: {refusal}"),
            (None, Ok(projection)) => assert_sent(name, &projection.to_wire(), list(vector, "projected")),
            (expected, outcome) => panic!("{name}: expected {expected:?}, got {outcome:?}"),
        }
    }
}
