//! The command `callpair`.

use std::process::ExitCode;

/// A run makes and drops small items by the million; see the manifest.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    callpair::cli::run()
}
