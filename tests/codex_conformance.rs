//! The real program gives what was recorded from it: every vector of `tests/conformance/`, driven through
//! `subject::codex`, and what it does to a rollout that is forked, rolled back, or left by a kill.
//!
//! Runs only where the environment variable CALLPAIR_CODEX names an executable (`.ci/install-codex` installs one);
//! otherwise each test says in one line that it was skipped. The vectors are those of release 0.144.6: of another release
//! only what it does to the files is judged, and that every case is answered.

#![cfg(feature = "codex")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use base64::Engine as _;
use callpair::item::Modalities;
use callpair::json::Json;
use callpair::rollout::line_text;
use callpair::subject::codex::{
    CodexCase, CodexError, CodexOptions, CodexProcess, CodexProjection, CodexStep,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

const SESSION_META: &str = r#"{"id":"11111111-1111-7111-8111-111111111111","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/","originator":"test","cli_version":"0.144.6"}"#;

/// The release that the vectors were recorded from.
const RECORDED: &str = "0.144.6";

fn codex(test: &str) -> Option<CodexProcess> {
    let Some(path) = std::env::var_os("CALLPAIR_CODEX") else {
        println!("skipped: {test}: CALLPAIR_CODEX names no codex executable");
        return None;
    };
    let process = CodexProcess::start(Path::new(&path), CodexOptions::default());
    Some(process.expect("CALLPAIR_CODEX names a codex executable"))
}

fn vectors(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/conformance/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors are part of the repository");
    let lines = text.split('\n').filter(|line| !line.is_empty());
    lines.map(|line| Json::parse_wrapped(line, 1).expect("a vector is JSON")).collect()
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn list<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json.get(key).and_then(Json::as_array).unwrap_or_default()
}

/// The rollout of a vector: its history after one session_meta line, or its lines as they are.
fn rollout(vector: &Json) -> Vec<u8> {
    if vector.get("history").is_some() {
        return rollout_of(list(vector, "history"));
    }
    let decode =
        |line: &Json| base64::engine::general_purpose::STANDARD.decode(line.as_str().unwrap()).unwrap();
    let plain = |line: &Json| line.as_str().unwrap().as_bytes().to_vec();
    let lines: Vec<Vec<u8>> = match vector.get("lines_base64") {
        Some(lines) => lines.as_array().unwrap().iter().map(decode).collect(),
        None => list(vector, "lines").iter().map(plain).collect(),
    };
    let mut bytes = lines.join(&b'\n');
    if vector.get("final_newline") == Some(&Json::Bool(true)) {
        bytes.push(b'\n');
    }
    bytes
}

fn rollout_of(history: &[Json]) -> Vec<u8> {
    let meta = line_text("2026-01-02T03:04:05.000Z", "session_meta", &Json::parse(SESSION_META).unwrap());
    let items = history.iter().map(|item| line_text("2026-01-02T03:04:05.000Z", "response_item", item));
    std::iter::once(meta).chain(items).map(|line| line + "\n").collect::<String>().into_bytes()
}

/// The items of the lines that the rollout gained.
fn gained_items(before: &[u8], after: &[u8]) -> Vec<Json> {
    let gained = after.strip_prefix(before).expect("the rollout before is a prefix of the rollout after");
    let lines = gained.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| Json::parse(std::str::from_utf8(line).unwrap()).expect("what is gained is whole lines"))
        .filter(|line| text(line, "type") == "response_item")
        .map(|line| line.get("payload").cloned().unwrap_or_default())
        .collect()
}

/// Items that are not of the history: a rollout must gain messages alone.
fn assert_nothing_synthetic(name: &str, before: &[u8], after: &[u8]) {
    for item in gained_items(before, after) {
        assert_eq!(text(&item, "type"), "message", "{name}: gained an item that is no message");
    }
}

/// The order of keys inside `action.env` varies; everything else must have the same text.
fn assert_sent(name: &str, sent: &[Json], expected: &[Json]) {
    assert_eq!(sent, expected, "{name}");
    let sorted = |items: &[Json]| {
        let mut characters: Vec<char> = Json::Array(items.to_vec()).to_string().chars().collect();
        characters.sort_unstable();
        characters
    };
    assert_eq!(sorted(sent), sorted(expected), "{name}: a number is written differently");
}

fn assert_agrees(vector: &Json, outcome: Result<CodexProjection, CodexError>) {
    let name = text(vector, "name");
    match (vector.get("error").and_then(Json::as_str), outcome) {
        (Some(error), Err(CodexError::Refused { message, .. })) => {
            assert!(message.contains(error), "{name}: {message}");
        }
        (None, Ok(projection)) => {
            assert_sent(name, &projection.input, list(vector, "projected"));
            assert_nothing_synthetic(name, &projection.rollout_before, &projection.rollout_after);
        }
        (expected, outcome) => panic!("{name}: expected {expected:?}, got {outcome:?}"),
    }
}

