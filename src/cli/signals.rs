//! What ends a command before it is done.

use std::sync::atomic::{AtomicBool, Ordering};

/// From now on a signal raises [`interrupted`], and ends nothing by itself.
#[cfg(unix)]
pub(super) fn watch_signals() {
    // Without them an interrupt ends the process as it always does, and subjects end with their standard input.
    let _ = crate::subject::stdio::signals::watch();
    let _ = crate::subject::stdio::adopt_orphans();
}

/// Elsewhere an interrupt ends the process as it always does.
#[cfg(not(unix))]
pub(super) fn watch_signals() {}

/// The flag that a signal raises.
#[cfg(unix)]
pub(super) fn interrupted() -> &'static AtomicBool {
    crate::subject::stdio::signals::flag()
}

/// The flag that nothing raises here.
#[cfg(not(unix))]
pub(super) fn interrupted() -> &'static AtomicBool {
    static NEVER: AtomicBool = AtomicBool::new(false);
    &NEVER
}

/// Whether a signal has asked this program to end.
pub(super) fn is_interrupted() -> bool {
    interrupted().load(Ordering::Relaxed)
}
