//! Arbitrary steps, done to a session and to a plain model: what must hold is checked after every step.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod session_support;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestRng, TestRunner};
use session_support::machine::Machine;
use session_support::ops::{Op, steps};
use std::collections::BTreeMap;

fn holds(ops: &[Op]) -> Result<(), TestCaseError> {
    let mut machine = Machine::new(None);
    for (n, op) in ops.iter().enumerate() {
        let violations = machine.step(op);
        if let Some(first) = violations.first() {
            return Err(TestCaseError::fail(format!("step {n}: {}: {}", first.invariant, first.message)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("proptest-regressions/session.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_done_the_session_is_as_the_plain_model_says(ops in steps(14)) {
        holds(&ops)?;
    }
}

/// Cases that are drawn to see where they go.
const DRAWN: usize = 120;

#[test]
fn the_steps_reach_what_they_are_there_for() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = steps(14);
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..DRAWN {
        let mut machine = Machine::new(None);
        for op in &strategy.new_tree(&mut runner).unwrap().current() {
            assert!(machine.step(op).is_empty());
        }
        machine.labels.iter().for_each(|(label, count)| *labels.entry(label).or_default() += count);
    }
    println!("{labels:#?}");
    let missed: Vec<&&str> = labels.iter().filter(|(_, count)| **count < 3).map(|(label, _)| label).collect();
    assert!(missed.is_empty(), "hardly ever reached: {missed:?}");
    assert_eq!(labels.len(), 18, "{labels:#?}");
}
