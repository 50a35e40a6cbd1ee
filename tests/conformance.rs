//! The reference gives what the real program gave: every vector of `tests/conformance/`, strictly.
//!
//! The vectors were recorded from the published release 0.144.6 against a model server on loopback; see the README there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::history::ToolOutputLimit;
use callpair::item::Modalities;
use callpair::json::Json;
use callpair::pairing::Level;
use callpair::projection::{Projection, project};
use callpair::rollout::{PictureCache, Rollout, line_text, resume};

const LIMIT: Option<ToolOutputLimit> = Some(ToolOutputLimit::Bytes(10_000));

const SESSION_META: &str = r#"{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"test","cli_version":"0.144.6"}"#;

/// Vectors with a picture that the program re-encodes, which callpair leaves out. None of the vectors here has one.
const REENCODED: &[&str] = &[];

fn vectors(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/conformance/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors are part of the repository");
    text.split('\n')
        .filter(|line| !line.is_empty())
        .map(|line| Json::parse_wrapped(line, 1).expect("a vector is JSON"))
        .collect()
}

fn text<'a>(vector: &'a Json, key: &str) -> &'a str {
    vector.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn list<'a>(vector: &'a Json, key: &str) -> &'a [Json] {
    vector.get(key).and_then(Json::as_array).unwrap_or_default()
}

fn modalities(vector: &Json) -> Modalities {
    let names = list(vector, "modalities").iter().filter_map(Json::as_str);
    Modalities::from_names(names).expect("the vectors name known modalities")
}

fn projection(rollout: &[u8], modalities: Modalities) -> Result<Projection, String> {
    let rollout = Rollout::from_bytes(rollout).map_err(|error| error.to_string())?;
    if let Some(refusal) = rollout.refusal() {
        return Err(refusal.to_string());
    }
    let resumed = resume(&rollout.lines, LIMIT, &mut PictureCache::new());
    Ok(project(&resumed.history, modalities))
}

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

fn rollout_of(history: &[Json]) -> String {
    let meta = line_text("t", "session_meta", &Json::parse(SESSION_META).expect("the constant is JSON"));
    let items = history.iter().map(|item| line_text("t", "response_item", item));
    std::iter::once(meta).chain(items).map(|line| line + "\n").collect()
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

fn rollout_bytes(vector: &Json) -> Vec<u8> {
    use base64::Engine as _;
    let decode = |line: &Json| {
        let text = line.as_str().expect("a line is text");
        base64::engine::general_purpose::STANDARD.decode(text).expect("a line is base64")
    };
    let lines: Vec<Vec<u8>> = match vector.get("lines_base64") {
        Some(lines) => lines.as_array().expect("a list of lines").iter().map(decode).collect(),
        None => list(vector, "lines")
            .iter()
            .filter_map(Json::as_str)
            .map(|line| line.as_bytes().to_vec())
            .collect(),
    };
    let mut bytes = lines.join(&b'\n');
    if vector.get("final_newline") == Some(&Json::Bool(true)) {
        bytes.push(b'\n');
    }
    bytes
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
