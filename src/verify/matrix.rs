//! The kill matrix: which planted fault is caught by which invariant, after how many cases, how soon.
//!
//! A check that was never seen to fail proves nothing. So every fault of the bank must be caught, by the laws alone too (a
//! plain comparison with an exact model catches nearly everything, and most subjects have no model); and every invariant
//! must catch some fault that no other catches, or be listed with the reason why none can be.

use super::judge::Judge;
use crate::case::{Case, Failure, FailureKind};
use crate::fault::{Bank, Slip, Trivial};
use crate::generate::{self, Seeded};
use crate::invariant::{CATALOGUE, Check};
use crate::minimize::{Budget, minimize};
use crate::subject::{Profile, Subject};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How one fault was caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caught {
    /// The fault.
    pub fault: &'static str,
    /// Where it was seen, or why it is likely.
    pub why: &'static str,
    /// After how many cases any invariant of profile `codex` caught it.
    pub after: Option<u64>,
    /// After how many cases one did that is no agreement.
    pub after_by_laws: Option<u64>,
    /// How long that took.
    pub elapsed: Duration,
    /// The first law that caught it.
    pub first_law: Option<&'static str>,
    /// The invariants of profile `codex` that caught it, each with the number of cases it took: within 200 cases, or [`LATER`]
    /// times as many as the first law took, or the limit where no law did.
    pub codex: BTreeMap<&'static str, u64>,
    /// The same of profile `responses`.
    pub responses: BTreeMap<&'static str, u64>,
    /// The smallest case by the first law.
    pub smallest: Option<Case>,
    /// How many times the subject was run for it.
    pub calls: usize,
}

/// The whole matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// One row a fault, in the order of the bank; the trivial projectors last.
    pub rows: Vec<Caught>,
    /// Cases that each fault was given at most.
    pub limit: u64,
    /// The seed that they were drawn from.
    pub seed: u64,
}

/// What the matrix is made by.
pub struct MatrixOptions<'a> {
    /// Cases that each fault is given.
    pub limit: u64,
    /// The seed that they are drawn from.
    pub seed: u64,
    /// Threads; at least one.
    pub jobs: usize,
    /// Who makes the faults that take their process down; without it they are left out.
    pub children: Option<&'a Children<'a>>,
    /// Set from outside to end early.
    pub interrupted: &'a AtomicBool,
    /// Told after each fault how many of all are done, and how many of these no law caught.
    pub progress: &'a (dyn Fn(MatrixProgress) + Sync),
}

/// How far a matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixProgress {
    /// Faults that were tried.
    pub done: usize,
    /// Faults that there are.
    pub of: usize,
    /// Faults that no law caught.
    pub uncaught: usize,
}

/// How much later a fault must be caught without an invariant for it to need it.
pub const LATER: u64 = 4;

/// Invariants that no fault needs, and why they stand all the same.
pub const IMPLIED: &[(&str, &str)] = &[
    (
        "identity/stable",
        "follows from identity/named-by-item-id; one of the four laws, and what is left for a subject with ids of its own",
    ),
    (
        "metamorphic/pieces",
        "follows from the exact laws of each item; says in one sentence what breaks when a repair looks around",
    ),
    (
        "metamorphic/fork",
        "follows from durable/fork-keeps-history and a projection that is right; needs no exact laws",
    ),
    ("metamorphic/modality", "follows from the image laws and conservation; needs no exact laws"),
    ("metamorphic/well-formed", "follows from conservation; the law that a healthy session meets every day"),
    (
        "contract/item-without-required-reasoning",
        "follows from conservation; what is left of it for subjects that drop messages on purpose",
    ),
    (
        "agreement/projection",
        "the exact model: the other laws are there to catch without it whatever it catches",
    ),
];

