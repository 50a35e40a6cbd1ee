//! `callpair replay` and `callpair minimize`: one case at a time.

use super::subject::duration as duration_arg;
use super::subject::{Chosen, SubjectArgs, UNUSABLE};
use super::verify::{clear_progress, is_interrupted, store, watch_signals};
use super::{Exit, input, output};
use crate::case::{Case, Failure, Items, SavedCase};
use crate::history::ToolOutputLimit;
use crate::invariant::ANSWERS;
use crate::item::Modalities;
use crate::minimize::{Budget, Minimized, minimize};
use crate::rollout::PictureCache;
use crate::verify::Judgement;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs saved cases again
///
/// A file is a saved case, or a recorded session, whose history is installed and projected.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status:
  0  every invariant held on every case
  1  an invariant is broken
  2  a file or the command line is unusable
  3  the subject could not be started, or would not speak")]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Saved cases and recorded sessions
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Finds the smallest history that still fails
///
/// Prints the case, in its saved form, to standard output, and how to run it again to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair minimize SESSION.jsonl --subject-cmd \"python3 mine.py\"
  callpair minimize case.json --subject bank/forget/function-call --invariant pairing/function-call

Exit status:
  0  nothing fails on the file: there is nothing to make smaller
  1  the smallest case was printed
  2  the file or the command line is unusable
  3  the subject could not be started, or would not speak")]
pub(super) struct MinimizeArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    /// A saved case or a recorded session
    file: PathBuf,
    /// The invariant that must go on failing; the first that is broken without it
    #[arg(long, value_name = "ID")]
    invariant: Option<String>,
    /// How many times the subject is run at most
    #[arg(long, default_value_t = Budget::default().calls, value_name = "N")]
    calls: usize,
    /// How long it may take
    #[arg(long, default_value = "60s", value_parser = duration_arg, value_name = "TIME")]
    time: Duration,
    /// Where the case is saved too; proptest-regressions/ where that is
    #[arg(long, value_name = "DIR")]
    regressions: Option<PathBuf>,
}

pub(super) enum Stop {
    Unusable(String, String),
    Subject(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Subject(failure)
    }
}

pub(super) fn exit(result: Result<Exit, Stop>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Stop::Unusable(path, why)) => {
            output::complain(&path, &why);
            Exit::Unusable
        }
        Err(Stop::Subject(_)) if is_interrupted() => Exit::Interrupted,
        Err(Stop::Subject(failure)) if failure.kind == UNUSABLE => {
            output::complain("the command line", &failure.message);
            Exit::Unusable
        }
        Err(Stop::Subject(failure)) => {
            output::complain("the subject", &failure.message);
            Exit::NoSubject
        }
    }
}

pub(super) fn replay(args: &ReplayArgs) -> Exit {
    watch_signals();
    exit(replay_all(args))
}

pub(super) fn shrink(args: &MinimizeArgs) -> Exit {
    watch_signals();
    exit(shrink_one(args))
}

fn replay_all(args: &ReplayArgs) -> Result<Exit, Stop> {
    let cases =
        args.files.iter().map(|path| Ok((path, read_case(path)?))).collect::<Result<Vec<_>, Stop>>()?;
    let chosen = args.subject.choose()?;
    let (mut broken_cases, mut out) = (0, output::for_people());
    for (path, saved) in &cases {
        let mut subject = chosen.make()?;
        let judgement = chosen.judge.judge(&mut *subject, &saved.case);
        // A subject that was ended by a signal to us did not fail.
        if is_interrupted() {
            return Ok(if broken_cases == 0 { Exit::Interrupted } else { Exit::Found });
        }
        let path = path.to_string_lossy();
        let written = match judgement.broken.is_empty() {
            true => {
                writeln!(out, "{path}: holds ({} invariants had something to check)", judgement.checked.len())
            }
            false => {
                broken_cases += 1;
                write_broken(&mut out, &path, &chosen, &judgement.broken)
            }
        };
        if written.is_err() {
            break;
        }
    }
    let verdict = match broken_cases {
        0 => format!("pass: every invariant held on {} of {0} cases", cases.len()),
        broken => format!("FAIL: {broken} of {} cases break an invariant", cases.len()),
    };
    let written = writeln!(out, "{verdict}").and_then(|()| out.flush());
    Ok(output::after_writing(written, if broken_cases == 0 { Exit::Holds } else { Exit::Found }))
}

fn write_broken(
    out: &mut impl Write,
    path: &str,
    chosen: &Chosen,
    broken: &[(usize, String)],
) -> io::Result<()> {
    writeln!(out, "{path}:")?;
    for (at, how) in broken {
        let Some(invariant) = chosen.judge.invariants().get(*at) else { continue };
        writeln!(out, "  {}: {how}\n    {}", invariant.id, invariant.statement)?;
    }
    Ok(())
}

