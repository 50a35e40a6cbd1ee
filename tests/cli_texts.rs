//! What the commands print, word for word: the result on stdout, what there is to know besides on stderr.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{callpair, rollouts};
use std::path::Path;

/// A command line and all that it prints, as one text.
fn screen(folder: &Path, args: &[&str]) -> String {
    let outcome = callpair(folder, args);
    let mut text = format!("$ callpair {}   # exits {}\n", args.join(" "), outcome.code.expect("no signal"));
    text.push_str(&outcome.stdout);
    for line in outcome.stderr.lines() {
        text.push_str(&format!("stderr: {line}\n"));
    }
    text
}

/// The screens of several command lines, each of words with blanks between.
fn screens(folder: &Path, lines: &[&str]) -> String {
    let screens = lines.iter().map(|line| screen(folder, &line.split(' ').collect::<Vec<_>>()));
    screens.collect::<Vec<_>>().join("\n")
}

#[test]
fn explain_tells_what_an_id_is_about() {
    let lines = [
        "explain pairing/function-call",
        "explain identity/stable",
        "explain responses/call-without-output",
        "explain forget/function-call",
        "explain orphan",
        "explain no-such-thing",
    ];
    insta::assert_snapshot!("explain", screens(Path::new("."), &lines));
}

#[test]
fn check_has_a_text_for_every_form() {
    let lines = [
        "check plain-three-calls.jsonl",
        "check killed-during-command.jsonl --format json",
        "check killed-during-command.jsonl --format junit",
        "check plain-three-calls.jsonl --format junit",
    ];
    insta::assert_snapshot!("check_forms", screens(&rollouts(), &lines));
}

#[test]
fn minimize_prints_the_case_and_what_to_type_next() {
    let lines = [
        "minimize killed-during-command.jsonl --subject bank/forget/function-call",
        "minimize killed-during-command.jsonl --subject bank",
    ];
    insta::assert_snapshot!("minimize", screens(&rollouts(), &lines));
}

#[test]
fn replay_says_what_is_broken_on_which_file() {
    let lines = [
        "replay killed-during-command.jsonl",
        "replay killed-during-command.jsonl --subject bank/forget/function-call",
        "replay killed-during-command.jsonl plain-three-calls.jsonl --subject bank/forget/function-call",
    ];
    insta::assert_snapshot!("replay", screens(&rollouts(), &lines));
}

#[test]
fn what_is_unusable_is_refused_with_what_to_do_instead() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in [
        ("empty.json", ""),
        ("chat.json", r#"{"messages":[{"role":"user","content":"hi"}]}"#),
        ("case.json", r#"{"schema":"callpair.case/9","steps":[]}"#),
        ("known.txt", "pairing/function-call\n"),
        ("unknown.txt", "pairing/none because\n"),
        ("binary.json", "\u{0}\u{1}\u{2}"),
    ] {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    let lines = [
        "check absent.jsonl",
        "check empty.json",
        "check chat.json",
        "check binary.json",
        "check .",
        "project absent.jsonl",
        "project .",
        "replay absent.json",
        "replay case.json",
        "minimize absent.json",
        "verify --subject nobody",
        "verify --subject bank/nothing",
        "verify --only nothing",
        "verify --seed g9-00",
        "verify --shard 3/2",
        "verify --time 5x",
        "verify --cases 0",
        "verify --cases 5 --time 5s",
        "verify --known known.txt",
        "verify --known unknown.txt",
        "verify --from absent",
        "verify --profile codex --allow-refusals",
        "verify --cases 5 --observe absent/out.jsonl",
        "explain nothing-of-this",
        "faults --cases 0",
        "no-such-command",
    ];
    // The names of an operating system's errors differ; those of Unix stand in the snapshot.
    if cfg!(unix) {
        insta::assert_snapshot!("unusable", screens(folder.path(), &lines).replace("\nstderr: \n", "\n"));
    }
}

#[test]
fn a_run_writes_each_case_and_each_broken_invariant_where_it_is_to_be_observed() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["verify", "--subject", "bank/forget/function-call", "--seed", "7", "--cases", "40"];
    let outcome =
        callpair(folder.path(), &[&args[..], &["--format", "json", "--observe", "out.jsonl"]].concat());
    assert_eq!(outcome.code, Some(1));
    let text = std::fs::read_to_string(folder.path().join("out.jsonl")).expect("the file is there");
    let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    assert_eq!(count(r#""how_generated":"seed "#), 40, "a line a case");
    let broken = callpair::json::Json::parse(&outcome.stdout).expect("one document");
    let broken = broken.get("violations").and_then(|list| Some(list.as_array()?.len())).expect("a list");
    assert!(broken > 0);
    assert_eq!(count(r#""how_generated":"the smallest case"#), broken);
    assert_eq!(count(r#""type":"test_case""#), 40 + broken);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "nothing is left beside it: {left:?}");
}
