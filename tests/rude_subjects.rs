//! Whole runs of the command on subjects without manners or without use: the exit status is right, a word helps, and nothing
//! is left running.

#![cfg(all(unix, feature = "cli"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What every process of a run has in its environment; the value is the run's own.
const MARK: &str = "CALLPAIR_TEST_RUN";

/// A run of the command and the mark of its processes.
struct Run {
    command: Command,
    mark: String,
}

impl Run {
    fn new(arguments: &[&str]) -> Run {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("callpair"));
        command.args(arguments).env(MARK, &mark).env("NO_COLOR", "1");
        // Away from the saved cases of this repository.
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/subjects"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Run { command, mark }
    }

    /// `verify` on a subject, by few cases, with little time for each answer.
    fn verify(subject: &str, more: &[&str]) -> Run {
        let usual = [["--cases", "3"], ["--seed", "7"], ["--jobs", "1"], ["--timeout", "300ms"]];
        let kept: Vec<&str> =
            usual.iter().filter(|[flag, _]| !more.contains(flag)).flatten().copied().collect();
        Run::new(&[&["verify", "--subject-cmd", subject], kept.as_slice(), more].concat())
    }

    fn rude(mode: &str, more: &[&str]) -> Run {
        Run::verify(&format!("sh rude.sh {mode}"), more)
    }

    fn output(mut self) -> (Output, String) {
        (self.command.output().expect("the command runs"), self.mark)
    }
}

/// Whether a process of this run lives.
fn is_left(mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    let has = |pid: &Path| {
        let environment = std::fs::read(pid.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
    };
    std::fs::read_dir("/proc").is_ok_and(|pids| pids.flatten().any(|pid| has(&pid.path())))
}

fn assert_nothing_is_left(what: &str, mark: &str, within: Duration) {
    let deadline = Instant::now() + within;
    while is_left(mark) {
        assert!(Instant::now() < deadline, "{what}: something is left running");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs `verify` on each subject, several at a time: subject, further flags, exit status, and the word that helps.
fn each_is_told(cases: &[(&str, &[&str], i32, &str)]) {
    let queue: Mutex<VecDeque<_>> = Mutex::new(cases.iter().collect());
    let next = || queue.lock().unwrap().pop_front();
    let one = |&(subject, more, status, word): &(&str, &[&str], i32, &str)| {
        let (output, mark) = match subject.strip_prefix("rude ") {
            Some(mode) => Run::rude(mode, more).output(),
            None => Run::verify(subject, more).output(),
        };
        assert_nothing_is_left(subject, &mark, Duration::ZERO);
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("it is UTF-8"));
        let all = said.join("\n");
        assert_eq!(output.status.code(), Some(status), "{subject}: {all}");
        assert!(all.contains(word), "{subject}: no {word:?} in {all}");
        // Short, and nothing in it that a terminal would act on.
        assert!(all.len() < 40_000, "{subject}: {} bytes", all.len());
        assert!(!all.contains(|c: char| c.is_control() && c != '\n'), "{subject}: {all:?}");
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| std::iter::from_fn(next).for_each(one))).collect();
        for thread in threads {
            thread.join().expect("each subject is told");
        }
    });
}

const ANSWERS: &[&str] = &["--only", "robustness"];
const ALL: &[&str] = &[];

#[test]
fn what_is_no_subject_exits_3() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, "no program at all").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    let (plain, executable) = (script("plain", 0o644), script("executable", 0o755));
    each_is_told(&[
        ("/no/such/program", ALL, 3, "/no/such/program cannot be started: No such file"),
        ("no-such-program-in-the-path", ALL, 3, "no-such-program-in-the-path cannot be started: "),
        ("/", ALL, 3, "/ cannot be started: "),
        (&plain, ALL, 3, "cannot be started: Permission denied"),
        (&executable, ALL, 3, "cannot be started: "),
        ("sh 'rude.sh", ALL, 3, "is a quote left open"),
        ("true", ALL, 3, "initialize: it exited with status 0 without an answer"),
        ("false", ALL, 3, "initialize: it exited with status 1 without an answer"),
        ("cat", ALL, 3, "a request of its own on stdout (\"initialize\"): a subject only answers"),
        ("yes", ALL, 3, "noise on stdout, a line that is no message (logs belong on stderr): y"),
        ("sh -c 'kill -SEGV $$'", ALL, 3, "it was ended by signal 11 (SIGSEGV) without an answer"),
        ("rude greet-protocol", ALL, 3, "protocol: 1 is required: the version of the protocol"),
        ("rude greet-no-protocol", ALL, 3, "protocol: 1 is required"),
        ("rude greet-kinds", ALL, 3, "kinds: no such kind of item: \"hologram\""),
        ("rude greet-nothing", ALL, 3, "the answer to initialize is malformed"),
        ("rude greet-list", ALL, 3, "result: expected an object, found a list"),
        ("rude greet-id", ALL, 3, "an answer with the wrong id 7; the answer to request 1 is due"),
        (
            "rude greet-noise",
            ALL,
            3,
            "noise on stdout, a line that is no message (logs belong on stderr): Loading model",
        ),
        ("rude greet-error", ALL, 3, "it answered with an error (code -32603, \"no key\")"),
        ("rude greet-closed", ALL, 3, "it closed its stdout and went on running without an answer"),
        ("rude greet-exit", ALL, 3, "no module named agent"),
    ]);
}

