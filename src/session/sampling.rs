//! One sampling step: attempts around sendings, and what comes back.
//!
//! An attempt clones the live history, projects it and builds the prompt anew. Within it, a sending that fails is repeated
//! with the same bytes, a fresh authorisation and a fresh stream. Items are recorded when they are done, tools start then,
//! and an attempt, also a broken one, ends when its tools have: their outputs are recorded in the order of the calls.

use super::error::SessionError;
use super::fault::Slip;
use super::interrupt::{AbortReason, Interrupt};
use super::live::record_item;
use super::observed::Counters;
use super::request::{EncodedRequest, Prompt, RequestControls, encode};
use super::state::Session;
use super::step::StepContext;
use super::tools::{ToolRun, is_call, output_item};
use super::transport::{EventStream, Failure, Retry, StreamEvent, backoff};
use crate::item::{ContentPart, ResponseItem};
use crate::json::Json;
use std::sync::Arc;
use std::time::Duration;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The model goes on.
    Turn,
    /// The model writes a summary: no tools, and the prompt for it stands last.
    Compaction,
}

/// What a complete answer brought.
#[derive(Debug, Default)]
pub(super) struct Sampled {
    /// Calls that were answered.
    pub(super) calls: usize,
    /// The last thing that the model said.
    pub(super) last_message: Option<String>,
}

/// How a sampling step ended without a complete answer.
#[derive(Debug)]
pub(super) enum Stopped {
    Failed(Failure),
    Interrupted(AbortReason),
    Session(SessionError),
}

impl From<SessionError> for Stopped {
    fn from(error: SessionError) -> Stopped {
        Stopped::Session(error)
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::Failed(failure)
    }
}

/// A call whose tool runs.
struct RunningCall {
    call: Arc<ResponseItem>,
    run: Box<dyn ToolRun>,
    started: Duration,
}

/// A sampling step on its way.
pub(super) struct Sampling<'a> {
    pub(super) session: &'a Session,
    pub(super) step: &'a StepContext,
    pub(super) interrupt: &'a Interrupt,
    pub(super) purpose: Purpose,
    /// New attempts that were announced.
    pub(super) reconnects: &'a mut u32,
}

