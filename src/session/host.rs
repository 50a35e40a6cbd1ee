//! What a session needs of its surroundings and must not take for itself: time, ids, waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time, ids and waiting. Is called with the state locked, so it must not call its session.
pub trait Host: Send + Sync {
    /// Now, as it is written before a line of the rollout (RFC 3339).
    fn timestamp(&self) -> String;

    /// An id that no other thread or turn has: a UUID.
    fn new_id(&self) -> String;

    /// Time since any fixed moment.
    fn elapsed(&self) -> Duration;

    /// Waits before a retry. May stray from the time by a tenth, so that clients do not all come at once.
    fn pause(&self, time: Duration);
}

/// A host without a clock: times and ids are counted, waiting takes no time. The same steps give the same file, byte for
/// byte.
#[derive(Debug, Default)]
pub struct CountingHost {
    ticks: AtomicU64,
    ids: AtomicU64,
    paused_ms: AtomicU64,
}

impl CountingHost {
    /// A host whose ids begin behind `first_id`, for a second process that must not repeat those of the first.
    pub fn starting_at(first_id: u64) -> CountingHost {
        CountingHost { ids: AtomicU64::new(first_id), ..CountingHost::default() }
    }

    /// How long was waited in all, in milliseconds.
    pub fn paused_ms(&self) -> u64 {
        self.paused_ms.load(Ordering::Relaxed)
    }
}

impl Host for CountingHost {
    fn timestamp(&self) -> String {
        let ms = self.ticks.fetch_add(1, Ordering::Relaxed);
        let (hours, minutes) = (ms / 3_600_000 % 24, ms / 60_000 % 60);
        format!("2026-01-01T{hours:02}:{minutes:02}:{:02}.{:03}Z", ms / 1000 % 60, ms % 1000)
    }

    fn new_id(&self) -> String {
        let n = self.ids.fetch_add(1, Ordering::Relaxed);
        format!("00000000-0000-7000-8000-{n:012x}")
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.ticks.load(Ordering::Relaxed))
    }

    fn pause(&self, time: Duration) {
        self.paused_ms.fetch_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
