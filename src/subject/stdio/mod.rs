//! A subject in another process, written in any language: driven over stdin and stdout by the protocol of
//! `docs/protocol.md`. Unix only: process groups, signals and `poll` are what keeps a rude subject harmless.
//!
//! The rooms in here: `pipes` moves bytes without ever blocking, `process` asks and gets answers, `orphans` ends
//! whatever a subject started, `answer`, `items` and `initialize` read what it says, `drive` runs a script.
//!
//! What is judged here is only whether an answer is one. Whether it is right is the business of `invariant/`.

mod answer;
mod drive;
mod escaped;
mod initialize;
mod items;
pub(super) mod orphans;
mod pipes;
mod process;
mod raw;
pub mod signals;
mod tail;

pub use orphans::adopt as adopt_orphans;

use super::protocol::{Method, PROTOCOL};
use super::{Capabilities, Subject};
use crate::case::{Failure, FailureKind, Items, Outcome, Projected, Step};
use crate::item::{Modalities, ResponseItem};
use answer::Reply;
use drive::Call;
use initialize::FieldProblem;
use process::Process;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long a subject may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// For one answer. The time runs from the answer before it.
    pub timeout: Duration,
    /// For the answer to `initialize`: a runtime may have to warm up.
    pub init_timeout: Duration,
}

/// 5 seconds, and 60 for `initialize`.
impl Default for Options {
    fn default() -> Options {
        Options { timeout: Duration::from_secs(5), init_timeout: Duration::from_secs(60) }
    }
}

/// Why a subject could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command has no word in it, or a quote that is not closed.
    #[error("the command cannot be split into words (is a quote left open, or is it empty?): {0}")]
    NoCommand(String),
    /// The program cannot be run.
    #[error("{program} cannot be started: {source}")]
    Spawn {
        /// The first word of the command.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// It did not answer `initialize`.
    #[error("the subject does not speak the protocol: {0}")]
    Silent(Failure),
    /// A field of its answer cannot be read.
    #[error("the answer to initialize is malformed: {field}: {problem}")]
    Field {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// A subject behind a pipe.
///
/// It runs in a process group of its own. After a crash, a hang or a breach of the protocol it is killed with all that
/// it started, and started anew by the next [`run`](Subject::run) or [`reset`](Subject::reset). When this is dropped it
/// is told to shut down, and killed if it does not.
///
/// Of a subject without state the history is kept here: nothing is filtered from what is recorded. If it says that
/// its caller's history was changed by the call, the changed one is what counts from there on.
///
/// ```no_run
/// # use callpair::{item::Modalities, subject::{Subject, stdio::{Options, Stdio}}};
/// let mut subject = Stdio::start("python3 my_subject.py", Options::default())?;
/// assert!(subject.project(Modalities::Text).unwrap().items.is_empty());
/// # Ok::<(), callpair::subject::stdio::StartError>(())
/// ```
#[derive(Debug)]
pub struct Stdio {
    argv: Vec<String>,
    options: Options,
    capabilities: Capabilities,
    process: Option<Process>,
    restarts: u64,
    /// The history of a subject without state.
    history: Items,
}

impl Stdio {
    /// Starts a subject by a command, split into words as a shell does it. No shell runs: `$` and `|` mean nothing.
    ///
    /// # Errors
    /// Where the command cannot be run or what it runs does not answer `initialize` as it should.
    pub fn start(command: &str, options: Options) -> Result<Stdio, StartError> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| StartError::NoCommand(escaped::shown(command, 100)))?;
        Stdio::start_argv(words, options)
    }

    /// Starts a subject by a program and its arguments.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_argv(argv: Vec<String>, options: Options) -> Result<Stdio, StartError> {
        let (process, capabilities) = start(&argv, options)?;
        let process = Some(process);
        Ok(Stdio { argv, options, capabilities, process, restarts: 0, history: Items::new() })
    }

    /// How often it was started anew.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// The id of the process that runs now, which is that of its group; none after a failure.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// Has it shut down by the protocol. What it left running is killed all the same.
    ///
    /// # Errors
    /// Where it does not answer, or does not exit with status 0 in time.
    pub fn shut_down(mut self) -> Result<(), Failure> {
        match self.process.take() {
            Some(process) => process.shut_down(self.options.timeout),
            None => Ok(()),
        }
    }

    /// The running process; after a failure a new one.
    fn running(&mut self) -> Result<&mut Process, Failure> {
        if self.process.is_none() {
            self.restarts += 1;
            self.process = Some(self.start_anew()?);
        }
        self.process.as_mut().ok_or_else(ended)
    }

    fn start_anew(&self) -> Result<Process, Failure> {
        let failed =
            |why: String| Failure::new(FailureKind::Crashed, format!("it could not be started again: {why}"));
        let (process, now) = start(&self.argv, self.options).map_err(|error| failed(error.to_string()))?;
        // A name or a version may hold a clock; what it can must not change under a run.
        let same = Capabilities {
            name: now.name.clone(),
            version: now.version.clone(),
            ..self.capabilities.clone()
        };
        match now == same {
            true => Ok(process),
            false => Err(failed("it answers initialize differently than at first".to_owned())),
        }
    }

    /// Runs one call on the process that runs.
    fn call(&mut self, call: Call<'_>) -> Result<Outcome, Failure> {
        let mut outcomes = Vec::with_capacity(1);
        self.drive(&[call], &mut outcomes)?;
        Ok(outcomes.pop().unwrap_or(Outcome::Done))
    }

    fn step(&mut self, step: Step) -> Result<Outcome, Failure> {
        self.call(Call::Step(&step))
    }
}