#[test]
fn what_breaks_the_protocol_exits_1() {
    each_is_told(&[
        (
            "rude noise",
            ANSWERS,
            1,
            "noise on stdout, a line that is no message (logs belong on stderr): step 1 of 3",
        ),
        ("rude empty-line", ANSWERS, 1, "an empty line on stdout"),
        ("rude bom", ANSWERS, 1, "noise on stdout"),
        ("rude nul", ANSWERS, 1, "noise on stdout"),
        ("rude two-documents", ANSWERS, 1, "two JSON documents on one line"),
        ("rude answered-twice", ANSWERS, 1, "an answer to nothing"),
        ("rude batch", ANSWERS, 1, "batches are not allowed"),
        ("rude own-request", ANSWERS, 1, "a request of its own on stdout (\"sample\")"),
        ("rude not-utf8", ANSWERS, 1, "a line on stdout is not UTF-8 at byte "),
        ("rude cut", ANSWERS, 1, "the text ends in the middle of a value"),
        ("rude nan", ANSWERS, 1, "a line on stdout is not JSON at byte "),
        ("rude deep", ANSWERS, 1, "noise on stdout"),
        ("rude wrong-id", ANSWERS, 1, "an answer with the wrong id 99"),
        ("rude huge-id", ANSWERS, 1, "an answer with the wrong id: a number"),
        ("rude text-id", ANSWERS, 1, "an answer with the wrong id: a string"),
        ("rude null-id", ANSWERS, 1, "an answer with the wrong id: null"),
        ("rude ahead", ANSWERS, 1, "an answer with the wrong id "),
        ("rude no-version", ANSWERS, 1, "an answer without \"jsonrpc\":\"2.0\""),
        ("rude neither", ANSWERS, 1, "an answer with neither a result nor an error"),
        ("rude both", ANSWERS, 1, "an answer with a result and an error at once"),
        ("rude no-items", ANSWERS, 1, "result.items: is required and missing"),
        ("rude items-text", ANSWERS, 1, "result.items: expected a list of items, found a string"),
        ("rude items-null", ANSWERS, 1, "result.items: is required and missing"),
        (
            "rude items-numbers",
            ANSWERS,
            1,
            "result.items[0]: does not load: expected an object, found a number",
        ),
        ("rude items-nested", ANSWERS, 1, "result.items[0]: does not load: expected an object, found a list"),
        (
            "rude item-of-no-shape",
            ANSWERS,
            1,
            "result.items[0] (function_call): does not load: name: is required and missing",
        ),
        ("rude unknown-field", ANSWERS, 1, "secret is a field that this kind of item does not have"),
        (
            "rude history-after-text",
            ANSWERS,
            1,
            "result.history_after: expected a list of items, found a string",
        ),
        ("rude error", ANSWERS, 1, "KeyError: 'call_id'"),
        ("rude error-text", ANSWERS, 1, "error: expected an object, found a string"),
        ("rude no-method", ANSWERS, 1, "the method is not there (code -32601"),
    ]);
}

#[test]
fn a_line_without_measure_exits_1() {
    each_is_told(&[
        (
            "rude huge-line",
            &["--only", "robustness", "--cases", "1", "--timeout", "20s"],
            1,
            "longer than 64 MiB",
        ),
        (
            "rude endless-line",
            &["--only", "robustness", "--cases", "1", "--timeout", "20s"],
            1,
            "longer than 64 MiB",
        ),
    ]);
}

#[test]
fn what_ends_exits_1() {
    each_is_told(&[
        ("rude exit-0", ANSWERS, 1, "it exited with status 0 without an answer"),
        ("rude exit-1", ANSWERS, 1, "giving up"),
        ("rude segfault", ANSWERS, 1, "it was ended by signal 11 (SIGSEGV) without an answer"),
        ("rude term", ANSWERS, 1, "it was ended by signal 15 (SIGTERM) without an answer"),
        ("rude half-a-line", ANSWERS, 1, "in the middle of a line (11 bytes came without a line end)"),
        (
            "rude left-child",
            ANSWERS,
            1,
            "no answer within 300ms: it exited with status 0, and what it started holds its stdout open",
        ),
        ("rude close-stdout", ANSWERS, 1, "it closed its stdout and went on running without an answer"),
        ("rude close-stdin", ANSWERS, 1, "project: no answer within 300ms"),
    ]);
}

