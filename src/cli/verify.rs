//! `callpair verify`

use super::subject::{Chosen, SubjectArgs, UNUSABLE, duration};
use super::{Exit, input, output};
use crate::case::{Failure, Items, Store};
use crate::generate::{self, Histories};
use crate::history::ToolOutputLimit;
use crate::minimize::Budget;
use crate::report::verify::{
    Settings, Start, write_html, write_human, write_json, write_junit, write_observe, write_start,
};
use crate::rollout::PictureCache;
use crate::verify::{Amount, Options, Outcome, Progress, Seed, Shard, Verdict, run};
use clap::ValueEnum;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HELP: &str = "\
Examples:
  callpair verify                                       the reference, 2000 cases
  callpair verify --subject-cmd \"python3 mine.py\"       a projector over stdio (docs/protocol.md)
  callpair verify --subject-cmd CMD --time 10m --jobs 2 --junit out.xml
  callpair verify --subject-cmd NEW --against OLD       does the new version send what the old one did?

Exit status:
  0    every invariant held
  1    an invariant is broken, a baseline entry no longer fails, or the cases no longer reach every corner
  2    the command line or a file is unusable
  3    the subject could not be started, or would not speak
  130  interrupted before anything was found broken";

/// Drives a subject through generated histories and judges every answer
///
/// Cases are drawn from a seed: the same seed, flags and version give the same cases and the same report, whatever --jobs is.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// How many cases
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// As many cases as fit this time: 30s, 10m
    #[arg(long, value_parser = duration, value_name = "TIME", conflicts_with = "cases")]
    time: Option<Duration>,
    /// A whole number, or the token that a run printed; drawn anew without it
    #[arg(long)]
    seed: Option<Seed>,
    /// Threads, each with a subject of its own; all cores without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Only part I of N of the run; all parts together draw what one run draws
    #[arg(long, default_value_t = Shard::WHOLE, value_name = "I/N")]
    shard: Shard,
    /// arbitrary: any history that a broken session can leave; well-formed: only such as a healthy runtime records
    #[arg(long, default_value_t = Histories::Arbitrary)]
    histories: Histories,
    /// Draw cases by wounding the recorded sessions in this folder
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Known failures: a line each, the invariant or family, then the reason
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// End at the first broken invariant
    #[arg(long)]
    fail_fast: bool,
    /// Saved cases: replayed first, and the smallest case of every failure is put there; proptest-regressions/ where that is
    #[arg(long, value_name = "DIR")]
    regressions: Option<PathBuf>,
    /// How the result is written to standard output
    #[arg(long, value_enum, default_value = "human")]
    format: FormatArg,
    /// Also write JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Also write a page that a browser shows without a network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write a line of JSON a case label and invariant, in the OpenPBTStats form
    #[arg(long, value_name = "FILE")]
    observe: Option<PathBuf>,
    /// Show texts of recorded sessions (--from) too
    #[arg(long)]
    show_content: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Human,
    Json,
}

/// Where saved cases are kept, if the folder is there.
const DEFAULT_REGRESSIONS: &str = "proptest-regressions";

pub(super) fn run_command(args: &Args) -> Exit {
    watch_signals();
    match verify(args) {
        Ok(exit) => exit,
        Err(Stop::Unusable(path, why)) => {
            output::complain(&path, &why);
            Exit::Unusable
        }
        Err(Stop::Subject(_)) if is_interrupted() => Exit::Interrupted,
        Err(Stop::Subject(failure)) if failure.kind == UNUSABLE => {
            output::complain("verify", &failure.message);
            Exit::Unusable
        }
        Err(Stop::Subject(failure)) => {
            output::complain("the subject", &failure.message);
            Exit::NoSubject
        }
    }
}

/// Why there is no outcome.
enum Stop {
    Unusable(String, String),
    Subject(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Subject(failure)
    }
}

fn unusable(path: &Path, why: impl ToString) -> Stop {
    Stop::Unusable(path.to_string_lossy().into_owned(), why.to_string())
}

