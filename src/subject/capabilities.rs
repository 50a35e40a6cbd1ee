//! What a subject is and can: it decides which steps and items are drawn and which invariants apply.

use crate::history::ToolOutputLimit;
use crate::item::{ItemKind, Modalities};
use std::fmt;
use std::str::FromStr;

/// By what measure a subject is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Profile {
    /// All invariants, and exact agreement with release rust-v0.144.6.
    Codex,
    /// What any projector for the Responses API owes.
    Responses,
}

impl Profile {
    /// All of them.
    pub const ALL: [Profile; 2] = [Profile::Codex, Profile::Responses];

    /// The name in reports: `codex-0.144.6`, `responses`.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Codex => "codex-0.144.6",
            Profile::Responses => "responses",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not the name of a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such profile: {0:?}; known are codex (codex-0.144.6) and responses")]
pub struct UnknownProfile(String);

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Profile, UnknownProfile> {
        match name {
            "codex" | "codex-0.144.6" => Ok(Profile::Codex),
            "responses" => Ok(Profile::Responses),
            other => Err(UnknownProfile(other.chars().take(40).collect())),
        }
    }
}

/// What a subject is and can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Its name, for reports.
    pub name: String,
    /// Its version, for reports.
    pub version: String,
    /// Whether it keeps a live history of its own. Otherwise items are installed as they are, so that only such are
    /// drawn as can stand in a request.
    pub stateful: bool,
    /// Whether it has a durable record to resume from.
    pub resume: bool,
    /// Whether it can take back turns.
    pub rollback: bool,
    /// Whether it can fork.
    pub fork: bool,
    /// What it accepts as the model's modalities.
    pub modalities: Vec<Modalities>,
    /// The kinds of items it knows; `None`: all.
    pub kinds: Option<Vec<ItemKind>>,
    /// Whether numbers come back digit for digit. Otherwise only integers within ±2^53 are drawn.
    pub exact_numbers: bool,
    /// The limit at which it cuts tool outputs while recording.
    pub truncation: Option<ToolOutputLimit>,
    /// Whether pictures that can never be sent are replaced when it resumes. Otherwise none are drawn.
    pub prepares_pictures: bool,
    /// Whether all that is seen of it is what a resume of its durable record gives, as of a program that is driven from
    /// outside: the pictures of its snapshots are prepared already, and a rollback is what the record makes of it.
    pub seen_by_resuming: bool,
    /// The profile that it asks to be judged by.
    pub profile: Profile,
}

impl Capabilities {
    /// A projector without state for the Responses API that takes all kinds and both modalities.
    pub fn stateless(name: &str) -> Capabilities {
        Capabilities {
            name: name.to_owned(),
            version: String::new(),
            stateful: false,
            resume: false,
            rollback: false,
            fork: false,
            modalities: Modalities::ALL.to_vec(),
            kinds: None,
            exact_numbers: true,
            truncation: None,
            prepares_pictures: false,
            seen_by_resuming: false,
            profile: Profile::Responses,
        }
    }

    /// Whether items of a kind may be drawn for it.
    pub fn knows(&self, kind: ItemKind) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }
}
