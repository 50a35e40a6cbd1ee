//! `callpair verify`

use super::cases::{Stop, exit};
use super::signals::{interrupted, is_interrupted, watch_signals};
use super::subject::{Chosen, SubjectArgs, duration};
use super::whole_file::{WholeFile, write_whole};
use super::{Exit, faults, input, output, progress};
use crate::case::{Items, Store};
use crate::generate::{self, Histories};
use crate::history::ToolOutputLimit;
use crate::minimize::Budget;
use crate::report::progress::of_run;
use crate::report::verify::{
    Settings, Start, write_html, write_human, write_json, write_junit, write_observe, write_observed,
    write_start,
};
use crate::rollout::PictureCache;
use crate::verify::{Amount, JudgedCase, Matrix, Options, Outcome, Seed, Shard, Verdict, Violation, run};
use clap::ValueEnum;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Also write a page that a browser shows without a network; with --subject bank the kill matrix too, which takes a minute
    /// or two more
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write a line of JSON for each case and each broken invariant, in the OpenPBTStats form, which Tyche shows; about 3 kB
    /// a case
    #[arg(long, value_name = "FILE")]
    observe: Option<PathBuf>,
    /// Show texts of recorded sessions (--from) and of saved cases too
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
    exit(verify(args))
}

fn unusable(path: &Path, why: impl ToString) -> Stop {
    Stop::Unusable(path.to_string_lossy().into_owned(), why.to_string())
}

fn verify(args: &Args) -> Result<Exit, Stop> {
    let known = args.known.as_deref().map(read_known).transpose()?.unwrap_or_default();
    let store = store(args.regressions.as_deref());
    let regressions = match &store {
        Some(store) => store.load().map_err(|error| Stop::Useless("saved cases", error.to_string()))?,
        None => Vec::new(),
    };
    if let Some(path) = given_twice([&args.junit, &args.html, &args.observe]) {
        return Err(unusable(path, "two reports cannot be written to one file; give each its own"));
    }
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
    let observations = args.observe.as_deref().map(Observations::create).transpose()?;
    let run_start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let human = args.format == FormatArg::Human;
    if human {
        let mut out = output::for_people();
        let written = write_start(&mut out, &start).and_then(|()| out.flush());
        // A reader that went away wants no report, but whoever asks for the status does.
        if output::after_writing(written, Exit::Holds) != Exit::Holds {
            return Ok(Exit::Unusable);
        }
    }
    // What is drawn without a recorded session holds nothing that a user wrote.
    let drawn =
        Settings { show_content: args.show_content || args.from.is_none(), run_start, ..Settings::default() };
    let observe = |case: &JudgedCase<'_>| {
        if let Some(observations) = &observations {
            observations.write(|out| write_observed(out, &start, case, &drawn));
        }
    };
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
        twice: if chosen.is_one_process { 100 } else { 0 },
        budget: Budget::default(),
        interrupted: interrupted(),
        progress: &|progress| progress::show(&of_run(progress, amount)),
        observe: observations.is_some().then_some(&observe),
    };
    let outcome = run(&|| chosen.make(), &options);
    progress::clear();
    let outcome = outcome?;
    let replay = replays(args, &chosen, &outcome, store.as_ref());
    let matrix = match args.html {
        Some(_) if args.subject.is_honest_bank() => kill_matrix(jobs)?,
        _ => None,
    };
    // A saved case may have come from a recorded session.
    let of_saved_case = outcome.violations.iter().any(|violation| violation.saved_case().is_some());
    let show_content = args.show_content || drawn.show_content && !of_saved_case;
    let settings = Settings { show_content, replay, matrix: matrix.as_ref(), run_start };
    write_files(args, &outcome, &settings)?;
    if let Some(observations) = observations {
        observations.finish(|out| write_observe(out, &outcome, &settings))?;
    }
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
fn replays(args: &Args, chosen: &Chosen, outcome: &Outcome, store: Option<&Store>) -> Vec<String> {
    let flags = chosen.flags();
    let drawn_again = |violation: &Violation| {
        let histories = match args.histories {
            Histories::Arbitrary => String::new(),
            Histories::WellFormed => " --histories well-formed".to_owned(),
        };
        let (seed, cases) = (outcome.seed, violation.case_number + 1);
        format!(
            "callpair verify{flags}{histories} --seed {seed} --cases {cases} --only {}",
            violation.invariant
        )
    };
    let mut replays = Vec::new();
    for violation in &outcome.violations {
        let again = match store {
            Some(store) if violation.known.is_none() => {
                let saved = violation.saved(&outcome.subject.name, outcome.profile);
                match store.save(&saved) {
                    Ok(path) => {
                        format!("callpair replay{flags} {}", super::subject::quoted(&path.to_string_lossy()))
                    }
                    // The report is worth more than the file.
                    Err(error) => {
                        output::complain_of("saved cases", &format!("a case cannot be saved: {error}"));
                        drawn_again(violation)
                    }
                }
            }
            _ => drawn_again(violation),
        };
        replays.push(again);
    }
    replays
}

/// The kill matrix, for the page of the bank: what its faults prove of the invariants belongs beside what they say of it.
fn kill_matrix(jobs: usize) -> Result<Option<Matrix>, Stop> {
    if is_interrupted() {
        return Ok(None);
    }
    Ok(faults::matrix_of(&faults::Wanted { jobs, ..faults::Wanted::default() })?)
}

fn write_files(args: &Args, outcome: &Outcome, settings: &Settings<'_>) -> Result<(), Stop> {
    type WriteFn = fn(&mut WholeFile, &Outcome, &Settings<'_>) -> io::Result<()>;
    let files: [(&Option<PathBuf>, WriteFn); 2] = [(&args.junit, write_junit), (&args.html, write_html)];
    for (path, write) in files {
        let Some(path) = path else { continue };
        write_whole(path, |out| write(out, outcome, settings))
            .map_err(|error| Stop::cannot_write(path, &error))?;
    }
    Ok(())
}

/// The file of `--observe`, which all threads write a line a case to while the run goes on.
struct Observations {
    path: PathBuf,
    /// The file, until it could not be written.
    file: Mutex<io::Result<WholeFile>>,
}

impl Observations {
    fn create(path: &Path) -> Result<Observations, Stop> {
        let file = WholeFile::create(path).map_err(|error| Stop::cannot_write(path, &error))?;
        Ok(Observations { path: path.to_owned(), file: Mutex::new(Ok(file)) })
    }

    /// Writes a line. A failure is told at the end: the run is worth more than this file.
    fn write(&self, write: impl FnOnce(&mut WholeFile) -> io::Result<()>) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(out) = &mut *file
            && let Err(error) = write(out)
        {
            *file = Err(error);
        }
    }

    fn finish(self, write: impl FnOnce(&mut WholeFile) -> io::Result<()>) -> Result<(), Stop> {
        self.write(write);
        let file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.and_then(WholeFile::finish).map_err(|error| Stop::cannot_write(&self.path, &error))
    }
}

/// A path that two flags name.
fn given_twice<const N: usize>(paths: [&Option<PathBuf>; N]) -> Option<&Path> {
    let given: Vec<&Path> = paths.into_iter().flatten().map(PathBuf::as_path).collect();
    let again = |at: &usize| given.iter().take(*at).any(|before| Some(before) == given.get(*at));
    (0..given.len()).find(again).and_then(|at| given.get(at).copied())
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