fn verify(args: &Args) -> Result<Exit, Stop> {
    let known = args.known.as_deref().map(read_known).transpose()?.unwrap_or_default();
    let store = store(args.regressions.as_deref());
    let regressions = match &store {
        Some(store) => {
            store.load().map_err(|error| Stop::Unusable("saved cases".to_owned(), error.to_string()))?
        }
        None => Vec::new(),
    };
    let recorded = args.from.as_deref().map(read_sessions).transpose()?.unwrap_or_default();
    let chosen = args.subject.choose()?;
    let options = generate::Options {
        capabilities: chosen.judge.capabilities().clone(),
        profile: chosen.judge.profile(),
        histories: args.histories,
        recorded: Arc::new(recorded),
        own: None,
    };
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let jobs =
        args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let amount = args.time.map_or(Amount::Cases(args.cases), Amount::Time);
    let histories = match options.recorded.len() {
        0 => args.histories.to_string(),
        sessions => format!("mutated from {sessions} recorded sessions"),
    };
    let start = Start {
        subject: chosen.judge.capabilities(),
        profile: chosen.judge.profile(),
        seed,
        amount,
        jobs,
        shard: args.shard,
        histories: &histories,
    };
    let run_start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let human = args.format == FormatArg::Human;
    if human {
        let mut out = output::for_people();
        if write_start(&mut out, &start).and_then(|()| out.flush()).is_err() {
            return Ok(Exit::Holds);
        }
    }
    let options = Options {
        judge: chosen.judge.clone(),
        generate: options,
        amount,
        seed,
        jobs,
        shard: args.shard,
        fail_fast: args.fail_fast,
        known,
        regressions: regressions
            .into_iter()
            .map(|(path, saved)| (path.display().to_string(), saved.case))
            .collect(),
        twice: if chosen.processes { 100 } else { 0 },
        budget: Budget::default(),
        interrupted: interrupted(),
        progress: &|progress| show_progress(progress, amount),
    };
    let outcome = run(&|| chosen.make(), &options);
    clear_progress();
    let outcome = outcome?;
    let replay = replays(args, &chosen, &outcome, store.as_ref())?;
    let show_content = args.show_content || args.from.is_none();
    let settings = Settings { show_content, replay, matrix: None, run_start };
    write_files(args, &outcome, &settings)?;
    let exit = exit_of(&outcome);
    let written = if human {
        let mut out = output::for_people();
        write_human(&mut out, &outcome, &settings).and_then(|()| out.flush())
    } else {
        let mut out = output::for_programs();
        write_json(&mut out, &outcome, &settings).and_then(|()| out.flush())
    };
    Ok(output::after_writing(written, exit))
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome.verdict {
        Verdict::Pass => Exit::Holds,
        Verdict::Fail | Verdict::Vacuous => Exit::Found,
        Verdict::Interrupted => Exit::Interrupted,
    }
}

/// The store that was named, or the default one where its folder is.
pub(super) fn store(named: Option<&Path>) -> Option<Store> {
    match named {
        Some(folder) => Some(Store::new(folder)),
        None => Path::new(DEFAULT_REGRESSIONS).is_dir().then(|| Store::new(DEFAULT_REGRESSIONS)),
    }
}

/// Saves the smallest case of each violation, where there is a store, and says by which command it is run again.
fn replays(
    args: &Args,
    chosen: &Chosen,
    outcome: &Outcome,
    store: Option<&Store>,
) -> Result<Vec<String>, Stop> {
    let flags = chosen.flags();
    let mut replays = Vec::new();
    for violation in &outcome.violations {
        let again = match store {
            Some(store) if violation.known.is_none() => {
                let saved = violation.saved(&outcome.subject.name, outcome.profile);
                let path = store.save(&saved).map_err(|error| {
                    Stop::Unusable("saved cases".to_owned(), format!("the case cannot be saved: {error}"))
                })?;
                format!("callpair replay{flags} {}", super::subject::quoted(&path.to_string_lossy()))
            }
            _ => {
                let histories = match args.histories {
                    Histories::Arbitrary => String::new(),
                    Histories::WellFormed => " --histories well-formed".to_owned(),
                };
                let (seed, cases) = (outcome.seed, violation.case_number + 1);
                format!(
                    "callpair verify{flags}{histories} --seed {seed} --cases {cases} --only {}",
                    violation.invariant
                )
            }
        };
        replays.push(again);
    }
    Ok(replays)
}

