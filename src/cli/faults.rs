//! `callpair faults`

use super::verify::{watch_signals, write_whole};
use super::{Exit, output};
use crate::case::{Failure, FailureKind};
use crate::fault::{Bank, Slip};
use crate::report::matrix::{write_human, write_json};
use crate::subject::{Subject, serve};
use crate::verify::matrix;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;

/// Shows which planted fault is caught by which invariant, after how many cases, and how small the smallest case is
///
/// A check that was never seen to fail proves nothing: every fault must be caught, by the laws alone too, and every invariant
/// must be needed by some fault.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair faults
  callpair faults --cases 200 --jobs 2 --format json > matrix.json

Exit status:
  0  every fault is caught by a law, and every invariant is needed
  1  a fault is not caught, or an invariant is not needed
  2  the command is unusable")]
pub(super) struct Args {
    /// How many cases each fault gets
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// The seed of the cases, a whole number
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Threads; all cores without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// How the result is written
    #[arg(long, value_enum, default_value = "human")]
    format: FormatArg,
    /// Also write the JSON to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Human,
    Json,
}

pub(super) fn run(args: &Args) -> Exit {
    watch_signals();
    let jobs =
        args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let matrix = match matrix(args.cases, args.seed, jobs, Some(&child)) {
        Ok(matrix) => matrix,
        Err(failure) => {
            output::complain("faults", &failure.to_string());
            return Exit::Unusable;
        }
    };
    if let Some(path) = &args.json
        && let Err(error) = write_whole(path, |out| write_json(out, &matrix))
    {
        output::complain(&path.to_string_lossy(), &format!("cannot be written: {error}"));
        return Exit::Unusable;
    }
    let holds = matrix.uncaught().is_empty() && matrix.unneeded().is_empty();
    let written = match args.format {
        FormatArg::Human => {
            let mut out = output::for_people();
            write_human(&mut out, &matrix).and_then(|()| out.flush())
        }
        FormatArg::Json => {
            let mut out = output::for_programs();
            write_json(&mut out, &matrix).and_then(|()| out.flush())
        }
    };
    output::after_writing(written, if holds { Exit::Holds } else { Exit::Found })
}

/// A fault that takes its process down, in a process of its own: this program, serving the bank.
#[cfg(unix)]
fn child(slip: Slip) -> Result<Box<dyn Subject>, Failure> {
    use crate::subject::stdio::{Options, Stdio};
    use std::time::Duration;
    let failed = |why: String| Failure::new(FailureKind::Crashed, why);
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let argv = vec![program.to_string_lossy().into_owned(), "serve-fault".to_owned(), slip.id().to_owned()];
    let options = Options { timeout: Duration::from_millis(300), ..Options::default() };
    Stdio::start_argv(argv, options)
        .map(|subject| Box::new(subject) as Box<dyn Subject>)
        .map_err(|error| failed(error.to_string()))
}

#[cfg(not(unix))]
fn child(slip: Slip) -> Result<Box<dyn Subject>, Failure> {
    Err(Failure::new(
        FailureKind::Crashed,
        format!("{} needs a child process, and those are driven on Unix only", slip.id()),
    ))
}

/// Serves the bank with a planted fault over stdin and stdout (docs/protocol.md): a wrong subject to try a harness on
#[derive(Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// The fault; none for the honest bank
    fault: Option<String>,
}

pub(super) fn serve_fault(args: &ServeArgs) -> Exit {
    let slip = match args.fault.as_deref().map(|id| (id, Slip::from_id(id))) {
        None => None,
        Some((_, Some(slip))) => Some(slip),
        Some((id, None)) => {
            output::complain(
                "serve-fault",
                &format!(
                    "no such fault: {:?}; `callpair explain` lists them",
                    id.chars().take(60).collect::<String>()
                ),
            );
            return Exit::Unusable;
        }
    };
    let served = serve(&mut Bank::new(slip), io::stdin().lock(), io::stdout().lock());
    output::after_writing(served, Exit::Holds)
}
