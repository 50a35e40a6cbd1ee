//! What a subject answered to a script.

use super::script::{Items, Step};
use std::fmt;

/// What a projection answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projected {
    /// The items of the request.
    pub items: Items,
    /// The caller's history as it stands after the call, where the subject tells it.
    pub history_after: Option<Items>,
    /// The items as the subject wrote them, where it wrote them: compared between answers of one subject only.
    pub text: Option<String>,
}

impl Projected {
    /// An answer of a subject within the process.
    pub fn of_items(items: Items) -> Projected {
        Projected { items, history_after: None, text: None }
    }
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was done; there is nothing to answer.
    Done,
    /// The request input.
    Projected(Projected),
    /// The live history.
    Snapshot(Items),
    /// It failed; the steps after it were not run.
    Failed(Failure),
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What a person needs to know: exit status, signal, the tail of stderr, the offending line.
    pub message: String,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The subject declined the history on purpose.
    Refused,
    /// The subject answered with an error, panicked, exited or was killed.
    Crashed,
    /// No answer within the time limit.
    Hung,
    /// The answer is not one: not of the protocol, or items that are none.
    Protocol,
    /// A method that the subject promised is not there.
    MethodMissing,
    /// Of two subjects that are compared, the other one answered something else.
    Differs,
}

impl FailureKind {
    /// The word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::Refused => "refused",
            FailureKind::Crashed => "crashed",
            FailureKind::Hung => "hung",
            FailureKind::Protocol => "protocol violation",
            FailureKind::MethodMissing => "method missing",
            FailureKind::Differs => "differs",
        }
    }
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

impl std::error::Error for Failure {}

/// A script and what came of each of its steps; fewer outcomes than steps where one failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What was done.
    pub script: Vec<Step>,
    /// What came of it, step for step.
    pub outcomes: Vec<Outcome>,
}

impl Trace {
    /// The failure that ended the trace, if one did.
    pub fn failure(&self) -> Option<&Failure> {
        match self.outcomes.last() {
            Some(Outcome::Failed(failure)) => Some(failure),
            _ => None,
        }
    }

    /// Steps with their outcomes.
    pub fn iter(&self) -> impl Iterator<Item = (&Step, &Outcome)> {
        self.script.iter().zip(&self.outcomes)
    }

    /// The answer of the last projection, if the trace came that far.
    pub fn last_projected(&self) -> Option<&Projected> {
        self.outcomes.iter().rev().find_map(|outcome| match outcome {
            Outcome::Projected(projected) => Some(projected),
            _ => None,
        })
    }

    /// The answer of the last snapshot, if the trace came that far.
    pub fn last_snapshot(&self) -> Option<&Items> {
        self.outcomes.iter().rev().find_map(|outcome| match outcome {
            Outcome::Snapshot(items) => Some(items),
            _ => None,
        })
    }
}