/// Another release may refuse a file and may send something else; what it writes is judged all the same.
fn assert_writes_well(vector: &Json, outcome: Result<CodexProjection, CodexError>) -> &'static str {
    let name = text(vector, "name");
    match outcome {
        Ok(projection) => {
            assert_nothing_synthetic(name, &projection.rollout_before, &projection.rollout_after);
            let (sent, recorded) = (projection.input, list(vector, "projected").to_vec());
            match (sent == recorded, bare(sent) == bare(recorded)) {
                (true, _) => "as recorded",
                (_, true) => "but for item ids and empty text parts",
                _ => "different",
            }
        }
        Err(CodexError::Refused { .. }) => "refused",
        Err(other) => panic!("{name}: {other}"),
    }
}

/// Items without their ids, and without the empty text parts of outputs.
fn bare(items: Vec<Json>) -> Vec<Json> {
    let is_empty = |part: &Json| text(part, "type") == "input_text" && text(part, "text").is_empty();
    let without = |item| match item {
        Json::Object(mut item) => {
            item.take("id");
            let output = item.take("output").map(|output| match output {
                Json::Array(parts) => Json::Array(parts.into_iter().filter(|part| !is_empty(part)).collect()),
                other => other,
            });
            Json::Array(vec![Json::Object(item), output.unwrap_or_default()])
        }
        other => other,
    };
    items.into_iter().map(without).collect()
}

#[test]
fn every_vector_is_given_again_by_the_program() {
    let Some(mut codex) = codex("every_vector_is_given_again_by_the_program") else { return };
    let vectors: Vec<Json> =
        ["named.jsonl", "generated.jsonl", "rollout_lines.jsonl"].into_iter().flat_map(vectors).collect();
    assert_eq!(vectors.len(), 103 + 600 + 116);
    let rollouts: Vec<Vec<u8>> = vectors.iter().map(rollout).collect();
    let case = |(vector, rollout)| {
        let names = list(vector, "modalities").iter().filter_map(Json::as_str);
        let modalities = Modalities::from_names(names).expect("the vectors name known modalities");
        CodexCase { rollout, modalities, step: CodexStep::Resume }
    };
    let cases: Vec<CodexCase<'_>> =
        vectors.iter().zip(rollouts.iter().map(Vec::as_slice)).map(case).collect();
    let start = Instant::now();
    let outcomes = codex.run_many(&cases);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "codex {}: {} cases in {seconds:.1} s, {:.1} projections a second",
        codex.version(),
        cases.len(),
        cases.len() as f64 / seconds
    );
    let mut verdicts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (vector, outcome) in vectors.iter().zip(outcomes) {
        if codex.version() == RECORDED {
            assert_agrees(vector, outcome);
        } else {
            verdicts.entry(assert_writes_well(vector, outcome)).or_default().push(text(vector, "name"));
        }
    }
    for (verdict, names) in &verdicts {
        println!("codex {} beside {RECORDED}: {} {verdict}", codex.version(), names.len());
        if matches!(*verdict, "different" | "refused") {
            names.iter().for_each(|name| println!("  {name}"));
        }
    }
}

fn items(text: &str) -> Vec<Json> {
    Json::parse(text).unwrap().as_array().unwrap().to_vec()
}

fn user(text: &str) -> String {
    format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
}

const CALL: &str = r#"{"type":"function_call","id":"fc_1","name":"n","arguments":"{}","call_id":"a"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","id":"fco_d08ee114-ed5d-5706-8dbd-16ccacd40aa4","call_id":"a","output":"aborted"}"#;

#[test]
fn a_rollback_takes_turns_off_and_is_appended() {
    let Some(mut codex) = codex("a_rollback_takes_turns_off_and_is_appended") else { return };
    if codex.version() != RECORDED {
        println!("skipped: a_rollback…: {} may have no thread/rollback", codex.version());
        return;
    }
    let rollout = rollout_of(&items(&format!("[{},{CALL},{}]", user("q1"), user("q2"))));
    let modalities = Modalities::TextAndImage;
    let mut roll_back =
        |turns| codex.run(CodexCase { rollout: &rollout, modalities, step: CodexStep::Rollback(turns) });
    let projection = roll_back(1).expect("0.144.6 rolls back");
    assert_eq!(projection.input, items(&format!("[{},{CALL},{OUTPUT}]", user("q1"))));
    assert_nothing_synthetic("rollback", &projection.rollout_before, &projection.rollout_after);
    assert_eq!(roll_back(2).expect("0.144.6 rolls back").input, []);
    assert!(matches!(roll_back(0), Err(CodexError::Refused { doing: "thread/rollback", .. })));
}

