//! `callpair completions`

use super::{Cli, Exit, output};
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;

/// Writes the completions of a shell to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair completions bash > ~/.local/share/bash-completion/completions/callpair
  callpair completions zsh > ~/.zfunc/_callpair
  callpair completions fish > ~/.config/fish/completions/callpair.fish

Exit status:
  0  they were written
  2  there is no such shell")]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Exit {
    // The generator panics where its output cannot be written; memory always can.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "callpair", &mut script);
    let mut out = output::for_programs();
    output::after_writing(out.write_all(&script).and_then(|()| out.flush()), Exit::Holds)
}
