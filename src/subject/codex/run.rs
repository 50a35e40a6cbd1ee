//! Cases under way: each a small machine that goes on when the program answers; several at a time in one program.

use super::error::{CodexError, printable};
use super::new_turn::{turn_is_over, user_text, without_new_turn};
use super::open::{Thread, Written, method, opened};
use super::process::{CodexProcess, silent};
use super::rpc::{Message, Silence};
use super::{CodexCase, CodexFork, CodexProjection, CodexStep};
use crate::json::Json;
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// After so many threads the program is started anew, which takes a fifth of a second. It keeps each in memory, about half a
/// megabyte.
pub(super) const MAX_THREADS: usize = 200;

/// What a case waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The answer to the opening of the thread.
    Opening,
    /// The answer to the rollback.
    RollingBack,
    /// The answer to the start of the turn.
    Starting,
    /// The notice that the turn is over.
    Running,
}

/// A case under way.
struct Job<'a> {
    index: usize,
    case: CodexCase<'a>,
    written: Written,
    stage: Stage,
    /// The request whose answer is waited for.
    request: u64,
    /// Known once it is open; of a fork, with the bytes that the fork left in its file.
    thread: Option<Thread>,
    fork_before: Option<Vec<u8>>,
    until: Instant,
}

impl Job<'_> {
    fn doing(&self) -> &'static str {
        match self.stage {
            Stage::Opening => method(self.case.step),
            Stage::RollingBack => "thread/rollback",
            Stage::Starting => "turn/start",
            Stage::Running => "a turn",
        }
    }
}

/// The program fell silent.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) error: CodexError,
    /// The cases that were not over.
    pub(super) under_way: Vec<usize>,
}

/// How a case goes on.
enum Next {
    Wait,
    Over(Box<Result<CodexProjection, CodexError>>),
}

impl Next {
    fn over(result: Result<CodexProjection, CodexError>) -> Next {
        Next::Over(Box::new(result))
    }
}

/// A place for the result of each case.
pub(super) type Results = [Option<Result<CodexProjection, CodexError>>];

