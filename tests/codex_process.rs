//! What the driver of the real program does when the program misbehaves. The programs here are shell scripts that speak as
//! much of the protocol as a test needs.

#![cfg(feature = "codex")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::item::Modalities;
use callpair::subject::codex::{CodexCase, CodexError, CodexOptions, CodexProcess, CodexStep};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Greets, refuses every thread, and does BAD when a rollout holds the word POISON.
const APP_SERVER: &str = r#"
while read -r line; do
    id=${line#*:}; id=${id%%,*}
    case $line in
    *'"method":"initialize"'*) echo '{"id":'$id',"result":{"userAgent":"callpair/9.8.7 (x)"}}' ;;
    *'"method":"thread/resume"'*)
        path=${line#*'"path":"'}; path=${path%%'"'*}
        if grep -q POISON "$path"; then BAD; fi
        echo '{"id":'$id',"error":{"code":-1,"message":"no thread of '$path'"}}' ;;
    esac
done
"#;

fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("codex");
    std::fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn hasty() -> CodexOptions {
    CodexOptions { timeout: Duration::from_millis(400), startup: Duration::from_secs(20), in_flight: 4 }
}

/// The cases of a run in which the fourth is poisoned, and what became of them.
fn run_poisoned(bad: &str) -> Vec<Result<(), CodexError>> {
    let folder = tempfile::tempdir().unwrap();
    let program = script(folder.path(), &APP_SERVER.replace("BAD", bad));
    let mut codex = CodexProcess::start(&program, hasty()).expect("the script greets");
    assert_eq!(codex.version(), "9.8.7");
    let rollouts: Vec<Vec<u8>> =
        (0..9).map(|n| if n == 3 { b"POISON\n".to_vec() } else { format!("{n}\n").into_bytes() }).collect();
    let case = |rollout| CodexCase { rollout, modalities: Modalities::Text, step: CodexStep::Resume };
    let cases: Vec<CodexCase<'_>> = rollouts.iter().map(|rollout| case(rollout)).collect();
    codex.run_many(&cases).into_iter().map(|outcome| outcome.map(|_| ())).collect()
}

fn assert_only_the_fourth_fails(outcomes: &[Result<(), CodexError>], is_the_fault: fn(&CodexError) -> bool) {
    for (number, outcome) in outcomes.iter().enumerate() {
        let error = outcome.as_ref().expect_err("no case succeeds here");
        if number == 3 {
            assert!(is_the_fault(error), "{error}");
        } else {
            let CodexError::Refused { doing, message } = error else { panic!("case {number}: {error}") };
            assert_eq!(*doing, "thread/resume");
            // The name of the private folder does not show.
            assert!(message.starts_with("no thread of …/codex/sessions/"), "{message}");
        }
    }
    assert_eq!(outcomes.len(), 9);
}

#[test]
fn a_crash_falls_on_its_own_case_alone() {
    let outcomes = run_poisoned("echo broken >&2; exit 3");
    assert_only_the_fourth_fails(&outcomes, |error| {
        let text = error.to_string();
        matches!(error, CodexError::WillNotSpeak { doing: "thread/resume", .. })
            && text.contains("it exited with status 3")
            && text.ends_with("broken")
    });
}

#[test]
fn a_hang_falls_on_its_own_case_alone() {
    let outcomes = run_poisoned("sleep 600");
    assert_only_the_fourth_fails(&outcomes, |error| {
        matches!(error, CodexError::TimedOut { doing: "thread/resume", .. })
    });
}

#[test]
fn noise_falls_on_its_own_case_alone() {
    let outcomes = run_poisoned("echo hello");
    assert_only_the_fourth_fails(&outcomes, |error| {
        matches!(error, CodexError::WillNotSpeak { .. }) && error.to_string().contains("no JSON-RPC: hello")
    });
}

#[test]
fn a_program_that_is_not_there_cannot_be_started() {
    for path in ["/nowhere/codex", "callpair-no-such-program", "Cargo.toml"] {
        let error = CodexProcess::start(Path::new(path), hasty()).expect_err("there is no program");
        assert!(matches!(error, CodexError::CannotStart { .. }), "{path}: {error}");
    }
}

#[test]
fn a_program_that_is_no_app_server_will_not_speak() {
    let folder = tempfile::tempdir().unwrap();
    let starts = |text: &str, options| CodexProcess::start(&script(folder.path(), text), options);
    let error = starts("echo usage >&2; exit 2", hasty()).expect_err("it ends");
    assert!(matches!(error, CodexError::WillNotSpeak { doing: "initialize", .. }), "{error}");
    assert!(error.to_string().ends_with("usage"), "{error}");
    let short = CodexOptions { startup: Duration::from_millis(200), ..hasty() };
    let error = starts("sleep 600", short).expect_err("it is silent");
    assert!(matches!(error, CodexError::TimedOut { doing: "initialize", .. }), "{error}");
    let error =
        starts(r#"read -r line; echo '{"id":1,"error":{"code":1,"message":"no"}}'; sleep 600"#, hasty());
    assert!(matches!(error, Err(CodexError::Refused { doing: "initialize", .. })), "{error:?}");
}

#[test]
fn the_program_sees_a_private_environment_alone() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let text = format!("env >{}\npwd >>{0}\n{APP_SERVER}", seen.display()).replace("BAD", ":");
    let codex = CodexProcess::start(&script(folder.path(), &text), hasty()).expect("the script greets");
    let home = codex.folder().display().to_string();
    let seen = std::fs::read_to_string(seen).unwrap();
    let ours = [
        "HOME=",
        "CODEX_HOME=",
        "TMPDIR=",
        "LANG=",
        "NO_COLOR=",
        "PATH=",
        "PWD=",
        "OLDPWD=",
        "SHLVL=",
        "_=",
        "CALLPAIR_SUBJECT=",
    ];
    for line in seen.lines() {
        assert!(line.starts_with(&home) || ours.iter().any(|name| line.starts_with(name)), "{line}");
    }
    for name in ["HOME=", "CODEX_HOME=", "TMPDIR="] {
        assert!(
            seen.lines().any(|line| line.starts_with(&format!("{name}{home}/"))),
            "{name} leads elsewhere"
        );
    }
}
