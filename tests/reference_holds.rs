//! The reference keeps every invariant.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::generate;
use callpair::minimize::Budget;
use callpair::subject::{Reference, Subject};
use callpair::verify::{Amount, Judge, Options, Seed, Shard, run};
use std::sync::atomic::AtomicBool;

#[test]
fn the_reference_keeps_every_invariant() {
    let capabilities = Reference::new().capabilities();
    let never = AtomicBool::new(false);
    let options = Options {
        judge: Judge::new(capabilities.profile, capabilities.clone()),
        generate: generate::Options::for_subject(capabilities),
        amount: Amount::Cases(3000),
        seed: Seed(7),
        jobs: 2,
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
    let outcome = run(&|| Ok(Box::new(Reference::new())), &options).unwrap();
    for violation in &outcome.violations {
        println!(
            "{} case {}: {}\n{}",
            violation.invariant,
            violation.case_number,
            violation.message,
            violation.case.to_json()
        );
    }
    assert!(outcome.violations.is_empty());
}
