//! The command `callpair`.

use std::process::ExitCode;

fn main() -> ExitCode {
    callpair::cli::run()
}
