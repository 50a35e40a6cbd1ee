//! The honest bank equals the reference; each slip shows; the table of slips is in order.

use super::{Bank, Slip, Trivial};
use crate::case::{Case, Outcome, Step};
use crate::generate::{Histories, Options, Seeded, case};
use crate::subject::{Reference, Subject};
use std::collections::HashSet;

const RUN_SEED: u64 = 7;

fn options() -> Options {
    Options::for_subject(Reference::new().capabilities())
}

fn drawn(number: u64, options: &Options) -> Case {
    case(&mut Seeded::of_case(RUN_SEED, number), options)
}

fn script(case: &Case, options: &Options) -> Vec<Step> {
    case.script(&options.capabilities.modalities)
}

#[test]
fn the_bank_can_what_the_reference_can() {
    let (bank, mut reference) = (Bank::new(None).capabilities(), Reference::new().capabilities());
    reference.name.clone_from(&bank.name);
    assert_eq!(bank, reference);
}

#[test]
fn without_a_slip_the_bank_leaves_the_traces_of_the_reference() {
    equal_traces(5_000, &options());
}

#[test]
fn without_a_slip_the_bank_equals_the_reference_on_healthy_histories_too() {
    equal_traces(1_000, &Options { histories: Histories::WellFormed, ..options() });
}

fn equal_traces(cases: u64, options: &Options) {
    let (mut bank, mut reference) = (Bank::new(None), Reference::new());
    for number in 0..cases {
        let script = script(&drawn(number, options), options);
        let (honest, expected) = (bank.run(&script), reference.run(&script));
        assert!(honest == expected, "case {number}: {}", first_difference(&script, &honest, &expected));
    }
}

/// The first step whose outcomes differ, so that a failure can be read.
fn first_difference(script: &[Step], honest: &[Outcome], expected: &[Outcome]) -> String {
    let at = honest.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
    let steps: Vec<_> = script.iter().take(at + 1).map(Step::name).collect();
    format!("{steps:?}\n{:?}\n{:?}", honest.get(at), expected.get(at))
}

#[test]
fn every_slip_shows_within_a_thousand_cases() {
    let options = options();
    let mut honest = Bank::new(None);
    let scripts: Vec<Vec<Step>> =
        (0..1_000).map(|number| script(&drawn(number, &options), &options)).collect();
    let honest: Vec<Vec<Outcome>> = scripts.iter().map(|script| honest.run(script)).collect();
    let mut unseen = Vec::new();
    for &slip in Slip::ALL.iter().filter(|slip| !slip.needs_child()) {
        let mut bank = Bank::new(Some(slip));
        match scripts.iter().zip(&honest).position(|(script, honest)| bank.run(script) != *honest) {
            Some(number) => println!("{:45} {:4}", slip.id(), number + 1),
            None => unseen.push(slip.id()),
        }
    }
    assert!(unseen.is_empty(), "these make no difference: {unseen:#?}");
}

#[test]
fn every_trivial_projector_shows_within_a_hundred_cases() {
    let options = options();
    for trivial in Trivial::ALL {
        let (mut bank, mut projector) = (Bank::new(None), trivial.projector());
        let shows = (0..100).any(|number| {
            let script = script(&drawn(number, &options), &options);
            projector.run(&script) != bank.run(&script)
        });
        assert!(shows, "{}", trivial.id());
    }
}

#[test]
fn slips_have_ids_that_are_kept_apart_and_found_again() {
    let ids: HashSet<&str> = Slip::ALL.iter().map(|slip| slip.id()).collect();
    assert_eq!(ids.len(), Slip::ALL.len());
    assert!(ids.len() >= 60);
    for &slip in Slip::ALL {
        let plain = |word: &str| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        let (family, name) = slip.id().split_once('/').unwrap();
        assert!(family.split('-').all(plain) && name.split('-').all(plain), "{}", slip.id());
        assert_eq!(Slip::from_id(slip.id()), Some(slip));
        assert!(slip.why().ends_with('.'), "{}", slip.id());
    }
    assert_eq!(Slip::from_id("forget/nothing"), None);
}

#[test]
fn only_slips_that_take_the_process_down_need_a_child() {
    let child: Vec<_> = Slip::ALL.iter().filter(|slip| slip.needs_child()).map(|slip| slip.id()).collect();
    assert_eq!(child, ["crash/abort-on-tool-search", "hang/on-orphan"]);
}
