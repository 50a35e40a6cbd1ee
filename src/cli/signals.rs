//! What ends a command before it is done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// From now on a signal is noted, and ends nothing by itself.
#[cfg(unix)]
pub(super) fn watch_signals() {
    // Without them an interrupt ends the process as it always does, and subjects end with their standard input.
    let _ = crate::subject::stdio::signals::watch();
    let _ = crate::subject::stdio::adopt_orphans();
}

/// Elsewhere an interrupt ends the process as it always does.
#[cfg(not(unix))]
pub(super) fn watch_signals() {}

/// Runs something, and raises the flag when a signal comes meanwhile.
pub(super) fn while_watching<T>(interrupted: &AtomicBool, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                #[cfg(unix)]
                if crate::subject::stdio::signals::interrupted() {
                    interrupted.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let result = work();
        over.store(true, Ordering::Relaxed);
        result
    })
}
