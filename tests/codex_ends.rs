//! However a run on the real program ends, no process and no temporary folder is left. The program here is a shell script that
//! greets and then never answers.

#![cfg(all(feature = "codex", feature = "cli"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::subject::codex::{CodexOptions, CodexProcess};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program, the folder in which callpair puts its own, and the numbers of the processes that the program started.
struct Ground {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Ground {
    /// `STUCK` is what the program does when it is asked for a thread.
    fn new(stuck: &str) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("codex");
        let pids = folder.path().join("pids").display().to_string();
        let text = format!(
            r#"#!/bin/sh
echo $$ >>{pids}
while read -r line; do
    id=${{line#*:}}; id=${{id%%,*}}
    case $line in
    *'"method":"initialize"'*) echo '{{"id":'$id',"result":{{"userAgent":"callpair/9.8.7 (x)"}}}}' ;;
    *'"method":"thread/resume"'*) {} ;;
    esac
done
"#,
            stuck.replace("PIDS", &pids)
        );
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        Ground { folder, program }
    }

    fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// `callpair verify` on this program.
    fn verify(&self, program: &Path) -> Child {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("callpair"));
        command.args(["verify", "--cases", "5", "--jobs", "1", "--timeout", "100s", "--codex"]).arg(program);
        command.current_dir(self.folder.path()).env("TMPDIR", self.temporary());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the command runs")
    }

    fn pids(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    fn wait_for_pids(&self, wanted: usize) {
        until("the program starts", Duration::from_secs(20), || self.pids().len() >= wanted);
    }

    fn folders(&self) -> usize {
        std::fs::read_dir(self.temporary()).unwrap().count()
    }

    fn is_running(&self) -> bool {
        let lives = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        self.pids().iter().any(lives)
    }
}

fn until(what: &str, limit: Duration, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, to: &Child) {
    let kill = Command::new("kill").args([&format!("-{signal}"), &to.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
}

/// The program's own child, in a session of its own, is ended too.
const STUCK: &str = "setsid sleep 600 & echo $! >>PIDS; wait";

#[test]
fn a_signal_ends_the_program_what_it_started_and_its_folder() {
    for signal in ["INT", "TERM", "HUP"] {
        let ground = Ground::new(STUCK);
        let mut run = ground.verify(&ground.program);
        // Two programs, and the child of the first.
        ground.wait_for_pids(3);
        assert_eq!(ground.folders(), 2, "{signal}");
        send(signal, &run);
        let sent = Instant::now();
        assert_eq!(run.wait().unwrap().code(), Some(130), "{signal}");
        assert!(sent.elapsed() < Duration::from_secs(5), "{signal}: {:?}", sent.elapsed());
        assert!(!ground.is_running(), "{signal}: something is left running");
        assert_eq!(ground.folders(), 0, "{signal}: a folder is left");
    }
}

#[test]
fn after_a_kill_the_program_ends_by_itself_and_the_next_run_clears_the_folders() {
    let ground = Ground::new(":");
    let mut run = ground.verify(&ground.program);
    ground.wait_for_pids(2);
    send("KILL", &run);
    assert_eq!(run.wait().unwrap().code(), None);
    until("the programs end", Duration::from_secs(5), || !ground.is_running());
    assert_eq!(ground.folders(), 2);
    // One that cannot even be started.
    let status = ground.verify(Path::new("/no/such/program")).wait().unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!(ground.folders(), 0);
}

#[test]
fn a_panic_ends_the_program_and_its_folder() {
    let ground = Ground::new(":");
    let program = ground.program.clone();
    let (told, tells) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let codex = CodexProcess::start(&program, CodexOptions::default()).expect("the script greets");
        told.send(codex.folder().to_path_buf()).unwrap();
        panic!("on purpose, with {} running", codex.version());
    });
    let folder = tells.recv().expect("it starts");
    assert!(thread.join().is_err());
    assert!(!folder.exists());
    assert!(!ground.is_running());
}
