//! Signals that end a run: a flag is set, and everybody who waits looks at it.
//!
//! No handler runs code of ours. A subject in a group of its own gets no Ctrl-C from the terminal, so whoever waits for
//! one ends it: within a tick of `pipes`, less than 100 ms.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit status of a program that was ended by Ctrl-C, as shells have it.
const INTERRUPTED_STATUS: i32 = 130;

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on the first INT, TERM or HUP does not end this process but makes [`interrupted`] true; a second one ends it at
/// once, for somebody who cannot wait, and its subjects end with their standard input. To be called once, by a program; a
/// library leaves signals to the program that it is in.
///
/// HUP stays ignored where it was: a run under `nohup` goes on.
///
/// # Errors
/// Where the system refuses a handler.
pub fn watch() -> io::Result<()> {
    let flag = INTERRUPTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        // In this order: the first signal finds the flag down.
        signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED_STATUS, Arc::clone(flag))?;
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}

/// Whether a signal came that asks this process to end. Never true before [`watch`].
pub fn interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// The flag itself, for whoever is told to end by one.
pub fn flag() -> &'static AtomicBool {
    INTERRUPTED.get_or_init(Arc::default)
}

/// By the mask that Linux shows; elsewhere nothing is known to be ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
