//! Subjects that crash, hang or do not end, and what is done with them.

use crate::support::{TIMEOUT, all_gone, argv, is_there, message, noted, options, rude};
use callpair::case::{FailureKind, Outcome, Step};
use callpair::item::Modalities;
use callpair::subject::Subject;
use callpair::subject::stdio::Stdio;
use std::time::{Duration, Instant};

#[test]
fn an_end_of_the_process_is_told_with_its_status_and_its_last_words() {
    if !is_there("python3") {
        return;
    }
    let cases: [(&str, &[&str]); 5] = [
        ("exit", &["project: it exited with status 3 without an answer", "\n  giving up"]),
        ("segfault", &["it was ended by signal 11 (SIGSEGV) without an answer"]),
        (
            "half-a-line",
            &[
                "it exited with status 0 without an answer, in the middle of a line (20 bytes came without a line end)",
            ],
        ),
        ("chatty", &["it exited with status 1", "\nstderr ended with:\n  line 99980\n", "\n  line 99999"]),
        ("error", &["it answered with an error (code -32603, \"KeyError\")", "  KeyError: 'call_id'"]),
    ];
    for (mode, expected) in cases {
        let mut subject = rude(mode);
        let (kind, message) = subject.failure();
        assert_eq!(kind, FailureKind::Crashed, "{mode}: {message}");
        for part in expected {
            assert!(message.contains(part), "{mode}: {message}");
        }
        assert!(message.len() < 5000, "{mode}: {}", message.len());
        subject.nothing_is_left();
    }
}

#[test]
fn what_does_not_answer_in_time_hangs_and_is_killed_with_all_that_it_started() {
    if !is_there("python3") {
        return;
    }
    let cases =
        [("unfinished-line", 1), ("ignore-term", 1), ("grandchild", 2), ("session", 2), ("close-stdin", 1)];
    std::thread::scope(|scope| {
        for (mode, started) in cases {
            scope.spawn(move || it_hangs_and_is_killed(mode, started));
        }
    });
}

fn it_hangs_and_is_killed(mode: &str, started: usize) {
    let mut subject = rude(mode);
    let start = Instant::now();
    let (kind, message) = subject.failure();
    assert_eq!(kind, FailureKind::Hung, "{mode}: {message}");
    assert!(message.starts_with("project: no answer within 3s"), "{mode}: {message}");
    assert!(start.elapsed() < TIMEOUT + Duration::from_secs(5), "{mode}: {:?}", start.elapsed());
    let pids = subject.noted();
    assert_eq!(pids.len(), started, "{mode}");
    // Already now, not only when the subject is dropped.
    all_gone(&pids);
    subject.nothing_is_left();
}

#[test]
fn a_closed_stdout_is_told_before_the_time_is_over() {
    if !is_there("python3") {
        return;
    }
    let mut subject = rude("close-stdout");
    let expected = "project: it closed its stdout and went on running without an answer";
    assert_eq!(subject.failure(), (FailureKind::Hung, expected.to_owned()));
    subject.nothing_is_left();
}

#[test]
fn requests_that_a_subject_does_not_read_are_no_deadlock() {
    if !is_there("python3") {
        return;
    }
    let mut subject = rude("close-stdin");
    let large = message(&"x".repeat(1_000_000));
    let mut script = vec![Step::Replace(vec![large])];
    script.extend(std::iter::repeat_n(Step::Project(Modalities::Text), 8));
    let trace = subject.subject.trace(script);
    let failure = trace.failure().expect("nothing answers");
    assert_eq!(failure.kind, FailureKind::Crashed);
    assert!(failure.message.contains("it closed its stdin before it was told to shut down"), "{failure}");
    subject.nothing_is_left();
}

#[test]
fn after_a_failure_the_next_run_starts_the_subject_anew() {
    if !is_there("python3") {
        return;
    }
    let mut subject = rude("exit");
    for round in 1..=3 {
        assert_eq!(subject.failure().0, FailureKind::Crashed);
        let stale = subject.subject.project(Modalities::Text).expect_err("it was ended");
        assert!(stale.message.contains("a reset starts it anew"), "{stale}");
        if round == 2 {
            subject.subject.reset().expect("a reset starts it");
        }
        let after = subject.subject.trace(vec![Step::Project(Modalities::Text), Step::Snapshot]);
        assert_eq!(after.failure(), None);
        assert_eq!(after.outcomes.get(1), Some(&Outcome::Snapshot(Vec::new())));
        assert_eq!(subject.subject.restarts(), round);
    }
    assert_eq!(subject.noted().len(), 4);
    subject.nothing_is_left();
}

#[test]
fn a_restart_that_fails_says_so() {
    if !is_there("python3") {
        return;
    }
    // Its answer to initialize is another one from the second start on.
    let pids = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut subject =
        Stdio::start_argv(argv("initialize-changes", pids.path()), options()).expect("it starts");
    let killed = rustix_pid(subject.process_id().expect("it runs"));
    std::fs::write(pids.path(), "0\n0\n0\n0\n0\n0\n").expect("the file can be written");
    rustix::process::kill_process(killed, rustix::process::Signal::KILL).expect("it can be killed");
    let script = vec![Step::Project(Modalities::Text)];
    let first = subject.trace(script.clone());
    let message = &first.failure().expect("it is dead").message;
    assert!(message.contains("it was ended by signal 9 (SIGKILL)"), "{message}");
    let second = subject.trace(script);
    let failure = second.failure().expect("it answers differently");
    assert_eq!(failure.kind, FailureKind::Crashed);
    let expected = "it could not be started again: it answers initialize differently than at first";
    assert_eq!(failure.message, expected);
    assert_eq!(subject.restarts(), 1);
}

fn rustix_pid(pid: u32) -> rustix::process::Pid {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.expect("a process id is a positive number")
}

#[test]
fn the_end_by_the_protocol_is_an_answer_and_status_0() {
    if !is_there("python3") {
        return;
    }
    let end = |mode: &str| {
        let subject = rude(mode);
        let pids = subject.noted();
        let ended = subject.subject.shut_down();
        all_gone(&pids);
        ended
    };
    assert_eq!(end("polite"), Ok(()));
    let failure = end("shutdown-status").expect_err("status 4");
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Crashed, "shutdown: it exited with status 4")
    );
    let failure = end("shutdown-hang").expect_err("no answer");
    assert_eq!((failure.kind, &*failure.message), (FailureKind::Hung, "shutdown: no answer within 3s"));
    let failure = end("shutdown-late").expect_err("no exit");
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Hung, "shutdown: it was still running 3s after its answer")
    );
}

#[test]
fn a_dropped_subject_leaves_nothing_running() {
    if !is_there("python3") {
        return;
    }
    for mode in ["polite", "shutdown-hang", "shutdown-late", "session-then-answer"] {
        let mut subject = rude(mode);
        assert_eq!(subject.run().failure(), None, "{mode}");
        subject.nothing_is_left();
    }
}

#[test]
fn a_panic_of_whoever_drives_a_subject_leaves_nothing_running() {
    if !is_there("python3") {
        return;
    }
    let mut subject = rude("grandchild");
    let pids = subject.pids.path().to_path_buf();
    let thread = std::thread::spawn(move || {
        let trace = subject.run();
        let _kept = subject;
        panic!("on purpose, with {:?}", trace.failure());
    });
    // The file of the numbers goes with the subject, so it is read before.
    let noted = loop {
        let noted = std::fs::read_to_string(&pids).map_or_else(|_| Vec::new(), |_| noted(&pids));
        if noted.len() == 2 {
            break noted;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(thread.join().is_err());
    all_gone(&noted);
}