#[test]
fn a_fork_leaves_its_source_and_writes_nothing_synthetic() {
    let Some(mut codex) = codex("a_fork_leaves_its_source_and_writes_nothing_synthetic") else { return };
    let rollout = rollout_of(&items(&format!("[{},{CALL}]", user("q1"))));
    let case = CodexCase { rollout: &rollout, modalities: Modalities::TextAndImage, step: CodexStep::Fork };
    let projection = codex.run(case).expect("it forks");
    assert_eq!(projection.rollout_before, projection.rollout_after);
    let fork = projection.fork.expect("the step was a fork");
    assert_nothing_synthetic("fork", &fork.rollout_before, &fork.rollout_after);
    assert!(!String::from_utf8_lossy(&fork.rollout_after).contains("function_call_output"));
    // The message without an id got one; the source's last turn had no end, so the fork says that it was broken off.
    let kinds: Vec<&str> = projection.input.iter().map(|item| text(item, "type")).collect();
    assert_eq!(kinds, ["message", "function_call", "function_call_output", "message"]);
    assert_eq!(projection.input[2], items(&format!("[{OUTPUT}]"))[0]);
    assert!(projection.input[3].to_string().contains("<turn_aborted>"));
}

#[test]
fn a_kill_in_the_middle_of_a_call_is_repaired_in_requests_alone() {
    let Some(mut codex) = codex("a_kill_in_the_middle_of_a_call_is_repaired_in_requests_alone") else {
        return;
    };
    let rollout = rollout_of(&items(&format!("[{}]", user("q1"))));
    let killed = codex.kill_in_a_call(&rollout, Modalities::Text).expect("the program dies as told");
    let gained = gained_items(&killed.rollout_before, &killed.rollout_after);
    let calls_and_outputs: Vec<&str> = gained
        .iter()
        .filter(|item| text(item, "type") != "message")
        .map(|item| text(item, "call_id"))
        .collect();
    assert_eq!(calls_and_outputs, [killed.finished_call, killed.open_call, killed.finished_call]);
    let mut inputs = Vec::new();
    for _ in 0..2 {
        let projection = codex.project(&killed.rollout_after, Modalities::Text).expect("it resumes");
        assert_nothing_synthetic("killed", &projection.rollout_before, &projection.rollout_after);
        inputs.push(projection.input);
        codex.restart().expect("it starts again");
    }
    assert_eq!(inputs[0], inputs[1], "two processes make the same outputs with the same ids");
    let made_up = inputs[0].iter().filter(|item| text(item, "output") == "aborted").collect::<Vec<_>>();
    assert_eq!(made_up.len(), 1);
    assert_eq!(text(made_up[0], "call_id"), killed.open_call);
}

/// Should this fail, the bytes of two processes can be compared too: docs/codex-versions.md names the gap.
#[test]
fn the_keys_of_an_env_come_in_another_order_in_each_process() {
    let Some(mut codex) = codex("the_keys_of_an_env_come_in_another_order_in_each_process") else { return };
    let env: Vec<String> = ('a'..'m').map(|key| format!(r#""{key}":"1""#)).collect();
    let call = format!(
        r#"[{{"type":"local_shell_call","call_id":"a","status":"completed","action":{{"type":"exec","command":[],"env":{{{}}}}}}}]"#,
        env.join(",")
    );
    let rollout = rollout_of(&items(&call));
    let mut sent = || {
        let projection = codex.project(&rollout, Modalities::Text).expect("it resumes");
        codex.restart().expect("it starts again");
        projection.input
    };
    let inputs = [sent(), sent(), sent()];
    assert!(inputs.iter().all(|input| *input == inputs[0]), "by value they are the same");
    let texts = inputs.map(|input| Json::Array(input).to_string());
    assert!(texts.iter().any(|text| *text != texts[0]), "their order is the same by now: {}", texts[0]);
}

#[test]
fn nothing_is_left_when_the_program_is_dropped() {
    let Some(codex) = codex("nothing_is_left_when_the_program_is_dropped") else { return };
    let (folder, process) = (codex.folder().to_path_buf(), codex.process_id());
    assert!(folder.exists() && Path::new(&format!("/proc/{process}")).exists());
    drop(codex);
    assert!(!folder.exists());
    assert!(!Path::new(&format!("/proc/{process}")).exists());
}
