//! The hook for Rust projects: one call in an ordinary test runs the suite, and panics once.

use super::judge::Judge;
use super::outcome::{Outcome, Verdict, Violation};
use super::runner::{Amount, Options, Shard, run};
use super::seed::Seed;
use crate::case::{Case, SavedCase, Store};
use crate::generate::{self, OwnCases, Seeded};
use crate::invariant::{Invariant, by_id};
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
    cases_of_own: Option<OwnCases>,
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
        Suite {
            cases: 2000,
            seed: Seed(7),
            profile: None,
            own: Vec::new(),
            cases_of_own: None,
            regressions: None,
        }
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

    /// Draws cases by a generator of one's own, in place of this crate's. It may begin with a case of this crate's
    /// ([`generate::case`]) and change it; what it draws must be for the subject.
    ///
    /// ```
    /// # use callpair::{case::{Case, Step}, generate::{self, Draw}, item::Modalities};
    /// # use callpair::{subject::{Reference, Subject}, verify::Suite};
    /// let usual = generate::Options::for_subject(Reference::new().capabilities());
    /// // A session that is resumed at its end, always.
    /// let suite = Suite::new().cases(50).drawing(move |draw| {
    ///     let mut case = generate::case(draw, &usual);
    ///     case.steps.extend([Step::Resume, Step::Project(*draw.pick(&Modalities::ALL))]);
    ///     case
    /// });
    /// suite.assert(Reference::new);
    /// ```
    #[must_use]
    pub fn drawing(mut self, draw: impl Fn(&mut Seeded) -> Case + Send + Sync + 'static) -> Suite {
        self.cases_of_own = Some(OwnCases::new(draw));
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
            generate: generate::Options {
                profile,
                own: self.cases_of_own.clone(),
                ..generate::Options::for_subject(capabilities)
            },
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
        Err(self.in_words(&outcome, store.as_ref()))
    }

    /// Runs the suite in a test.
    ///
    /// # Panics
    /// Once, at the line of the test, with all that is broken, where [`check`](Self::check) gives an error.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is how a test fails")]
    pub fn assert<S: Subject + 'static>(&self, make: impl Fn() -> S + Sync) {
        if let Err(sentence) = self.check(make) {
            panic!("{sentence}");
        }
    }

    /// All that is broken.
    fn in_words(&self, outcome: &Outcome, store: Option<&Store>) -> String {
        let mut words = format!(
            "{}: {} by profile {}\n",
            outcome.verdict.as_str(),
            outcome.subject.name,
            outcome.profile
        );
        for violation in &outcome.violations {
            // Writing to a string does not fail, here and below.
            let _ = writeln!(words, "\n{}: {}", violation.invariant, violation.message);
            let own = self.own.iter().find(|own| own.id == violation.invariant);
            if let Some(invariant) = own.or_else(|| by_id(violation.invariant)) {
                let _ = writeln!(words, "  what must hold: {}", invariant.statement);
            }
            if let Some(note) = &violation.note {
                let _ = writeln!(words, "  {note}");
            }
            let smallest = SavedCase::bare(violation.case.clone()).to_json();
            let _ = writeln!(words, "  the smallest case: {smallest}");
            let _ = writeln!(words, "  {}", again(outcome, violation, store));
        }
        for label in outcome.low_labels().filter(|_| outcome.violations.is_empty()) {
            let _ = writeln!(words, "too few cases with: {}", label.label.as_str());
        }
        words
    }
}

/// How the case is run again.
fn again(outcome: &Outcome, violation: &Violation, store: Option<&Store>) -> String {
    match store.map(|store| store.save(&violation.saved(&outcome.subject.name, outcome.profile))) {
        None => format!(
            "to run it again: this test (seed {}, case {}); `Suite::regressions` names a folder that keeps it",
            outcome.seed, violation.case_number
        ),
        Some(Ok(path)) => {
            format!("saved as {}; every run of this test begins with it from now on", path.display())
        }
        Some(Err(error)) => format!("the case could not be saved: {error}"),
    }
}
