//! The result of a run of `verify` in every form.
//!
//! A case drawn by the generator holds nothing that a user wrote; one drawn from a recorded session does. The caller knows
//! which, and says by [`Settings::show_content`] whether cases may be shown whole.

mod html;
mod human;
mod json;
mod junit;
mod observe;

pub use html::write_html;
pub use human::{write_human, write_start};
pub use json::write_json;
pub use junit::write_junit;
pub use observe::{Observed, write_observe, write_observed};

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