impl CodexProcess {
    /// Runs the cases of the queue, `window` at a time, until it is empty, the program has had its fill of threads, or it falls
    /// silent. Taken from the queue is what has a result or is named as under way.
    pub(super) fn pipeline(
        &mut self,
        cases: &[CodexCase<'_>],
        queue: &mut VecDeque<usize>,
        window: usize,
        results: &mut Results,
    ) -> Result<(), Broken> {
        let mut jobs: Vec<Job<'_>> = Vec::with_capacity(window);
        loop {
            while jobs.len() < window
                && self.threads < MAX_THREADS
                && let Some(index) = queue.pop_front()
            {
                self.threads += 1;
                match cases.get(index).map(|case| self.begin(index, *case)) {
                    Some(Ok(job)) => jobs.push(job),
                    Some(Err(error)) => set(results, index, Err(error)),
                    None => {}
                }
            }
            let Some(first_due) = jobs.iter().min_by_key(|job| job.until) else { return Ok(()) };
            let (until, doing) = (first_due.until, first_due.doing());
            let message = match self.connection.next(until) {
                Ok(message) => message,
                Err(silence) => {
                    let error = silent(&self.connection, silence, doing, self.options.timeout);
                    return Err(Broken { error, under_way: self.give_up(&jobs) });
                }
            };
            let Some((at, next)) = self.handle(&mut jobs, message) else { continue };
            if let Next::Over(result) = next {
                let job = jobs.swap_remove(at);
                self.close(&job);
                set(results, job.index, *result);
            }
        }
    }

    fn begin<'a>(&mut self, index: usize, case: CodexCase<'a>) -> Result<Job<'a>, CodexError> {
        let written = self.write(case.rollout)?;
        let until = Instant::now() + self.options.timeout;
        // Where nothing can be written to the program, it has ended: the next reading says so, and no answer has number 0.
        let request = self.open(&written, &case).unwrap_or_default();
        let stage = Stage::Opening;
        Ok(Job { index, case, written, stage, request, thread: None, fork_before: None, until })
    }

    /// Finds the case that a message is for, and takes it further.
    fn handle(&mut self, jobs: &mut [Job<'_>], message: Message) -> Option<(usize, Next)> {
        match message {
            Message::Answer(number, answer) => {
                let at = jobs.iter().position(|job| job.request == number)?;
                let job = jobs.get_mut(at)?;
                let next = match answer {
                    Ok(result) => self.answered(job, &result).unwrap_or_else(|error| Next::over(Err(error))),
                    Err(message) => Next::over(Err(self.refused(job.doing(), &message))),
                };
                Some((at, next))
            }
            Message::Notice(method, parameters) if method == "turn/completed" => {
                let id = parameters.get("threadId").and_then(Json::as_str)?;
                let is_its = |job: &Job<'_>| job.thread.as_ref().is_some_and(|thread| thread.id == id);
                let at = jobs.iter().position(is_its)?;
                Some((at, Next::over(self.turn_completed(jobs.get(at)?, &parameters))))
            }
            Message::Notice(..) => None,
            Message::Request(id) => {
                // Where that cannot be written, the program has ended, as reading will say.
                let _ = self.connection.decline(&id);
                None
            }
        }
    }

    fn answered(&mut self, job: &mut Job<'_>, result: &Json) -> Result<Next, CodexError> {
        job.until = Instant::now() + self.options.timeout;
        match job.stage {
            Stage::Opening => {
                let thread = opened(result)?;
                self.server.watch(&thread.id);
                if job.case.step == CodexStep::Fork {
                    job.fork_before = Some(read(&thread.path)?);
                }
                let id = thread.id.clone();
                job.thread = Some(thread);
                if let CodexStep::Rollback(turns) = job.case.step {
                    job.stage = Stage::RollingBack;
                    let rollback = self.connection.request("thread/rollback", |parameters| {
                        parameters.string("threadId", &id);
                        parameters.key("numTurns").extend_from_slice(turns.to_string().as_bytes());
                    });
                    job.request = rollback.unwrap_or_default();
                } else {
                    self.start_turn(job, &id);
                }
            }
            Stage::RollingBack => {
                if let Some(thread) = &job.thread {
                    let id = thread.id.clone();
                    self.start_turn(job, &id);
                }
            }
            Stage::Starting | Stage::Running => job.stage = Stage::Running,
        }
        Ok(Next::Wait)
    }

    fn start_turn(&mut self, job: &mut Job<'_>, thread: &str) {
        job.stage = Stage::Starting;
        job.request = self.request_turn(thread, &user_text(&job.written.id.to_string())).unwrap_or_default();
    }

    /// `turn/start` with one text.
    pub(super) fn request_turn(&mut self, thread: &str, text: &str) -> std::io::Result<u64> {
        self.connection.request("turn/start", |parameters| {
            parameters.string("threadId", thread);
            let input = parameters.key("input");
            input.extend_from_slice(br#"[{"type":"text","text":"#);
            crate::json::write_string(text, input);
            input.extend_from_slice(b"}]");
        })
    }

    fn turn_completed(&self, job: &Job<'_>, notice: &Json) -> Result<CodexProjection, CodexError> {
        let turn = notice.get("turn");
        let status = turn.and_then(|turn| turn.get("status")).and_then(Json::as_str).unwrap_or_default();
        if status != "completed" {
            let error = turn.and_then(|turn| turn.get("error")).and_then(|error| error.get("message"));
            let message = printable(error.and_then(Json::as_str).unwrap_or("it gives no reason"));
            return Err(CodexError::TurnFailed { status: printable(status), message });
        }
        let Some(thread) = &job.thread else {
            return Err(CodexError::NotTold("a turn ended in a thread that was not opened".into()));
        };
        let mut asked = self.server.take(&thread.id);
        if asked.requests != 1 {
            let text = format!("the turn made {} requests and should make one", asked.requests);
            return Err(CodexError::NotTold(text));
        }
        let input = match asked.bodies.pop() {
            Some(Json::Object(mut body)) => body.take("input"),
            _ => None,
        };
        let Some(Json::Array(input)) = input else {
            return Err(CodexError::NotTold("the request has no list `input`".into()));
        };
        let before = job.fork_before.as_ref().unwrap_or(&job.written.bytes);
        let after = read_when_over(&thread.path, before.len(), job.until)?;
        let gained = after.get(before.len()..).unwrap_or_default();
        let input = without_new_turn(input, gained, &user_text(&job.written.id.to_string()))
            .map_err(CodexError::NotTold)?;
        let rollout_before = job.written.bytes.clone();
        Ok(match &job.fork_before {
            None => CodexProjection { input, rollout_before, rollout_after: after, fork: None },
            Some(before) => CodexProjection {
                input,
                rollout_before,
                rollout_after: read(&job.written.path)?,
                fork: Some(CodexFork { rollout_before: before.clone(), rollout_after: after }),
            },
        })
    }

    /// Clears up after a case. The program keeps the thread: to have it deleted holds up all others (a third of the speed
    /// was left, on 0.144.6), so the program is started anew from time to time instead.
    fn close(&self, job: &Job<'_>) {
        let Some(thread) = &job.thread else { return };
        self.server.take(&thread.id);
        // The file of a fork; the one that was written goes with the job. Its path is the program's word: nothing outside the
        // private folder is removed on that.
        let (file, root) = (thread.path.canonicalize(), self.home.root().canonicalize());
        if let (Ok(file), Ok(root)) = (file, root)
            && file.starts_with(root)
        {
            let _ = fs::remove_file(file);
        }
    }

    fn give_up(&self, jobs: &[Job<'_>]) -> Vec<usize> {
        jobs.iter().for_each(|job| self.close(job));
        jobs.iter().map(|job| job.index).collect()
    }

    /// Waits for the answer to one request while nothing else is under way.
    pub(super) fn wait_for(&mut self, number: u64, doing: &'static str) -> Result<Json, CodexError> {
        let until = Instant::now() + self.options.timeout;
        loop {
            match self.connection.next(until) {
                Ok(Message::Answer(answered, answer)) if answered == number => {
                    return answer.map_err(|message| self.refused(doing, &message));
                }
                Ok(_) => {}
                Err(silence) => return Err(silent(&self.connection, silence, doing, self.options.timeout)),
            }
        }
    }

    /// A refusal in the program's words, the same in every run: the private folder has another name each time.
    fn refused(&self, doing: &'static str, message: &str) -> CodexError {
        let message = message.replace(&*self.home.root().to_string_lossy(), "…");
        CodexError::Refused { doing, message }
    }

    /// The error of a program that cannot be written to.
    pub(super) fn unwritable(&self, error: &std::io::Error, doing: &'static str) -> CodexError {
        silent(&self.connection, Silence::Ended(error.to_string()), doing, self.options.timeout)
    }
}

/// Puts a result into its place.
pub(super) fn set(results: &mut Results, index: usize, result: Result<CodexProjection, CodexError>) {
    if let Some(slot) = results.get_mut(index) {
        *slot = Some(result);
    }
}

/// Reads a rollout.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, CodexError> {
    fs::read(path).map_err(|error| CodexError::NotTold(format!("the rollout cannot be read: {error}")))
}

/// Reads a rollout once its turn is recorded to the end, which is at the notice or shortly after.
fn read_when_over(path: &Path, before: usize, until: Instant) -> Result<Vec<u8>, CodexError> {
    loop {
        let bytes = read(path)?;
        if bytes.get(before..).is_some_and(turn_is_over) {
            return Ok(bytes);
        }
        if Instant::now() >= until {
            return Err(CodexError::NotTold("the rollout does not say that the turn is over".into()));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
