//! `callpair case`

use super::replay::{Stop, exit, read_case, write_case};
use super::{Exit, input, output};
use crate::case::SavedCase;
use crate::fuzzing::{self, Broken, InputError, Target};
use clap::Subcommand;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

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
    Encode(FileArgs),
    /// Writes the case that a fuzz target makes of an input; with the invariant that it breaks there, if any
    Decode(FileArgs),
}

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
        return Err(Stop::Unusable("standard output".to_owned(), why));
    }
    let mut out = output::for_programs();
    let written = out.write_all(&input).and_then(|()| out.flush());
    Ok(output::after_writing(written, Exit::Holds))
}

fn decode(args: &FileArgs) -> Result<Exit, Stop> {
    let input = read_bytes(&args.file).map_err(|error| {
        let why = format!("cannot be read: {error}; check the path and who may read it");
        Stop::Unusable(args.file.to_string_lossy().into_owned(), why)
    })?;
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
    Stop::Unusable(args.file.to_string_lossy().into_owned(), error.to_string())
}

/// More than any input of a fuzzer, in bytes.
const LONGEST_INPUT: u64 = 256 << 20;

fn read_bytes(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = if input::is_stdin(file) {
        io::stdin().lock().take(LONGEST_INPUT + 1).read_to_end(&mut bytes)?
    } else {
        File::open(file)?.take(LONGEST_INPUT + 1).read_to_end(&mut bytes)?
    };
    if length as u64 > LONGEST_INPUT {
        return Err(io::Error::other(format!("it is longer than {LONGEST_INPUT} bytes")));
    }
    Ok(bytes)
}
