//! The one signal that ends a turn from outside.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Why a turn was broken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbortReason {
    /// The user stopped it. The model is told so.
    Interrupted,
    /// Something else takes its place, a compaction. The model is not told.
    Replaced,
}

impl AbortReason {
    /// The name in the rollout.
    pub fn as_str(self) -> &'static str {
        match self {
            AbortReason::Interrupted => "interrupted",
            AbortReason::Replaced => "replaced",
        }
    }
}

/// Shared between a turn, its transport and its tools. The first reason counts.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    shared: Arc<(Mutex<Option<AbortReason>>, Condvar)>,
}

impl Interrupt {
    /// Ends the turn.
    pub fn trigger(&self, reason: AbortReason) {
        self.reason_slot().get_or_insert(reason);
        self.shared.1.notify_all();
    }

    /// Why the turn is to end, once it is.
    pub fn reason(&self) -> Option<AbortReason> {
        *self.reason_slot()
    }

    /// Blocks until the turn is to end.
    pub fn wait(&self) -> AbortReason {
        let mut slot = self.reason_slot();
        loop {
            match *slot {
                Some(reason) => return reason,
                None => slot = self.shared.1.wait(slot).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn reason_slot(&self) -> MutexGuard<'_, Option<AbortReason>> {
        // One word: no panic can leave it half written.
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
