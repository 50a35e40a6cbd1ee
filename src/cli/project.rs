//! `callpair project`

use super::input::{self, HistoryArgs};
use super::{Exit, output};
use crate::check;
use crate::report::EscapeControls;
use crate::report::project::{write_diff, write_input};
use clap::ValueEnum;
use std::path::PathBuf;

/// Shows the request input that a history becomes
///
/// Of a Codex rollout the history is reconstructed as on a resume: long tool outputs are cut, and pictures that can never be
/// sent are replaced. All else is taken as it stands.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair project session.jsonl
  callpair project session.jsonl --format json > input.json
  callpair project session.jsonl --modalities text --tool-output-limit bytes:10000

Exit status:
  0  the input was written
  2  the command or the file was unusable, or the program would not resume it")]
pub(super) struct Args {
    /// A Codex rollout, an array of items, a request body, or items one a line; `-` is standard input
    file: PathBuf,
    #[command(flatten)]
    history: HistoryArgs,
    /// diff: what was inserted, removed and replaced, and why; json: the array that is sent; jsonl: the same, one item a line
    #[arg(long, value_enum, default_value = "diff")]
    format: FormatArg,
    /// Show the items in the diff, user content included (json and jsonl are the content)
    #[arg(long)]
    show_content: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Diff,
    Json,
    Jsonl,
}

pub(super) fn run(args: &Args) -> Exit {
    let path = args.file.to_string_lossy();
    let source = match input::read(&args.file, args.history.dialect) {
        Ok(source) => source,
        Err(error) => {
            output::complain(&path, &error.to_string());
            return Exit::Unusable;
        }
    };
    let settings = args.history.settings();
    let checked = check::check(source, settings);
    if let Some(refusal) = checked.refusal() {
        let line = refusal.place.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        output::complain(&path, &format!("{line}{}; `callpair check` reads on", refusal.message));
        return Exit::Unusable;
    }
    let brackets = args.format == FormatArg::Json;
    let projection = checked.projection();
    let written = match args.format {
        FormatArg::Diff => write_diff(&mut output::for_people(), &path, &checked, args.show_content),
        // A terminal would obey what stands in the texts; a program gets the bytes as the program sends them.
        FormatArg::Json | FormatArg::Jsonl if output::is_terminal() => {
            write_input(&mut EscapeControls::new(output::for_programs()), projection, brackets)
        }
        FormatArg::Json | FormatArg::Jsonl => write_input(&mut output::for_programs(), projection, brackets),
    };
    output::after_writing(written, Exit::Holds)
}