impl Sampling<'_> {
    /// Attempts until one is complete, or none may follow.
    pub(super) fn run(mut self) -> Result<Sampled, Stopped> {
        let limits = self.session.shared.config.retries;
        let (mut attempt, mut first_input) = (0_u32, None);
        loop {
            let failure = match self.attempt(attempt, &mut first_input) {
                Err(Stopped::Failed(failure)) => failure,
                other => return other,
            };
            let wait = match failure.retry() {
                Retry::Attempt(wait) => wait,
                // What may be sent again was sent again as often as it may.
                Retry::Request => None,
                Retry::Never => return Err(failure.into()),
            };
            if attempt >= limits.attempts {
                return Err(failure.into());
            }
            attempt += 1;
            *self.reconnects += 1;
            self.session.shared.services.host.pause(wait.unwrap_or_else(|| backoff(attempt)));
        }
    }

    fn attempt(
        &mut self,
        attempt: u32,
        first_input: &mut Option<Vec<Arc<ResponseItem>>>,
    ) -> Result<Sampled, Stopped> {
        self.check_interrupt()?;
        let modalities = self.step.turn.settings.model.modalities;
        let slips = self.session.shared.slips;
        if attempt > 0 && slips.has(Slip::WriteBackOnRetry) {
            self.session.lock().history.normalize(modalities);
        }
        let fresh = self.session.project(modalities);
        let input = match first_input {
            Some(first) if slips.has(Slip::AttemptReusesProjection) => first.clone(),
            _ => first_input.insert(fresh).clone(),
        };
        let request = self.encode(input);
        let stream = self.send(&request)?;
        let mut calls = Vec::new();
        let end = self.read(stream, &mut calls);
        // Also a broken attempt waits for its tools.
        let answered = calls.len();
        self.finish_tools(calls)?;
        self.check_interrupt()?;
        let mut sampled = end?;
        sampled.calls = answered;
        Ok(sampled)
    }

    fn check_interrupt(&self) -> Result<(), Stopped> {
        self.interrupt.reason().map_or(Ok(()), |reason| Err(Stopped::Interrupted(reason)))
    }

    fn encode(&self, mut input: Vec<Arc<ResponseItem>>) -> EncodedRequest {
        let Sampling { session, step, .. } = self;
        let (settings, config) = (&step.turn.settings, &session.shared.config);
        let (tools, parallel_tool_calls) = match self.purpose {
            Purpose::Turn => (step.tools(), settings.model.parallel_tool_calls),
            Purpose::Compaction => {
                let prompt = config.texts.compaction_prompt.clone();
                input.push(Arc::new(crate::world_state::message("user", [prompt])));
                (Vec::new(), false)
            }
        };
        let prompt = Prompt {
            input,
            tools,
            parallel_tool_calls,
            base_instructions: Arc::clone(&session.shared.base_instructions),
            output_schema: step.turn.output_schema.clone().filter(|_| self.purpose == Purpose::Turn),
        };
        let controls = RequestControls {
            model: settings.model.name.clone(),
            reasoning: settings.model.reasoning.clone(),
            service_tier: settings.model.service_tier.clone(),
            prompt_cache_key: session.thread_id().to_owned(),
            verbosity: settings.model.verbosity.clone(),
            client_metadata: self.client_metadata(),
            form: settings.model.form,
            item_ids: config.item_ids,
        };
        Counters::add(&session.shared.counters.encodings);
        encode(&prompt, &controls)
    }

    /// Who asks. The program draws the order anew for each attempt, so that its attempts never equal each other byte for
    /// byte; here the members go round.
    fn client_metadata(&self) -> Vec<(String, String)> {
        let Sampling { session, step, .. } = self;
        let mut state = session.lock();
        let window = format!("{}:{}", session.thread_id(), state.window_number);
        let own = [
            ("thread_id", session.thread_id()),
            ("turn_id", step.turn.turn_id.as_str()),
            ("session_id", session.thread_id()),
            ("x-codex-window-id", window.as_str()),
        ];
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        let mut members: Vec<_> = own.chain(step.turn.settings.client_metadata.iter().cloned()).collect();
        if session.shared.slips.has(Slip::SnapshotLeaked)
            && let Some(baseline) = state.history.world_state_baseline()
        {
            members.push(("world_state".to_owned(), baseline.to_string()));
        }
        let turn_by = state.attempts % members.len().max(1);
        members.rotate_left(turn_by);
        state.attempts = state.attempts.wrapping_add(1);
        members
    }

    /// Sends the same bytes until a stream comes, or the failure is none that more of the same can mend.
    fn send(&self, request: &EncodedRequest) -> Result<EventStream, Stopped> {
        let services = &self.session.shared.services;
        let mut retries = 0_u32;
        loop {
            self.check_interrupt()?;
            Counters::add(&self.session.shared.counters.sends);
            let authorisation = services.transport.authorise();
            let failure = match services.transport.send(request, authorisation, self.interrupt) {
                Ok(stream) => return Ok(stream),
                Err(error) => Failure::from(error),
            };
            let again =
                failure.retry() == Retry::Request && retries < self.session.shared.config.retries.requests;
            if !again {
                self.check_interrupt()?;
                return Err(failure.into());
            }
            retries += 1;
            services.host.pause(backoff(retries));
        }
    }

    /// Reads a stream to its end, records what is done, and starts tools.
    fn read(&self, stream: EventStream, calls: &mut Vec<RunningCall>) -> Result<Sampled, Stopped> {
        let mut sampled = Sampled::default();
        for event in stream {
            self.check_interrupt()?;
            match event.map_err(Failure::from)? {
                StreamEvent::Delta => {}
                StreamEvent::ItemDone(item) => {
                    sampled.last_message = message_text(&item).or(sampled.last_message);
                    self.item_done(item, calls)?;
                }
                StreamEvent::Completed { total_tokens } => {
                    let mut state = self.session.lock();
                    state.total_tokens = total_tokens.or(state.total_tokens);
                    return Ok(sampled);
                }
                StreamEvent::Failed { code, message } => return Err(Failure::Failed { code, message }.into()),
                StreamEvent::Incomplete { reason } => return Err(Failure::Incomplete { reason }.into()),
            }
        }
        Err(Failure::Unfinished.into())
    }

    fn item_done(&self, item: Arc<ResponseItem>, calls: &mut Vec<RunningCall>) -> Result<(), Stopped> {
        record_item(&mut self.session.lock(), Arc::clone(&item), Some(&self.step.turn.turn_id))?;
        if self.purpose == Purpose::Turn && is_call(&item) {
            let services = &self.session.shared.services;
            let started = services.host.elapsed();
            calls.push(RunningCall { run: services.tools.start(&item), call: item, started });
        }
        Ok(())
    }

    fn finish_tools(&self, calls: Vec<RunningCall>) -> Result<(), Stopped> {
        for RunningCall { call, run, started } in calls {
            let outcome = run.finish(self.interrupt);
            let ran = self.session.shared.services.host.elapsed().saturating_sub(started);
            if let Some(output) = output_item(&call, outcome, ran) {
                record_item(&mut self.session.lock(), Arc::new(output), Some(&self.step.turn.turn_id))?;
            }
        }
        Ok(())
    }
}

/// What the model said, where an item is that.
fn message_text(item: &ResponseItem) -> Option<String> {
    let ResponseItem::Message(message) = item else { return None };
    let texts = message.content.iter().filter_map(|part| match part {
        ContentPart::InputText(text) | ContentPart::OutputText(text) => Some(text.text.as_str()),
        ContentPart::InputImage(_) => None,
    });
    (message.role == "assistant").then(|| texts.collect())
}

/// `null` where there is none.
pub(super) fn text_or_null(text: Option<&String>) -> Json {
    text.map_or(Json::Null, |text| Json::from(text.as_str()))
}
