//! The real program as a subject.
//!
//! Its live history cannot be seen from outside. So the session is a rollout: steps append to it what the program appends,
//! a snapshot is what our own reader makes of it, and a projection is what the program sends after it has resumed it.
//! What it then appends is judged and let go: the next step finds the rollout as it was.

use super::error::CodexError;
use super::new_turn::recorded_items;
use super::process::CodexProcess;
use super::{CodexCase, CodexOptions, CodexProjection, CodexStep};
use crate::case::{Failure, FailureKind, Items, Outcome, Projected, Step};
use crate::history::{ToolOutputLimit, is_turn_start};
use crate::item::{Modalities, ResponseItem};
use crate::json::{Json, ObjectWriter};
use crate::rollout::{PictureCache, Rollout, resume};
use crate::subject::{Capabilities, Profile, Subject, run_step};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The limit of tool outputs in the catalogue of models that the program is given.
const LIMIT: ToolOutputLimit = ToolOutputLimit::Bytes(10_000);

/// Two running programs and the rollout of the session that is under way.
///
/// Every projection is made by the other program than the one before it: so two in a row, and those before and after a
/// resume, are of different processes, and what depends on the process shows.
#[derive(Debug)]
pub struct CodexSubject {
    programs: [CodexProcess; 2],
    /// How many cases the programs were given: it says which one is next.
    given: usize,
    rolls_back: bool,
    rollout: Vec<u8>,
    pictures: PictureCache,
    /// The number of the open task, and whether one is open.
    task: u64,
    task_open: bool,
}

/// A projection that is still to be made.
struct Wanted {
    /// The place of its outcome.
    place: usize,
    rollout: Vec<u8>,
    modalities: Modalities,
}

impl CodexSubject {
    /// Starts the program twice, and asks it whether it can roll back.
    ///
    /// # Errors
    /// As [`CodexProcess::start`]; and where it cannot even project an empty session.
    pub fn start(path: &Path, options: CodexOptions) -> Result<CodexSubject, CodexError> {
        let (mut first, second) = (CodexProcess::start(path, options)?, CodexProcess::start(path, options)?);
        let rolls_back = rolls_back(&mut first)?;
        Ok(CodexSubject {
            programs: [first, second],
            given: 0,
            rolls_back,
            rollout: empty_session(),
            pictures: PictureCache::new(),
            task: 0,
            task_open: false,
        })
    }

    fn write(&mut self, line_type: &str, payload: impl FnOnce(&mut Vec<u8>)) {
        write_line(&mut self.rollout, line_type, payload);
    }

    fn write_event(&mut self, name: &str) {
        let turn_id = self.task.to_string();
        self.write("event_msg", |out| {
            let mut event = ObjectWriter::open(out);
            event.string("type", name);
            event.string("turn_id", &turn_id);
            event.close();
        });
    }

    fn begin_task(&mut self) {
        self.end_task();
        self.task += 1;
        self.task_open = true;
        self.write_event("task_started");
    }

    fn end_task(&mut self) {
        if std::mem::take(&mut self.task_open) {
            self.write_event("task_complete");
        }
    }

    /// Has the next program do a step to the rollout as it is.
    fn drive(&mut self, step: CodexStep) -> Result<CodexProjection, Failure> {
        let [first, second] = &mut self.programs;
        let program = if self.given.is_multiple_of(2) { first } else { second };
        self.given += 1;
        let case = CodexCase { rollout: &self.rollout, modalities: Modalities::TextAndImage, step };
        program.run(case).map_err(failure)
    }

