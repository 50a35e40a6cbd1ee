//! The catalogue of invariants: what must hold of a subject, one file a family.
//!
//! An invariant is a pure function over recorded traces. It never calls the subject: probing must not disturb. It returns
//! a [`Verdict`] and never panics. A law that needs further answers names the scripts that give them; the runner runs each
//! from an empty history.

mod agreement;
mod catalogue;
mod content;
mod contract;
mod durable;
mod identity;
mod image;
mod live;
mod metamorphic;
mod order;
mod orphan;
mod pairing;
mod position;
mod record;
mod robustness;
mod view;

pub use catalogue::{CATALOGUE, applicable, by_id, families, is_known_id, table};
pub use robustness::{AGAINST, ANSWERS, LEAKS_OVER_RESET, NOT_REFUSED, SAME_OVER_PROCESSES};
pub use view::{Alignment, Fate, Observed, Sighting, Standing};

use crate::case::{Step, Trace};
use crate::subject::{Capabilities, Profile};

/// What must hold of a subject.
#[derive(Debug, Clone, Copy)]
pub struct Invariant {
    /// `family/name`. Stable: it stands in reports, baselines and people's CI.
    pub id: &'static str,
    /// The sentence that it states.
    pub statement: &'static str,
    /// The law in symbols: H the live history, P the projection, R the durable record.
    pub law: &'static str,
    /// What goes wrong where it does not hold.
    pub why: &'static str,
    /// What a subject must be able to, for the invariant to be checked.
    pub needs: Needs,
    /// The profiles that it belongs to.
    pub profiles: &'static [Profile],
    /// Public reports of what it guards against: `owner/repo#number`.
    pub reports: &'static [&'static str],
    /// How it is checked.
    pub check: Check,
}

impl Invariant {
    /// The part of the id before the slash.
    pub fn family(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }
}

/// What a subject must be able to, for an invariant to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// To project.
    Nothing,
    /// To keep a live history of its own.
    Stateful,
    /// To cut long tool outputs.
    Truncation,
    /// To resume.
    Resume,
    /// To resume, and to prepare pictures on the way.
    Preparation,
    /// To roll back.
    Rollback,
    /// To fork.
    Fork,
    /// To project for text-only models.
    TextModel,
    /// To project for models that take pictures.
    ImageModel,
    /// Both of these.
    BothModels,
}

impl Needs {
    /// Whether a subject has what is needed.
    pub fn met_by(self, can: &Capabilities) -> bool {
        use crate::item::Modalities::{Text, TextAndImage};
        let takes = |modalities| can.modalities.contains(&modalities);
        match self {
            Needs::Nothing => true,
            Needs::Stateful => can.stateful,
            Needs::Truncation => can.stateful && can.truncation.is_some(),
            Needs::Resume => can.resume,
            Needs::Preparation => can.resume && can.prepares_pictures,
            Needs::Rollback => can.rollback,
            Needs::Fork => can.fork,
            Needs::TextModel => takes(Text),
            Needs::ImageModel => takes(TextAndImage),
            Needs::BothModels => takes(Text) && takes(TextAndImage),
        }
    }

    /// As a word in a table.
    pub fn as_str(self) -> &'static str {
        match self {
            Needs::Nothing => "project",
            Needs::Stateful => "stateful",
            Needs::Truncation => "truncation",
            Needs::Resume => "resume",
            Needs::Preparation => "resume with preparation of pictures",
            Needs::Rollback => "rollback",
            Needs::Fork => "fork",
            Needs::TextModel => "text-only model",
            Needs::ImageModel => "image model",
            Needs::BothModels => "both models",
        }
    }
}

/// How an invariant is checked.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// On every projection of the case's own trace.
    Projection(fn(&Sighting<'_>) -> Verdict),
    /// On the case's own trace as a whole.
    Trace(fn(&Observed<'_>) -> Verdict),
    /// On further scripts, made from what the case's own trace showed. No script: not applicable.
    Law {
        /// The scripts.
        scripts: fn(&Observed<'_>) -> Vec<Vec<Step>>,
        /// The judgement over their traces, in order. A trace that failed is judged elsewhere, and not given.
        judge: fn(&Observed<'_>, &[Trace]) -> Verdict,
    },
    /// By the runner itself: it concerns how the subject answers, not what.
    Runner,
}

/// What a check says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// There was something to check, and it holds.
    Holds,
    /// There was nothing to check.
    NotApplicable,
    /// It does not hold; the sentence says what is broken, by kinds, ids and places, without texts.
    Broken(String),
}

impl Verdict {
    /// Broken, with a sentence.
    pub(crate) fn broken(sentence: impl Into<String>) -> Verdict {
        Verdict::Broken(sentence.into())
    }

    /// Holds, or not applicable where there was nothing to check.
    pub(crate) fn holds_if_any(checked: usize) -> Verdict {
        if checked > 0 { Verdict::Holds } else { Verdict::NotApplicable }
    }
}

const BOTH: &[Profile] = &[Profile::Codex, Profile::Responses];
const CODEX: &[Profile] = &[Profile::Codex];
