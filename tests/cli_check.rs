//! `callpair check` says what is wrong, where, and what the next request will hold.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use callpair::json::Json;
use common::{callpair, callpair_with_input, rollouts};
use std::fs::{self, File};
use tempfile::TempDir;

const META: &str = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"test","cli_version":"0.144.6"}}"#;
const CALL: &str =
    r#"{"type":"function_call","name":"secret_tool","arguments":"{\"secret\":1}","call_id":"c1"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"c1","output":"secret text"}"#;

fn line(item: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"response_item","payload":{item}}}"#)
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
    folder
}

fn check_json(files: &[(&str, &str)], args: &[&str]) -> (Option<i32>, Json) {
    let folder = folder(files);
    let outcome = callpair(folder.path(), &[&["check", "--format", "json"], args].concat());
    (outcome.code, Json::parse(&outcome.stdout).expect("one document on stdout"))
}

fn at<'a>(json: &'a Json, path: &str) -> &'a Json {
    path.split('/').fold(json, |json, step| match json {
        Json::Array(elements) => &elements[step.parse::<usize>().expect("an index")],
        other => other.get(step).unwrap_or_else(|| panic!("{path}: no {step} in {other}")),
    })
}

fn rules(file: &Json) -> Vec<String> {
    let findings = at(file, "findings").as_array().expect("a list");
    findings.iter().map(|finding| at(finding, "rule").as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_session_that_a_crash_left_broken_is_explained() {
    let outcome = callpair(&rollouts(), &["check", "killed-during-command.jsonl"]);
    assert_eq!(outcome.code, Some(1));
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn a_session_that_was_cut_is_explained() {
    insta::assert_snapshot!(callpair(&rollouts(), &["check", "cut-in-last-line.jsonl"]).stdout);
}

#[test]
fn orphans_of_both_kinds_and_an_open_call_are_explained() {
    insta::assert_snapshot!(callpair(&rollouts(), &["check", "injected-orphans.jsonl"]).stdout);
}

#[test]
fn a_call_that_a_compaction_took_away_is_a_note() {
    insta::assert_snapshot!(callpair(&rollouts(), &["check", "killed-compacted-killed.jsonl"]).stdout);
}

#[test]
fn what_another_version_writes_is_named_once() {
    let outcome = callpair(&rollouts(), &["check", "v0.171.0-plain.jsonl", "--modalities", "text"]);
    assert_eq!(outcome.code, Some(0), "warnings and notes do not fail");
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn every_recorded_input_is_free_of_errors() {
    let files = fs::read_dir(rollouts()).expect("the folder is there");
    let names = files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
    let inputs: Vec<String> = names.filter(|name| name.ends_with("input.json")).collect();
    let args: Vec<&str> = std::iter::once("check").chain(inputs.iter().map(String::as_str)).collect();
    let outcome = callpair(&rollouts(), &args);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    assert_eq!(inputs.len(), 40);
}

#[test]
fn the_json_has_its_fixed_shape() {
    let session = [META, &line(CALL), "torn {", &line(OUTPUT).replace("c1", "c2")].join("\n");
    let (code, json) = check_json(&[("s.jsonl", &session)], &["s.jsonl"]);
    assert_eq!(code, Some(1));
    assert_eq!(at(&json, "schema").as_str(), Some("callpair.check/1"));
    let file = at(&json, "files/0");
    assert_eq!(at(file, "path").as_str(), Some("s.jsonl"));
    assert_eq!(at(file, "kind").as_str(), Some("codex-rollout"));
    assert_eq!(at(file, "items").as_u64(), Some(2));
    assert_eq!(
        rules(file),
        [
            "codex/line-skipped",
            "codex/unfinished-line",
            "responses/call-without-output",
            "responses/output-without-call"
        ]
    );
    let call = at(file, "findings/2");
    let fields: Vec<&str> = call.as_object().expect("an object").iter().map(|(key, _)| key).collect();
    assert_eq!(fields, ["rule", "severity", "line", "index", "call_id", "message", "next", "repair"]);
    assert_eq!(at(call, "severity").as_str(), Some("error"));
    assert_eq!((at(call, "line").as_u64(), at(call, "index").as_u64()), (Some(2), Some(0)));
    assert_eq!(
        at(call, "repair").to_string(),
        r#"{"action":"insert","after":0,"item":{"type":"function_call_output","call_id":"c1","output":"aborted"}}"#
    );
    assert_eq!(at(file, "findings/3/repair").to_string(), r#"{"action":"remove","index":1}"#);
    assert_eq!(
        at(&json, "summary").to_string(),
        r#"{"files":1,"findings":4,"errors":2,"warnings":1,"notes":1,"unusable":0}"#
    );
}

#[test]
fn every_kind_of_call_and_output_has_its_rule() {
    let items = [
        r#"{"type":"function_call","name":"f","arguments":"","call_id":"a"}"#,
        r#"{"type":"local_shell_call","call_id":"b","status":"completed","action":{"type":"exec","command":["ls"]}}"#,
        r#"{"type":"custom_tool_call","call_id":"c","name":"t","input":""}"#,
        r#"{"type":"tool_search_call","call_id":"d","execution":"client","arguments":{}}"#,
        r#"{"type":"function_call_output","call_id":"e","output":""}"#,
        r#"{"type":"custom_tool_call_output","call_id":"f","output":""}"#,
        r#"{"type":"tool_search_output","call_id":"g","status":"completed","execution":"client","tools":[]}"#,
    ];
    let (code, json) =
        check_json(&[("b.json", &format!("{{\"input\":[\n{}]}}", items.join(",\n")))], &["b.json"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        rules(at(&json, "files/0")),
        [
            "responses/call-without-output",
            "responses/local-shell-call-without-output",
            "responses/custom-call-without-output",
            "responses/tool-search-call-without-output",
            "responses/output-without-call",
            "responses/custom-output-without-call",
            "responses/tool-search-output-without-call",
        ]
    );
    let last = at(&json, "files/0/findings/6");
    assert_eq!(at(last, "pointer").as_str(), Some("/input/6"));
    assert_eq!(at(last, "line").as_u64(), Some(8));
}

#[test]
fn an_item_in_a_compaction_is_found_inside_its_line() {
    let compacted = format!(
        r#"{{"timestamp":"t","type":"compacted","payload":{{"message":"","replacement_history":[{OUTPUT},{}]}}}}"#,
        CALL.replace("c1", "c2")
    );
    let session = [META, &line(CALL), &compacted].join("\n") + "\n";
    let (_, json) = check_json(&[("s.jsonl", &session)], &["s.jsonl"]);
    let findings = at(&json, "files/0/findings");
    assert_eq!(at(findings, "1/pointer").as_str(), Some("/payload/replacement_history/1"));
    assert_eq!(at(findings, "1/line").as_u64(), Some(3));
}

#[test]
fn items_that_do_not_load_are_warnings_with_line_and_pointer() {
    let array = format!("[\n{CALL},\n{OUTPUT},\n{{\"type\":\"function_call\"}},\n7]");
    let (code, json) = check_json(&[("a.json", &array)], &["a.json"]);
    assert_eq!(code, Some(0));
    let findings = at(&json, "files/0/findings");
    assert_eq!(at(findings, "0/rule").as_str(), Some("responses/item-does-not-load"));
    assert_eq!(at(findings, "0/severity").as_str(), Some("warning"));
    assert_eq!((at(findings, "0/line").as_u64(), at(findings, "1/pointer").as_str()), (Some(4), Some("/3")));
    assert!(at(findings, "0/message").as_str().expect("a text").contains("name: is required and missing"));
}

#[test]
fn a_file_that_the_program_refuses_is_a_finding_and_is_read_on() {
    let headless = line(CALL) + "\n";
    let unloaded = META.replace("\"timestamp\":\"t\",\"type\"", "\"timestamp\":1,\"type\"");
    let files = [("headless.jsonl", headless.as_str()), ("empty.jsonl", &unloaded)];
    let (code, json) = check_json(&files, &["headless.jsonl", "empty.jsonl"]);
    assert_eq!(code, Some(1));
    assert_eq!(rules(at(&json, "files/0")), ["codex/no-session-meta", "responses/call-without-output"]);
    assert_eq!(rules(at(&json, "files/1")), ["codex/empty", "codex/line-skipped", "codex/unfinished-line"]);

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bytes.jsonl");
    fs::write(&path, [META.as_bytes(), b"\n\xff\n", line(CALL).as_bytes(), b"\n"].concat()).expect("a file");
    let outcome = callpair(folder.path(), &["check", "bytes.jsonl"]);
    assert_eq!(outcome.code, Some(1));
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn nothing_that_a_user_wrote_is_shown_unless_it_is_asked_for() {
    let image = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"secret"},{"type":"input_image","image_url":"data:image/png;base64,secret"}]}"#;
    let items = format!("[{CALL},{},{image}]", OUTPUT.replace("c1", "c2"));
    let folder = folder(&[("a.json", &items)]);
    for format in ["human", "json", "sarif", "junit"] {
        let args = ["check", "a.json", "--modalities", "text", "--format", format];
        let outcome = callpair(folder.path(), &args);
        assert!(!outcome.stdout.contains("secret"), "{format}: {}", outcome.stdout);
        if matches!(format, "human" | "json") {
            let outcome = callpair(folder.path(), &[&args[..], &["--show-content"]].concat());
            assert!(outcome.stdout.contains("secret_tool"), "{format}");
            assert!(outcome.stdout.contains("secret text"), "{format}");
        }
    }
}

#[test]
fn a_folder_is_searched_and_what_is_no_history_there_is_passed_over() {
    let ok = format!("[{CALL},{OUTPUT}]");
    let files =
        [("in/a.json", ok.as_str()), ("in/deep/b.jsonl", CALL), ("in/package.json", "{}"), ("in/c.txt", "?")];
    let folder = folder(&files);
    let outcome = callpair(folder.path(), &["check", "in"]);
    assert_eq!(outcome.code, Some(1));
    let a = outcome.stdout.find("in/a.json: array of items").expect("the first file");
    let b = outcome.stdout.find("in/deep/b.jsonl: items, one a line").expect("the second file");
    assert!(a < b && !outcome.stdout.contains("c.txt"));
    assert!(outcome.stderr.contains("in/package.json: passed over"), "{}", outcome.stderr);
}

#[test]
fn an_unusable_path_is_named_and_the_rest_is_checked() {
    let ok = format!("[{CALL},{OUTPUT}]");
    let folder = folder(&[("ok.json", &ok), ("chat.json", r#"{"messages":[]}"#), ("none/x.txt", "")]);
    let args = ["check", "missing.jsonl", "chat.json", "none", "ok.json", "--format", "json"];
    let outcome = callpair(folder.path(), &args);
    assert_eq!(outcome.code, Some(2));
    let json = Json::parse(&outcome.stdout).expect("JSON");
    assert_eq!(at(&json, "files").as_array().map(<[Json]>::len), Some(1));
    assert_eq!(at(&json, "unusable").as_array().map(<[Json]>::len), Some(3));
    assert!(outcome.stderr.contains("error: missing.jsonl: cannot be opened"));
    assert!(outcome.stderr.contains("error: chat.json: looks like the dialect chat"));
    assert!(outcome.stderr.contains("error: none: holds no *.jsonl"));
}

#[test]
fn what_cannot_be_told_ends_with_2_and_names_the_dialect_flag() {
    let files = [
        ("empty", ""),
        ("words", "hello\n"),
        ("untyped.json", r#"[{"role":"user","content":"hi"}]"#),
        ("torn.json", r#"[{"type":"message","#),
    ];
    let folder = folder(&files);
    for (name, _) in files {
        let outcome = callpair(folder.path(), &["check", name]);
        assert_eq!((outcome.code, outcome.stdout.contains("UNUSABLE")), (Some(2), true), "{name}");
        assert!(outcome.stderr.contains("--dialect"), "{name}: {}", outcome.stderr);
    }
    let forced = callpair(folder.path(), &["check", "--dialect", "responses", "untyped.json"]);
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert!(forced.stdout.contains("responses/item-does-not-load"));
    let chat = callpair(folder.path(), &["check", "--dialect", "chat", "untyped.json"]);
    assert_eq!(chat.code, Some(2));
}

#[test]
fn standard_input_is_read() {
    let file = File::open(rollouts().join("v0.144.6-compressed-killed.jsonl.zst")).expect("a session");
    let outcome = callpair_with_input(&rollouts(), &["check", "-"], file);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.starts_with("-: Codex rollout recorded by 0.144.6, 14 lines, 8 items"));
}

#[test]
fn sarif_names_each_result_by_rule_and_line() {
    let outcome =
        callpair(&rollouts(), &["check", "--format", "sarif", "injected-orphans.jsonl", "missing.jsonl"]);
    assert_eq!(outcome.code, Some(2));
    let json = Json::parse(&outcome.stdout).expect("JSON");
    assert_eq!(at(&json, "version").as_str(), Some("2.1.0"));
    let run = at(&json, "runs/0");
    let results = at(run, "results").as_array().expect("a list");
    assert_eq!(results.len(), 3);
    for result in results {
        let index = at(result, "ruleIndex").as_u64().expect("an index");
        let rule = at(run, &format!("tool/driver/rules/{index}/id"));
        assert_eq!(at(result, "ruleId"), rule);
    }
    let region = "locations/0/physicalLocation/region/startLine";
    assert_eq!(at(&results[0], region).as_u64(), Some(16));
    assert_eq!(at(run, "invocations/0/executionSuccessful"), &Json::Bool(false));
}

#[test]
fn junit_has_a_suite_a_file_and_a_test_a_rule() {
    let outcome = callpair(&rollouts(), &["check", "--format", "junit", "killed-during-command.jsonl"]);
    assert_eq!(outcome.code, Some(1));
    insta::assert_snapshot!(outcome.stdout);
}
