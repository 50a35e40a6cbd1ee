//! The clock of the benches.

use std::time::Duration;

/// How long this thread has been on the processor: what others do on the machine meanwhile does not count.
#[cfg(unix)]
pub(crate) fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The clock on the wall, counted from the first call.
#[cfg(not(unix))]
pub(crate) fn now() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}
