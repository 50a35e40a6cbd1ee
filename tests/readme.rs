//! What the README shows is so: every `callpair …` line in its code blocks is run, exits as the line says (`# exits N`, or 0),
//! and prints the screen below it, where the block is one (`console`), or among other things the lines below it (`text`).
//!
//! Its Rust is compiled and run as a doc test of the library; its two `cargo` commands are run by `.ci/run`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const README: &str = include_str!("../README.md");

/// A code block: its language, and its lines.
type Block = (String, Vec<String>);

/// A command of the README, and what it says of it.
#[derive(Debug)]
struct Shown {
    line: String,
    exit: i32,
    screen: Option<String>,
    /// Lines of what it prints, in their order; `…` stands for those left out.
    excerpt: Vec<String>,
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in README.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a code block does not end");
    blocks
}

fn shown() -> Vec<Shown> {
    let mut shown = Vec::new();
    for (language, lines) in blocks() {
        match language.as_str() {
            "sh" => shown.extend(lines.iter().filter_map(|line| command(line))),
            "console" => {
                let (first, screen) = lines.split_first().expect("a screen has a command");
                let first = first.strip_prefix("$ ").expect("a screen begins with its command");
                let screen = screen.iter().map(|line| format!("{line}\n")).collect();
                shown.push(Shown {
                    screen: Some(screen),
                    ..command(first).expect("a screen is one of callpair")
                });
            }
            "text" => {
                let command = shown.last_mut().expect("a screen stands below its command");
                command.excerpt = lines.into_iter().filter(|line| line != "…").collect();
            }
            _ => {}
        }
    }
    shown
}

fn command(line: &str) -> Option<Shown> {
    let (line, exit) = match line.split_once("# exits ") {
        Some((line, exit)) => (line.trim_end(), exit.parse().expect("an exit status")),
        None => (line, 0),
    };
    line.starts_with("callpair ").then(|| Shown {
        line: line.to_owned(),
        exit,
        screen: None,
        excerpt: Vec::new(),
    })
}

/// A folder that looks like the repository to a command, so that what a run leaves behind is left here.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["tests", "clients"] {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        std::os::unix::fs::symlink(target, folder.path().join(name)).expect("a link");
    }
    for (_, lines) in blocks().iter().filter(|(language, _)| language == "python") {
        let name =
            lines.first().and_then(|line| line.strip_prefix("# ")).expect("a program begins with its name");
        fs::write(folder.path().join(name), lines.join("\n") + "\n").expect("a file");
    }
    folder
}

fn can_be_run(line: &str) -> bool {
    let can = !line.contains("python3") || Command::new("python3").arg("--version").output().is_ok();
    if !can {
        // Not by `eprintln`, which a test that passes keeps to itself.
        let _ = writeln!(std::io::stderr(), "skipped: there is no python3 on this machine for: {line}");
    }
    can
}

#[test]
fn every_command_of_the_readme_exits_and_prints_as_shown() {
    let folder = folder();
    for Shown { line, exit, screen, excerpt } in shown().iter().filter(|shown| can_be_run(&shown.line)) {
        let words = shlex::split(line).expect("words as a shell splits them");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("callpair"));
        let output = command.args(&words[1..]).current_dir(folder.path()).env("NO_COLOR", "1").output();
        let output = output.expect("the command starts");
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(*exit), "{line}\n{stdout}\n{stderr}");
        if let Some(screen) = screen {
            assert_eq!(stdout, *screen, "{line}");
        }
        let mut printed = stdout.lines();
        for shown in excerpt {
            assert!(
                printed.any(|line| line == shown),
                "{line} does not print {shown:?}, or not there:\n{stdout}"
            );
        }
    }
}

#[test]
fn the_readme_shows_the_commands_that_matter() {
    let shown = shown();
    for name in ["verify", "check", "project", "minimize", "explain"] {
        assert!(
            shown.iter().any(|shown| shown.line.starts_with(&format!("callpair {name} "))
                || shown.line == format!("callpair {name}")),
            "{name}"
        );
    }
    assert!(shown.iter().filter(|shown| shown.screen.is_some()).count() >= 2);
    assert!(shown.iter().any(|shown| shown.line.contains("--subject-cmd")));
    assert!(shown.iter().any(|shown| !shown.excerpt.is_empty()));
}
