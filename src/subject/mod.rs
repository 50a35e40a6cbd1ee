//! What is verified: anything that turns a history into a request input.

mod against;
mod capabilities;
#[cfg(all(unix, feature = "codex"))]
pub mod codex;
mod protocol;
mod reference;
mod serve;
#[cfg(unix)]
pub mod stdio;

pub use against::Against;
pub use capabilities::{Capabilities, Profile, UnknownProfile};
pub use reference::Reference;
pub use serve::serve;

use crate::case::{Failure, Items, Outcome, Projected, Step, Trace};
use crate::item::{Modalities, ResponseItem};
use std::sync::Arc;
use std::time::Duration;

/// A thing under test. The methods are the steps of a case; see PROTOCOL in `docs/protocol.md` for what each means.
///
/// A subject without a history of its own (a plain function) is made one by [`Stateless`].
pub trait Subject {
    /// What it is and can. Asked once.
    fn capabilities(&self) -> Capabilities;

    /// Empties the live history and the durable record.
    ///
    /// # Errors
    /// Any error of any method is a failure of the case that is being run, and never more than that.
    fn reset(&mut self) -> Result<(), Failure>;

    /// Appends items as the runtime would while a turn runs.
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure>;

    /// Makes the live history exactly these items, durably.
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure>;

    /// The request input that the live history becomes.
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure>;

    /// The live history.
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    fn snapshot(&mut self) -> Result<Items, Failure>;

    /// Drops all state in memory and rebuilds it from the durable record. Only called where [`Capabilities::resume`].
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    fn resume(&mut self) -> Result<(), Failure> {
        Err(Failure::new(crate::case::FailureKind::MethodMissing, "resume"))
    }

    /// Takes back the last user turns. Only called where [`Capabilities::rollback`].
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    fn rollback(&mut self, _turns: u32) -> Result<(), Failure> {
        Err(Failure::new(crate::case::FailureKind::MethodMissing, "rollback"))
    }

    /// Goes on in a fork of the session. Only called where [`Capabilities::fork`].
    ///
    /// # Errors
    /// As [`reset`](Self::reset).
    fn fork(&mut self) -> Result<(), Failure> {
        Err(Failure::new(crate::case::FailureKind::MethodMissing, "fork"))
    }

    /// Has it wait no longer than this for one answer from now on: a subject that is known to hang need not be waited for
    /// as long each time. Nothing to do for one within this process.
    fn hurry(&mut self, _timeout: Duration) {}

    /// Runs a script from an empty history: the outcome of each step, up to the first that fails. A subject behind a pipe
    /// sends all steps at once.
    fn run(&mut self, script: &[Step]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(script.len());
        if let Err(failure) = self.reset() {
            outcomes.push(Outcome::Failed(failure));
            return outcomes;
        }
        for step in script {
            let outcome = run_step(self, step).unwrap_or_else(Outcome::Failed);
            let failed = matches!(outcome, Outcome::Failed(_));
            outcomes.push(outcome);
            if failed {
                break;
            }
        }
        outcomes
    }

    /// Runs a script and keeps it with its outcomes.
    fn trace(&mut self, script: Vec<Step>) -> Trace {
        let outcomes = self.run(&script);
        Trace { script, outcomes }
    }
}

fn run_step<S: Subject + ?Sized>(subject: &mut S, step: &Step) -> Result<Outcome, Failure> {
    Ok(match step {
        Step::Record(items) => subject.record(items).map(|()| Outcome::Done)?,
        Step::Replace(items) => subject.replace(items).map(|()| Outcome::Done)?,
        Step::Project(modalities) => Outcome::Projected(subject.project(*modalities)?),
        Step::Snapshot => Outcome::Snapshot(subject.snapshot()?),
        Step::Resume => subject.resume().map(|()| Outcome::Done)?,
        Step::Rollback(turns) => subject.rollback(*turns).map(|()| Outcome::Done)?,
        Step::Fork => subject.fork().map(|()| Outcome::Done)?,
    })
}

/// A projector that is a plain function: the history is kept here, and installed as it is.
///
/// The function gets the history by exclusive reference, as runtimes that repair in place do; what it leaves there shows
/// as the live history.
///
/// ```
/// # use callpair::{item::Modalities, subject::{Capabilities, Stateless, Subject}};
/// let mut subject = Stateless::new(Capabilities::stateless("mine"), |history, _modalities| history.clone());
/// assert!(subject.project(Modalities::Text).unwrap().items.is_empty());
/// ```
#[derive(Debug)]
pub struct Stateless<F> {
    capabilities: Capabilities,
    history: Items,
    project: F,
}

impl<F: FnMut(&mut Items, Modalities) -> Items> Stateless<F> {
    /// A subject that projects by this function.
    pub fn new(capabilities: Capabilities, project: F) -> Stateless<F> {
        Stateless { capabilities, history: Items::new(), project }
    }
}

impl<F: FnMut(&mut Items, Modalities) -> Items> Subject for Stateless<F> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.history.clear();
        Ok(())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.history.extend_from_slice(items);
        Ok(())
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.history = items.to_vec();
        Ok(())
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        let items = (self.project)(&mut self.history, modalities);
        Ok(Projected::of_items(items))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        Ok(self.history.clone())
    }
}
