//! `callpair case`

use super::cases::{Stop, exit, read_bytes, read_case, write_case};
use super::{Exit, output};
use crate::case::SavedCase;
use crate::fuzzing::{self, Broken, InputError, Target};
use clap::Subcommand;
use std::io::Write;
use std::path::PathBuf;

/// Turns cases into inputs of the fuzz targets, and such inputs into cases
///
/// So regressions and recorded sessions can seed a corpus, and what fuzzing found becomes a case that everything else
/// replays and minimises. Both write user content.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair case encode proptest-regressions/lost-call.json --target script > fuzz/corpus/script/lost-call
  callpair case encode rollout.jsonl --target normalizer > fuzz/corpus/normalizer/session
  callpair case decode fuzz/artifacts/script/crash-0f3a --target script > found.json

Exit status:
  0  it was written
  2  the command or the file was unusable")]
pub(super) struct Args {
    #[command(subcommand)]
    direction: Direction,
}

#[derive(Debug, Subcommand)]
enum Direction {
    /// Writes a saved case, or the history of a session, as an input of a fuzz target
    #[command(after_help = ENCODE_HELP)]
    Encode(FileArgs),
    /// Writes the case that a fuzz target makes of an input; with the invariant that it breaks there, if any
    #[command(after_help = DECODE_HELP)]
    Decode(FileArgs),
}

const ENCODE_HELP: &str = "\
Examples:
  callpair case encode proptest-regressions/lost-call.json --target script > fuzz/corpus/script/lost-call
  callpair case encode rollout.jsonl --target normalizer > fuzz/corpus/normalizer/session

Exit status:
  0  it was written
  2  the command or the file was unusable";

const DECODE_HELP: &str = "\
Examples:
  callpair case decode fuzz/artifacts/script/crash-0f3a --target script > found.json

Exit status:
  0  it was written
  2  the command or the file was unusable";

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// A saved case, or any file that `project` reads; or the input of a fuzz target. `-` is standard input
    file: PathBuf,
    /// Whose input: normalizer, script or canary
    #[arg(long)]
    target: Target,
}

pub(super) fn run(args: &Args) -> Exit {
    exit(match &args.direction {
        Direction::Encode(args) => encode(args),
        Direction::Decode(args) => decode(args),
    })
}

fn encode(args: &FileArgs) -> Result<Exit, Stop> {
    let case = read_case(&args.file)?.case;
    let input = fuzzing::encode(args.target, &case).map_err(|error| unusable(args, &error))?;
    let kept = fuzzing::decode(args.target, &input).map_err(|error| unusable(args, &error))?;
    if kept.steps.len() < case.steps.len() {
        let left_out = case.steps.len() - kept.steps.len();
        let what = format!("steps that the target {} does not take are left out: {left_out}", args.target);
        output::remark(&args.file.to_string_lossy(), &what);
    }
    if output::is_terminal() {
        let why = "a fuzz input is no text for a terminal; redirect it to a file of the corpus".to_owned();
        return Err(Stop::Useless("standard output", why));
    }
    let mut out = output::for_programs();
    let written = out.write_all(&input).and_then(|()| out.flush());
    Ok(output::after_writing(written, Exit::Holds))
}

fn decode(args: &FileArgs) -> Result<Exit, Stop> {
    let input = read_bytes(&args.file)?;
    let case = fuzzing::decode(args.target, &input).map_err(|error| unusable(args, &error))?;
    let broken = fuzzing::broken(args.target, &case).map_err(|error| unusable(args, &error))?;
    let mut saved = SavedCase::bare(case);
    if let Some(Broken { invariant, message }) = broken.into_iter().next() {
        saved.invariant = Some(invariant.to_owned());
        saved.message = Some(message);
    }
    let written = write_case(&saved);
    Ok(output::after_writing(written, Exit::Holds))
}

fn unusable(args: &FileArgs, error: &InputError) -> Stop {
    Stop::file(&args.file, error)
}
