//! Judging many cases on several threads.

use super::judge::Judge;
use super::outcome::{FLOORS_FROM, InvariantCount, LabelCount, Outcome, Verdict, Violation};
use super::seed::Seed;
use crate::case::{Case, Failure, FailureKind};
use crate::generate::labels::{Label, Labels};
use crate::generate::{self, Seeded};
use crate::invariant::{AGAINST, ANSWERS, LEAKS_OVER_RESET, SAME_OVER_PROCESSES};
use crate::minimize::{Budget, Minimized, minimize};
use crate::subject::{Against, Subject};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much is to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// So many cases.
    Cases(u64),
    /// As many as fit this time.
    Time(Duration),
}

/// A part of a run: shard `index` (from 1) of `of`. All shards together draw what one run draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub index: u64,
    /// How many there are.
    pub of: u64,
}

impl Shard {
    /// The whole run.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };
}

/// Not a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a shard: {0:?}; write I/N, I from 1 to N")]
pub struct ShardError(String);

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let numbers =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Shard { index, of }),
            _ => Err(ShardError(text.chars().take(40).collect())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// Makes a subject for a thread, or a fresh one for a replay.
pub type Factory<'a> = dyn Fn() -> Result<Box<dyn Subject>, Failure> + Sync + 'a;

/// What a run goes by.
pub struct Options<'a> {
    /// By which invariants cases are judged.
    pub judge: Judge,
    /// What is drawn.
    pub generate: generate::Options,
    /// How much.
    pub amount: Amount,
    /// The seed.
    pub seed: Seed,
    /// Threads; at least one.
    pub jobs: usize,
    /// Which part of the run.
    pub shard: Shard,
    /// Whether to end at the first violation.
    pub fail_fast: bool,
    /// Known failures: id of an invariant or a family, and the reason.
    pub known: Vec<(String, String)>,
    /// Saved cases, each with the name of its file: judged before anything is drawn.
    pub regressions: Vec<(String, Case)>,
    /// So many of the first cases are run in two subjects made by the factory at once, whose answers must be the same bytes.
    /// For subjects that are processes; 0 for others.
    pub twice: u64,
    /// How much a smallest case may cost.
    pub budget: Budget,
    /// Set from outside to end early.
    pub interrupted: &'a AtomicBool,
    /// Told now and then how far the run is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Told of each case that was drawn and judged, by whichever thread did it.
    pub observe: Option<&'a (dyn Fn(&JudgedCase<'_>) + Sync)>,
}

/// A case that was drawn and judged.
#[derive(Debug, Clone, Copy)]
pub struct JudgedCase<'a> {
    /// Its number.
    pub case_number: u64,
    /// The case.
    pub case: &'a Case,
    /// What it contains.
    pub labels: Labels,
    /// The ids of the invariants that it breaks.
    pub broken: &'a [&'static str],
    /// Whether the subject declined it.
    pub refused: bool,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cases judged so far.
    pub cases: u64,
    /// Invariants that are broken so far.
    pub broken: usize,
    /// Time since the start.
    pub elapsed: Duration,
}

/// Cases a thread takes at a time.
const BLOCK: u64 = 16;