impl Matrix {
    /// Faults that nothing catches, or no law does.
    pub fn uncaught(&self) -> Vec<&'static str> {
        self.rows.iter().filter(|row| row.after_by_laws.is_none()).map(|row| row.fault).collect()
    }

    /// For each invariant the faults that need it, in one profile or the other, agreement apart: those that it alone catches,
    /// or that without it are caught only after [`LATER`] times as many cases. Other families are asked without `contract`,
    /// which is behind them: it sees what a breach of theirs does to the request as a whole.
    pub fn needed_by(&self) -> BTreeMap<&'static str, Vec<&'static str>> {
        let mut needed: BTreeMap<&'static str, Vec<&'static str>> = BTreeMap::new();
        for row in &self.rows {
            for caught in [&row.codex, &row.responses] {
                let laws = |with_contract: bool| {
                    let asked = move |id: &&str| !is_agreement(id) && (with_contract || !is_of_contract(id));
                    caught.iter().map(|(id, after)| (*id, *after)).filter(move |(id, _)| asked(id))
                };
                let needs = [needed_of(laws(false)), needed_of(laws(true)).filter(|id| is_of_contract(id))];
                for id in needs.into_iter().flatten() {
                    let faults = needed.entry(id).or_default();
                    if faults.last() != Some(&row.fault) {
                        faults.push(row.fault);
                    }
                }
            }
        }
        needed
    }

    /// Invariants that no fault needs and that are not [`IMPLIED`]. Those of the runner need other subjects.
    pub fn unneeded(&self) -> Vec<&'static str> {
        let needed = self.needed_by();
        let judged = CATALOGUE.iter().filter(|invariant| !matches!(invariant.check, Check::Runner));
        let unneeded = judged.map(|invariant| invariant.id).filter(|id| !needed.contains_key(id));
        unneeded.filter(|id| !IMPLIED.iter().any(|(implied, _)| implied == id)).collect()
    }
}

fn is_agreement(id: &str) -> bool {
    id == "agreement/projection"
}

fn is_of_contract(id: &str) -> bool {
    id.starts_with("contract/")
}

/// The law without which a fault would stay uncaught, or be caught much later, given how many cases each took.
fn needed_of(laws: impl Iterator<Item = (&'static str, u64)>) -> Option<&'static str> {
    let mut laws: Vec<_> = laws.collect();
    laws.sort_by_key(|(_, after)| *after);
    let &(first, after) = laws.first()?;
    laws.get(1).is_none_or(|(_, second)| *second >= LATER * after).then_some(first)
}

/// Makes a subject with a fault.
type Make<'a> = dyn Fn() -> Result<Box<dyn Subject>, Failure> + Sync + 'a;

/// A fault, why it is likely, how to make a subject that has it, and whether that is a process of its own.
struct Planted<'a> {
    fault: &'static str,
    why: &'static str,
    make: Box<Make<'a>>,
    child: bool,
}

/// Makes a child process that commits a slip; see [`Slip::needs_child`].
pub type Children<'a> = dyn Fn(Slip) -> Result<Box<dyn Subject>, Failure> + Sync + 'a;

fn planted<'a>(children: Option<&'a Children<'a>>) -> Vec<Planted<'a>> {
    let slips = Slip::ALL.iter().filter_map(|&slip| {
        let make: Box<Make<'a>> = match (slip.needs_child(), children) {
            (false, _) => Box::new(move || Ok(Box::new(Bank::new(Some(slip))))),
            (true, Some(children)) => Box::new(move || children(slip)),
            (true, None) => return None,
        };
        Some(Planted { fault: slip.id(), why: slip.why(), make, child: slip.needs_child() })
    });
    let trivial = Trivial::ALL.iter().map(|&trivial| Planted {
        fault: trivial.id(),
        why: "Keeps many laws by doing nothing.",
        make: Box::new(move || Ok(Box::new(trivial.projector()))),
        child: false,
    });
    slips.chain(trivial).collect()
}

