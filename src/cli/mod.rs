//! The command: a file a subcommand, which reads its arguments, calls one function of the library, and prints.
//!
//! Nothing is decided here about histories. Stdout is the result, stderr what the user must know besides.

mod bench;
mod case;
mod cases;
mod check;
mod completions;
#[cfg(test)]
mod examples;
mod exit;
mod explain;
mod faults;
mod input;
mod man;
mod minimize;
mod output;
mod progress;
mod project;
mod replay;
mod signals;
mod subject;
mod verify;
mod whole_file;

pub use exit::Exit;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Verifies the projection from an agent's history to its next model request.
#[derive(Debug, Parser)]
#[command(version, about, after_help = exit::HELP, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(Box<verify::Args>),
    Check(check::Args),
    Project(project::Args),
    Minimize(Box<minimize::Args>),
    Replay(Box<replay::Args>),
    Faults(faults::Args),
    Explain(explain::Args),
    Case(case::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    ServeFault(faults::ServeArgs),
}

/// Runs the command with the arguments of the process.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // If even this cannot be written, there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { Exit::Unusable } else { Exit::Holds }.into();
        }
    };
    let exit = match cli.command {
        Command::Verify(args) => verify::run_command(&args),
        Command::Minimize(args) => minimize::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Case(args) => case::run(&args),
        Command::ServeFault(args) => faults::serve_fault(&args),
        Command::Check(args) => check::run(&args),
        Command::Project(args) => project::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    exit.into()
}
