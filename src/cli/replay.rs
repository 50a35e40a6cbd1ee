//! `callpair replay`

use super::bench::{Bench, Judged};
use super::cases::{Stop, exit};
use super::signals::{is_interrupted, watch_signals};
use super::subject::SubjectArgs;

use super::{Exit, output};
use crate::fuzzing::{Broken, Target};
use crate::invariant::CATALOGUE;
use crate::report::verify::message;
use crate::report::{counted, shown_path, shown_words};
use std::io::{self, Write};
use std::path::PathBuf;

/// Runs saved cases again
///
/// A file is a saved case, or a recorded session, whose history is installed and projected. With --artifact it is what a
/// fuzz target crashed on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair replay proptest-regressions/pairing-function-call-0f3a55c1.case.json
  callpair replay --subject-cmd \"python3 mine.py\" proptest-regressions/*.json session.jsonl
  callpair replay --artifact script fuzz/artifacts/script/crash-0f3a
  callpair replay --artifact script --subject bank fuzz/artifacts/script/crash-0f3a

Exit status:
  0  every invariant held on every case
  1  an invariant is broken
  2  a file or the command line is unusable
  3  the subject could not be started, or would not speak")]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// The files are inputs of this fuzz target: normalizer, script, rollout, json or canary. Without a subject they are run
    /// and judged as the target does it
    #[arg(long, value_name = "TARGET")]
    artifact: Option<Target>,
    /// Saved cases and recorded sessions; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show what the subject itself says where it fails; that may hold texts of the case
    #[arg(long)]
    show_content: bool,
}

pub(super) fn run(args: &Args) -> Exit {
    watch_signals();
    exit(replay(args))
}

fn replay(args: &Args) -> Result<Exit, Stop> {
    let bench = Bench::new(&args.subject, args.artifact)?;
    let (mut broken_files, mut out) = (0, output::for_people());
    for path in &args.files {
        let judged = bench.judge_file(path)?;
        // A subject that was ended by a signal to us did not fail.
        if is_interrupted() {
            return Ok(if broken_files == 0 { Exit::Interrupted } else { Exit::Found });
        }
        broken_files += usize::from(!judged.broken.is_empty());
        if write_judged(&mut out, &shown_path(&path.to_string_lossy()), &judged, args.show_content).is_err() {
            break;
        }
    }
    let all = counted(args.files.len(), "file");
    let verdict = match broken_files {
        0 => format!("pass: every invariant held on {all}"),
        1 if args.files.len() == 1 => "FAIL: the case breaks an invariant".to_owned(),
        broken => format!("FAIL: {broken} of {all} break an invariant"),
    };
    let written = writeln!(out, "{verdict}").and_then(|()| out.flush());
    Ok(output::after_writing(written, if broken_files == 0 { Exit::Holds } else { Exit::Found }))
}

fn write_judged(out: &mut impl Write, path: &str, judged: &Judged, show_content: bool) -> io::Result<()> {
    if judged.broken.is_empty() {
        return match judged.checked {
            Some(checked) => {
                writeln!(out, "{path}: holds ({} had something to check)", counted(checked, "invariant"))
            }
            None => writeln!(out, "{path}: holds"),
        };
    }
    writeln!(out, "{path}:")?;
    for Broken { invariant, message: how } in &judged.broken {
        writeln!(out, "  BROKEN {invariant}")?;
        if let Some(known) = CATALOGUE.iter().find(|known| known.id == *invariant) {
            writeln!(out, "    law     {}", known.statement)?;
        }
        writeln!(out, "    broken  {}", shown_words(message(how, show_content).trim_end()))?;
    }
    Ok(())
}