/// Judges cases. Two runs with one seed and one number of cases give the same report, whatever the number of threads is.
///
/// # Errors
/// Where no subject can be made.
pub fn run(factory: &Factory<'_>, options: &Options<'_>) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let shared = Shared {
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        stop_at: AtomicU64::new(u64::MAX),
        hung: AtomicU64::new(0),
        broken: Mutex::new(BTreeMap::new()),
        start,
    };
    let tallies: Vec<Result<Tally, Failure>> = std::thread::scope(|scope| {
        let jobs = options.jobs.max(1);
        let spawn = || std::thread::Builder::new().spawn_scoped(scope, || work(factory, options, &shared));
        // Where the system gives no more threads, those that run do the work; where it gives none, this one does.
        let threads: Vec<_> = (0..jobs).map_while(|_| spawn().ok()).collect();
        if threads.is_empty() {
            return vec![work(factory, options, &shared)];
        }
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(tally) => tally,
            Err(_) => Err(Failure::new(FailureKind::Crashed, "a thread of the runner panicked")),
        });
        joined.collect()
    });
    let interrupted = || options.interrupted.load(Ordering::Relaxed);
    let mut total = Tally::new(options);
    for tally in tallies {
        match tally {
            // A subject that a signal to us kept from starting has judged nothing; what others have judged stands.
            Err(_) if interrupted() => {}
            tally => total.add(&tally?),
        }
    }
    let broken = shared.broken.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut violations = regressed(factory, options)?;
    let drawn_end = Instant::now();
    for (at, Breach { case_number, message, hung }) in broken {
        let Some(invariant) = options.judge.invariants().get(at) else { continue };
        if violations.iter().any(|violation| violation.invariant == invariant.id) {
            continue;
        }
        let found = Found { invariant: invariant.id, case_number, message, hung };
        let leaks = violations.iter().position(|violation| violation.invariant == LEAKS_OVER_RESET.id);
        match smallest(factory, options, &found, share(options.budget, drawn_end.elapsed()))? {
            Some(violation) => violations.push(violation),
            // One leak explains all failures that a fresh subject does not show.
            None if leaks.is_some() => {}
            None => violations.push(leak(factory, options, found)?),
        }
    }
    if shared.hung.into_inner() >= HUNG_CASES {
        note_early_end(&mut violations);
    } else if !interrupted() {
        violations.extend(differs_over_processes(factory, options, total.cases)?);
    }
    Ok(total.into_outcome(options, violations, start.elapsed()))
}

/// After so many cases without an answer in time no more are drawn, unless that is a known failure: each costs the whole time
/// limit, and a subject that hangs on every other history would take a day for what the first one says.
const HUNG_CASES: u64 = 4;

/// Says at the failure by which the run was ended that it was.
fn note_early_end(violations: &mut [Violation]) {
    if let Some(hung) = violations.iter_mut().find(|violation| violation.invariant == ANSWERS.id) {
        let note = hung.note.get_or_insert_default();
        let and = if note.is_empty() { "" } else { "; " };
        note.push_str(&format!("{and}after {HUNG_CASES} cases without an answer in time no more were drawn"));
    }
}

struct Shared {
    next: AtomicU64,
    done: AtomicU64,
    /// Where the run is ended early: cases from this number on need not be judged.
    stop_at: AtomicU64,
    /// How many cases hung.
    hung: AtomicU64,
    /// By place of the invariant.
    broken: Mutex<BTreeMap<usize, Breach>>,
    start: Instant,
}

/// The lowest case number that breaks an invariant, and how.
struct Breach {
    case_number: u64,
    message: String,
    hung: bool,
}

impl Shared {
    /// The next block of places in this shard's sequence; `None` when it is enough.
    fn block(&self, options: &Options<'_>) -> Option<std::ops::Range<u64>> {
        if options.interrupted.load(Ordering::Relaxed) {
            return None;
        }
        let from = self.next.fetch_add(BLOCK, Ordering::Relaxed);
        let end = match options.amount {
            Amount::Cases(cases) => shard_len(cases, options.shard),
            Amount::Time(time) if self.start.elapsed() >= time => return None,
            Amount::Time(_) => u64::MAX,
        };
        (from < end).then(|| from..(from + BLOCK).min(end))
    }

    fn note_broken(&self, at: usize, breach: Breach, options: &Options<'_>) {
        let case_number = breach.case_number;
        let mut broken = self.broken.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match broken.entry(at) {
            Entry::Vacant(vacant) => drop(vacant.insert(breach)),
            Entry::Occupied(mut lowest) if case_number < lowest.get().case_number => {
                lowest.insert(breach);
            }
            Entry::Occupied(_) => {}
        }
        if options.fail_fast {
            self.stop_at.fetch_min(case_number, Ordering::Relaxed);
        }
    }

    fn note_hung(&self, case_number: u64, options: &Options<'_>) {
        let known = |id: &String| *id == ANSWERS.id || *id == ANSWERS.family();
        if options.known.iter().any(|(id, _)| known(id)) {
            return;
        }
        if self.hung.fetch_add(1, Ordering::Relaxed) + 1 >= HUNG_CASES {
            self.stop_at.fetch_min(case_number, Ordering::Relaxed);
        }
    }
}

/// How many of a run's cases fall to a shard.
fn shard_len(cases: u64, shard: Shard) -> u64 {
    let before = shard.index - 1;
    if cases <= before { 0 } else { (cases - before).div_ceil(shard.of) }
}

#[derive(Debug, Clone)]
struct Tally {
    cases: u64,
    refused: u64,
    checked: Vec<u64>,
    violations: Vec<u64>,
    labels: Vec<u64>,
}

