//! A rollout is told to be one whatever stands in it, as far as the real program would resume it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use base64::Engine as _;
use callpair::json::Json;
use callpair::rollout::Caps;
use callpair::source::{self, Source};
use std::io::Cursor;

/// The bytes of a rollout vector of tests/conformance.
fn bytes_of(vector: &Json) -> Vec<u8> {
    let list = |key| vector.get(key).and_then(Json::as_array);
    let decode = |line: &Json| {
        let text = line.as_str().expect("a line is text");
        base64::engine::general_purpose::STANDARD.decode(text).expect("a line is base64")
    };
    let lines: Vec<Vec<u8>> = match list("lines_base64") {
        Some(lines) => lines.iter().map(decode).collect(),
        None => {
            let lines = list("lines").expect("a vector has lines");
            lines.iter().filter_map(Json::as_str).map(|line| line.as_bytes().to_vec()).collect()
        }
    };
    let end: &[u8] = if vector.get("final_newline") == Some(&Json::Bool(true)) { b"\n" } else { b"" };
    [&lines.join(&b'\n'), end].concat()
}

#[test]
fn every_rollout_that_the_program_resumes_is_told_to_be_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/rollout_lines.jsonl");
    let text = std::fs::read_to_string(path).expect("the vectors are part of the repository");
    let mut untold = Vec::new();
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let vector = Json::parse_wrapped(line, 1).expect("a vector is JSON");
        let name = vector.get("name").and_then(Json::as_str).expect("a vector has a name");
        let refused = vector.get("error").and_then(Json::as_str);
        match source::read(&mut Cursor::new(bytes_of(&vector)), None, Caps::default()) {
            Ok(source) => assert!(matches!(source, Source::Rollout(_)), "{name}"),
            Err(_) if refused.is_some() => untold.push(name.to_owned()),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    // Of what the program refuses, these hold no record at all.
    assert_eq!(untold, ["line/empty-file", "line/only-junk"]);
}
