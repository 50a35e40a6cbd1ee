//! What the fuzz targets do, as functions that ordinary tests call too.
//!
//! Knows no fuzzing engine: `fuzz/` hands the bytes over and panics with the sentence that comes back. A target takes any
//! bytes. Those of [`Target::takes_cases`] make a case of them ([`decode`]): choices of the generator, or a saved case, so
//! that regressions and recorded sessions can seed a corpus. [`mutated`] and [`spliced`] change such inputs as histories
//! and not as bytes.

mod edits;
mod input;
mod json;
mod judged;
mod mutate;
mod rollout;

pub use input::{InputError, MOST_ITEMS, MOST_STEPS, decode, encode};
pub use json::json;
pub use judged::{
    Broken, CANARY, SECOND_IMPLEMENTATION, broken, broken_by, canary, fault, judged_on, normalizer, script,
};
pub use mutate::{mutated, spliced};
pub use rollout::rollout;

use std::fmt;
use std::str::FromStr;

/// A fuzz target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// [`normalizer`]
    Normalizer,
    /// [`script`]
    Script,
    /// [`rollout`]
    Rollout,
    /// [`json`]
    Json,
    /// [`canary`]
    Canary,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 5] =
        [Target::Normalizer, Target::Script, Target::Rollout, Target::Json, Target::Canary];

    /// The name: of its program in `fuzz/`, and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Target::Normalizer => "normalizer",
            Target::Script => "script",
            Target::Rollout => "rollout",
            Target::Json => "json",
            Target::Canary => "canary",
        }
    }

    /// Whether its inputs are cases; the others take the bytes as a file.
    pub fn takes_cases(self) -> bool {
        match self {
            Target::Normalizer | Target::Script | Target::Canary => true,
            Target::Rollout | Target::Json => false,
        }
    }

    /// Runs the target on an input.
    ///
    /// # Errors
    /// The sentence that says what is broken.
    ///
    /// ```
    /// # use callpair::fuzzing::Target;
    /// let input = b"whatever a fuzzer comes up with";
    /// assert_eq!(Target::Script.run(input), Ok(()));
    /// ```
    pub fn run(self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Target::Normalizer => normalizer(bytes),
            Target::Script => script(bytes),
            Target::Rollout => rollout(bytes),
            Target::Json => json(bytes),
            Target::Canary => canary(bytes),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not the name of a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such fuzz target; known are normalizer, script, rollout, json and canary")]
pub struct UnknownTarget;

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Target, UnknownTarget> {
        Target::ALL.into_iter().find(|target| target.as_str() == name).ok_or(UnknownTarget)
    }
}
