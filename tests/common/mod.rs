//! Running the command as a user does.

// Each test file uses its part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How the command ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// None where a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The folder of recorded sessions.
pub(crate) fn rollouts() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rollouts")
}

/// Runs the command in `folder` with 4 GB of address space, where a shell can limit that.
///
/// Whatever the input: the exit status is 0, 1 or 2, and no terminal escape comes out.
pub(crate) fn callpair(folder: &Path, args: &[&str]) -> Outcome {
    callpair_with_input(folder, args, Stdio::null())
}

pub(crate) fn callpair_with_input(folder: &Path, args: &[&str], input: impl Into<Stdio>) -> Outcome {
    let output = command(folder).args(args).stdin(input).output().expect("the command starts");
    let outcome = Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    };
    let short = |text: &str| text.chars().take(500).collect::<String>();
    assert!(
        matches!(outcome.code, Some(0..=2)),
        "{args:?} ended with {:?}\n{}\n{}",
        outcome.code,
        short(&outcome.stdout),
        short(&outcome.stderr)
    );
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!text.contains('\u{1b}'), "{args:?} printed a terminal escape: {}", short(text));
    }
    outcome
}

fn command(folder: &Path) -> Command {
    let program = assert_cmd::cargo::cargo_bin("callpair");
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"ulimit -v 4194304; exec "$0" "$@""#]).arg(program);
        shell
    } else {
        Command::new(program)
    };
    command.current_dir(folder).env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
    command
}