    /// Makes projections, in both programs at a time. Their results come in the same order.
    fn project_all(&mut self, wanted: &[Wanted]) -> Vec<Result<Projected, Failure>> {
        let share = |of: usize| -> Vec<CodexCase<'_>> {
            let own = wanted.iter().skip(of).step_by(2);
            own.map(|wanted| CodexCase {
                rollout: &wanted.rollout,
                modalities: wanted.modalities,
                step: CodexStep::Resume,
            })
            .collect()
        };
        let (now, then) = (share(0), share(1));
        let [first, second] = &mut self.programs;
        let (now_by, then_by) = if self.given.is_multiple_of(2) { (first, second) } else { (second, first) };
        self.given += wanted.len();
        let (now, then) = std::thread::scope(|scope| {
            let other = scope.spawn(|| then_by.run_many(&then));
            let now = now_by.run_many(&now);
            (now, other.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let (mut now, mut then) = (now.into_iter(), then.into_iter());
        let in_turn = std::iter::from_fn(|| {
            let next = now.next();
            std::mem::swap(&mut now, &mut then);
            next
        });
        in_turn.map(|result| result.map_err(failure).and_then(projected)).collect()
    }
}

impl Subject for CodexSubject {
    fn capabilities(&self) -> Capabilities {
        let [program, _] = &self.programs;
        Capabilities {
            version: program.version().to_owned(),
            stateful: true,
            resume: true,
            rollback: self.rolls_back,
            fork: true,
            truncation: Some(LIMIT),
            prepares_pictures: true,
            seen_by_resuming: true,
            profile: Profile::Codex,
            ..Capabilities::stateless("codex")
        }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.rollout = empty_session();
        (self.task, self.task_open) = (0, false);
        Ok(())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        for item in items {
            if !self.task_open || is_turn_start(item) {
                self.begin_task();
            }
            self.write("response_item", |out| item.write_recorded(out));
        }
        Ok(())
    }

    /// As a compaction does, in a task of its own.
    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.begin_task();
        self.write("compacted", |out| {
            let mut compacted = ObjectWriter::open(out);
            compacted.string("message", "");
            write_list(items, compacted.key("replacement_history"));
            compacted.close();
        });
        self.end_task();
        Ok(())
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        let wanted = Wanted { place: 0, rollout: self.rollout.clone(), modalities };
        let lost = || Failure::new(FailureKind::Protocol, "the projection was not made");
        self.project_all(&[wanted]).pop().unwrap_or_else(|| Err(lost()))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        let unreadable = |error: String| {
            Failure::new(FailureKind::Protocol, format!("the rollout cannot be read: {error}"))
        };
        let rollout = Rollout::from_bytes(&self.rollout).map_err(|error| unreadable(error.to_string()))?;
        if let Some(refusal) = rollout.refusal() {
            return Err(unreadable(refusal.to_string()));
        }
        Ok(resume(&rollout.lines, Some(LIMIT), &mut self.pictures).history.iter().cloned().collect())
    }

    /// The rollout is all there is between two projections, and the next one is made by another process than the last.
    fn resume(&mut self) -> Result<(), Failure> {
        self.end_task();
        Ok(())
    }

    /// By `thread/rollback`: the line that it appends is taken over.
    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        self.end_task();
        let projection = self.drive(CodexStep::Rollback(turns))?;
        let gained = gained(&projection.rollout_before, &projection.rollout_after)?;
        let line =
            rollback_line(gained).ok_or_else(|| not_durable("thread/rollback wrote no line that says so"))?;
        self.rollout.extend_from_slice(line);
        Ok(())
    }

    /// By `thread/fork`: the file that it writes is the rollout from now on.
    fn fork(&mut self) -> Result<(), Failure> {
        self.end_task();
        let projection = self.drive(CodexStep::Fork)?;
        if projection.rollout_before != projection.rollout_after {
            return Err(not_durable("the fork changed the file of its source"));
        }
        let Some(fork) = projection.fork else {
            return Err(not_durable("thread/fork wrote no file"));
        };
        gained(&fork.rollout_before, &fork.rollout_after)?;
        self.rollout = fork.rollout_before;
        Ok(())
    }

    fn hurry(&mut self, timeout: Duration) {
        for program in &mut self.programs {
            program.hurry(timeout);
        }
    }

    /// Projections change nothing, so they are made when all other steps are done, many at a time.
    fn run(&mut self, script: &[Step]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(script.len());
        if let Err(failure) = self.reset() {
            return vec![Outcome::Failed(failure)];
        }
        let mut wanted = Vec::new();
        for (place, step) in script.iter().enumerate() {
            let outcome = match step {
                Step::Project(modalities) => {
                    wanted.push(Wanted { place, rollout: self.rollout.clone(), modalities: *modalities });
                    // Stands there until the projection is made.
                    Outcome::Done
                }
                step => run_step(self, step).unwrap_or_else(Outcome::Failed),
            };
            let failed = matches!(outcome, Outcome::Failed(_));
            outcomes.push(outcome);
            if failed {
                break;
            }
        }
        let made = self.project_all(&wanted);
        for (wanted, made) in wanted.iter().zip(made) {
            let failed = made.is_err();
            if let Some(outcome) = outcomes.get_mut(wanted.place) {
                *outcome = made.map_or_else(Outcome::Failed, Outcome::Projected);
            }
            if failed {
                outcomes.truncate(wanted.place + 1);
                break;
            }
        }
        outcomes
    }
}

/// Whether the version has `thread/rollback`: 0.171.0 says that it knows no such method.
fn rolls_back(program: &mut CodexProcess) -> Result<bool, CodexError> {
    let mut session = empty_session();
    write_line(&mut session, "response_item", |out| {
        out.extend_from_slice(br#"{"type":"message","role":"user","content":[]}"#);
    });
    let step = CodexStep::Rollback(1);
    match program.run(CodexCase { rollout: &session, modalities: Modalities::TextAndImage, step }) {
        Ok(_) => Ok(true),
        Err(CodexError::Refused { doing: "thread/rollback", message })
            if message.contains("unknown variant") =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// A session in which nothing has happened.
fn empty_session() -> Vec<u8> {
    let mut rollout = Vec::new();
    write_line(&mut rollout, "session_meta", |out| {
        let mut meta = ObjectWriter::open(out);
        // The id is replaced for each case.
        meta.string("id", "11111111-1111-7111-8111-111111111111");
        meta.string("timestamp", TIMESTAMP);
        meta.string("cwd", "/");
        meta.string("originator", "callpair");
        meta.string("cli_version", env!("CARGO_PKG_VERSION"));
        meta.close();
    });
    rollout
}

/// The program reads nothing from the times of lines.
const TIMESTAMP: &str = "2026-01-02T03:04:05.000Z";

fn write_line(rollout: &mut Vec<u8>, line_type: &str, payload: impl FnOnce(&mut Vec<u8>)) {
    let mut line = ObjectWriter::open(rollout);
    line.string("timestamp", TIMESTAMP);
    line.string("type", line_type);
    payload(line.key("payload"));
    line.close();
    rollout.push(b'\n');
}

fn write_list(items: &[Arc<ResponseItem>], out: &mut Vec<u8>) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        item.write_recorded(out);
    }
    out.push(b']');
}

/// What a file gained, where it only grew, and by nothing but messages: an item of another kind would be made up.
fn gained<'a>(before: &[u8], after: &'a [u8]) -> Result<&'a [u8], Failure> {
    let Some(gained) = after.strip_prefix(before) else {
        return Err(not_durable("what stood in the rollout was changed"));
    };
    let kind = |item: &Json| item.get("type").and_then(Json::as_str).unwrap_or_default().to_owned();
    match recorded_items(gained).iter().map(kind).find(|kind| kind != "message") {
        Some(kind) => Err(not_durable(format!("a {kind:?} was written that nobody recorded"))),
        None => Ok(gained),
    }
}

