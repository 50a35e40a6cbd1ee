//! `callpair faults`

use super::cases::{Stop, exit};
use super::signals::{interrupted, watch_signals};
use super::whole_file::write_whole;
use super::{Exit, output, progress};
use crate::case::{Failure, FailureKind};
use crate::fault::{Bank, Slip};
use crate::report::matrix::{write_html, write_human, write_json};
use crate::report::progress::of_matrix;
use crate::subject::{Subject, serve};
use crate::verify::{Matrix, MatrixOptions, matrix};
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
  2  the command is unusable
  3  a fault that takes its process down could not be started
  130  interrupted before every fault was tried")]
pub(super) struct Args {
    /// How many cases each fault gets
    #[arg(long, default_value_t = Wanted::default().cases, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// The seed of the cases, a whole number
    #[arg(long, default_value_t = Wanted::default().seed)]
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
    /// Also write a page that a browser shows without a network: the grid, and the smallest cases
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Human,
    Json,
}

/// Which matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) cases: u64,
    pub(super) seed: u64,
    pub(super) jobs: usize,
}

impl Default for Wanted {
    fn default() -> Wanted {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Wanted { cases: 1000, seed: 7, jobs }
    }
}

/// Makes the matrix, with a line on the terminal meanwhile; `None` where it was interrupted.
pub(super) fn matrix_of(wanted: &Wanted) -> Result<Option<Matrix>, Failure> {
    let made = matrix(&MatrixOptions {
        limit: wanted.cases,
        seed: wanted.seed,
        jobs: wanted.jobs,
        children: Some(&child),
        interrupted: interrupted(),
        progress: &|progress| progress::show(&of_matrix(progress)),
    });
    progress::clear();
    made
}

pub(super) fn run(args: &Args) -> Exit {
    watch_signals();
    exit(faults(args))
}

fn faults(args: &Args) -> Result<Exit, Stop> {
    let jobs = args.jobs.map_or(Wanted::default().jobs, usize::from);
    let wanted = Wanted { cases: args.cases, seed: args.seed, jobs };
    let Some(matrix) = matrix_of(&wanted)? else {
        output::remark(
            "faults",
            "interrupted before every fault was tried: that would say nothing of the invariants",
        );
        return Ok(Exit::Interrupted);
    };
    if let Some(path) = &args.json {
        write_whole(path, |out| write_json(out, &matrix))
            .map_err(|error| Stop::cannot_write(path, &error))?;
    }
    if let Some(path) = &args.html {
        write_whole(path, |out| write_html(out, &matrix))
            .map_err(|error| Stop::cannot_write(path, &error))?;
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
    Ok(output::after_writing(written, if holds { Exit::Holds } else { Exit::Found }))
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
            output::complain_of(
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
