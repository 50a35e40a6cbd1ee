//! What a driven program is given.

use std::time::Duration;

/// How the program is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodexOptions {
    /// How long one step of a case may take: a resume, a fork, a turn. Default: 30 s.
    pub timeout: Duration,
    /// How long the program may take to start. Default: 60 s.
    pub startup: Duration,
    /// How many cases are under way at a time in one process, from 1 to [`MAX_IN_FLIGHT`](Self::MAX_IN_FLIGHT). Default: 4.
    pub in_flight: usize,
}

impl CodexOptions {
    /// More cases at a time gain nothing; and what is written to the program at a time must fit its pipe.
    pub const MAX_IN_FLIGHT: usize = 16;

    /// The number of cases at a time, brought into its bounds.
    pub(super) fn window(&self) -> usize {
        self.in_flight.clamp(1, Self::MAX_IN_FLIGHT)
    }
}

impl Default for CodexOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), startup: Duration::from_secs(60), in_flight: 4 }
    }
}
