//! Two subjects in one: what the first answers is what counts, and a projection in which the second differs is a failure.

use super::{Capabilities, Subject};
use crate::case::{Failure, FailureKind, Items, Outcome, Projected, Step};
use crate::item::{Modalities, ResponseItem};
use crate::projection::summary;
use std::sync::Arc;
use std::time::Duration;

/// Compares a subject with another one: an old version with a new one, or one process with a second.
pub struct Against<S, T> {
    own: S,
    other: T,
    /// Whether the bytes must be the same too.
    bytes: bool,
}

impl<S: Subject, T: Subject> Against<S, T> {
    /// Compares the items of each projection, by value.
    pub fn new(own: S, other: T) -> Against<S, T> {
        Against { own, other, bytes: false }
    }

    /// Compares the bytes of each projection too: for two processes of one subject.
    pub fn byte_for_byte(own: S, other: T) -> Against<S, T> {
        Against { own, other, bytes: true }
    }

    /// What both can, named after the first.
    fn common(own: Capabilities, other: &Capabilities) -> Capabilities {
        let kinds = match (own.kinds, &other.kinds) {
            (Some(own), Some(other)) => Some(own.into_iter().filter(|kind| other.contains(kind)).collect()),
            (own, other) => own.or_else(|| other.clone()),
        };
        Capabilities {
            name: format!("{} against {}", own.name, other.name),
            stateful: own.stateful && other.stateful,
            resume: own.resume && other.resume,
            rollback: own.rollback && other.rollback,
            fork: own.fork && other.fork,
            modalities: own.modalities.into_iter().filter(|taken| other.modalities.contains(taken)).collect(),
            kinds,
            exact_numbers: own.exact_numbers && other.exact_numbers,
            prepares_pictures: own.prepares_pictures && other.prepares_pictures,
            ..own
        }
    }
}

/// How two answers to one projection differ, if they do.
fn difference(own: &Projected, other: &Projected, bytes: bool) -> Option<String> {
    let (ours, theirs) = (&own.items, &other.items);
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b);
    let at = at.or_else(|| (ours.len() != theirs.len()).then_some(ours.len().min(theirs.len())));
    if let Some(at) = at {
        let shown = |items: &Items| items.get(at).map_or_else(|| "nothing".to_owned(), |item| summary(item));
        return Some(format!("item {at} is {} in the one and {} in the other", shown(ours), shown(theirs)));
    }
    (bytes && own.text != other.text).then(|| "the items are equal and written with other bytes".to_owned())
}

impl<S: Subject, T: Subject> Subject for Against<S, T> {
    fn capabilities(&self) -> Capabilities {
        let own = self.own.capabilities();
        if self.bytes { own } else { Self::common(own, &self.other.capabilities()) }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.own.reset().and_then(|()| self.other.reset())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.own.record(items).and_then(|()| self.other.record(items))
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.own.replace(items).and_then(|()| self.other.replace(items))
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        let (own, other) = (self.own.project(modalities)?, self.other.project(modalities)?);
        match difference(&own, &other, self.bytes) {
            Some(difference) => Err(Failure::new(FailureKind::Differs, difference)),
            None => Ok(own),
        }
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        self.own.snapshot()
    }

    fn resume(&mut self) -> Result<(), Failure> {
        self.own.resume().and_then(|()| self.other.resume())
    }

    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        self.own.rollback(turns).and_then(|()| self.other.rollback(turns))
    }

    fn fork(&mut self) -> Result<(), Failure> {
        self.own.fork().and_then(|()| self.other.fork())
    }

    fn hurry(&mut self, timeout: Duration) {
        self.own.hurry(timeout);
        self.other.hurry(timeout);
    }

    /// Both run the whole script by themselves, so that each can send its steps at once.
    fn run(&mut self, script: &[Step]) -> Vec<Outcome> {
        let mut outcomes = self.own.run(script);
        let others = self.other.run(script);
        let differs = outcomes.iter().zip(&others).enumerate().find_map(|(at, pair)| match pair {
            (Outcome::Projected(own), Outcome::Projected(other)) => {
                Some((at, difference(own, other, self.bytes)?))
            }
            (own, Outcome::Failed(failure)) if !matches!(own, Outcome::Failed(_)) => {
                Some((at, format!("the other one failed: {failure}")))
            }
            _ => None,
        });
        if let Some((at, difference)) = differs {
            outcomes.truncate(at);
            outcomes.push(Outcome::Failed(Failure::new(FailureKind::Differs, difference)));
        }
        outcomes
    }
}

impl Subject for Box<dyn Subject> {
    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }

    fn reset(&mut self) -> Result<(), Failure> {
        (**self).reset()
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        (**self).record(items)
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        (**self).replace(items)
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        (**self).project(modalities)
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        (**self).snapshot()
    }

    fn resume(&mut self) -> Result<(), Failure> {
        (**self).resume()
    }

    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        (**self).rollback(turns)
    }

    fn fork(&mut self) -> Result<(), Failure> {
        (**self).fork()
    }

    fn hurry(&mut self, timeout: Duration) {
        (**self).hurry(timeout);
    }

    fn run(&mut self, script: &[Step]) -> Vec<Outcome> {
        (**self).run(script)
    }
}
