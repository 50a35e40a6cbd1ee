//! A driven program from start to end: starting, restarting after a crash, and many cases at a time.

use super::error::CodexError;
use super::home::Home;
use super::rpc::{Connection, Message, Silence};
use super::run::{Broken, MAX_THREADS, Results, set};
use super::{CodexCase, CodexOptions, CodexProjection, CodexStep};
use crate::item::Modalities;
use crate::json::{Json, ObjectWriter};
use crate::server::ModelServer;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A published Codex program that runs, with a private folder and a model server of its own.
///
/// All of it ends when this is dropped: the process with its group, the server, the folder.
#[derive(Debug)]
pub struct CodexProcess {
    // The order matters on dropping: first the program goes, then what it stands on.
    pub(super) connection: Connection,
    pub(super) server: ModelServer,
    pub(super) home: Home,
    pub(super) options: CodexOptions,
    program: PathBuf,
    version: String,
    /// How many rollouts were written so far.
    pub(super) written: u64,
    /// How many threads the running process has.
    pub(super) threads: usize,
}

impl CodexProcess {
    /// Starts the program at `path` as `codex app-server`. A path without a slash is looked up in PATH.
    ///
    /// # Errors
    /// Where the program cannot be started, or does not answer as a Codex app-server does.
    pub fn start(path: &Path, options: CodexOptions) -> Result<CodexProcess, CodexError> {
        let server = ModelServer::start().map_err(|error| CodexError::NoSurroundings {
            what: "a server on loopback",
            reason: error.to_string(),
        })?;
        let home = Home::create(&server.base_url())?;
        let program = whole_path(path)?;
        let (connection, version) = connect(&home, &program, &options)?;
        Ok(CodexProcess { connection, server, home, options, program, version, written: 0, threads: 0 })
    }

    /// The program's own version, `0.144.6` say.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The folder that the program keeps its files in.
    pub fn folder(&self) -> &Path {
        self.home.root()
    }

    /// The number of the program's process, which is that of its group too.
    pub fn process_id(&self) -> u32 {
        self.connection.process_id()
    }

    /// From now on a step of a case may take no longer than this.
    pub fn hurry(&mut self, timeout: Duration) {
        self.options.timeout = self.options.timeout.min(timeout);
    }

    /// The projection of a rollout, as a resume of the file gives it.
    ///
    /// # Errors
    /// See [`CodexError`]. After a crash or a time-out the program has been started again.
    pub fn project(&mut self, rollout: &[u8], modalities: Modalities) -> Result<CodexProjection, CodexError> {
        self.run(CodexCase { rollout, modalities, step: CodexStep::Resume })
    }

    /// Runs one case.
    ///
    /// # Errors
    /// As [`project`](Self::project).
    pub fn run(&mut self, case: CodexCase<'_>) -> Result<CodexProjection, CodexError> {
        let refused = || CodexError::NotTold("the case was not run".into());
        self.run_many(&[case]).pop().unwrap_or_else(|| Err(refused()))
    }

    /// Runs many cases, several at a time, and gives their results in the same order.
    ///
    /// A case that crashes or hangs the program is found by running those that were under way again, one by one, each in a
    /// program that is well; so a fault falls on its own case alone.
    pub fn run_many(&mut self, cases: &[CodexCase<'_>]) -> Vec<Result<CodexProjection, CodexError>> {
        let mut results = vec![None; cases.len()];
        let over = self.try_run_many(cases, &mut results);
        // Every case has a result unless the program could not be started again.
        let not_run = over.err().unwrap_or_else(|| CodexError::NotTold("the case was not run".into()));
        results.into_iter().map(|result| result.unwrap_or_else(|| Err(not_run.clone()))).collect()
    }

    /// # Errors
    /// Where the program cannot be started again; the cases without a result were not run.
    fn try_run_many(&mut self, cases: &[CodexCase<'_>], results: &mut Results) -> Result<(), CodexError> {
        let mut queue: VecDeque<usize> = (0..cases.len()).collect();
        while !queue.is_empty() {
            if self.threads >= MAX_THREADS {
                self.restart()?;
            }
            let broken = self.pipeline(cases, &mut queue, self.options.window(), results);
            let Err(Broken { error, under_way }) = broken else { continue };
            self.restart()?;
            if let &[index] = under_way.as_slice() {
                // Nothing else can have caused it.
                set(results, index, Err(error));
                continue;
            }
            for index in under_way {
                let alone = self.pipeline(cases, &mut VecDeque::from([index]), 1, results);
                if let Err(Broken { error, .. }) = alone {
                    set(results, index, Err(error));
                    self.restart()?;
                }
            }
        }
        Ok(())
    }

    /// Kills the program and starts it again in the same folder.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn restart(&mut self) -> Result<(), CodexError> {
        self.connection.kill();
        self.threads = 0;
        (self.connection, self.version) = connect(&self.home, &self.program, &self.options)?;
        Ok(())
    }
}

/// The program runs in a folder of its own, from where a relative path would lead elsewhere.
fn whole_path(path: &Path) -> Result<PathBuf, CodexError> {
    if path.components().count() == 1 && !path.is_file() {
        return Ok(path.to_path_buf());
    }
    path.canonicalize().map_err(|error| CodexError::CannotStart {
        program: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// Starts the program and greets it. `experimentalApi` opens resuming by path.
fn connect(home: &Home, program: &Path, options: &CodexOptions) -> Result<(Connection, String), CodexError> {
    let mut connection = Connection::start(home.command(program))?;
    let doing = "initialize";
    let until = Instant::now() + options.startup;
    let greeting = connection.request(doing, |parameters| {
        let mut client = ObjectWriter::open(parameters.key("clientInfo"));
        client.string("name", "callpair");
        client.string("version", env!("CARGO_PKG_VERSION"));
        client.close();
        parameters.key("capabilities").extend_from_slice(br#"{"experimentalApi":true}"#);
    });
    // Where it cannot be written to, the program has ended; that is what reading says next.
    let number = greeting.unwrap_or_default();
    let answer = loop {
        match connection.next(until) {
            Ok(Message::Answer(answered, answer)) if answered == number => break answer,
            Ok(_) => {}
            Err(silence) => return Err(silent(&connection, silence, doing, options.startup)),
        }
    };
    let result = answer.map_err(|message| CodexError::Refused { doing, message })?;
    connection.notify("initialized").map_err(|error| {
        let silence = Silence::Ended(error.to_string());
        silent(&connection, silence, "initialized", options.startup)
    })?;
    Ok((connection, version(&result)))
}

/// Of `"userAgent":"callpair/0.144.6 (…"` the part between slash and blank.
fn version(greeting: &Json) -> String {
    let agent = greeting.get("userAgent").and_then(Json::as_str).unwrap_or_default();
    let version = agent.split_once('/').map_or("", |(_, rest)| rest).split(' ').next();
    version.filter(|version| !version.is_empty()).unwrap_or("unknown").to_owned()
}

/// The error that a silence of the program is.
pub(super) fn silent(
    connection: &Connection,
    silence: Silence,
    doing: &'static str,
    limit: Duration,
) -> CodexError {
    let stderr = connection.stderr();
    match silence {
        Silence::TimedOut => CodexError::TimedOut { doing, limit, stderr },
        Silence::Interrupted => {
            let reason = "it was ended, because a signal interrupted callpair".into();
            CodexError::WillNotSpeak { doing, reason, stderr }
        }
        Silence::Ended(reason) => CodexError::WillNotSpeak { doing, reason, stderr },
    }
}