/// Makes the matrix: gives each fault its cases. `None` where it was interrupted before every fault was tried: what is left
/// says nothing of the invariants.
///
/// # Errors
/// Where the honest bank does not keep every invariant, for then the matrix says nothing; where a child cannot be started.
pub fn matrix(options: &MatrixOptions<'_>) -> Result<Option<Matrix>, Failure> {
    let make: Box<Make<'_>> = Box::new(|| Ok(Box::new(Bank::new(None))));
    let honest = Planted { fault: "honest", why: "", make, child: false };
    let Some(honest) = catch(&honest, options.limit.min(500), options)? else { return Ok(None) };
    if let Some(id) = honest.codex.keys().chain(honest.responses.keys()).next() {
        let message = format!("the honest bank breaks {id}: the matrix would say nothing");
        return Err(Failure::new(FailureKind::Protocol, message));
    }
    let planted = planted(options.children);
    let next = AtomicUsize::new(0);
    let progress = Mutex::new(MatrixProgress { done: 0, of: planted.len(), uncaught: 0 });
    let rows = std::thread::scope(|scope| {
        let work = || {
            let mut rows = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(planted) = planted.get(at) else { return rows };
                let row = catch(planted, options.limit, options);
                if let Ok(Some(row)) = &row {
                    let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                    progress.done += 1;
                    progress.uncaught += usize::from(row.after_by_laws.is_none());
                    (options.progress)(*progress);
                }
                rows.push((at, row));
            }
        };
        let threads: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    let mut rows: Vec<_> = rows.into_iter().flatten().collect();
    rows.sort_by_key(|(at, _)| *at);
    let rows: Option<Vec<Caught>> =
        rows.into_iter().map(|(_, row)| row.transpose()).collect::<Option<Result<_, _>>>().transpose()?;
    Ok(rows.map(|rows| Matrix { rows, limit: options.limit, seed: options.seed }))
}

/// Gives a fault its cases; `None` where it was interrupted.
/// A fault that is caught is given so many cases all the same, so that the matrix shows what else catches it.
const AT_LEAST: u64 = 200;

/// Whether further cases could say nothing new of which law is needed.
fn is_enough(caught: &BTreeMap<&'static str, u64>, cases: u64) -> bool {
    let laws = caught.iter().filter(|(id, _)| !is_agreement(id) && !is_of_contract(id));
    let first = laws.map(|(_, after)| *after).min();
    first.is_some_and(|first| cases >= AT_LEAST.max(LATER * first))
}

fn catch(planted: &Planted<'_>, limit: u64, options: &MatrixOptions<'_>) -> Result<Option<Caught>, Failure> {
    let start = Instant::now();
    let mut row = Caught {
        fault: planted.fault,
        why: planted.why,
        after: None,
        after_by_laws: None,
        elapsed: Duration::ZERO,
        first_law: None,
        codex: BTreeMap::new(),
        responses: BTreeMap::new(),
        smallest: None,
        calls: 0,
    };
    for profile in Profile::ALL {
        let mut subject = (planted.make)()?;
        let capabilities = subject.capabilities();
        let drawn = generate::Options { profile, ..generate::Options::for_subject(capabilities.clone()) };
        let judge = Judge::new(profile, capabilities);
        for number in 0..limit {
            let caught = if profile == Profile::Codex { &row.codex } else { &row.responses };
            if is_enough(caught, number) {
                break;
            }
            if options.interrupted.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let case = generate::case(&mut Seeded::of_case(options.seed, number), &drawn);
            let judgement = judge.judge(&mut *subject, &case);
            let broken = judgement.broken.iter().filter_map(|(at, _)| judge.invariants().get(*at));
            let broken: Vec<&'static str> = broken.map(|broken| broken.id).collect();
            if broken.is_empty() {
                continue;
            }
            if profile == Profile::Codex {
                row.after.get_or_insert(number + 1);
                let law = broken.iter().find(|id| !is_agreement(id));
                if let Some(law) = law.filter(|_| row.after_by_laws.is_none()) {
                    row.after_by_laws = Some(number + 1);
                    row.elapsed = start.elapsed();
                    row.first_law = Some(law);
                    shrink(&mut row, &judge, &*planted.make, &case, law)?;
                }
            }
            let caught = if profile == Profile::Codex { &mut row.codex } else { &mut row.responses };
            for id in broken {
                caught.entry(id).or_insert(number + 1);
            }
            if planted.child {
                // Each further case would cost a process, and a hang its time limit.
                break;
            }
        }
    }
    Ok(Some(row))
}

fn shrink(
    row: &mut Caught,
    judge: &Judge,
    make: &Make<'_>,
    case: &Case,
    law: &'static str,
) -> Result<(), Failure> {
    let mut subject = make()?;
    if judge.breaks(&mut *subject, case, law).is_none() {
        // Only a subject that has seen other cases fails: there is no smallest case of its own.
        return Ok(());
    }
    let mut fails = |candidate: &Case| judge.breaks(&mut *subject, candidate, law).is_some();
    let minimized = minimize(case, &mut fails, Budget::default(), &mut |_| {});
    row.calls = minimized.calls;
    row.smallest = Some(minimized.case);
    Ok(())
}
