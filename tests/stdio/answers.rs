//! Subjects that answer, rightly or wrongly.

use crate::support::{all_gone, argv, is_there, message, noted, options, rude};
use callpair::case::{FailureKind, Outcome, Step};
use callpair::item::Modalities;
use callpair::subject::Subject;
use callpair::subject::stdio::{Options, StartError, Stdio};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn every_breach_is_a_protocol_violation_with_a_message_of_its_own() {
    if !is_there("python3") {
        return;
    }
    let cases = [
        (
            "noise",
            "noise on stdout, a line that is no message (logs belong on stderr): Loading checkpoint shards: 100%\\u{1b}[0m",
        ),
        ("empty-line", "an empty line on stdout"),
        ("wrong-id", "an answer with the wrong id 99; the answer to request 2 is due"),
        ("two-documents", "two JSON documents on one line (the second from byte "),
        ("answered-twice", "an answer to nothing: "),
        ("not-utf8", "a line on stdout is not UTF-8 at byte "),
        ("huge-line", "a line on stdout is longer than 64 MiB, the most that is read"),
        ("endless-line", "a line on stdout is longer than 64 MiB, the most that is read"),
        ("no-items", "result.items: is required and missing"),
        ("items-of-a-wrong-type", "result.items: expected a list of items, found a string"),
        ("result-of-a-wrong-type", "result: expected an object, found a list"),
        ("not-an-item", "result.items[1] (function_call): does not load: name: is required and missing"),
        (
            "unknown-field",
            "result.items[0] (message): content[0].logprobs is a field that this kind of item does not have",
        ),
        ("own-request", "a request of its own on stdout (\"log\"): a subject only answers"),
    ];
    for (mode, expected) in cases {
        let mut subject = rude(mode);
        let (kind, message) = subject.failure();
        assert_eq!(kind, FailureKind::Protocol, "{mode}: {message}");
        assert!(message.contains(expected), "{mode}: {message}");
        assert_eq!(subject.subject.process_id(), None, "{mode}");
        subject.nothing_is_left();
    }
}

#[test]
fn a_subject_that_declines_goes_on_running() {
    if !is_there("python3") {
        return;
    }
    for (mode, kind, part) in [
        (
            "refuse",
            FailureKind::Refused,
            "the history is refused (code -32001, \"two calls of one id\\u{1b}\")",
        ),
        ("no-method", FailureKind::MethodMissing, "the method is not there (code -32601, \"project\")"),
    ] {
        let mut subject = rude(mode);
        let mut script = vec![Step::Replace(vec![message("a")])];
        script.extend((0..3).map(|_| Step::Project(Modalities::Text)));
        let trace = subject.subject.trace(script);
        let failure = trace.failure().expect("it declines");
        assert_eq!(failure.kind, kind);
        assert!(failure.message.contains(part), "{failure}");
        assert_eq!(trace.outcomes.len(), 2);
        let after = subject.subject.trace(vec![Step::Project(Modalities::Text)]);
        assert_eq!(after.failure(), None);
        assert_eq!(subject.subject.restarts(), 0);
        subject.nothing_is_left();
    }
}

#[test]
fn a_line_that_comes_late_is_told_at_the_next_run() {
    if !is_there("python3") {
        return;
    }
    let mut subject = rude("late-extra");
    assert_eq!(subject.run().failure(), None);
    std::thread::sleep(Duration::from_millis(600));
    let (kind, message) = subject.failure();
    assert_eq!(kind, FailureKind::Protocol);
    assert!(message.starts_with("an answer to nothing: "), "{message}");
    subject.nothing_is_left();
}

#[test]
fn a_subject_that_does_not_speak_is_not_started() {
    if !is_there("python3") {
        return;
    }
    let cases = [
        (
            "initialize-noise",
            "the subject does not speak the protocol: protocol violation: initialize: noise on stdout",
        ),
        ("initialize-exit", "no module named agent"),
        ("initialize-hang", "hung: initialize: no answer within 1s"),
        ("initialize-error", "it answered with an error (code -32602, \"protocol 1 is too old\")"),
        (
            "initialize-field",
            "the answer to initialize is malformed: modalities: no such modality: \"sound\"",
        ),
    ];
    for (mode, expected) in cases {
        let pids = tempfile::NamedTempFile::new().expect("a temporary file");
        let options = Options {
            init_timeout: Duration::from_secs(if mode == "initialize-hang" { 1 } else { 60 }),
            ..options()
        };
        let error = Stdio::start_argv(argv(mode, pids.path()), options).expect_err("it does not speak");
        assert!(error.to_string().contains(expected), "{mode}: {error}");
        all_gone(&noted(pids.path()));
    }
}

#[test]
fn a_command_that_cannot_be_run_is_named() {
    let start = |command: &str| Stdio::start(command, options()).expect_err("it cannot be run");
    assert!(matches!(start(""), StartError::NoCommand(_)));
    assert!(matches!(start("python3 'my script.py"), StartError::NoCommand(_)));
    let missing = start("/no/such/program --flag").to_string();
    assert!(missing.starts_with("/no/such/program cannot be started: "), "{missing}");
    let other = start("echo 'two words'").to_string();
    assert!(
        other.contains("noise on stdout, a line that is no message (logs belong on stderr): two words"),
        "{other}"
    );
}

#[test]
fn a_changed_history_is_what_the_next_steps_see() {
    if !is_there("python3") {
        return;
    }
    let mut subject = rude("mutate");
    let (first, second) = (message("first"), message("second"));
    let project = Step::Project(Modalities::Text);
    let trace = subject.subject.trace(vec![
        Step::Record(vec![Arc::clone(&first)]),
        Step::Snapshot,
        project.clone(),
        Step::Snapshot,
        project.clone(),
        Step::Record(vec![Arc::clone(&second)]),
        project,
    ]);
    assert_eq!(trace.failure(), None);
    let seen: Vec<usize> = trace
        .outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Snapshot(items) => items.len(),
            Outcome::Projected(projected) => {
                assert_eq!(projected.history_after, Some(Vec::new()));
                projected.items.len()
            }
            _ => 9,
        })
        .collect();
    // Recorded, seen, projected with it, emptied; projected without; recorded again, projected with that alone.
    assert_eq!(seen, [9, 1, 1, 0, 0, 9, 1]);
    match trace.outcomes.last() {
        Some(Outcome::Projected(projected)) => {
            assert_eq!(projected.items, [second]);
            assert!(
                projected.text.as_deref().is_some_and(|text| text.starts_with("[{\"type\": \"message\""))
            );
        }
        other => panic!("{other:?}"),
    }
    subject.nothing_is_left();
}

#[test]
fn large_messages_in_both_directions_do_not_lock() {
    if !is_there("python3") {
        return;
    }
    for (mode, requests, bytes) in [
        ("polite", 4, 1_000_000),
        ("early-answers-100000", 64, 1_000_000),
        ("early-answers-1000000", 4, 1_000_000),
        ("early-answers-100000", 64, 1_500),
    ] {
        let mut subject = rude(mode);
        let mut script = vec![Step::Replace(vec![message(&"x".repeat(bytes))])];
        script.extend((0..requests).map(|_| Step::Project(Modalities::Text)));
        let trace = subject.subject.trace(script);
        assert_eq!(trace.failure(), None, "{mode}");
        assert_eq!(trace.outcomes.len(), requests + 1, "{mode}");
        subject.nothing_is_left();
    }
}
