//! `callpair case`: cases become fuzz inputs and come back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "cli")]

use assert_cmd::Command;
use callpair::case::SavedCase;
use callpair::fuzzing::{Target, decode};
use std::path::{Path, PathBuf};

const CASE: &str = r#"{"schema":"callpair.case/1","subject":"s","steps":[{"record":[{"type":"function_call","name":"f","arguments":"{}","call_id":"a"}]},{"resume":true},{"project":["text"]}]}"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Runs `callpair case DIRECTION FILE --target TARGET`: exit status, stdout, stderr.
fn case(direction: &str, file: &Path, target: &str) -> (i32, Vec<u8>, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("callpair"));
    let output = command.args(["case", direction, "--target", target]).arg(file).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), output.stdout, stderr)
}

#[test]
fn a_saved_case_comes_back_from_a_fuzz_input() {
    let folder = Folder::new();
    let (status, input, _) = case("encode", &folder.file("case.json", CASE), "script");
    assert_eq!((status, input.first()), (0, Some(&0xff)));
    let wanted = SavedCase::parse(CASE).unwrap().case;
    assert_eq!(decode(Target::Script, &input).unwrap(), wanted);
    let (status, text, _) = case("decode", &folder.file("input", &input), "script");
    let saved = SavedCase::parse(std::str::from_utf8(&text).unwrap()).unwrap();
    assert_eq!((status, saved), (0, SavedCase::bare(wanted)));
}

#[test]
fn steps_that_a_target_does_not_take_are_left_out_and_said() {
    let folder = Folder::new();
    let (status, input, said) = case("encode", &folder.file("case.json", CASE), "normalizer");
    assert_eq!(status, 0);
    assert_eq!(decode(Target::Normalizer, &input).unwrap().steps.len(), 2);
    assert!(said.contains("steps that the target normalizer does not take are left out: 1"), "{said}");
}

#[test]
fn a_recorded_session_becomes_a_fuzz_input() {
    let session =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus-seed/rollout/compacted-paired-across");
    let (status, input, said) = case("encode", &session, "script");
    assert_eq!(status, 0, "{said}");
    let case = decode(Target::Script, &input).unwrap();
    assert!(case.item_count() >= 2);
}

#[test]
fn choices_become_a_case_and_a_broken_invariant_is_named() {
    let folder = Folder::new();
    let smallest = [b"\xff".as_slice(), CASE.as_bytes()].concat();
    let (status, text, _) = case("decode", &folder.file("crash", smallest), "canary");
    let saved = SavedCase::parse(std::str::from_utf8(&text).unwrap()).unwrap();
    assert_eq!((status, saved.invariant.as_deref()), (0, Some("pairing/function-call")));
    assert!(saved.message.unwrap().contains("function_call"));
    let (status, text, _) = case("decode", &folder.file("choices", b"\x20\x40 some choices"), "script");
    let saved = SavedCase::parse(std::str::from_utf8(&text).unwrap()).unwrap();
    assert_eq!((status, saved.invariant), (0, None));
}

#[test]
fn what_cannot_be_converted_ends_with_two_and_says_why() {
    let folder = Folder::new();
    let broken = folder.file("broken", b"\xff{\"schema\":\"callpair.case/1\"}");
    let other = folder.file("other", b"x");
    let tries = [
        ("decode", broken.as_path(), "script", "no saved case follows"),
        ("decode", &other, "json", "inputs of the target json are files"),
        ("decode", Path::new("no/such/file"), "script", "cannot be read"),
        ("encode", &other, "script", "cannot be told"),
        ("encode", &other, "nonsense", "known are normalizer, script"),
    ];
    for (direction, file, target, why) in tries {
        let (status, out, said) = case(direction, file, target);
        assert_eq!((status, out.len()), (2, 0), "{direction} {target}");
        assert!(said.contains(why), "{said}");
    }
}
