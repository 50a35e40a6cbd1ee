//! Subjects that are served with the helpers for Rust, Python and JavaScript.

use crate::support::{file, is_there, message, options};
use callpair::case::{FailureKind, Outcome, Step};
use callpair::generate::{Seeded, case};
use callpair::item::Modalities;
use callpair::subject::stdio::Stdio;
use callpair::subject::{Reference, Subject};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// An example of this package, built in the profile of this test.
fn example(name: &str) -> PathBuf {
    let folder = std::env::current_exe().expect("this program is there");
    let folder = folder.parent().and_then(Path::parent).expect("it stands in target/PROFILE/deps");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--offline", "--example", name]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().is_ok_and(|status| status.success()), "the example is built");
    folder.join("examples").join(name)
}

#[test]
fn the_reference_over_stdio_answers_as_within_the_process() {
    let command = example("reference_subject").display().to_string();
    let mut piped = Stdio::start(&shlex::try_quote(&command).expect("a path"), options()).expect("it starts");
    let mut direct = Reference::new();
    let mut expected = direct.capabilities();
    // The protocol has no word for it.
    expected.prepares_pictures = false;
    assert_eq!(piped.capabilities(), expected);
    let options = callpair::generate::Options::for_subject(expected);
    for number in 0..300 {
        let script = case(&mut Seeded::of_case(5, number), &options).script(&Modalities::ALL);
        let mut over_stdio = piped.trace(script.clone());
        for outcome in &mut over_stdio.outcomes {
            if let Outcome::Projected(projected) = outcome {
                assert!(projected.text.take().is_some());
            }
        }
        assert_eq!(over_stdio, direct.trace(script), "case {number}");
    }
    assert_eq!(piped.restarts(), 0);
    assert_eq!(piped.shut_down(), Ok(()));
}

/// What a subject of ten lines, written with a helper, answers.
fn a_helper_serves(command: &[String]) {
    let mut subject = Stdio::start_argv(command.to_vec(), options()).expect("the subject starts");
    let stateful = subject.capabilities().stateful;
    let texts = ["a", "\u{2028}é😀", "refuse"].map(message);
    let [plain, odd, refused] = texts;
    let project = Step::Project(Modalities::TextAndImage);
    let trace = subject.trace(vec![
        Step::Record(vec![Arc::clone(&plain), Arc::clone(&odd)]),
        project.clone(),
        Step::Snapshot,
    ]);
    assert_eq!(trace.failure(), None, "{command:?}");
    let projected = trace.last_projected().expect("there is a projection");
    assert_eq!(projected.items, [Arc::clone(&plain), Arc::clone(&odd)]);
    assert_eq!(projected.history_after.is_some(), !stateful);
    assert_eq!(trace.last_snapshot(), Some(&vec![plain, odd]));
    let trace = subject.trace(vec![Step::Record(vec![refused]), project.clone()]);
    assert_eq!(trace.failure().map(|failure| failure.kind), Some(FailureKind::Refused));
    if stateful {
        let trace = subject.trace(vec![Step::Record(vec![message("b")]), Step::Resume, Step::Snapshot]);
        assert_eq!(trace.last_snapshot().map(Vec::len), Some(1));
        let missing = subject.fork().expect_err("it has no fork");
        assert_eq!(missing.kind, FailureKind::MethodMissing);
    }
    let trace = subject.trace(vec![Step::Record(vec![message("raise")]), project]);
    let failure = trace.failure().expect("it raises");
    assert_eq!(failure.kind, FailureKind::Crashed);
    // What was printed, by the program and by a child process, went to stderr.
    for word in ["printed while loading", "printed by a child", "it went wrong"] {
        assert!(failure.message.contains(word), "{word}: {failure}");
    }
    subject.reset().expect("it starts again");
    assert_eq!(subject.shut_down(), Ok(()));
}

#[test]
fn a_subject_of_ten_lines_is_written_with_the_python_helper() {
    if !is_there("python3") {
        return;
    }
    for kind in ["stateless", "stateful"] {
        a_helper_serves(&["python3".to_owned(), file("tests/subjects/with_helper.py"), kind.to_owned()]);
    }
}

#[test]
fn a_subject_of_ten_lines_is_written_with_the_javascript_helper() {
    if !is_there("node") {
        return;
    }
    for kind in ["stateless", "stateful"] {
        a_helper_serves(&["node".to_owned(), file("tests/subjects/with_helper.mjs"), kind.to_owned()]);
    }
}
