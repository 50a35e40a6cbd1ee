//! `callpair minimize`

use super::bench::{Bench, Judged};
use super::cases::{Stop, exit, write_case};
use super::signals::{is_interrupted, watch_signals};
use super::subject::{SubjectArgs, duration};
use super::verify::store;
use super::{Exit, output, progress};
use crate::case::{Case, SavedCase};
use crate::fuzzing::{Broken, SECOND_IMPLEMENTATION, Target};
use crate::invariant::{ANSWERS, CATALOGUE};
use crate::minimize::{Budget, Minimized, minimize};
use crate::report::counted;
use crate::report::progress::of_minimize;
use std::path::PathBuf;
use std::time::Duration;

/// Finds the smallest history that still fails
///
/// Prints the case, in its saved form, to standard output, and how to run it again to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair minimize session.jsonl --subject-cmd \"python3 mine.py\"
  callpair minimize case.json --subject bank/forget/function-call --invariant pairing/function-call
  callpair minimize --artifact script fuzz/artifacts/script/crash-0f3a > smallest.json

Exit status:
  0  nothing fails on the file: there is nothing to make smaller
  1  the smallest case was printed
  2  the file or the command line is unusable
  3  the subject could not be started, or would not speak")]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// The file is an input of this fuzz target: normalizer, script or canary. Without a subject it is run and judged as the
    /// target does it
    #[arg(long, value_name = "TARGET")]
    artifact: Option<Target>,
    /// A saved case or a recorded session; `-` is standard input
    file: PathBuf,
    /// The invariant that must go on failing; without it the one that the case names, or else the first that is broken
    #[arg(long, value_name = "ID", value_parser = known_invariant)]
    invariant: Option<String>,
    /// How many times the subject is run at most
    #[arg(long, default_value_t = Budget::default().calls, value_name = "N")]
    calls: usize,
    /// How long it may take
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "TIME")]
    time: Duration,
    /// Where the case is saved too; proptest-regressions/ where that is
    #[arg(long, value_name = "DIR")]
    regressions: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Exit {
    watch_signals();
    exit(shrink(args))
}

fn shrink(args: &Args) -> Result<Exit, Stop> {
    let bench = Bench::new(&args.subject, args.artifact)?;
    let saved = bench.read(&args.file)?;
    let mut subject = bench.start()?;
    let Judged { broken, hung, .. } = subject.judge(&saved.case)?;
    if is_interrupted() {
        return Ok(Exit::Interrupted);
    }
    let wanted = args.invariant.as_deref().or(saved.invariant.as_deref());
    let Some(id) = broken.iter().map(|broken| broken.invariant).find(|id| wanted.is_none_or(|it| it == *id))
    else {
        output::remark(&args.file.to_string_lossy(), &nothing_to_do(wanted, &broken));
        return Ok(Exit::Holds);
    };
    let mut minimized = Minimized { case: Case::default(), calls: 1, finished: true, flaky: false };
    if !(hung && id == ANSWERS.id && subject.hasten()) {
        let mut fails = |candidate: &Case| !is_interrupted() && subject.breaks(candidate, id).is_some();
        let budget = Budget { calls: args.calls, time: args.time };
        minimized = minimize(&saved.case, &mut fails, budget, &mut |progress| {
            progress::show(&of_minimize(progress, id));
        });
        progress::clear();
    }
    // After a signal there is no subject to be asked again, and what was found so far is as good as it was.
    let mut message = None;
    if !is_interrupted() {
        message = bench.start()?.breaks(&minimized.case, id);
        minimized.flaky |= message.is_none();
    }
    let (name, profile) = bench.names().unzip();
    let smallest = SavedCase {
        subject: name,
        profile,
        invariant: Some(id.to_owned()),
        message,
        case: minimized.case.clone(),
    };
    let written = write_case(&smallest);
    let file = args.file.to_string_lossy();
    output::remark(&file, &summary(id, &minimized));
    match store(args.regressions.as_deref()) {
        Some(store) => {
            let path = store.save(&smallest).map_err(|error| {
                Stop::Useless("saved cases", format!("the case cannot be saved: {error}"))
            })?;
            output::suggest("run it again", &bench.replay(&path.to_string_lossy()));
        }
        None => output::suggest(
            "with what stands above saved as case.json, run it again",
            &bench.replay("case.json"),
        ),
    }
    Ok(output::after_writing(written, Exit::Found))
}

/// An invariant of the catalogue, or the one that a target has beside it.
fn known_invariant(id: &str) -> Result<String, String> {
    match CATALOGUE.iter().any(|known| known.id == id) || id == SECOND_IMPLEMENTATION {
        true => Ok(id.to_owned()),
        false => Err("no such invariant; `callpair explain` lists them".to_owned()),
    }
}

fn nothing_to_do(wanted: Option<&str>, broken: &[Broken]) -> String {
    match wanted {
        Some(wanted) if !broken.is_empty() => {
            // It may be from the file.
            let wanted: String = wanted.chars().take(60).collect();
            let others: Vec<&str> = broken.iter().map(|broken| broken.invariant).collect();
            format!(
                "{wanted:?} is not broken on it; broken are {}: name one with --invariant",
                others.join(", ")
            )
        }
        _ => "nothing is broken on it, so there is nothing to make smaller".to_owned(),
    }
}

fn summary(id: &str, minimized: &Minimized) -> String {
    let (items, runs) = (minimized.case.item_count(), minimized.calls);
    format!(
        "the smallest case that breaks {id} has {}, after {}{}{}",
        counted(items, "item"),
        counted(runs, "run"),
        match minimized.finished {
            _ if is_interrupted() => "; interrupted",
            true => "",
            false => "; the budget was used up, --calls and --time raise it",
        },
        if minimized.flaky && !is_interrupted() { "; it does not fail every time" } else { "" },
    )
}