fn write_files(args: &Args, outcome: &Outcome, settings: &Settings<'_>) -> Result<(), Stop> {
    type WriteFn = fn(&mut BufWriter<File>, &Outcome, &Settings<'_>) -> io::Result<()>;
    let files: [(&Option<PathBuf>, WriteFn); 3] =
        [(&args.junit, write_junit), (&args.html, write_html), (&args.observe, write_observe)];
    for (path, write) in files {
        let Some(path) = path else { continue };
        write_whole(path, |out| write(out, outcome, settings))
            .map_err(|error| unusable(path, format!("cannot be written: {error}")))?;
    }
    Ok(())
}

/// Writes a file beside its place, and moves it there when it is whole.
pub(super) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
    let beside = path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = File::create(&beside).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()?;
        out.get_ref().sync_all()
    });
    let moved = written.and_then(|()| fs::rename(&beside, path));
    if moved.is_err() {
        // What was begun is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    moved
}

/// Reads a baseline: a line each, id, then the reason; `#` begins a comment.
fn read_known(path: &Path) -> Result<Vec<(String, String)>, Stop> {
    let text = fs::read_to_string(path).map_err(|error| {
        unusable(path, format!("cannot be read: {error}; check the path and who may read it"))
    })?;
    let mut known = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (id, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if !crate::invariant::is_known_id(id) {
            let shown: String = id.chars().take(60).collect();
            return Err(unusable(
                path,
                format!(
                    "line {}: no such invariant or family: {shown:?}; `callpair explain` lists them",
                    number + 1
                ),
            ));
        }
        if reason.trim().is_empty() {
            return Err(unusable(
                path,
                format!("line {}: {id} needs a reason behind it, on the same line", number + 1),
            ));
        }
        known.push((id.to_owned(), reason.trim().to_owned()));
    }
    Ok(known)
}

/// The histories of the sessions in a folder; files that hold none are passed over with a word.
fn read_sessions(folder: &Path) -> Result<Vec<Items>, Stop> {
    let mut sessions = Vec::new();
    for named in input::expand(&[folder.to_owned()]) {
        let named = match named {
            Ok(named) => named,
            Err((path, why)) => return Err(unusable(&path, why)),
        };
        let path = named.path.to_string_lossy().into_owned();
        match input::read(&named.path, input::DialectArg::Auto) {
            Ok(source) => {
                let loaded = source.load(ToolOutputLimit::default(), &mut PictureCache::new());
                let items: Items = loaded.items.iter().cloned().collect();
                if !items.is_empty() {
                    sessions.push(items);
                }
            }
            Err(error) => output::remark(&path, &format!("passed over: {error}")),
        }
    }
    if sessions.is_empty() {
        return Err(unusable(folder, "holds no session with items"));
    }
    Ok(sessions)
}

/// A seed that nobody chose.
fn fresh_seed() -> Seed {
    use std::hash::{BuildHasher, Hasher, RandomState};
    Seed(RandomState::new().build_hasher().finish())
}

#[cfg(unix)]
pub(super) fn watch_signals() {
    // Without them an interrupt ends the process as it always does, and subjects end with their standard input.
    let _ = crate::subject::stdio::signals::watch();
    let _ = crate::subject::stdio::adopt_orphans();
}

#[cfg(not(unix))]
pub(super) fn watch_signals() {}

/// The flag that a signal raises.
#[cfg(unix)]
fn interrupted() -> &'static AtomicBool {
    crate::subject::stdio::signals::flag()
}

/// The flag that nothing raises here.
#[cfg(not(unix))]
fn interrupted() -> &'static AtomicBool {
    static NEVER: AtomicBool = AtomicBool::new(false);
    &NEVER
}

/// Whether a signal has asked this program to end.
pub(super) fn is_interrupted() -> bool {
    interrupted().load(Ordering::Relaxed)
}

/// One line on a terminal: rate, time left, failures so far.
fn show_progress(progress: Progress, amount: Amount) {
    let mut stderr = io::stderr().lock();
    if !stderr.is_terminal() {
        return;
    }
    let seconds = progress.elapsed.as_secs_f64().max(0.001);
    let rate = progress.cases as f64 / seconds;
    let left = match amount {
        Amount::Cases(cases) => cases.saturating_sub(progress.cases) as f64 / rate.max(0.001),
        Amount::Time(time) => (time.as_secs_f64() - seconds).max(0.0),
    };
    let broken = match progress.broken {
        0 => "nothing broken".to_owned(),
        broken => format!("{broken} broken"),
    };
    let _ =
        write!(stderr, "\r\x1b[K{} cases, {rate:.0} a second, {left:.0} s left, {broken}", progress.cases);
}

pub(super) fn clear_progress() {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[K");
    }
}