/// The lines up to the one that says that turns were rolled back.
fn rollback_line(gained: &[u8]) -> Option<&[u8]> {
    let mut end = 0;
    for line in gained.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let json = std::str::from_utf8(line).ok().and_then(|line| Json::parse(line).ok());
        let event =
            json.as_ref().and_then(|line| line.get("payload")).and_then(|payload| payload.get("type"));
        if event.and_then(Json::as_str) == Some("thread_rolled_back") {
            return gained.get(..end);
        }
    }
    None
}

/// The request as items, where the file held nothing back.
fn projected(projection: CodexProjection) -> Result<Projected, Failure> {
    gained(&projection.rollout_before, &projection.rollout_after)?;
    let load = |(at, item)| {
        let item = ResponseItem::load(item).map_err(|error| {
            Failure::new(FailureKind::Protocol, format!("item {at} of the request is none: {error}"))
        })?;
        Ok(Arc::new(item))
    };
    let items = projection.input.into_iter().enumerate().map(load).collect::<Result<Items, Failure>>()?;
    // Not its bytes: the keys of an action's `env` come in another order in each process.
    Ok(Projected::of_items(items))
}

fn not_durable(what: impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Protocol, format!("the durable record is damaged: {what}"))
}

fn failure(error: CodexError) -> Failure {
    let kind = match error {
        CodexError::Refused { .. } => FailureKind::Refused,
        CodexError::TimedOut { .. } => FailureKind::Hung,
        CodexError::NotTold(_) => FailureKind::Protocol,
        CodexError::CannotStart { .. }
        | CodexError::NoSurroundings { .. }
        | CodexError::WillNotSpeak { .. }
        | CodexError::TurnFailed { .. } => FailureKind::Crashed,
    };
    Failure::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(payload: &str) -> Vec<u8> {
        let mut rollout = empty_session();
        write_line(&mut rollout, "response_item", |out| out.extend_from_slice(payload.as_bytes()));
        rollout
    }

    fn damage(before: &[u8], after: &[u8]) -> Option<String> {
        gained(before, after).err().map(|failure| failure.message)
    }

    #[test]
    fn a_record_may_gain_messages_and_nothing_else() {
        let before = empty_session();
        assert_eq!(damage(&before, &before), None);
        assert_eq!(damage(&before, &with(r#"{"type":"message","role":"user","content":[]}"#)), None);
        let synthetic = with(r#"{"type":"function_call_output","call_id":"a","output":"aborted"}"#);
        let expected =
            "the durable record is damaged: a \"function_call_output\" was written that nobody recorded";
        assert_eq!(damage(&before, &synthetic).as_deref(), Some(expected));
    }

    #[test]
    fn a_record_that_was_changed_cut_or_emptied_is_damaged() {
        let before = with(r#"{"type":"message","role":"user","content":[]}"#);
        let changed = with(r#"{"type":"message","role":"usex","content":[]}"#);
        let cut = before.split_last().map(|(_, cut)| cut).unwrap_or_default();
        for after in [changed.as_slice(), cut, b""] {
            let expected = "the durable record is damaged: what stood in the rollout was changed";
            assert_eq!(damage(&before, after).as_deref(), Some(expected));
        }
    }

    #[test]
    fn of_what_a_rollback_wrote_the_lines_up_to_its_own_are_taken_over() {
        let mut gained = Vec::new();
        for event in ["token_count", "thread_rolled_back", "task_started"] {
            write_line(&mut gained, "event_msg", |out| {
                let mut payload = ObjectWriter::open(out);
                payload.string("type", event);
                payload.close();
            });
        }
        let taken = rollback_line(&gained).map(String::from_utf8_lossy).expect("it says so");
        assert!(taken.ends_with("\"thread_rolled_back\"}}\n") && taken.starts_with('{'), "{taken}");
        assert_eq!(rollback_line(b"{\"payload\":{\"type\":\"token_count\"}}\n"), None);
    }
}
