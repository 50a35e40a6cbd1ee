//! A piece of text for the model, and how pieces become messages.

use crate::item::{ContentPart, Message, ResponseItem, Text};
use std::borrow::Cow;

/// As whom a fragment speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FragmentRole {
    /// `developer`
    Developer,
    /// `user`
    User,
}

impl FragmentRole {
    /// The role of the message.
    pub fn as_str(self) -> &'static str {
        match self {
            FragmentRole::Developer => "developer",
            FragmentRole::User => "user",
        }
    }
}

/// The texts between which a fragment stands; by them it is known again in a retained history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Markers {
    /// How the text begins.
    pub start: Cow<'static, str>,
    /// How it ends.
    pub end: Cow<'static, str>,
}

impl Markers {
    /// Markers that never change.
    pub const fn new(start: &'static str, end: &'static str) -> Markers {
        Markers { start: Cow::Borrowed(start), end: Cow::Borrowed(end) }
    }

    /// Whether a text stands between these markers, blanks around it aside.
    pub fn enclose(&self, text: &str) -> bool {
        text.trim().strip_prefix(&*self.start).is_some_and(|rest| rest.ends_with(&*self.end))
    }
}

/// A piece of text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// As whom it speaks.
    pub role: FragmentRole,
    /// What stands around the body.
    pub markers: Markers,
    /// The text between the markers.
    pub body: String,
}

impl Fragment {
    /// The whole text, markers included.
    pub fn text(&self) -> String {
        [&*self.markers.start, &self.body, &*self.markers.end].concat()
    }
}

/// A message of `role` with one part for each text.
pub(crate) fn message(role: &str, texts: impl IntoIterator<Item = String>) -> ResponseItem {
    let part = |text| ContentPart::InputText(Text { text });
    let content = texts.into_iter().map(part).collect();
    ResponseItem::Message(Message { id: None, role: role.to_owned(), content, phase: None })
}

/// The steady path: fragments in order, neighbours of one role as parts of one message.
pub fn merge_contextual_fragments(fragments: &[Fragment]) -> Vec<ResponseItem> {
    fragments
        .chunk_by(|a, b| a.role == b.role)
        .filter_map(|run| Some(message(run.first()?.role.as_str(), run.iter().map(Fragment::text))))
        .collect()
}

/// The full path: one developer message with all developer texts, then one user message with all user texts. `lead` are
/// developer texts that stand before those of the fragments. A message without parts is left out.
pub fn group_by_role(lead: Vec<String>, fragments: &[Fragment]) -> Vec<ResponseItem> {
    let texts_of = |role| fragments.iter().filter(move |fragment| fragment.role == role).map(Fragment::text);
    let developer: Vec<String> = lead.into_iter().chain(texts_of(FragmentRole::Developer)).collect();
    let user: Vec<String> = texts_of(FragmentRole::User).collect();
    [(FragmentRole::Developer, developer), (FragmentRole::User, user)]
        .into_iter()
        .filter(|(_, texts)| !texts.is_empty())
        .map(|(role, texts)| message(role.as_str(), texts))
        .collect()
}