fn shrink_one(args: &MinimizeArgs) -> Result<Exit, Stop> {
    let saved = read_case(&args.file)?;
    let chosen = args.subject.choose()?;
    let mut subject = chosen.make()?;
    let Judgement { broken, hung, .. } = chosen.judge.judge(&mut *subject, &saved.case);
    if is_interrupted() {
        return Ok(Exit::Interrupted);
    }
    let id_of = |at: usize| chosen.judge.invariants().get(at).map(|invariant| invariant.id);
    let wanted = args.invariant.as_deref().or(saved.invariant.as_deref());
    let found =
        broken.iter().filter_map(|(at, _)| id_of(*at)).find(|id| wanted.is_none_or(|wanted| wanted == *id));
    let Some(id) = found else {
        let others: Vec<&str> = broken.iter().filter_map(|(at, _)| id_of(*at)).collect();
        let what = match (wanted, others.is_empty()) {
            (_, true) => "no invariant is broken on it".to_owned(),
            (Some(wanted), false) => {
                format!("{wanted} is not broken on it; broken are {}", others.join(", "))
            }
            (None, false) => "no invariant is broken on it".to_owned(),
        };
        output::remark(&args.file.to_string_lossy(), &what);
        return Ok(Exit::Holds);
    };
    let mut minimized = Minimized { case: Case::default(), calls: 1, finished: true, flaky: false };
    if !(hung && id == ANSWERS.id && chosen.judge.hasten(&mut *subject)) {
        let mut fails = |candidate: &Case| {
            !is_interrupted() && chosen.judge.breaks(&mut *subject, candidate, id).is_some()
        };
        let budget = Budget { calls: args.calls, time: args.time };
        minimized = minimize(&saved.case, &mut fails, budget, &mut |progress| show(progress, id));
        clear_progress();
    }
    // After a signal there is no subject to be asked again, and what was found so far is as good as it was.
    let again = match is_interrupted() {
        true => Some(String::new()),
        false => chosen.judge.breaks(&mut *chosen.make()?, &minimized.case, id),
    };
    let smallest = SavedCase {
        subject: Some(chosen.judge.capabilities().name.clone()),
        profile: Some(chosen.judge.profile().as_str().to_owned()),
        invariant: Some(id.to_owned()),
        message: again.clone().filter(|message| !message.is_empty()),
        case: minimized.case,
    };
    let written = writeln!(io::stdout(), "{}", smallest.to_json());
    let file = args.file.to_string_lossy();
    output::remark(
        &file,
        &format!(
            "{id}: {} items after {} runs{}{}",
            smallest.case.item_count(),
            minimized.calls,
            match minimized.finished {
                _ if is_interrupted() => "; interrupted",
                true => "",
                false => "; the budget was used up",
            },
            if minimized.flaky || again.is_none() { "; it does not fail every time" } else { "" },
        ),
    );
    if let Some(store) = store(args.regressions.as_deref()) {
        let path = store
            .save(&smallest)
            .map_err(|error| Stop::Unusable("saved cases".to_owned(), error.to_string()))?;
        let path = path.to_string_lossy();
        output::remark(
            &file,
            &format!("run it again: callpair replay{} {}", chosen.flags(), super::subject::quoted(&path)),
        );
    }
    Ok(output::after_writing(written, Exit::Found))
}

fn show(progress: crate::minimize::Progress, id: &str) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let (calls, steps, items) = (progress.calls, progress.steps, progress.items);
        let _ = write!(stderr, "\r\x1b[K{id}: {steps} steps, {items} items after {calls} runs");
    }
}

/// The longest saved case that is read, in bytes.
const LONGEST_CASE: u64 = 256 << 20;

/// Reads a saved case, or makes one of a recorded session: its history, installed and projected.
pub(super) fn read_case(path: &Path) -> Result<SavedCase, Stop> {
    let unusable = |why: String| Stop::Unusable(path.to_string_lossy().into_owned(), why);
    if let Some(text) = saved_text(path).map_err(|error| unusable(format!("cannot be read: {error}")))? {
        return SavedCase::parse(&text).map_err(|error| unusable(error.to_string()));
    }
    let source = input::read(path, input::DialectArg::Auto).map_err(|error| unusable(error.to_string()))?;
    let loaded = source.load(ToolOutputLimit::default(), &mut PictureCache::new());
    let items: Items = loaded.items.iter().cloned().collect();
    Ok(SavedCase::bare(Case::of_history(items, Modalities::TextAndImage)))
}

/// The text of the file, where it says near its beginning that it is a saved case.
fn saved_text(path: &Path) -> io::Result<Option<String>> {
    if input::is_stdin(path) {
        return Ok(None);
    }
    let mut head = Vec::new();
    let mut file = std::fs::File::open(path)?;
    Read::by_ref(&mut file).take(4096).read_to_end(&mut head)?;
    if !String::from_utf8_lossy(&head).contains(crate::case::SCHEMA) {
        return Ok(None);
    }
    file.take(LONGEST_CASE).read_to_end(&mut head)?;
    String::from_utf8(head).map(Some).map_err(|_| io::Error::other("it is not UTF-8"))
}
