//! Signals that end a run.

use crate::support::{all_gone, argv, is_there, message, noted};
use callpair::case::Step;
use callpair::item::Modalities;
use callpair::subject::stdio::{Options, adopt_orphans, signals};
use callpair::subject::{self, Subject};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What tells the program where its subject notes what it started, and what kind of subject it is.
const PIDS: &str = "CALLPAIR_TEST_PIDS";
const MODE: &str = "CALLPAIR_TEST_MODE";

/// This test is two: started by itself with `PIDS` set it is the program that a signal comes to.
#[test]
fn a_signal_ends_the_run_and_all_that_it_started() {
    const NAME: &str = "signals::a_signal_ends_the_run_and_all_that_it_started";
    if let (Some(pids), Ok(mode)) = (std::env::var_os(PIDS), std::env::var(MODE)) {
        run_until_a_signal_comes(Path::new(&pids), &mode);
        return;
    }
    if !is_there("python3") || !Path::new("/proc/self/stat").exists() {
        return;
    }
    // After KILL nobody can end a subject, but one that reads its stdin sees the end of it.
    for (signal, mode, started) in
        [("INT", "daemon", 2), ("TERM", "daemon", 2), ("HUP", "daemon", 2), ("KILL", "silent", 1)]
    {
        let pids = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut program = Command::new(std::env::current_exe().expect("this program is there"));
        program.args(["--exact", NAME]).env(PIDS, pids.path()).env(MODE, mode).stdout(Stdio::null());
        let mut program = program.spawn().expect("this program can be started");
        let deadline = Instant::now() + Duration::from_secs(20);
        while noted(pids.path()).len() < started {
            assert!(Instant::now() < deadline, "the subject did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Instant::now();
        let kill = Command::new("kill").args([&format!("-{signal}"), &program.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        let status = program.wait().expect("the program ends");
        assert!(sent.elapsed() < Duration::from_secs(5), "{signal}: {:?}", sent.elapsed());
        assert_eq!(status.success(), signal != "KILL", "{signal}: {status}");
        all_gone(&noted(pids.path()));
    }
}

fn run_until_a_signal_comes(pids: &Path, mode: &str) {
    signals::watch().expect("signals can be watched");
    adopt_orphans().expect("orphans can be adopted");
    let options = Options { timeout: Duration::from_secs(100), ..Options::default() };
    let mut subject =
        subject::stdio::Stdio::start_argv(argv(mode, pids), options).expect("the subject starts");
    assert!(!signals::interrupted());
    let trace = subject.trace(vec![Step::Replace(vec![message("a")]), Step::Project(Modalities::Text)]);
    let failure = trace.failure().expect("the run is interrupted");
    assert!(failure.message.contains("a signal interrupted callpair"), "{failure}");
    assert!(signals::interrupted());
    drop(subject);
    // Before this program ends, and though the daemon has a session of its own and an empty environment.
    let is_left = |pid: &u32| Path::new(&format!("/proc/{pid}")).exists();
    assert_eq!(noted(pids).iter().find(|pid| is_left(pid)), None);
}
