//! Planted faults behind a pipe: caught as within the process, in the same case, by the same law, with the same smallest case.
//!
//! A spread of them; all, a few minutes in a release build, where the environment variable CALLPAIR_FAULTS is `all`.

use crate::support::options;
use callpair::case::Case;
use callpair::fault::{Bank, Slip};
use callpair::generate::{self, Seeded};
use callpair::minimize::{Budget, minimize};
use callpair::subject::stdio::Stdio;
use callpair::subject::{Profile, Subject};
use callpair::verify::Judge;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many cases a fault gets, and which.
const CASES: u64 = 400;
const SEED: u64 = 7;

/// Each so many faults are looked at, if not all.
const SPREAD: usize = 12;

fn served(slip: Slip) -> Stdio {
    let program = assert_cmd::cargo::cargo_bin!("callpair").display().to_string();
    let argv = vec![program, "serve-fault".to_owned(), slip.id().to_owned()];
    Stdio::start_argv(argv, options()).expect("the bank is served")
}

/// How a fault was caught.
#[derive(Debug, PartialEq, Eq)]
struct Caught {
    case_number: u64,
    law: &'static str,
    /// None where it fails only after other cases.
    smallest: Option<Case>,
}

/// Looks for the first case in which a law that is no comparison with a model is broken, and makes it as small as it goes.
fn caught(subject: &mut dyn Subject, fresh: &mut dyn Subject, judge: &Judge) -> Option<Caught> {
    let drawn = generate::Options {
        profile: Profile::Codex,
        ..generate::Options::for_subject(judge.capabilities().clone())
    };
    let (case_number, case, law) = (0..CASES).find_map(|number| {
        let case = generate::case(&mut Seeded::of_case(SEED, number), &drawn);
        let broken = judge.judge(subject, &case).broken;
        let laws = broken.iter().filter_map(|(at, _)| judge.invariants().get(*at));
        let law = laws.map(|law| law.id).find(|id| *id != "agreement/projection")?;
        Some((number, case, law))
    })?;
    let mut fails = |candidate: &Case| judge.breaks(fresh, candidate, law).is_some();
    // By calls, not by time: both must come equally far.
    let budget = Budget { calls: 400, time: Duration::from_secs(600) };
    let smallest = fails(&case).then(|| minimize(&case, &mut fails, budget, &mut |_| {}).case);
    Some(Caught { case_number, law, smallest })
}

/// Whether it was caught at all; over stdio as within this process.
fn is_caught_alike(slip: Slip) -> bool {
    let mut piped = served(slip);
    // What the protocol has no word for is neither drawn nor judged, here as there.
    let judge = Judge::new(Profile::Codex, piped.capabilities());
    let over_stdio = caught(&mut piped, &mut served(slip), &judge);
    let within = caught(&mut Bank::new(Some(slip)), &mut Bank::new(Some(slip)), &judge);
    assert_eq!(over_stdio, within, "{}", slip.id());
    over_stdio.is_some()
}

#[test]
fn a_planted_fault_is_caught_over_stdio_as_within_the_process() {
    let all = std::env::var_os("CALLPAIR_FAULTS").is_some_and(|which| which == "all");
    let slips: Vec<Slip> = Slip::ALL.iter().copied().filter(|slip| !slip.needs_child()).collect();
    let slips: Vec<Slip> = slips.into_iter().step_by(if all { 1 } else { SPREAD }).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut missed = Vec::new();
        while let Some(slip) = slips.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !is_caught_alike(*slip) {
                missed.push(slip.id());
            }
        }
        missed
    };
    let missed: Vec<&str> = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().flat_map(|thread| thread.join().expect("each is caught alike")).collect()
    });
    println!("{} faults, caught alike; by none of {CASES} cases: {missed:?}", slips.len());
    // Those that show only where pictures are prepared, of which the protocol knows nothing.
    assert!(missed.len() * 10 <= slips.len(), "{missed:?}");
}
