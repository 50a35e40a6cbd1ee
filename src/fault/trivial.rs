//! Projectors that do nothing worth the name. They obey many a law all the same, and must fail.

use super::Bank;
use crate::case::{Failure, Items, Projected};
use crate::item::{ContentPart, Message, Modalities, ResponseItem, Text};
use crate::subject::{Capabilities, Subject};
use std::sync::Arc;

/// What a trivial projector returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trivial {
    /// Nothing: paired, without orphans, idempotent.
    Nothing,
    /// The history as it is: right wherever nothing is broken.
    Input,
    /// One and the same message.
    Constant,
    /// The history from the end.
    Reversed,
}

impl Trivial {
    /// All of them.
    pub const ALL: [Trivial; 4] = [Trivial::Nothing, Trivial::Input, Trivial::Constant, Trivial::Reversed];

    /// The stable name.
    pub fn id(self) -> &'static str {
        match self {
            Trivial::Nothing => "trivial/nothing",
            Trivial::Input => "trivial/input",
            Trivial::Constant => "trivial/constant",
            Trivial::Reversed => "trivial/reversed",
        }
    }

    /// A subject that projects in this way, with the honest session around it.
    pub fn projector(self) -> TrivialProjector {
        TrivialProjector { trivial: self, session: Bank::new(None) }
    }

    fn project(self, history: Items) -> Items {
        match self {
            Trivial::Nothing => Items::new(),
            Trivial::Input => history,
            Trivial::Constant => {
                let content = vec![ContentPart::InputText(Text { text: "hello".to_owned() })];
                let message = Message { id: None, role: "user".to_owned(), content, phase: None };
                vec![Arc::new(ResponseItem::Message(message))]
            }
            Trivial::Reversed => history.into_iter().rev().collect(),
        }
    }
}

/// A subject with an honest session and a trivial projection.
#[derive(Debug)]
pub struct TrivialProjector {
    trivial: Trivial,
    session: Bank,
}

impl Subject for TrivialProjector {
    fn capabilities(&self) -> Capabilities {
        Capabilities { name: self.trivial.id().to_owned(), ..self.session.capabilities() }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.session.reset()
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.session.record(items)
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.session.replace(items)
    }

    fn project(&mut self, _modalities: Modalities) -> Result<Projected, Failure> {
        let history = self.session.snapshot()?;
        Ok(Projected::of_items(self.trivial.project(history)))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        self.session.snapshot()
    }

    fn resume(&mut self) -> Result<(), Failure> {
        self.session.resume()
    }

    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        self.session.rollback(turns)
    }

    fn fork(&mut self) -> Result<(), Failure> {
        self.session.fork()
    }
}
