//! A turn: what the user said, then sampling steps until the model has nothing left to do.

use super::compact::{Phase, turn_members};
use super::context::{AdditionalContext, record_additional_context};
use super::error::SessionError;
use super::interrupt::{AbortReason, Interrupt};
use super::live::{durable, record_item};
use super::sampling::{Purpose, Sampled, Sampling, Stopped, text_or_null};
use super::state::{Running, Session, Waiting};
use super::step::TurnContext;
use super::transport::Failure;
use crate::item::{ContentPart, Message, ResponseItem};
use crate::json::Json;
use std::sync::Arc;

/// What begins a turn.
#[derive(Debug, Clone, Default)]
pub struct UserTurn {
    /// What the user said.
    pub content: Vec<ContentPart>,
    /// What the client adds; the model reads what changed.
    pub additional_context: Vec<(String, AdditionalContext)>,
    /// What the answer must look like, in this turn only.
    pub output_schema: Option<Json>,
}

/// How a turn went.
#[derive(Debug)]
pub struct TurnReport {
    /// The turn; empty where none began.
    pub turn_id: String,
    /// How it ended.
    pub end: TurnEnd,
    /// How many new attempts there were ("Reconnecting...").
    pub reconnects: u32,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model is done.
    Completed {
        /// What it said last.
        last_message: Option<String>,
    },
    /// It cannot go on. What was recorded stays.
    Failed(Failure),
    /// It was broken off.
    Aborted(AbortReason),
    /// None began: another one runs, and takes what was said.
    Steered,
}

/// Ends a turn that runs, however its function is left.
struct TurnGuard<'a>(&'a Session);

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.0.turn_is_over();
    }
}

impl Session {
    /// Runs a turn to its end. While another one runs, what the user said goes to that one.
    ///
    /// # Errors
    /// Where something cannot be written. The turn has no end in the file then, as after a crash.
    pub fn run_turn(&self, turn: UserTurn) -> Result<TurnReport, SessionError> {
        let interrupt = Interrupt::default();
        {
            let mut state = self.lock();
            if let Some(running) = &mut state.running {
                running.waiting.push(Waiting::Steer(turn.content));
                return Ok(TurnReport { turn_id: String::new(), end: TurnEnd::Steered, reconnects: 0 });
            }
            state.running = Some(Running { interrupt: interrupt.clone(), waiting: Vec::new() });
        }
        let UserTurn { content, additional_context, output_schema } = turn;
        let about = UserTurn { output_schema, ..UserTurn::default() };
        self.run_task(interrupt, about, |session, turn, report, interrupt| {
            session.user_turn(turn, content, additional_context, report, interrupt)
        })
    }

    /// Runs a task between its start and its end. The caller has marked the session as running.
    pub(super) fn run_task(
        &self,
        interrupt: Interrupt,
        about: UserTurn,
        run: impl FnOnce(
            &Session,
            &Arc<TurnContext>,
            &mut TurnReport,
            &Interrupt,
        ) -> Result<Option<String>, Stopped>,
    ) -> Result<TurnReport, SessionError> {
        let _over = TurnGuard(self);
        let turn_id = self.shared.services.host.new_id();
        let turn = {
            let mut state = self.lock();
            durable(&mut state, |record| record.event("task_started", turn_members(&turn_id)))?;
            let settings = Arc::clone(&state.settings);
            Arc::new(TurnContext { turn_id: turn_id.clone(), settings, output_schema: about.output_schema })
        };
        let mut report =
            TurnReport { turn_id, end: TurnEnd::Completed { last_message: None }, reconnects: 0 };
        report.end = match run(self, &turn, &mut report, &interrupt) {
            Ok(last_message) => TurnEnd::Completed { last_message },
            Err(Stopped::Failed(failure)) => TurnEnd::Failed(failure),
            Err(Stopped::Interrupted(reason)) => TurnEnd::Aborted(reason),
            Err(Stopped::Session(error)) => return Err(error),
        };
        self.record_end(&report)?;
        Ok(report)
    }

    fn user_turn(
        &self,
        turn: &Arc<TurnContext>,
        content: Vec<ContentPart>,
        additional_context: Vec<(String, AdditionalContext)>,
        report: &mut TurnReport,
        interrupt: &Interrupt,
    ) -> Result<Option<String>, Stopped> {
        let mut step = self.step_context(turn);
        if self.must_compact() {
            self.compact_now(&step, interrupt, Phase::BeforeTurn, report)?;
        }
        let update = self.context_update(&step);
        {
            let mut state = self.lock();
            update.record(&mut state, &turn.turn_id)?;
            record_additional_context(&mut state, additional_context, &turn.turn_id)?;
        }
        self.record_user_message(content, &turn.turn_id)?;
        loop {
            let reconnects = &mut report.reconnects;
            let sampling =
                Sampling { session: self, step: &step, interrupt, purpose: Purpose::Turn, reconnects };
            let Sampled { calls, last_message } = sampling.run()?;
            let waited = self.record_waiting(&turn.turn_id)?;
            if calls == 0 && waited == 0 {
                return Ok(last_message);
            }
            if self.must_compact() {
                self.compact_now(&step, interrupt, Phase::WithinTurn, report)?;
            }
            step = self.step_context(turn);
        }
    }

    fn record_user_message(&self, content: Vec<ContentPart>, turn_id: &str) -> Result<(), SessionError> {
        let mut state = self.lock();
        let message = Message { id: None, role: "user".to_owned(), content: content.clone(), phase: None };
        record_item(&mut state, Arc::new(ResponseItem::Message(message)), Some(turn_id))?;
        durable(&mut state, |record| record.user_message(&content))
    }

    /// Records what came meanwhile, and says how much it was.
    fn record_waiting(&self, turn_id: &str) -> Result<usize, SessionError> {
        let waiting = match &mut self.lock().running {
            Some(running) => std::mem::take(&mut running.waiting),
            None => Vec::new(),
        };
        let count = waiting.len();
        for waiting in waiting {
            match waiting {
                Waiting::Steer(content) => self.record_user_message(content, turn_id)?,
                Waiting::Items(items) => {
                    let mut state = self.lock();
                    items.into_iter().try_for_each(|item| record_item(&mut state, item, Some(turn_id)))?;
                }
            }
        }
        Ok(count)
    }

    fn record_end(&self, report: &TurnReport) -> Result<(), SessionError> {
        let turn_id = report.turn_id.as_str();
        let complete = |last_message| {
            let mut members = turn_members(turn_id);
            members.push(("last_agent_message", text_or_null(last_message)));
            members
        };
        let mut state = self.lock();
        match &report.end {
            TurnEnd::Completed { last_message } => {
                durable(&mut state, |record| record.event("task_complete", complete(last_message.as_ref())))
            }
            TurnEnd::Failed(failure) => {
                state.window_is_full |= failure.fills_window();
                durable(&mut state, |record| record.event("task_complete", complete(None)))
            }
            TurnEnd::Aborted(reason) => {
                // What waited is lost: neither the file nor a request has it.
                if *reason == AbortReason::Interrupted {
                    let text = self.shared.config.texts.turn_aborted.clone();
                    let message = crate::world_state::message("user", [text]);
                    record_item(&mut state, Arc::new(message), Some(turn_id))?;
                }
                let mut members = turn_members(turn_id);
                members.push(("reason", Json::from(reason.as_str())));
                durable(&mut state, |record| record.event("turn_aborted", members))
            }
            TurnEnd::Steered => Ok(()),
        }
    }
}
