//! The transcripts in `tests/cmd/` are run: each command exits and prints as shown.
//!
//! They run in a copy of `tests/saved-cases/`. After a change on purpose: `TRYCMD=overwrite cargo test --test transcripts`, and
//! look at the difference as at that of a snapshot.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;

#[test]
fn every_transcript_exits_and_prints_as_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(root.join("tests/saved-cases")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    std::env::set_current_dir(folder.path()).unwrap();
    let cases = trycmd::TestCases::new();
    cases.env("NO_COLOR", "1").case(root.join("tests/cmd/*.md")).run();
}
