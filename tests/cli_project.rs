//! `callpair project` shows the request input that a history becomes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use callpair::json::Json;
use common::{callpair, rollouts};
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn the_diff_shows_what_is_inserted_and_removed_and_why() {
    let outcome = callpair(&rollouts(), &["project", "injected-orphans.jsonl"]);
    assert_eq!(outcome.code, Some(0));
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn the_diff_shows_what_is_replaced_for_a_text_only_model() {
    let outcome = callpair(&rollouts(), &["project", "image-viewed.jsonl", "--modalities", "text"]);
    insta::assert_snapshot!(outcome.stdout);
}

#[test]
fn the_diff_says_what_was_skipped_while_loading() {
    insta::assert_snapshot!(callpair(&rollouts(), &["project", "v0.171.0-killed-then-resumed.jsonl"]).stdout);
}

#[test]
fn content_stands_in_the_diff_only_where_it_is_asked_for() {
    let args = ["project", "killed-during-command.jsonl"];
    let plain = callpair(&rollouts(), &args);
    assert!(!plain.stdout.contains("exec_command"));
    let shown = callpair(&rollouts(), &[&args[..], &["--show-content"]].concat());
    assert!(shown.stdout.contains("exec_command"));
    assert!(shown.stdout.contains(r#""output":"aborted""#));
}

#[test]
fn json_is_an_array_with_an_item_a_line_and_jsonl_the_items_alone() {
    let json = callpair(&rollouts(), &["project", "killed-during-command.jsonl", "--format", "json"]).stdout;
    let jsonl =
        callpair(&rollouts(), &["project", "killed-during-command.jsonl", "--format", "jsonl"]).stdout;
    let whole = Json::parse_wrapped(&json, 1).expect("one array");
    let lines: Vec<Json> = jsonl.lines().map(|line| Json::parse(line).expect("an item")).collect();
    assert_eq!(whole.as_array(), Some(&*lines));
    assert_eq!(lines.len(), 8);
    let inner: Vec<&str> = json.lines().map(|line| line.trim_end_matches(',')).collect();
    assert_eq!(inner[1..inner.len() - 1], jsonl.lines().collect::<Vec<_>>());
}

#[test]
fn an_empty_history_becomes_an_empty_array() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.json"), "[]").expect("a file");
    assert_eq!(callpair(folder.path(), &["project", "a.json", "--format", "json"]).stdout, "[\n]\n");
    assert_eq!(callpair(folder.path(), &["project", "a.json", "--format", "jsonl"]).stdout, "");
}

#[test]
fn tool_outputs_are_cut_where_the_source_is_a_rollout_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let meta = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"test","cli_version":"0.144.6"}}"#;
    let call = r#"{"type":"function_call","name":"f","arguments":"","call_id":"a"}"#;
    let output =
        format!(r#"{{"type":"function_call_output","call_id":"a","output":"{}"}}"#, "x".repeat(12_001));
    let line = |item: &str| format!(r#"{{"timestamp":"t","type":"response_item","payload":{item}}}"#);
    let rollout = [meta, &line(call), &line(&output)].join("\n") + "\n";
    fs::write(folder.path().join("r.jsonl"), rollout).expect("a file");
    fs::write(folder.path().join("a.json"), format!("[{call},{output}]")).expect("a file");
    let project = |name| {
        callpair(folder.path(), &["project", name, "--tool-output-limit", "bytes:10000", "--format", "jsonl"])
            .stdout
    };
    assert!(project("r.jsonl").contains("…1 chars truncated…"));
    assert!(project("a.json").contains(&"x".repeat(12_001)));
    let diff = callpair(folder.path(), &["project", "r.jsonl", "--tool-output-limit", "bytes:10000"]).stdout;
    assert!(diff.contains("note: line 3: the tool output is over the limit"), "{diff}");
}

#[test]
fn a_file_that_the_program_refuses_ends_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let item =
        r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#;
    fs::write(folder.path().join("r.jsonl"), item).expect("a file");
    let outcome = callpair(folder.path(), &["project", "r.jsonl", "--format", "json"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    assert!(outcome.stderr.contains("r.jsonl: line 1: the file does not start with session metadata"));
}

#[test]
fn a_saved_case_is_sent_to_replay() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("c.json"), r#"{"schema":"callpair.case/1","steps":[]}"#).expect("a file");
    let outcome = callpair(folder.path(), &["project", "c.json"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("use `callpair replay`"));
}

#[test]
fn bad_flags_end_with_2_and_say_what_is_good() {
    for (args, says) in [
        (["project", "x", "--modalities", "image"], "must hold text"),
        (["project", "x", "--tool-output-limit", "chars:3"], "bytes:N or tokens:N"),
        (["project", "x", "--format", "yaml"], "jsonl"),
    ] {
        let outcome = callpair(&rollouts(), &args);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains(says), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let item = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"0123456789"}]}"#;
    fs::write(folder.path().join("i.jsonl"), format!("{item}\n").repeat(20_000)).expect("a file");
    for args in [vec!["project", "i.jsonl", "--format", "jsonl"], vec!["project", "i.jsonl"]] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("callpair"))
            .args(&args)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        stdout.read_exact(&mut [0; 10]).expect("it writes");
        drop(stdout);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn completions_are_written_for_each_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let outcome = callpair(&rollouts(), &["completions", shell]);
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stdout.contains("tool-output-limit"), "{shell}");
    }
}
