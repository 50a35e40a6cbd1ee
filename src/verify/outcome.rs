//! What a run found.

use super::seed::Seed;
use crate::case::{Case, SavedCase, Trace};
use crate::generate::labels::Label;
use crate::subject::{Capabilities, Profile};
use std::time::Duration;

/// From this many cases on labels are held against their floors.
pub const FLOORS_FROM: u64 = 1000;

/// The verdict of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All invariants held, and every label reached its floor.
    Pass,
    /// An invariant is broken, or an entry of the baseline no longer fails.
    Fail,
    /// All invariants held, but what was drawn does not reach every corner any more.
    Vacuous,
    /// All invariants held until the run was interrupted.
    Interrupted,
}

impl Verdict {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Vacuous => "vacuous",
            Verdict::Interrupted => "interrupted",
        }
    }
}

/// On how many cases an invariant was checked, and on how many it was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvariantCount {
    /// Which.
    pub id: &'static str,
    /// Cases on which there was something to check.
    pub checked: u64,
    /// Cases on which it was broken.
    pub violations: u64,
}

/// How many cases had a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelCount {
    /// Which.
    pub label: Label,
    /// How many.
    pub cases: u64,
    /// The share below which the run is vacuous, in per mille.
    pub floor: u32,
}

impl LabelCount {
    /// Whether the share is below the floor.
    pub fn is_low(&self, of_cases: u64) -> bool {
        self.cases * 1000 < u64::from(self.floor) * of_cases
    }
}

/// A broken invariant with the smallest case that breaks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: &'static str,
    /// How it is broken, by the smallest case.
    pub message: String,
    /// The smallest case.
    pub case: Case,
    /// The number of the case that was drawn, from 0; the lowest that breaks the invariant.
    pub case_number: u64,
    /// What the baseline says of it, where it is known.
    pub known: Option<String>,
    /// Whether the smallest case was only found within the budget, or the failure does not come every time.
    pub note: Option<String>,
    /// What a fresh subject made of the smallest case. None where it does not fail there (a leak over a reset).
    pub trace: Option<Trace>,
}

impl Violation {
    /// What the note of a saved case begins with; its name follows.
    pub(super) const SAVED_CASE: &str = "a saved case: ";

    /// The name of the saved case that still fails, where it was none of those drawn.
    pub fn saved_case(&self) -> Option<&str> {
        self.note.as_deref()?.strip_prefix(Violation::SAVED_CASE)
    }

    /// The case in its saved form.
    pub fn saved(&self, subject: &str, profile: Profile) -> SavedCase {
        SavedCase {
            subject: Some(subject.to_owned()),
            profile: Some(profile.as_str().to_owned()),
            invariant: Some(self.invariant.to_owned()),
            message: Some(self.message.clone()),
            case: self.case.clone(),
        }
    }
}

/// What a run found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The subject.
    pub subject: Capabilities,
    /// The profile.
    pub profile: Profile,
    /// The seed.
    pub seed: Seed,
    /// The cases that were judged.
    pub cases: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The verdict.
    pub verdict: Verdict,
    /// Each invariant that was asked.
    pub invariants: Vec<InvariantCount>,
    /// Each label that can occur.
    pub labels: Vec<LabelCount>,
    /// The violations, one an invariant, in the order of the catalogue.
    pub violations: Vec<Violation>,
    /// Baseline entries that no longer fail.
    pub stale: Vec<String>,
    /// Cases that the subject declined, where that is allowed.
    pub refused: u64,
    /// Whether it was interrupted before it came to its end.
    pub interrupted: bool,
}

impl Outcome {
    /// What the number of cases promises: with 95 % confidence nothing more common than one case in this many fails. (The
    /// rule of three.) 0 where no case was judged.
    pub fn promise(&self) -> u64 {
        self.cases.div_ceil(3)
    }

    /// Whether labels are held against their floors: a few cases cannot reach every corner.
    pub fn judges_floors(&self) -> bool {
        self.cases >= FLOORS_FROM
    }

    /// The labels that make the run vacuous.
    pub fn low_labels(&self) -> impl Iterator<Item = &LabelCount> {
        let judged = self.judges_floors();
        self.labels.iter().filter(move |label| judged && label.is_low(self.cases))
    }
}