/// What is said where a step is asked of a process that was ended.
fn ended() -> Failure {
    Failure::new(FailureKind::Crashed, "it was ended after its last failure; a reset starts it anew")
}

fn start(argv: &[String], options: Options) -> Result<(Process, Capabilities), StartError> {
    let mut process = Process::start(argv).map_err(|source| StartError::Spawn {
        program: escaped::shown(argv.first().map_or("(no program)", String::as_str), 100),
        source,
    })?;
    process.ask(Method::Initialize, |params| {
        params.key("protocol").extend_from_slice(PROTOCOL.to_string().as_bytes());
        let mut harness = crate::json::ObjectWriter::open(params.key("harness"));
        harness.string("name", env!("CARGO_PKG_NAME"));
        harness.string("version", env!("CARGO_PKG_VERSION"));
        harness.close();
    });
    match process.answer(options.init_timeout).map_err(StartError::Silent)? {
        Reply::Result { members, .. } => match initialize::capabilities(&members) {
            Ok(capabilities) => Ok((process, capabilities)),
            Err(FieldProblem { field, problem }) => Err(StartError::Field { field, problem }),
        },
        Reply::Error { code, message } => Err(StartError::Silent(answer::failure(code, &message))),
    }
}

impl Subject for Stdio {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.running()?;
        self.call(Call::Reset).map(|_| ())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.step(Step::Record(items.to_vec())).map(|_| ())
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.step(Step::Replace(items.to_vec())).map(|_| ())
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        match self.step(Step::Project(modalities))? {
            Outcome::Projected(projected) => Ok(projected),
            _ => Err(ended()),
        }
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        match self.step(Step::Snapshot)? {
            Outcome::Snapshot(items) => Ok(items),
            _ => Err(ended()),
        }
    }

    fn resume(&mut self) -> Result<(), Failure> {
        self.step(Step::Resume).map(|_| ())
    }

    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        self.step(Step::Rollback(turns)).map(|_| ())
    }

    fn fork(&mut self) -> Result<(), Failure> {
        self.step(Step::Fork).map(|_| ())
    }

    fn hurry(&mut self, timeout: Duration) {
        self.options.timeout = self.options.timeout.min(timeout);
    }

    /// All steps are sent at once, as far as they fit in what may be in flight.
    fn run(&mut self, script: &[Step]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(script.len());
        let mut calls = Vec::with_capacity(script.len() + 1);
        calls.push(Call::Reset);
        calls.extend(script.iter().map(Call::Step));
        let ran = match self.running() {
            Ok(_) => self.drive(&calls, &mut outcomes),
            Err(failure) => Err(failure),
        };
        outcomes.extend(ran.err().map(Outcome::Failed));
        outcomes
    }
}
