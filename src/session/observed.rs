//! Counts of what a session did, for those who check it.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often what was done since the session began in this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Observed {
    /// The live history was cloned.
    pub history_clones: u64,
    /// A clone was projected.
    pub projections: u64,
    /// Of these, those during which the lock of the state was not free. Another thread that holds it for a moment counts
    /// too, so this says something of one thread alone.
    pub projections_under_lock: u64,
    /// A prompt was encoded.
    pub encodings: u64,
    /// Bytes were sent.
    pub sends: u64,
}

/// The counters behind it.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) history_clones: AtomicU64,
    pub(super) projections: AtomicU64,
    pub(super) projections_under_lock: AtomicU64,
    pub(super) encodings: AtomicU64,
    pub(super) sends: AtomicU64,
}

impl Counters {
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Observed {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Observed {
            history_clones: of(&self.history_clones),
            projections: of(&self.projections),
            projections_under_lock: of(&self.projections_under_lock),
            encodings: of(&self.encodings),
            sends: of(&self.sends),
        }
    }
}
