//! `callpair replay` and `callpair minimize`: one case at a time.

use super::signals::watch_signals;
use super::subject::duration as duration_arg;
use super::subject::{Chosen, SubjectArgs, UNUSABLE};
use super::verify::store;
use super::{Exit, input, output, progress};
use crate::case::{Case, Failure, Items, SavedCase};
use crate::history::ToolOutputLimit;
use crate::item::Modalities;
use crate::minimize::{Budget, minimize};
use crate::report::progress::of_minimize;
use crate::report::verify::message;
use crate::report::{EscapeControls, counted, shown_path, shown_words};
use crate::rollout::PictureCache;
use std::io::{self, Read, Write};
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
    /// Show what the subject itself says where it fails; that may hold texts of the case
    #[arg(long)]
    show_content: bool,
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

/// Why a command has no result.
pub(super) enum Stop {
    /// A path is of no use.
    Unusable(String, String),
    /// The same of something that is no path.
    Useless(&'static str, String),
    Subject(Failure),
}

impl Stop {
    pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Stop {
        let why = format!("cannot be written: {error}; check the folder and who may write there");
        Stop::Unusable(path.to_string_lossy().into_owned(), why)
    }
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
        Err(Stop::Useless(what, why)) => {
            output::complain_of(what, &why);
            Exit::Unusable
        }
        Err(Stop::Subject(failure)) if failure.kind == UNUSABLE => {
            output::complain_of("the command line", &failure.message);
            Exit::Unusable
        }
        Err(Stop::Subject(failure)) => {
            output::complain_of("the subject", &failure.message);
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
        let path = shown_path(&path.to_string_lossy());
        let written = if judgement.broken.is_empty() {
            let checked = counted(judgement.checked.len(), "invariant");
            writeln!(out, "{path}: holds ({checked} had something to check)")
        } else {
            broken_cases += 1;
            writeln!(out, "{path}:")
                .and_then(|()| write_broken(&mut out, args.show_content, &chosen, &judgement.broken))
        };
        if written.is_err() {
            break;
        }
    }
    let all = counted(cases.len(), "case");
    let verdict = match broken_cases {
        0 => format!("pass: every invariant held on {all}"),
        1 if cases.len() == 1 => "FAIL: the case breaks an invariant".to_owned(),
        broken => format!("FAIL: {broken} of {all} break an invariant"),
    };
    let written = writeln!(out, "{verdict}").and_then(|()| out.flush());
    Ok(output::after_writing(written, if broken_cases == 0 { Exit::Holds } else { Exit::Found }))
}

fn write_broken(
    out: &mut impl Write,
    show_content: bool,
    chosen: &Chosen,
    broken: &[(usize, String)],
) -> io::Result<()> {
    for (at, how) in broken {
        let Some(invariant) = chosen.judge.invariants().get(*at) else { continue };
        let how = shown_words(&message(how, show_content));
        writeln!(out, "  BROKEN {}\n    law     {}\n    broken  {how}", invariant.id, invariant.statement)?;
    }
    Ok(())
}

fn shrink_one(args: &MinimizeArgs) -> Result<Exit, Stop> {
    let saved = read_case(&args.file)?;
    let chosen = args.subject.choose()?;
    let mut subject = chosen.make()?;
    let broken = chosen.judge.judge(&mut *subject, &saved.case).broken;
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
    let mut fails = |candidate: &Case| chosen.judge.breaks(&mut *subject, candidate, id).is_some();
    let budget = Budget { calls: args.calls, time: args.time };
    let minimized =
        minimize(&saved.case, &mut fails, budget, &mut |progress| progress::show(&of_minimize(progress, id)));
    progress::clear();
    let message = chosen.judge.breaks(&mut *chosen.make()?, &minimized.case, id);
    let smallest = SavedCase {
        subject: Some(chosen.judge.capabilities().name.clone()),
        profile: Some(chosen.judge.profile().as_str().to_owned()),
        invariant: Some(id.to_owned()),
        message,
        case: minimized.case,
    };
    let written = write_case(&smallest);
    let file = args.file.to_string_lossy();
    let (items, runs) = (smallest.case.item_count(), minimized.calls);
    let (items, runs) = (counted(items, "item"), counted(runs, "run"));
    let used_up = if minimized.finished { "" } else { "; the budget was used up" };
    let flaky = if minimized.flaky { "; it does not fail every time" } else { "" };
    output::remark(
        &file,
        &format!("the smallest case that breaks {id} has {items}, after {runs}{used_up}{flaky}"),
    );
    let flags = chosen.flags();
    match store(args.regressions.as_deref()) {
        Some(store) => {
            let path =
                store.save(&smallest).map_err(|error| Stop::Useless("saved cases", error.to_string()))?;
            let path = super::subject::quoted(&path.to_string_lossy());
            output::suggest("run it again", &format!("callpair replay{flags} {path}"));
        }
        None => {
            output::suggest("saved as case.json, run it again", &format!("callpair replay{flags} case.json"))
        }
    }
    Ok(output::after_writing(written, Exit::Found))
}

/// Writes a case to standard output: as it is, or where a person looks at it so that no terminal obeys it.
pub(super) fn write_case(case: &SavedCase) -> io::Result<()> {
    let text = case.to_json();
    if output::is_terminal() {
        let mut out = EscapeControls::new(output::for_programs());
        return writeln!(out, "{text}").and_then(|()| out.flush());
    }
    let mut out = output::for_programs();
    writeln!(out, "{text}").and_then(|()| out.flush())
}

/// What a saved case of any version says that it is; the reader says which versions it knows.
const SAVED: &str = "\"callpair.case/";

/// The longest saved case that is read, in bytes.
const LONGEST_CASE: u64 = 256 << 20;

/// Reads a saved case, or makes one of a recorded session: its history, installed and projected.
pub(super) fn read_case(path: &Path) -> Result<SavedCase, Stop> {
    let unusable = |why: String| Stop::Unusable(path.to_string_lossy().into_owned(), why);
    if let Some(text) = saved_text(path)
        .map_err(|error| unusable(format!("cannot be read: {error}; check the path and who may read it")))?
    {
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
    if !String::from_utf8_lossy(&head).contains(SAVED) {
        return Ok(None);
    }
    file.take(LONGEST_CASE).read_to_end(&mut head)?;
    String::from_utf8(head).map(Some).map_err(|_| io::Error::other("it is not UTF-8"))
}
