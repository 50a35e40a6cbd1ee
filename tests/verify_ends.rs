//! `verify` never says that all is well where it is not known: with nobody to read its report, with a report that cannot be
//! written, when it is interrupted, when nothing was judged.

#![cfg(all(unix, feature = "cli"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const FAULTY: [&str; 6] = ["verify", "--subject", "bank/forget/function-call", "--cases", "200", "--seed=7"];

fn callpair() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("callpair"));
    // Out of the way of the saved cases of this repository.
    command.current_dir(std::env::temp_dir()).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn served(fault: &str) -> String {
    format!("{} serve-fault {fault}", assert_cmd::cargo::cargo_bin!("callpair").display())
}

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = callpair().args(args).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_reader_that_goes_away_does_not_make_a_failing_subject_pass() {
    let mut child = callpair().args(FAULTY).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = callpair().args(FAULTY).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output: cannot be written"));
}

#[test]
fn an_interrupted_run_over_stdio_reports_what_is_broken() {
    let subject = served("forget/function-call");
    let mut child = callpair()
        .args(["verify", "--seed=7", "--time=60s", "--jobs=2", "--subject-cmd", &subject])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(3));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    let verdict = said.lines().last().unwrap_or_default();
    assert!(verdict.starts_with("FAIL: ") && verdict.ends_with("interrupted before its end"), "{said}");
}

#[test]
fn two_programs_that_differ_are_not_one_that_differs_from_itself() {
    let (one, other) = (served("id/missing"), served("forget/function-call"));
    let args = [
        "verify",
        "--seed=7",
        "--cases=40",
        "--skip=metamorphic",
        "--subject-cmd",
        &one,
        "--against",
        &other,
    ];
    let (status, said, _) = run(&args);
    assert_eq!(status, Some(1));
    let is_found = |line: &str| line.starts_with("BROKEN ") && line.ends_with(": agreement/against");
    assert!(said.lines().any(is_found), "{said}");
    assert!(!said.contains("two processes of the subject differ"), "{said}");
}

#[test]
fn a_run_in_which_nothing_was_judged_is_vacuous() {
    let (status, said, _) = run(&["verify", "--seed=7", "--cases=1", "--only=image/generated-cleared"]);
    assert_eq!(status, Some(1));
    assert!(
        said.ends_with("VACUOUS: no invariant had anything to check on 1 case, so nothing was judged\n"),
        "{said}"
    );
}

#[test]
fn a_folder_that_takes_no_cases_costs_no_report() {
    // Nothing can be made there, whoever asks; that it is not there yet is no error.
    if !Path::new("/proc/self").exists() {
        return;
    }
    let mut args = FAULTY.to_vec();
    args.extend(["--regressions", "/proc/self/cases"]);
    let (status, said, error) = run(&args);
    assert_eq!(status, Some(1), "{said}{error}");
    assert!(error.contains("saved cases: a case cannot be saved: /proc/self/cases: "), "{error}");
    assert!(said.lines().last().is_some_and(|verdict| verdict.starts_with("FAIL: ")), "{said}");
}
