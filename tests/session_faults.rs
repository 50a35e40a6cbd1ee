//! The slips of the session layer: each is found by the invariant that is there for it.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod session_support;

use callpair::session::fault::Slip;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use session_support::checks;
use session_support::machine::Machine;
use session_support::ops::{Op, steps};

/// The invariant that must find a slip.
fn guard(slip: Slip) -> &'static str {
    match slip {
        Slip::PatchLosesRemoval => checks::PATCH_CHAIN,
        Slip::BaselineKeptOverCompaction => checks::SECTIONS,
        Slip::LockHeldWhileProjecting => checks::LOCK_FREE,
        Slip::ToolsListedTwice => checks::TOOLS_ONCE,
        Slip::WriteBackOnRetry | Slip::HalfLineTakenForWhole => checks::DURABLE,
        Slip::SnapshotLeaked => checks::NOTHING_LEAKED,
        Slip::AttemptReusesProjection => checks::FRESH,
    }
}

/// What does not hold over all the steps, by name, in the order in which it was found.
fn violations(slip: Slip, ops: &[Op]) -> Vec<&'static str> {
    let mut machine = Machine::new(Some(slip));
    ops.iter().flat_map(|op| machine.step(op)).map(|violation| violation.invariant).collect()
}

/// More cases than any slip needed.
const CASES: usize = 100;

/// The number of the first case in which the guard of a slip finds it, and all that is found there.
fn hunt(slip: Slip) -> Option<(usize, Vec<&'static str>)> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = steps(14);
    (0..CASES).find_map(|case| {
        let ops = strategy.new_tree(&mut runner).unwrap().current();
        let found = violations(slip, &ops);
        found.contains(&guard(slip)).then_some((case, found))
    })
}

#[test]
fn each_slip_is_found_by_its_invariant() {
    for slip in Slip::ALL {
        let Some((case, found)) = hunt(slip) else {
            panic!("{} was not found by {} in {CASES} cases", slip.as_str(), guard(slip));
        };
        println!("{}: case {case}: {found:?}", slip.as_str());
    }
}
