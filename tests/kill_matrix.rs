//! Which invariant catches which planted fault, how often, on a hundred fixed cases: what a change of an invariant, of the
//! generator or of the bank does to the kill matrix is seen in review.
//!
//! Smaller than `fault_matrix` and sooner done, so that mutation tests can ask it about each change of an invariant. Not here:
//! whether every fault is caught and every invariant needed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::fault::{Bank, Slip};
use callpair::generate::{self, Seeded};
use callpair::subject::{Profile, Subject};
use callpair::verify::Judge;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

const CASES: u64 = 100;
const SEED: u64 = 7;

/// By invariant: on how many cases it had something to check, and on how many it was broken.
type Counts = BTreeMap<&'static str, (u64, u64)>;

fn counts(slip: Option<Slip>, profile: Profile) -> Counts {
    let mut subject = Bank::new(slip);
    let capabilities = subject.capabilities();
    let options = generate::Options { profile, ..generate::Options::for_subject(capabilities.clone()) };
    let judge = Judge::new(profile, capabilities);
    let mut counts = Counts::new();
    for number in 0..CASES {
        let case = generate::case(&mut Seeded::of_case(SEED, number), &options);
        let judgement = judge.judge(&mut subject, &case);
        let id = |at: usize| judge.invariants()[at].id;
        judgement.checked.iter().for_each(|at| counts.entry(id(*at)).or_default().0 += 1);
        judgement.broken.iter().for_each(|(at, _)| counts.entry(id(*at)).or_default().1 += 1);
    }
    counts
}

/// `family/name 12, family/name 3`: those that are broken, with the number of cases.
fn broken(counts: &Counts) -> String {
    let broken = counts.iter().filter(|(_, (_, broken))| *broken > 0);
    let words: Vec<String> = broken.map(|(id, (_, broken))| format!("{id} {broken}")).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

#[test]
fn each_planted_fault_is_caught_by_what_was_reviewed() {
    let slips: Vec<Slip> = Slip::ALL.iter().copied().filter(|slip| !slip.needs_child()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut rows = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(slip) = slips.get(at) else { return rows };
            let by = |profile| broken(&counts(Some(*slip), profile));
            rows.push((at, by(Profile::Codex), by(Profile::Responses)));
        }
    };
    let mut rows = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    rows.sort();
    let mut table = String::new();
    for (at, codex, responses) in rows {
        writeln!(table, "{}\n    codex      {codex}\n    responses  {responses}", slips[at].id()).unwrap();
    }
    insta::assert_snapshot!("kill_matrix", table);
}

#[test]
fn each_invariant_had_as_much_to_check_as_was_reviewed() {
    let mut table = String::new();
    for profile in Profile::ALL {
        for (id, (checked, broken)) in counts(None, profile) {
            assert_eq!(broken, 0, "without a slip {id} holds");
            writeln!(table, "{profile} {id} {checked}").unwrap();
        }
    }
    insta::assert_snapshot!("checked", table);
}
