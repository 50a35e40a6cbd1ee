//! The slips of the session layer: each is found by the invariant that is there for it.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod session_support;

use callpair::session::fault::Slip;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use session_support::checks;
use session_support::machine::Machine;
use session_support::ops::{End, Made, Op, Reply, steps};

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

/// A turn whose script is this.
fn turn(script: Vec<Reply>) -> Op {
    Op::Turn { picture: false, script }
}

/// An answer that breaks off behind these items.
fn broken(items: Vec<Made>) -> Reply {
    Reply::Stream { items, tools: Vec::new(), end: End::Broken }
}

/// The smallest steps that find a slip, as proptest shrank them.
fn smallest(slip: Slip) -> Vec<Op> {
    let quiet = || turn(Vec::new());
    match slip {
        Slip::PatchLosesRemoval => vec![
            Op::Extension { n: 1, revision: Some(1) },
            quiet(),
            Op::Extension { n: 1, revision: None },
            quiet(),
        ],
        Slip::BaselineKeptOverCompaction => vec![quiet(), Op::Replace(Vec::new()), quiet()],
        Slip::LockHeldWhileProjecting | Slip::ToolsListedTwice | Slip::SnapshotLeaked => vec![quiet()],
        Slip::WriteBackOnRetry => vec![Op::SplitPair { call: 0 }, turn(vec![broken(Vec::new())])],
        Slip::HalfLineTakenForWhole => {
            vec![quiet(), Op::Crash { of_all: false, share: 6822 }, quiet()]
        }
        Slip::AttemptReusesProjection => vec![turn(vec![broken(vec![Made::Said(0)])])],
    }
}

/// What does not hold over all the steps, by name, in the order in which it was found.
fn violations(slip: Option<Slip>, ops: &[Op]) -> Vec<&'static str> {
    let mut machine = Machine::new(slip);
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
        let found = violations(Some(slip), &ops);
        found.contains(&guard(slip)).then_some((case, found))
    })
}

#[test]
fn the_smallest_case_of_each_slip_finds_it_and_holds_without_it() {
    for slip in Slip::ALL {
        let ops = smallest(slip);
        let found = violations(Some(slip), &ops);
        assert!(found.contains(&guard(slip)), "{}: {found:?}", slip.as_str());
        assert_eq!(violations(None, &ops), Vec::<&str>::new(), "{}", slip.as_str());
    }
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