#[test]
fn what_is_silent_exits_1() {
    each_is_told(&[
        ("rude hang", ANSWERS, 1, "project: no answer within 300ms"),
        ("rude ignore-term", ANSWERS, 1, "project: no answer within 300ms"),
        ("rude unfinished-line", ANSWERS, 1, "bytes came without a line end"),
        ("rude byte-by-byte", ANSWERS, 1, "project: no answer within 300ms, in the middle of a line"),
        ("rude stderr-flood", ANSWERS, 1, "project: no answer within 300ms"),
        ("rude child", ANSWERS, 1, "project: no answer within 300ms"),
        ("rude daemon", ANSWERS, 1, "project: no answer within 300ms"),
    ]);
}

#[test]
fn what_is_of_no_use_exits_1() {
    each_is_told(&[
        ("rude nothing", ALL, 1, "order/"),
        ("rude constant", ALL, 1, "order/"),
        ("rude input", &["--cases", "20"], 1, "pairing/function-call"),
        ("rude refuse", ALL, 1, "robustness/not-refused"),
        (
            "rude process-id",
            &["--only", "robustness/same-over-processes"],
            1,
            "two processes of the subject differ",
        ),
    ]);
}

#[test]
fn what_ends_badly_when_it_is_told_to_is_remarked_upon() {
    each_is_told(&[
        ("rude input", ANSWERS, 0, "pass: "),
        (
            "rude refuse",
            &["--profile", "responses", "--allow-refusals", "--only", "robustness"],
            0,
            "refused",
        ),
        (
            "rude shutdown-hang",
            ANSWERS,
            0,
            "does not end as the protocol says: hung: shutdown: no answer within 300ms",
        ),
        ("rude shutdown-late", ANSWERS, 0, "shutdown: it was still running 300ms after its answer"),
        ("rude shutdown-status", ANSWERS, 0, "shutdown: it exited with status 4"),
    ]);
}

#[test]
fn a_subject_that_hangs_on_everything_ends_the_run_after_four_cases() {
    // 2,000 cases of half a second each would take a quarter of an hour.
    let (output, mark) =
        Run::rude("hang", &["--cases", "2000", "--timeout", "500ms", "--format", "json"]).output();
    assert_nothing_is_left("hang", &mark, Duration::ZERO);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in
        [r#""cases":4,"#, r#""steps":[]"#, "after 4 cases without an answer in time no more were drawn"]
    {
        assert!(said.contains(part), "no {part}: {said}");
    }
}

/// Sends a signal when the subject waits in its projection, and says how the command ended and after what time.
fn signalled(signal: &str, mode: &str) -> (Option<i32>, Duration, String) {
    let mut run = Run::rude(mode, &["--timeout", "100s"]);
    let mut child = run.command.spawn().expect("the command runs");
    let deadline = Instant::now() + Duration::from_secs(20);
    // The subject's own child is there once it hangs.
    while !is_sleeping(&run.mark) {
        assert!(Instant::now() < deadline, "the subject did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Instant::now();
    let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let status = child.wait().expect("the command ends");
    (status.code(), sent.elapsed(), run.mark)
}

fn is_sleeping(mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    let of_run = |pid: &Path| {
        let read = |name| std::fs::read(pid.join(name)).unwrap_or_default();
        read("cmdline").starts_with(b"sleep")
            && read("environ").split(|b| *b == 0).any(|one| one == wanted.as_bytes())
    };
    std::fs::read_dir("/proc").is_ok_and(|pids| pids.flatten().any(|pid| of_run(&pid.path())))
}

#[test]
fn a_signal_ends_the_command_with_130_and_leaves_nothing() {
    if !Path::new("/proc/self/environ").exists() {
        let _ = writeln!(std::io::stderr(), "skipped: this system has no /proc");
        return;
    }
    for (signal, mode) in [("INT", "hang"), ("TERM", "ignore-term"), ("HUP", "child"), ("INT", "daemon")] {
        let (status, took, mark) = signalled(signal, mode);
        assert_eq!(status, Some(130), "{signal}, {mode}");
        assert!(took < Duration::from_secs(5), "{signal}, {mode}: {took:?}");
        assert_nothing_is_left(signal, &mark, Duration::ZERO);
    }
}
