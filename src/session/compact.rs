//! Compaction by the model itself: it writes a summary, and the user's messages and the summary are all that stays.

use super::context::{ContextUpdate, is_untrusted_context};
use super::error::SessionError;
use super::interrupt::{AbortReason, Interrupt};
use super::live::durable;
use super::sampling::{Purpose, Sampling, Stopped};
use super::state::{Running, Session};
use super::step::StepContext;
use super::turn::{TurnReport, UserTurn};
use crate::item::ResponseItem;
use crate::json::Json;
use crate::rollout::{newest_texts, user_text};
use std::sync::Arc;

/// Where a compaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Between turns, or at the beginning of one: the next injection is a full one, behind the summary.
    BeforeTurn,
    /// Within a turn: the full injection is in the replacement history, before the last user message.
    WithinTurn,
}

impl Session {
    /// Compacts the history, in a turn of its own. A turn that runs is ended first, and what waited in it is lost.
    ///
    /// # Errors
    /// Where something cannot be written.
    pub fn compact(&self) -> Result<TurnReport, SessionError> {
        let mut state = self.lock();
        while let Some(running) = &state.running {
            running.interrupt.trigger(AbortReason::Replaced);
            state = self.wait_for_turn_end(state);
        }
        let interrupt = Interrupt::default();
        state.running = Some(Running { interrupt: interrupt.clone(), waiting: Vec::new() });
        drop(state);
        self.run_task(interrupt, UserTurn::default(), |session, turn, report, interrupt| {
            let step = session.step_context(turn);
            session.compact_now(&step, interrupt, Phase::BeforeTurn, report)?;
            Ok(None)
        })
    }

    /// Asks for a summary and makes the history of it.
    pub(super) fn compact_now(
        &self,
        step: &StepContext,
        interrupt: &Interrupt,
        phase: Phase,
        report: &mut TurnReport,
    ) -> Result<(), Stopped> {
        let reconnects = &mut report.reconnects;
        let sampling = Sampling { session: self, step, interrupt, purpose: Purpose::Compaction, reconnects };
        let summary = sampling.run()?.last_message.filter(|text| !text.is_empty());
        let summary = summary.unwrap_or_else(|| "(no summary available)".to_owned());
        let message = format!("{}\n{summary}", self.shared.config.texts.summary_prefix);
        let update = match phase {
            Phase::BeforeTurn => None,
            Phase::WithinTurn => Some(self.full_injection(step, &self.world_state(step))),
        };
        Ok(self.install_summary(message, update, &step.turn.turn_id)?)
    }

    fn install_summary(
        &self,
        message: String,
        mut update: Option<ContextUpdate>,
        turn_id: &str,
    ) -> Result<(), SessionError> {
        let mut state = self.lock();
        let injected = update.as_mut().map(ContextUpdate::take_items).unwrap_or_default();
        let prefix = format!("{}\n", self.shared.config.texts.summary_prefix);
        let said = state.history.raw_items().iter().rev().filter_map(|item| user_text(item));
        let said = said.filter(|text| !text.starts_with(&prefix) && !is_untrusted_context(text));
        let mut kept: Vec<ResponseItem> = newest_texts(said).into_iter().map(user_message).collect();
        let before_last = kept.len().saturating_sub(1);
        kept.splice(before_last..before_last, injected);
        kept.push(user_message(message.clone()));
        let items = kept.into_iter().map(Arc::new).collect();
        self.install_compaction(&mut state, &message, items)?;
        if let Some(update) = update {
            update.record(&mut state, turn_id)?;
        }
        durable(&mut state, |record| record.event("context_compacted", Vec::new()))
    }

    /// Whether the window is so full that the history must be compacted first.
    pub(super) fn must_compact(&self) -> bool {
        let state = self.lock();
        let limit = self.shared.config.auto_compact_limit;
        let over = matches!((state.total_tokens, limit), (Some(tokens), Some(limit)) if tokens >= limit);
        state.window_is_full || over
    }
}

fn user_message(text: String) -> ResponseItem {
    crate::world_state::message("user", [text])
}

/// The members of an event about a turn.
pub(super) fn turn_members(turn_id: &str) -> Vec<(&'static str, Json)> {
    vec![("turn_id", Json::from(turn_id))]
}
