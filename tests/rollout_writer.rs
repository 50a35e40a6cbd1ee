//! The writer of rollouts only ever appends whole lines: not glued to what a crash left, and nothing at all where a write fails.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::json::Json;
use callpair::rollout::{LineProblem, Rollout, RolloutLine, RolloutWriter, WriteError, line_text};
use std::path::Path;

const SESSION_META: &str = r#"{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"test","cli_version":"0.144.6"}"#;

fn line(line_type: &str, payload: &str) -> String {
    line_text("t", line_type, &Json::parse(payload).unwrap())
}

fn said(text: &str) -> String {
    line(
        "response_item",
        &format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#),
    )
}

fn whole_file() -> String {
    [line("session_meta", SESSION_META), said("é 1"), said("😀 2"), said("3")]
        .map(|line| line + "\n")
        .concat()
}

/// The items of a rollout, and its skipped lines.
fn read(bytes: &[u8]) -> (Vec<RolloutLine>, Vec<LineProblem>) {
    let rollout = Rollout::from_bytes(bytes).unwrap();
    let lines = rollout.lines.into_iter().map(|line| line.value).collect();
    (lines, rollout.skipped.into_iter().map(|line| line.value).collect())
}

fn in_new_folder(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

#[test]
fn after_a_cut_at_any_byte_the_whole_lines_and_the_appended_one_are_there() {
    let (_folder, path) = in_new_folder("rollout.jsonl");
    let whole = whole_file();
    let appended = said("appended");
    let (wanted, none) = read(appended.as_bytes());
    assert_eq!((wanted.len(), none.len()), (1, 0));
    for cut in 0..=whole.len() {
        let before = &whole.as_bytes()[..cut];
        std::fs::write(&path, before).unwrap();
        RolloutWriter::append_to(&path).unwrap().append(&appended).unwrap();
        let after = std::fs::read(&path).unwrap();

        assert!(after.starts_with(before), "cut at {cut}: what stood in the file stays");
        let gap = if before.is_empty() || before.ends_with(b"\n") { "" } else { "\n" };
        assert_eq!(&after[cut..], format!("{gap}{appended}\n").as_bytes(), "cut at {cut}");

        let (lines, skipped) = read(&after);
        let (lines_before, skipped_before) = read(before);
        assert_eq!(lines, [lines_before, wanted.clone()].concat(), "cut at {cut}");
        assert_eq!(skipped, skipped_before, "cut at {cut}: nothing is glued");
        assert!(skipped.len() <= 1);
    }
}

#[test]
fn a_writer_that_stays_open_writes_line_by_line() {
    let (_folder, path) = in_new_folder("rollout.jsonl");
    let mut writer = RolloutWriter::append_to(&path).unwrap();
    for line in ["{}", "[]", "1"] {
        writer.append(line).unwrap();
    }
    writer.sync().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n[]\n1\n");
}

#[test]
fn a_line_that_another_left_unfinished_meanwhile_is_not_glued_to() {
    let (_folder, path) = in_new_folder("rollout.jsonl");
    let mut writer = RolloutWriter::append_to(&path).unwrap();
    writer.append("{}").unwrap();
    std::fs::write(&path, "{}\n{\"torn").unwrap();
    writer.append("[]").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n{\"torn\n[]\n");
}

#[test]
fn a_line_end_inside_a_line_is_refused_and_nothing_is_written() {
    let (_folder, path) = in_new_folder("rollout.jsonl");
    let mut writer = RolloutWriter::append_to(&path).unwrap();
    assert!(matches!(writer.append("{}\n{}"), Err(WriteError::LineEndInside)));
    assert_eq!(std::fs::read(&path).unwrap(), b"");
}

#[test]
fn a_line_is_written_digit_for_digit() {
    let payload = Json::parse(r#"{"b":1.50,"a":1E5,"c":-0,"d":"\u2028"}"#).unwrap();
    let text = line_text("t", "x", &payload);
    assert_eq!(
        text,
        "{\"timestamp\":\"t\",\"type\":\"x\",\"payload\":{\"b\":1.50,\"a\":1E5,\"c\":-0,\"d\":\"\u{2028}\"}}"
    );
}

#[test]
fn a_missing_folder_is_an_error_of_opening() {
    let (_folder, path) = in_new_folder("no/such/rollout.jsonl");
    assert!(RolloutWriter::append_to(&path).is_err());
}

/// A write that breaks off in the middle, for real: this very test runs again in a process of its own, under a limit on the
/// size of files that the line does not fit in. (A full disk looks the same.)
#[cfg(unix)]
mod a_write_that_fails_in_the_middle {
    use super::*;
    use std::process::Command;

    const FILE: &str = "CALLPAIR_TEST_LIMITED_FILE";

    /// Runs `act` on a file of the content `before` in a process that may not write files over 8 blocks.
    fn in_limited_process(test: &str, before: &str, act: fn(&Path)) {
        if let Some(path) = std::env::var_os(FILE) {
            return act(Path::new(&path));
        }
        let (_folder, path) = in_new_folder("rollout.jsonl");
        std::fs::write(&path, before).unwrap();
        // Without the trap the signal would end the process.
        let script = r#"trap "" XFSZ; ulimit -f 8; exec "$0" "$@""#;
        let name = format!("a_write_that_fails_in_the_middle::{test}");
        let child = Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(FILE, &path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout).into_owned();
        assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
        assert!(said.contains("1 passed"), "the test ran in the limited process: {said}");
    }

    fn too_long() -> String {
        said(&"x".repeat(100_000))
    }

    fn assert_breaks_off(writer: &mut RolloutWriter) {
        match writer.append(&too_long()) {
            Err(WriteError::Io(error)) => assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge),
            other => panic!("expected a write that fails and is taken back, got {other:?}"),
        }
    }

    #[test]
    fn leaves_the_file_as_it_was_and_the_writer_usable() {
        in_limited_process("leaves_the_file_as_it_was_and_the_writer_usable", "{}\n", |path| {
            let mut writer = RolloutWriter::append_to(path).unwrap();
            assert_breaks_off(&mut writer);
            assert_eq!(std::fs::read_to_string(path).unwrap(), "{}\n");
            writer.append("[]").unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), "{}\n[]\n");
        });
    }

    #[test]
    fn leaves_a_torn_line_as_it_was_and_does_not_glue_to_it_later() {
        in_limited_process(
            "leaves_a_torn_line_as_it_was_and_does_not_glue_to_it_later",
            "{}\n{\"to",
            |path| {
                let mut writer = RolloutWriter::append_to(path).unwrap();
                assert_breaks_off(&mut writer);
                assert_eq!(std::fs::read_to_string(path).unwrap(), "{}\n{\"to");
                writer.append("[]").unwrap();
                assert_eq!(std::fs::read_to_string(path).unwrap(), "{}\n{\"to\n[]\n");
            },
        );
    }

    #[test]
    fn spares_what_another_wrote_since_the_file_was_opened() {
        in_limited_process("spares_what_another_wrote_since_the_file_was_opened", "{}\n", |path| {
            let mut writer = RolloutWriter::append_to(path).unwrap();
            RolloutWriter::append_to(path).unwrap().append("\"other\"").unwrap();
            assert_breaks_off(&mut writer);
            assert_eq!(std::fs::read_to_string(path).unwrap(), "{}\n\"other\"\n");
        });
    }
}

/// A device that takes no byte and cannot be cut back either.
#[cfg(target_os = "linux")]
#[test]
fn where_the_file_cannot_be_cut_back_both_causes_are_told() {
    let mut writer = RolloutWriter::append_to(Path::new("/dev/full")).unwrap();
    let error = writer.append("{}").unwrap_err();
    assert!(matches!(error, WriteError::Torn { .. }), "{error:?}");
    assert!(error.to_string().contains("could not be cut back"), "{error}");
}
