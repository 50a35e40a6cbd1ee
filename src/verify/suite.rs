//! The hook for Rust projects: one call in an ordinary test runs the suite, and panics once.

use super::judge::Judge;
use super::outcome::{Outcome, Verdict};
use super::runner::{Amount, Options, Shard, run};
use super::seed::Seed;
use crate::case::Store;
use crate::generate;
use crate::invariant::Invariant;
use crate::minimize::Budget;
use crate::subject::{Profile, Subject};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What a test asks of a subject. The defaults are those of `callpair verify`: 2,000 cases, but a fixed seed, so that a test
/// that passed passes again.
///
/// ```
/// use callpair::subject::{Capabilities, Stateless};
/// use callpair::verify::Suite;
///
/// // A projector that takes every output out, and every call with it; it forgets that messages survive.
/// let forgetful = || Stateless::new(Capabilities::stateless("mine"), |_history, _modalities| Vec::new());
/// let sentence = Suite::new().cases(200).check(forgetful).unwrap_err();
/// assert!(sentence.contains("order/others-survive"), "{sentence}");
/// ```
#[derive(Debug, Clone)]
pub struct Suite {
    cases: u64,
    seed: Seed,
    profile: Option<Profile>,
    own: Vec<Invariant>,
    regressions: Option<PathBuf>,
}

impl Default for Suite {
    fn default() -> Suite {
        Suite::new()
    }
}

impl Suite {
    /// The defaults.
    pub fn new() -> Suite {
        Suite { cases: 2000, seed: Seed(7), profile: None, own: Vec::new(), regressions: None }
    }

    /// How many cases.
    #[must_use]
    pub fn cases(mut self, cases: u64) -> Suite {
        self.cases = cases;
        self
    }

    /// Which cases.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Suite {
        self.seed = seed;
        self
    }

    /// By which profile; without it by the one that the subject asks for.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Suite {
        self.profile = Some(profile);
        self
    }

    /// Asks an invariant of one's own too.
    #[must_use]
    pub fn with(mut self, own: Invariant) -> Suite {
        self.own.push(own);
        self
    }

    /// A folder of saved cases: replayed first, and the smallest case of every failure is put there.
    #[must_use]
    pub fn regressions(mut self, folder: impl Into<PathBuf>) -> Suite {
        self.regressions = Some(folder.into());
        self
    }

    /// Runs the suite; the outcome, or all that is broken in words: the invariant, how, the smallest case, and where it was
    /// saved.
    ///
    /// # Errors
    /// Where anything is broken, or the cases do not reach every corner, or a saved case cannot be read.
    pub fn check<S: Subject + 'static>(&self, make: impl Fn() -> S + Sync) -> Result<Outcome, String> {
        let capabilities = make().capabilities();
        let profile = self.profile.unwrap_or(capabilities.profile);
        let judge =
            self.own.iter().fold(Judge::new(profile, capabilities.clone()), |judge, own| judge.with(*own));
        let store = self.regressions.as_ref().map(Store::new);
        let saved = store.as_ref().map(Store::load).transpose().map_err(|error| error.to_string())?;
        let saved = saved.unwrap_or_default().into_iter();
        let never = AtomicBool::new(false);
        let options = Options {
            judge,
            generate: generate::Options { profile, ..generate::Options::for_subject(capabilities) },
            amount: Amount::Cases(self.cases),
            seed: self.seed,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            shard: Shard::WHOLE,
            fail_fast: false,
            known: Vec::new(),
            regressions: saved.map(|(path, saved)| (path.display().to_string(), saved.case)).collect(),
            twice: 0,
            budget: Budget::default(),
            interrupted: &never,
            progress: &|_| {},
            observe: None,
        };
        let outcome = run(&|| Ok(Box::new(make())), &options).map_err(|failure| failure.to_string())?;
        if outcome.verdict == Verdict::Pass {
            return Ok(outcome);
        }
        Err(in_words(&outcome, store.as_ref()))
    }

    /// Runs the suite in a test.
    ///
    /// # Panics
    /// Once, with all that is broken, where [`check`](Self::check) gives an error.
    #[expect(clippy::panic, reason = "this is how a test fails")]
    pub fn assert<S: Subject + 'static>(&self, make: impl Fn() -> S + Sync) {
        if let Err(sentence) = self.check(make) {
            panic!("{sentence}");
        }
    }
}

fn in_words(outcome: &Outcome, store: Option<&Store>) -> String {
    let mut words =
        format!("{}: {} by profile {}\n", outcome.verdict.as_str(), outcome.subject.name, outcome.profile);
    for violation in &outcome.violations {
        let case = violation.saved(&outcome.subject.name, outcome.profile);
        let saved = match store.map(|store| store.save(&case)) {
            None => format!("seed {}, case {}", outcome.seed, violation.case_number),
            Some(Ok(path)) => format!("saved as {}, and replayed from now on", path.display()),
            Some(Err(error)) => format!("the case could not be saved: {error}"),
        };
        // Writing to a string does not fail.
        let _ = write!(
            words,
            "\n{}: {}\n  the smallest case: {}\n  {saved}\n",
            violation.invariant,
            violation.message,
            violation.case.to_json()
        );
    }
    for label in
        outcome.labels.iter().filter(|label| outcome.violations.is_empty() && label.is_low(outcome.cases))
    {
        let _ = writeln!(words, "too few cases with: {}", label.label.as_str());
    }
    words
}
