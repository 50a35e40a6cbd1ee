//! A case saved by one version is read by the next: a file of every form, read as it was meant; and the inputs of fuzz targets
//! among them, replayed and made smaller by the command.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use callpair::case::{SavedCase, Step};
use callpair::fuzzing::{Target, broken_by, decode};
use callpair::generate::GENERATOR_VERSION;
use callpair::item::{ItemKind, Modalities};
use callpair::json::Json;
use callpair::subject::{Reference, Subject};
use callpair::verify::Judge;
use common::callpair;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved-cases")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn saved(name: &str) -> SavedCase {
    SavedCase::parse(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn input(target: Target) -> Vec<u8> {
    fs::read(folder().join(format!("{target}.input"))).unwrap()
}

fn steps(case: &SavedCase) -> Vec<&'static str> {
    case.case.steps.iter().map(Step::name).collect()
}

/// Runs the command in an empty folder; `@` stands for the folder of files.
fn run(line: &str) -> (Option<i32>, String, String) {
    let empty = tempfile::tempdir().unwrap();
    let files = format!("{}/", folder().display());
    let words: Vec<String> = line.split(' ').map(|word| word.replace('@', &files)).collect();
    let outcome = callpair(empty.path(), &words.iter().map(String::as_str).collect::<Vec<_>>());
    (outcome.code, outcome.stdout, outcome.stderr)
}

#[test]
fn a_saved_failure_says_where_it_comes_from_and_what_it_broke() {
    let failure = saved("pairing-function-call-fd25c470.case.json");
    assert_eq!(failure.subject.as_deref(), Some("bank with forget/function-call"));
    assert_eq!(failure.profile.as_deref(), Some("codex-0.144.6"));
    assert_eq!(failure.invariant.as_deref(), Some("pairing/function-call"));
    assert!(failure.message.as_deref().unwrap().contains("function_call"));
    assert_eq!((steps(&failure), failure.case.item_count()), (vec!["record"], 1));
    let durable = saved("durable-resume-adds-nothing-b373b107.case.json");
    assert_eq!(durable.invariant.as_deref(), Some("durable/resume-adds-nothing"));
    assert!(steps(&durable).contains(&"resume"));
}

#[test]
fn a_case_with_every_step_has_them_in_order() {
    let case = saved("every-step.case.json");
    let wanted =
        ["record", "snapshot", "project", "record", "resume", "rollback", "replace", "fork", "project"];
    assert_eq!(steps(&case), wanted);
    assert_eq!(case.case.steps[2], Step::Project(Modalities::Text));
    assert_eq!(case.case.steps[5], Step::Rollback(1));
    assert_eq!(case.case.steps[8], Step::Project(Modalities::TextAndImage));
    assert_eq!(case.case.item_count(), 4);
}

#[test]
fn a_case_with_every_kind_of_item_loads_each_as_its_kind() {
    let kinds: Vec<ItemKind> = saved("every-kind.case.json").case.items().map(|item| item.kind()).collect();
    assert_eq!(kinds.len(), 13);
    let unknown = kinds.iter().filter(|kind| **kind == ItemKind::Other).count();
    assert_eq!(unknown, 2, "what 0.144.6 does not know keeps its place: {kinds:?}");
    assert_eq!(kinds.iter().collect::<BTreeSet<_>>().len(), 12);
}

#[test]
fn fields_of_a_later_version_are_passed_over() {
    let case = saved("with-fields-of-tomorrow.case.json");
    assert_eq!((case.subject.as_deref(), case.case.item_count()), (Some("mine"), 1));
}

#[test]
fn every_saved_case_holds_on_the_reference() {
    let mut reference = Reference::new();
    let judge = Judge::new(reference.capabilities().profile, reference.capabilities());
    let mut cases = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".case.json") {
            cases += 1;
            assert_eq!(judge.judge(&mut reference, &saved(&name).case).broken, [], "{name}");
        }
    }
    assert_eq!(cases, 5);
}

#[test]
fn inputs_of_fuzz_targets_are_read_as_they_were_written() {
    let kinds = |target| {
        let case = decode(target, &input(target)).unwrap();
        (case.items().map(|item| item.kind()).collect::<Vec<_>>(), steps(&SavedCase::bare(case)))
    };
    assert_eq!(kinds(Target::Normalizer), (vec![ItemKind::CustomToolCallOutput], vec!["replace", "project"]));
    let script =
        (vec![ItemKind::Message, ItemKind::FunctionCall], vec!["record", "resume", "rollback", "fork"]);
    assert_eq!(kinds(Target::Script), script);
    assert_eq!(kinds(Target::Canary), (vec![ItemKind::FunctionCall], vec!["record", "project"]));
    for target in Target::ALL.into_iter().filter(|target| *target != Target::Canary) {
        assert_eq!(broken_by(target, &input(target)).unwrap(), [], "{target}");
    }
    let canary = broken_by(Target::Canary, &input(Target::Canary)).unwrap();
    assert!(canary.iter().any(|broken| broken.invariant == "pairing/function-call"), "{canary:?}");
}

