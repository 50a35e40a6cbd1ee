//! Rude subjects, and what is left of them.

use callpair::case::{FailureKind, Step, Trace};
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::subject::Subject;
use callpair::subject::stdio::{Options, Stdio};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Short, so that a hang is seen soon; long enough for a loaded machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) fn options() -> Options {
    Options { timeout: TIMEOUT, ..Options::default() }
}

pub(crate) fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        // Not by `eprintln`, which a test that passes keeps to itself.
        let _ = writeln!(std::io::stderr(), "skipped: there is no {program} on this machine");
    }
    there
}

pub(crate) fn file(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A rude subject, and the file in which it notes what it started.
pub(crate) struct Rude {
    pub(crate) subject: Stdio,
    pub(crate) pids: tempfile::NamedTempFile,
}

impl Rude {
    pub(crate) fn run(&mut self) -> Trace {
        self.subject.trace(vec![Step::Replace(vec![message("hello")]), Step::Project(Modalities::Text)])
    }

    /// What it does with the first item.
    pub(crate) fn failure(&mut self) -> (FailureKind, String) {
        let trace = self.run();
        let failure = trace.failure().expect("a rude subject fails");
        (failure.kind, failure.message.clone())
    }

    pub(crate) fn noted(&self) -> Vec<u32> {
        noted(self.pids.path())
    }

    pub(crate) fn nothing_is_left(self) {
        let pids = self.noted();
        assert!(!pids.is_empty());
        drop(self.subject);
        all_gone(&pids);
    }
}

pub(crate) fn argv(mode: &str, pids: &Path) -> Vec<String> {
    let script = file("tests/subjects/rude.py");
    ["python3", &script, mode, &pids.display().to_string()].map(str::to_owned).to_vec()
}

pub(crate) fn rude(mode: &str) -> Rude {
    let pids = tempfile::NamedTempFile::new().expect("a temporary file");
    let subject = Stdio::start_argv(argv(mode, pids.path()), options()).expect("the subject starts");
    Rude { subject, pids }
}

pub(crate) fn noted(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).expect("the file is there");
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

pub(crate) fn message(text: &str) -> Arc<ResponseItem> {
    let text = text.replace('"', "\\\"");
    let json =
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#);
    let json = Json::parse(&json).expect("the message is JSON");
    Arc::new(ResponseItem::load(json).expect("the message loads"))
}

/// Neither running nor a zombie of this process. (What lost its parent is reaped by the first process of the system.)
pub(crate) fn is_gone(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    let fields: Vec<&str> =
        stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
    matches!(fields.as_slice(), ["Z", parent, ..] if **parent != std::process::id().to_string())
}

pub(crate) fn all_gone(pids: &[u32]) {
    let deadline = Instant::now() + Duration::from_secs(3);
    while !pids.iter().all(|pid| is_gone(*pid)) {
        assert!(Instant::now() < deadline, "of {pids:?} some are left running");
        std::thread::sleep(Duration::from_millis(5));
    }
}
