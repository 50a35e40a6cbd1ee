//! The real program keeps every invariant: `callpair verify --codex`, in small.
//!
//! Runs only where the environment variable CALLPAIR_CODEX names an executable, as `codex_conformance.rs` does.

#![cfg(all(unix, feature = "codex"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::generate;
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::minimize::Budget;
use callpair::subject::codex::{CodexOptions, CodexSubject};
use callpair::subject::{Profile, Subject};
use callpair::verify::{Amount, Judge, Options, Seed, Shard, run};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The release that the profile codex is about.
const RELEASE: &str = "0.144.6";

fn path(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("CALLPAIR_CODEX").map(PathBuf::from);
    if path.is_none() {
        println!("skipped: {test}: CALLPAIR_CODEX names no codex executable");
    }
    path
}

fn start(path: &std::path::Path) -> CodexSubject {
    CodexSubject::start(path, CodexOptions::default()).expect("CALLPAIR_CODEX names a codex executable")
}

fn items(texts: &[&str]) -> Vec<Arc<ResponseItem>> {
    let load = |text: &&str| Arc::new(ResponseItem::load(Json::parse(text).unwrap()).unwrap());
    texts.iter().map(load).collect()
}

/// Another release is judged by what any projector owes.
#[test]
fn drawn_cases_break_no_invariant() {
    let Some(path) = path("drawn_cases_break_no_invariant") else { return };
    let capabilities = start(&path).capabilities();
    let profile = if capabilities.version == RELEASE { Profile::Codex } else { Profile::Responses };
    let never = AtomicBool::new(false);
    let judge =
        Judge::new(profile, capabilities.clone()).keep(|invariant| invariant.family() != "metamorphic");
    let options = Options {
        judge,
        generate: generate::Options { profile, ..generate::Options::for_subject(capabilities) },
        amount: Amount::Cases(40),
        seed: Seed(7),
        jobs: 1,
        shard: Shard::WHOLE,
        fail_fast: false,
        known: Vec::new(),
        regressions: Vec::new(),
        twice: 0,
        budget: Budget::default(),
        interrupted: &never,
        progress: &|_| {},
        observe: None,
    };
    let outcome = run(&|| Ok(Box::new(start(&path))), &options).expect("the program starts");
    assert_eq!(outcome.cases, 40);
    let broken: Vec<_> = outcome
        .violations
        .iter()
        .map(|violation| {
            format!("{}: {}\n{}", violation.invariant, violation.message, violation.case.to_json())
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_fork_fills_missing_and_empty_ids_and_goes_on_from_its_own_file() {
    let Some(path) = path("a_fork_fills_missing_and_empty_ids_and_goes_on_from_its_own_file") else { return };
    let mut codex = start(&path);
    codex.reset().unwrap();
    let drawn = items(&[
        r#"{"type":"message","role":"user","content":[]}"#,
        r#"{"type":"message","id":"","role":"user","content":[]}"#,
        r#"{"type":"message","id":"own","role":"user","content":[]}"#,
    ]);
    codex.record(&drawn).unwrap();
    codex.fork().unwrap();
    let forked = codex.snapshot().unwrap();
    let ids: Vec<&str> = forked.iter().map(|item| item.id().expect("all have an id now").as_str()).collect();
    assert!(ids[0].starts_with("msg_") && ids[1].starts_with("msg_") && ids[2] == "own", "{ids:?}");
    assert_eq!(codex.project(Modalities::Text).unwrap().items, forked);
    codex.record(&drawn[2..]).unwrap();
    let [first, again] = [(); 2].map(|()| codex.project(Modalities::Text).unwrap().items);
    assert_eq!(first, again);
    assert_eq!(first[..3], forked[..]);
    assert_eq!(first[3], drawn[2]);
}