#[test]
fn choices_of_this_generator_make_the_case_that_they_made() {
    // Another generator makes another case of them: then this file is of an earlier one, and a new one stands beside it.
    assert_eq!(GENERATOR_VERSION, 1);
    let bytes = fs::read(folder().join("choices.input")).unwrap();
    let case = decode(Target::Script, &bytes).unwrap();
    insta::assert_snapshot!("choices", SavedCase::bare(case).to_json());
}

#[test]
fn reports_for_programs_hold_what_programs_read() {
    let report = Json::parse(&text("verify.json")).unwrap();
    let word = |json: &Json, key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
    assert_eq!(word(&report, "schema").as_deref(), Some("callpair.verify/1"));
    assert_eq!(word(&report, "verdict").as_deref(), Some("fail"));
    let violation = &report.get("violations").and_then(Json::as_array).unwrap()[0];
    assert_eq!(word(violation, "invariant").as_deref(), Some("pairing/function-call"));
    // The case of a report is the steps of a saved one.
    let mut case = violation.get("case").unwrap().clone();
    if let Json::Object(fields) = &mut case {
        fields.set("schema", Json::String("callpair.case/1".to_owned()));
    }
    let mut written = Vec::new();
    case.write(&mut written, callpair::json::Numbers::AsWritten);
    let read = SavedCase::parse(std::str::from_utf8(&written).unwrap()).unwrap();
    assert_eq!(read.case, saved("pairing-function-call-fd25c470.case.json").case);
    let report = Json::parse(&text("check.json")).unwrap();
    assert_eq!(word(&report, "schema").as_deref(), Some("callpair.check/1"));
    let file = &report.get("files").and_then(Json::as_array).unwrap()[0];
    let finding = &file.get("findings").and_then(Json::as_array).unwrap()[0];
    assert_eq!(word(finding, "rule").as_deref(), Some("responses/call-without-output"));
}

#[test]
fn a_baseline_and_a_folder_of_saved_cases_are_taken_by_verify() {
    let fault = "--subject bank/forget/function-call --cases 50 --seed 7";
    let (status, out, said) = run(&format!("verify {fault} --known @known.txt --only pairing"));
    assert_eq!(status, Some(1), "an entry that no longer fails is reported: {out}{said}");
    assert!(out.contains("metamorphic"), "{out}");
    let copy = tempfile::tempdir().unwrap();
    let name = "pairing-function-call-fd25c470.case.json";
    fs::copy(folder().join(name), copy.path().join(name)).unwrap();
    let line = "verify --subject bank/forget/function-call --cases 1 --seed 7 --only pairing --regressions .";
    let outcome = callpair(copy.path(), &line.split(' ').collect::<Vec<_>>());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(name), "{}", outcome.stdout);
}

#[test]
fn replay_runs_an_input_as_its_target_does() {
    for (line, status, said) in [
        ("replay --artifact script @script.input @choices.input @every-step.case.json", 0, "held on 3 files"),
        ("replay --artifact normalizer @normalizer.input", 0, "normalizer.input: holds"),
        ("replay --artifact rollout @rollout.input @session.jsonl", 0, "session.jsonl: holds"),
        ("replay --artifact json @json.input @verify.json", 0, "verify.json: holds"),
        ("replay --artifact canary @canary.input", 1, "BROKEN pairing/function-call"),
        ("replay --artifact canary --subject reference @canary.input", 0, "canary.input: holds ("),
        (
            "replay --artifact script --subject bank/forget/function-call @canary.input",
            1,
            "FAIL: the case breaks",
        ),
    ] {
        let (code, out, err) = run(line);
        assert_eq!(code, Some(status), "{line}: {out}{err}");
        assert!(out.contains(said), "{line}: {out}");
    }
}

#[test]
fn minimize_takes_an_input_and_ends_in_a_case_that_replays_the_same() {
    let (status, smallest, said) = run("minimize --artifact canary @canary.input");
    assert_eq!(status, Some(1), "{said}");
    let case = SavedCase::parse(&smallest).unwrap();
    assert_eq!(case.invariant.as_deref(), Some("pairing/function-call"));
    assert_eq!(case.subject.as_deref(), Some("bank with forget/function-call"));
    assert_eq!((steps(&case), case.case.item_count()), (vec!["record"], 1));
    assert_eq!(
        broken_by(Target::Canary, &[b"\xff", smallest.as_bytes()].concat()).unwrap()[0].invariant,
        "pairing/function-call"
    );
    let (status, _, said) = run("minimize --artifact canary --subject reference @canary.input");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("nothing to make smaller"), "{said}");
}

#[test]
fn a_case_that_would_take_all_memory_is_refused_by_its_size() {
    let step = r#"{"record":[{"type":"function_call","name":"","arguments":"","call_id":"a"}]},{"project":["text"]}"#;
    let text =
        |times: usize| format!(r#"{{"schema":"callpair.case/1","steps":[{}]}}"#, vec![step; times].join(","));
    assert_eq!(SavedCase::parse(&text(1000)).unwrap().case.steps.len(), 2000);
    let refused = SavedCase::parse(&text(1001)).unwrap_err().to_string();
    assert!(refused.starts_with("2002 steps on 1001 items are too many"), "{refused}");
}
