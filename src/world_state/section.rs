//! What a section of the world state is, and what was known of it before.

use super::{Fragment, FragmentRole};
use crate::item::{ContentPart, ItemList, ResponseItem};
use crate::json::Json;
use std::fmt::Debug;

/// What is kept of a section for later comparison.
pub trait SectionSnapshot: Sized {
    /// The snapshot as it is written. What is null in it is left out of the file.
    fn to_json(&self) -> Json;

    /// Reads what [`to_json`](Self::to_json) wrote; `None` where it does not load, as from another version.
    fn from_json(json: &Json) -> Option<Self>;
}

/// `true` or `false`.
impl SectionSnapshot for bool {
    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }

    fn from_json(json: &Json) -> Option<bool> {
        match json {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

/// What was known of a section before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Previous<'a, S> {
    /// Nothing: no snapshot that loads, no text of it in the history.
    Absent,
    /// The history holds a text of it, but there is no snapshot that loads.
    Unknown,
    /// This.
    Known(&'a S),
}

/// A typed part of the world state. Built-in ones are in this room; extensions contribute others.
pub trait Section: Debug + Send + Sync {
    /// What is kept of it.
    type Snapshot: SectionSnapshot;

    /// The key of its snapshot; must never change.
    fn id(&self) -> &str;

    /// What is kept of it now.
    fn snapshot(&self) -> Self::Snapshot;

    /// What the model is to be told, given what was known before. `None` where nothing need be said.
    fn render(&self, previous: Previous<'_, Self::Snapshot>) -> Option<Fragment>;

    /// Whether a text of the history is one that this section rendered.
    fn rendered(&self, role: FragmentRole, text: &str) -> bool;
}

/// A section whose type is forgotten.
pub(super) trait AnySection: Debug + Send + Sync {
    fn section_id(&self) -> &str;
    fn snapshot_json(&self) -> Json;
    fn render_whole(&self) -> Option<Fragment>;
    fn render_since(&self, previous: Option<&Json>, retained: &ItemList) -> Option<Fragment>;
}

impl<T: Section> AnySection for T {
    fn section_id(&self) -> &str {
        self.id()
    }

    fn snapshot_json(&self) -> Json {
        self.snapshot().to_json()
    }

    fn render_whole(&self) -> Option<Fragment> {
        self.render(Previous::Absent)
    }

    fn render_since(&self, previous: Option<&Json>, retained: &ItemList) -> Option<Fragment> {
        match previous.and_then(T::Snapshot::from_json) {
            Some(snapshot) => self.render(Previous::Known(&snapshot)),
            None if retained.iter().any(|item| holds_text_of(self, item)) => self.render(Previous::Unknown),
            None => self.render(Previous::Absent),
        }
    }
}

fn holds_text_of(section: &impl Section, item: &ResponseItem) -> bool {
    let ResponseItem::Message(message) = item else { return false };
    let role = match message.role.as_str() {
        "developer" => FragmentRole::Developer,
        "user" => FragmentRole::User,
        _ => return false,
    };
    message.content.iter().any(|part| match part {
        ContentPart::InputText(text) | ContentPart::OutputText(text) => section.rendered(role, &text.text),
        ContentPart::InputImage(_) => false,
    })
}
