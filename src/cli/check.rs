//! `callpair check`

use super::input::{self, HistoryArgs, InputError, Named};
use super::{Exit, output};
use crate::check;
use crate::report::check::{Format, Reporter, Summary, reporter};
use clap::ValueEnum;
use std::io;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  callpair check session.jsonl
  callpair check ~/.codex/sessions --format sarif > findings.sarif
  callpair check request.json --modalities text
  curl -s https://example.org/session.jsonl | callpair check -

Exit status:
  0  nothing of severity error was found (warnings and notes do not fail)
  1  errors were found
  2  the command or one of the paths was unusable, whatever was found in the others

The shape of --format json (`line` counts from 1, `index` from 0; fields may be added):
  {\"schema\":\"callpair.check/1\",
   \"files\":[{\"path\",\"kind\",\"items\",\"notes\":[…],
     \"findings\":[{\"rule\",\"severity\",\"line\",\"pointer\",\"index\",\"call_id\",
       \"message\",\"next\",\"repair\":{\"action\",\"after\",\"index\",\"item\"}}]}],
   \"unusable\":[{\"path\",\"message\"}],
   \"summary\":{\"files\",\"findings\",\"errors\",\"warnings\",\"notes\",\"unusable\"}}";

/// Says what is wrong with recorded sessions and request bodies, where, and what the projection will do
///
/// A file is told by its content: a Codex rollout (plain or Zstandard), a JSON array of items, a request body, or items one a
/// line. A folder is searched for *.jsonl, *.jsonl.zst and *.json; what is no history there is passed over.
///
/// Nothing that a user wrote is shown unless --show-content is given: kinds, ids and sizes only.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Files or folders; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    history: HistoryArgs,
    /// How the result is written
    #[arg(long, value_enum, default_value = "human")]
    format: FormatArg,
    /// Show the items that findings are about, user content included
    #[arg(long)]
    show_content: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Human,
    Json,
    Sarif,
    Junit,
}

pub(super) fn run(args: &Args) -> Exit {
    let show = args.show_content;
    let mut reporter = match args.format {
        FormatArg::Human => reporter(Format::Human, output::for_people(), show),
        FormatArg::Json => reporter(Format::Json, output::for_programs(), show),
        FormatArg::Sarif => reporter(Format::Sarif, output::for_programs(), show),
        FormatArg::Junit => reporter(Format::Junit, output::for_programs(), show),
    };
    let mut summary = Summary::default();
    let written = check_all(args, &mut *reporter, &mut summary);
    let exit = match (summary.unusable, summary.findings.errors) {
        (0, 0) => Exit::Holds,
        (0, _) => Exit::Found,
        (_, _) => Exit::Unusable,
    };
    output::after_writing(written, exit)
}

fn check_all(args: &Args, reporter: &mut dyn Reporter, summary: &mut Summary) -> io::Result<()> {
    let settings = args.history.settings();
    let mut passed_over = 0;
    for named in input::expand(&args.paths) {
        let refused = match named {
            Err(refused) => refused,
            Ok(Named { path, searched }) => match input::read(&path, args.history.dialect) {
                Ok(source) => {
                    let checked = check::check(source, settings);
                    summary.add(&checked);
                    reporter.file(&path.to_string_lossy(), &checked)?;
                    continue;
                }
                Err(InputError::Source(error)) if searched && error.is_no_history() => {
                    passed_over += 1;
                    output::remark(&path.to_string_lossy(), &format!("passed over: it {error}"));
                    continue;
                }
                Err(error) => (path, error.to_string()),
            },
        };
        unusable(&refused.0.to_string_lossy(), &refused.1, reporter, summary)?;
    }
    if summary.files == 0 && summary.unusable == 0 && passed_over > 0 {
        unusable("these folders", "hold no history: all files were passed over", reporter, summary)?;
    }
    reporter.end(summary)
}

fn unusable(path: &str, why: &str, reporter: &mut dyn Reporter, summary: &mut Summary) -> io::Result<()> {
    summary.unusable += 1;
    output::complain(path, why);
    reporter.unusable(path, why)
}
