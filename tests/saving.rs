//! Saved cases: whole files only, whenever the process ends; and none ever takes the place of another.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use callpair::case::{SavedCase, Store};
use callpair::generate::{Draw, Seeded};
use common::callpair;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names the folder in the child of the test.
const FOLDER: &str = "CALLPAIR_TEST_SAVES_INTO";

const KILLS: usize = 200;

/// A case of some length, so that there is a time in which a part of it is written.
fn case(number: usize) -> SavedCase {
    let text = "x".repeat(100_000);
    let json = format!(
        r#"{{"schema":"callpair.case/1","invariant":"pairing/function-call","steps":[{{"record":[{{"type":"function_call","name":"{number}","arguments":"{text}","call_id":"a"}}]}}]}}"#
    );
    SavedCase::parse(&json).unwrap()
}

/// Saves the same few cases over and over; ends some time, should nobody be there to kill it.
fn save(folder: &str) {
    let store = Store::new(folder);
    for number in (0..10).cycle().take(5_000) {
        let path = store.save(&case(number)).unwrap();
        fs::remove_file(path).unwrap();
    }
}

fn files(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.partition(|path| path.extension().is_some_and(|ending| ending == "json"))
}

#[test]
fn a_process_killed_while_it_saves_leaves_whole_files_only() {
    if let Ok(folder) = std::env::var(FOLDER) {
        return save(&folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut draw = Seeded::of_case(7, 0);
    let mut whole = 0;
    for _ in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_killed_while_it_saves_leaves_whole_files_only", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(3_000 + draw.below(15_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        for path in files(folder.path()).0 {
            let text = fs::read_to_string(&path).unwrap();
            assert!(SavedCase::parse(&text).is_ok(), "{}: {} bytes", path.display(), text.len());
            whole += 1;
        }
    }
    let (cases, leftovers) = files(folder.path());
    // Otherwise the moments were none at which something could go wrong.
    assert!(
        whole > 0 && leftovers.len() > 5,
        "{whole} whole files seen, {} begun ones left",
        leftovers.len()
    );
    let store = Store::new(folder.path());
    assert_eq!(store.load().unwrap().len(), cases.len());
    assert!(store.save(&case(99)).unwrap().exists());
    let run = ["verify", "--cases", "5", "--seed", "7", "--regressions", "."];
    let outcome = callpair(folder.path(), &run);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(files(folder.path()).1.len(), leftovers.len());
}

#[test]
fn a_case_never_takes_the_place_of_another_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let first = store.save(&case(1)).unwrap();
    // What stands under that name is another case now, as if two had one hash.
    fs::write(&first, case(2).to_json()).unwrap();
    let second = store.save(&case(1)).unwrap();
    assert_ne!(first, second);
    assert_eq!(SavedCase::parse(&fs::read_to_string(&first).unwrap()).unwrap(), case(2));
    assert_eq!(SavedCase::parse(&fs::read_to_string(&second).unwrap()).unwrap(), case(1));
    // A file that is no case is no reason to lose it, either.
    fs::write(&second, "a note").unwrap();
    let third = store.save(&case(1)).unwrap();
    assert_eq!(fs::read_to_string(&second).unwrap(), "a note");
    assert_eq!(store.save(&case(1)).unwrap(), third, "a case that is there is not written again");
}

#[test]
fn threads_that_save_one_case_at_once_leave_one_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| store.save(&case(1)).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
    let (cases, leftovers) = files(folder.path());
    assert_eq!((cases.len(), leftovers.len()), (1, 0));
}
