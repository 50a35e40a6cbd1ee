//! The result of a run of `verify` in every form.
//!
//! A case drawn by the generator holds nothing that a user wrote; one drawn from a recorded session does. The caller knows
//! which, and says by [`Settings::show_content`] whether cases may be shown whole.

mod compare;
mod failure;
mod html;
mod human;
mod json;
mod junit;
mod laws;
mod observe;
mod redact;

pub use html::write_html;
pub use human::{write_human, write_start};
pub use json::write_json;
pub use junit::write_junit;
pub use observe::{write_observe, write_observed};
pub use redact::message;

use super::text::{counted, plain_json};
use crate::projection::shown_up_to;
use crate::subject::{Capabilities, Profile};
use crate::verify::{Amount, Matrix, Seed, Shard};
use std::time::Duration;

/// What a run was asked for; shown before it starts, so that a run that never ends can be repeated too.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// The subject.
    pub subject: &'a Capabilities,
    /// The profile it is judged by.
    pub profile: Profile,
    /// The seed.
    pub seed: Seed,
    /// How much is judged.
    pub amount: Amount,
    /// The number of threads.
    pub jobs: usize,
    /// Which part of the run.
    pub shard: Shard,
    /// Where histories come from, in words: `arbitrary`, `well-formed`, `mutated from 12 recorded sessions`.
    pub histories: &'a str,
}

/// How a result is shown.
#[derive(Debug, Clone, Default)]
pub struct Settings<'a> {
    /// Whether cases may be shown whole: the user allowed it, or they hold nothing that a user wrote (all cases drawn by the
    /// generator). Without it kinds, ids and sizes are shown.
    pub show_content: bool,
    /// The command that replays each violation, in their order.
    pub replay: Vec<String>,
    /// The kill matrix, for HTML.
    pub matrix: Option<&'a Matrix>,
    /// When the run began, since 1970-01-01 UTC; it tells runs apart in the form that Tyche shows.
    pub run_start: Duration,
}

/// The longest name or version of a subject that is shown, in characters.
const NAME_CHARS: usize = 80;

/// `reference 0.1.0`: a subject says of itself what it likes.
fn subject_name(subject: &Capabilities) -> String {
    let name = shown_up_to(&subject.name, NAME_CHARS);
    if subject.version.is_empty() {
        name
    } else {
        format!("{name} {}", shown_up_to(&subject.version, NAME_CHARS))
    }
}

/// The longest JSON that stands in a line for a person, in bytes.
const JSON_BYTES: usize = 4000;

/// JSON as it is shown in a line: safe to print, and cut where it is too long to be read.
fn clipped_json(json: &str) -> String {
    if json.len() > JSON_BYTES {
        return format!("{} of JSON; --format json writes them", counted(json.len(), "byte"));
    }
    plain_json(json)
}