impl Tally {
    fn new(options: &Options<'_>) -> Tally {
        let invariants = options.judge.invariants().len();
        Tally {
            cases: 0,
            refused: 0,
            checked: vec![0; invariants],
            violations: vec![0; invariants],
            labels: vec![0; Label::ALL.len()],
        }
    }

    fn add(&mut self, other: &Tally) {
        self.cases += other.cases;
        self.refused += other.refused;
        let sums = [
            (&mut self.checked, &other.checked),
            (&mut self.violations, &other.violations),
            (&mut self.labels, &other.labels),
        ];
        for (mine, theirs) in sums {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    fn into_outcome(
        self,
        options: &Options<'_>,
        mut violations: Vec<Violation>,
        elapsed: Duration,
    ) -> Outcome {
        let counts = options.judge.invariants().iter().zip(self.checked.iter().zip(&self.violations));
        let mut invariants: Vec<InvariantCount> = counts
            .map(|(invariant, (&checked, &violations))| InvariantCount {
                id: invariant.id,
                checked,
                violations,
            })
            .collect();
        for violation in &violations {
            // What the runner itself found has no count of its own.
            if let Some(count) = invariants.iter_mut().find(|count| count.id == violation.invariant) {
                count.violations = count.violations.max(1);
            }
        }
        let labels: Vec<LabelCount> = Label::ALL
            .iter()
            .zip(&self.labels)
            .map(|(&label, &cases)| LabelCount { label, cases, floor: label.floor(&options.generate) })
            .collect();
        let matches = |id: &str, known: &str| id == known || id.split('/').next() == Some(known);
        for violation in &mut violations {
            let known = options.known.iter().find(|(known, _)| matches(violation.invariant, known));
            violation.known = known.map(|(_, reason)| reason.clone());
        }
        let fails = |known: &str| violations.iter().any(|violation| matches(violation.invariant, known));
        let stale: Vec<String> =
            options.known.iter().filter(|(known, _)| !fails(known)).map(|(known, _)| known.clone()).collect();
        let interrupted = options.interrupted.load(Ordering::Relaxed);
        let enough = self.cases >= FLOORS_FROM;
        let verdict = if violations.iter().any(|violation| violation.known.is_none()) {
            Verdict::Fail
        } else if interrupted {
            Verdict::Interrupted
        } else if !stale.is_empty() {
            Verdict::Fail
        } else if self.cases == 0
            || nothing_was_checked(&invariants)
            || enough && labels.iter().any(|label| label.is_low(self.cases))
        {
            Verdict::Vacuous
        } else {
            Verdict::Pass
        };
        Outcome {
            subject: options.judge.capabilities().clone(),
            profile: options.judge.profile(),
            seed: options.seed,
            cases: self.cases,
            elapsed,
            verdict,
            invariants,
            labels,
            violations,
            stale,
            refused: self.refused,
            interrupted,
        }
    }
}

/// Whether nothing that was asked had anything to check: the subject declined every case, say. How it answers (family
/// `robustness`) is another matter.
fn nothing_was_checked(invariants: &[InvariantCount]) -> bool {
    let mut asked = invariants.iter().filter(|count| !count.id.starts_with("robustness/")).peekable();
    asked.peek().is_some() && asked.all(|count| count.checked == 0)
}

fn work(factory: &Factory<'_>, options: &Options<'_>, shared: &Shared) -> Result<Tally, Failure> {
    let mut subject = factory()?;
    let mut tally = Tally::new(options);
    while let Some(block) = shared.block(options) {
        for place in block {
            let case_number = options.shard.index - 1 + place * options.shard.of;
            if case_number > shared.stop_at.load(Ordering::Relaxed)
                || options.interrupted.load(Ordering::Relaxed)
            {
                return Ok(tally);
            }
            judge_one(&mut *subject, options, shared, case_number, &mut tally);
        }
        let cases = shared.done.load(Ordering::Relaxed);
        let broken = shared.broken.lock().map_or(0, |broken| broken.len());
        (options.progress)(Progress { cases, broken, elapsed: shared.start.elapsed() });
    }
    Ok(tally)
}

fn judge_one(
    subject: &mut dyn Subject,
    options: &Options<'_>,
    shared: &Shared,
    case_number: u64,
    tally: &mut Tally,
) {
    let case = drawn(options, case_number);
    let judgement = options.judge.judge(subject, &case);
    if options.interrupted.load(Ordering::Relaxed) && !judgement.broken.is_empty() {
        // A subject that was ended from outside did not fail.
        return;
    }
    shared.done.fetch_add(1, Ordering::Relaxed);
    tally.cases += 1;
    tally.refused += u64::from(judgement.refused);
    let labels = Labels::of(&case, &options.generate);
    if let Some(observe) = options.observe {
        let invariants = options.judge.invariants();
        let broken = judgement.broken.iter().filter_map(|(at, _)| Some(invariants.get(*at)?.id));
        let (broken, refused) = (broken.collect::<Vec<_>>(), judgement.refused);
        observe(&JudgedCase { case_number, case: &case, labels, broken: &broken, refused });
    }
    for label in labels.iter() {
        if let Some(count) = tally.labels.get_mut(label as usize) {
            *count += 1;
        }
    }
    for at in judgement.checked {
        if let Some(count) = tally.checked.get_mut(at) {
            *count += 1;
        }
    }
    for (at, message) in judgement.broken {
        if let Some(count) = tally.violations.get_mut(at) {
            *count += 1;
        }
        let hung = judgement.hung && options.judge.invariants().get(at).is_some_and(|it| it.id == ANSWERS.id);
        shared.note_broken(at, Breach { case_number, message, hung }, options);
    }
    if judgement.hung {
        shared.note_hung(case_number, options);
    }
}

/// What is broken by saved cases, in one subject for all of them (a process each would cost more than the cases); of an
/// invariant the first.
fn regressed(factory: &Factory<'_>, options: &Options<'_>) -> Result<Vec<Violation>, Failure> {
    let mut violations: Vec<Violation> = Vec::new();
    if options.regressions.is_empty() || options.interrupted.load(Ordering::Relaxed) {
        return Ok(violations);
    }
    let mut subject = factory()?;
    let mut hung = 0;
    for (name, case) in &options.regressions {
        if hung >= HUNG_CASES || options.interrupted.load(Ordering::Relaxed) {
            break;
        }
        let judgement = options.judge.judge(&mut *subject, case);
        hung += u64::from(judgement.hung);
        for (at, message) in judgement.broken {
            let Some(invariant) = options.judge.invariants().get(at) else { continue };
            if violations.iter().any(|violation| violation.invariant == invariant.id) {
                continue;
            }
            violations.push(Violation {
                invariant: invariant.id,
                message,
                case: case.clone(),
                case_number: 0,
                known: None,
                note: Some(format!("{}{name}", Violation::SAVED_CASE)),
                trace: Some(options.judge.trace(&mut *subject, case)),
            });
        }
    }
    Ok(violations)
}

/// Runs the first cases in two processes at once; their answers must be the same bytes.
fn differs_over_processes(
    factory: &Factory<'_>,
    options: &Options<'_>,
    cases: u64,
) -> Result<Option<Violation>, Failure> {
    let wanted = |invariant: &crate::invariant::Invariant| invariant.id == SAME_OVER_PROCESSES.id;
    if options.twice == 0 || !options.judge.invariants().iter().any(wanted) {
        return Ok(None);
    }
    let judge = Judge::comparing_only(options.judge.profile(), options.judge.capabilities().clone());
    let mut pair = Against::byte_for_byte(factory()?, factory()?);
    for case_number in 0..options.twice.min(cases) {
        if options.interrupted.load(Ordering::Relaxed) {
            break;
        }
        let case = drawn(options, case_number);
        let Some(first) = judge.breaks(&mut pair, &case, AGAINST.id) else { continue };
        if options.interrupted.load(Ordering::Relaxed) {
            // A subject that was ended from outside did not answer otherwise.
            break;
        }
        let mut fails = |candidate: &Case| judge.breaks(&mut pair, candidate, AGAINST.id).is_some();
        let minimized = minimize(&case, &mut fails, options.budget, &mut |_| {});
        let message = judge.breaks(&mut pair, &minimized.case, AGAINST.id).unwrap_or(first);
        return Ok(Some(Violation {
            invariant: SAME_OVER_PROCESSES.id,
            message: format!("two processes of the subject differ: {message}"),
            case: minimized.case,
            case_number,
            known: None,
            note: minimized.flaky.then(|| "it does not differ every time".to_owned()),
            trace: None,
        }));
    }
    Ok(None)
}

fn drawn(options: &Options<'_>, case_number: u64) -> Case {
    generate::case(&mut Seeded::of_case(options.seed.0, case_number), &options.generate)
}

/// The longest chain of earlier cases that is tried for a failure that a fresh subject does not show.
const CHAIN: u64 = 64;

/// A violation that was seen.
struct Found {
    invariant: &'static str,
    case_number: u64,
    message: String,
    /// Whether it is that the subject hangs.
    hung: bool,
}

/// So many times the time of one smallest case all of them together may take: a subject can break thirty laws at once.
const ALL_TOGETHER: u32 = 2;

/// What the next smallest case may cost, after so much time was spent on earlier ones. It is never nothing.
fn share(budget: Budget, spent: Duration) -> Budget {
    let left = (budget.time * ALL_TOGETHER).saturating_sub(spent);
    Budget { time: left.clamp(budget.time / 40, budget.time), ..budget }
}

/// Makes the smallest case of a violation, in a fresh subject; `None` where a fresh one does not fail.
fn smallest(
    factory: &Factory<'_>,
    options: &Options<'_>,
    found: &Found,
    budget: Budget,
) -> Result<Option<Violation>, Failure> {
    let Found { invariant, case_number, ref message, hung } = *found;
    let interrupted = || options.interrupted.load(Ordering::Relaxed);
    let case = drawn(options, case_number);
    let as_drawn = |note: &str| {
        let (message, case, note) = (message.clone(), case.clone(), Some(note.to_owned()));
        Violation { invariant, message, case, case_number, known: None, note, trace: None }
    };
    if interrupted() {
        return Ok(Some(as_drawn(INTERRUPTED)));
    }
    let mut subject = factory()?;
    let breaks = |subject: &mut dyn Subject, case: &Case| options.judge.breaks(subject, case, invariant);
    if breaks(&mut *subject, &case).is_none() && !interrupted() {
        return Ok(None);
    }
    let mut minimized = Minimized { case: Case::default(), calls: 0, finished: true, flaky: false };
    // A subject that hangs on nothing at all needs no further look.
    if !(hung && options.judge.hasten(&mut *subject)) {
        let mut fails = |candidate: &Case| !interrupted() && breaks(&mut *subject, candidate).is_some();
        minimized = minimize(&case, &mut fails, budget, &mut |_| {});
    }
    if interrupted() {
        return Ok(Some(as_drawn(INTERRUPTED)));
    }
    let note = match (minimized.flaky, minimized.finished) {
        (true, _) => Some("it does not fail every time".to_owned()),
        (false, false) => Some("the budget for a smaller case was used up".to_owned()),
        (false, true) => None,
    };
    let mut fresh = factory()?;
    let message = match breaks(&mut *fresh, &minimized.case) {
        Some(message) => message,
        None if hung => return Ok(Some(as_drawn("smaller cases take long, but not too long"))),
        None => message.clone(),
    };
    let trace = Some(options.judge.trace(&mut *fresh, &minimized.case));
    Ok(Some(Violation { invariant, message, case: minimized.case, case_number, known: None, note, trace }))
}

/// What is noted where a signal came before there was a smaller case.
const INTERRUPTED: &str = "interrupted before a smaller case was found";

/// A failure that a fresh subject does not show: looks for the shortest chain of cases before it that brings it back.
fn leak(factory: &Factory<'_>, options: &Options<'_>, found: Found) -> Result<Violation, Failure> {
    let Found { invariant, case_number, message, .. } = found;
    let mut chain = 0;
    let mut length = 1;
    while length <= CHAIN.min(case_number) {
        let mut subject = factory()?;
        for earlier in case_number - length..case_number {
            let _ = options.judge.judge(&mut *subject, &drawn(options, earlier));
        }
        if options.judge.breaks(&mut *subject, &drawn(options, case_number), invariant).is_some() {
            chain = length;
            break;
        }
        length *= 2;
    }
    let how = match chain {
        0 => "no chain of earlier cases brings it back: it does not fail every time".to_owned(),
        1 => "it fails again after the case before it".to_owned(),
        chain => format!("it fails again after the {chain} cases before it"),
    };
    Ok(Violation {
        invariant: LEAKS_OVER_RESET.id,
        message: format!("{invariant} is broken ({message}), but not in a fresh subject; {how}"),
        case: drawn(options, case_number),
        case_number,
        known: None,
        note: None,
        trace: None,
    })
}
