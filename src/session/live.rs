//! What can be done to a session between turns, and how an item is recorded.

use super::error::SessionError;
use super::fault::Slip;
use super::interrupt::AbortReason;
use super::observed::Counters;
use super::record::Record;
use super::resume::read;
use super::settings::TurnSettings;
use super::state::{Session, State, Waiting};
use super::step::SectionContributor;
use crate::history::{ContextManager, is_turn_start};
use crate::item::{ContentPart, ItemList, Modalities, ResponseItem};
use crate::json::Json;
use crate::projection::image_count;
use crate::rollout::{WriteError, prepare};
use crate::world_state::WorldStateSnapshot;
use std::sync::Arc;

impl Session {
    /// A detached manager with the live history: takes the lock, clones, lets go.
    pub fn clone_history(&self) -> ContextManager {
        Counters::add(&self.shared.counters.history_clones);
        self.lock().history.clone_history()
    }

    /// The live history as it stands, before any projection.
    pub fn snapshot(&self) -> ItemList {
        self.lock().history.raw_items().clone()
    }

    /// The world state that the model was last told of, where it is known.
    pub fn world_state_baseline(&self) -> Option<WorldStateSnapshot> {
        WorldStateSnapshot::from_json(self.lock().history.world_state_baseline()?)
    }

    /// The request input that the history becomes: a fresh clone, projected.
    pub fn project(&self, modalities: Modalities) -> Vec<Arc<ResponseItem>> {
        let guard = self.shared.slips.has(Slip::LockHeldWhileProjecting).then(|| self.lock());
        let clone = match &guard {
            Some(state) => state.history.clone_history(),
            None => self.clone_history(),
        };
        Counters::add(&self.shared.counters.projections);
        if !self.lock_is_free() {
            Counters::add(&self.shared.counters.projections_under_lock);
        }
        clone.for_prompt(modalities)
    }

    /// Changes the settings, from the next turn on. `applied` is what the rollout says of it; a caller that only renders a
    /// text anew says nothing.
    ///
    /// # Errors
    /// Where it cannot be written; the settings are the old ones then.
    pub fn apply_settings(&self, settings: TurnSettings, applied: Option<Json>) -> Result<(), SessionError> {
        let mut state = self.lock();
        // Before the first turn there is no file, and the first turn says it all.
        if let Some(applied) = applied.filter(|_| state.record.exists()) {
            let members = vec![("thread_settings", applied)];
            durable(&mut state, |record| record.event("thread_settings_applied", members))?;
        }
        state.settings = Arc::new(settings);
        Ok(())
    }

    /// Who adds sections to the world state, from the next turn on.
    pub fn set_contributors(&self, contributors: Vec<Arc<dyn SectionContributor>>) {
        self.lock().contributors = contributors;
    }

    /// Puts items in. While a turn runs they wait for its next request.
    ///
    /// # Errors
    /// Where one cannot be written; those before it are recorded.
    pub fn inject(&self, items: Vec<Arc<ResponseItem>>) -> Result<(), SessionError> {
        let mut state = self.lock();
        match &mut state.running {
            Some(running) => {
                running.waiting.push(Waiting::Items(items));
                Ok(())
            }
            None => items.into_iter().try_for_each(|item| record_item(&mut state, item, None)),
        }
    }

    /// Records items that somebody else made, as if turns ran: each message of a user begins one, so that a rollback takes
    /// off what it should. While a turn does run, the same as [`inject`](Self::inject).
    ///
    /// # Errors
    /// Where one cannot be written; those before it are recorded.
    pub fn record(&self, items: Vec<Arc<ResponseItem>>) -> Result<(), SessionError> {
        let mut state = self.lock();
        if state.running.is_some() {
            drop(state);
            return self.inject(items);
        }
        let mut turn_id = None;
        for item in items {
            if is_turn_start(&item) {
                end_outside_turn(&mut state, turn_id.take())?;
                let id = self.shared.services.host.new_id();
                let members = vec![("turn_id", Json::from(id.as_str()))];
                durable(&mut state, |record| record.event("task_started", members))?;
                turn_id = Some(id);
            }
            record_item(&mut state, item, turn_id.as_deref())?;
        }
        end_outside_turn(&mut state, turn_id)
    }

    /// Makes the history exactly these items, as a compaction does that the server made.
    ///
    /// # Errors
    /// While a turn runs, or where it cannot be written.
    pub fn replace(&self, items: Vec<Arc<ResponseItem>>) -> Result<(), SessionError> {
        let mut state = self.lock();
        if state.running.is_some() {
            return Err(SessionError::TurnInProgress);
        }
        let turn_id = self.shared.services.host.new_id();
        let members = || vec![("turn_id", Json::from(turn_id.as_str()))];
        durable(&mut state, |record| record.event("task_started", members()))?;
        self.install_compaction(&mut state, "", items)?;
        durable(&mut state, |record| record.event("task_complete", members()))
    }

    /// Takes the last `turns` turns back, and with them what their successors would be compared with.
    ///
    /// # Errors
    /// While a turn runs, or where the rollout cannot be written or read.
    pub fn rollback(&self, turns: u64) -> Result<(), SessionError> {
        let mut state = self.lock();
        if state.running.is_some() {
            return Err(SessionError::TurnInProgress);
        }
        if turns == 0 || !state.record.exists() {
            return Ok(());
        }
        let turns = turns.min(u64::from(u32::MAX));
        let members = vec![("num_turns", Json::from(turns))];
        durable(&mut state, |record| record.event("thread_rolled_back", members))?;
        // What remains is read from the file, so that a rollback and a resume can never differ.
        let rollout = read(state.record.path())?;
        self.install(&mut state, &rollout);
        Ok(())
    }

    /// Ends the turn that runs, if any.
    pub fn interrupt(&self) {
        if let Some(running) = &self.lock().running {
            running.interrupt.trigger(AbortReason::Interrupted);
        }
    }

    /// Says something more to a turn that runs. It waits until an answer is complete.
    ///
    /// # Errors
    /// Where no turn runs.
    pub fn steer(&self, content: Vec<ContentPart>) -> Result<(), SessionError> {
        let mut state = self.lock();
        let running = state.running.as_mut().ok_or(SessionError::NoActiveTurn)?;
        running.waiting.push(Waiting::Steer(content));
        Ok(())
    }

    /// Makes the history what a compaction leaves. What was known of settings and world state goes with the text of it.
    pub(super) fn install_compaction(
        &self,
        state: &mut State,
        message: &str,
        items: Vec<Arc<ResponseItem>>,
    ) -> Result<(), SessionError> {
        durable(state, |record| record.compacted(message, &items))?;
        let stays = |item: &Arc<ResponseItem>| !matches!(&**item, ResponseItem::Other(name) if name == "ghost_snapshot");
        let items: ItemList = items.into_iter().filter(stays).collect();
        let (items, _) = prepare(&items, &mut state.pictures);
        state.history.replace(items);
        if !self.shared.slips.has(Slip::BaselineKeptOverCompaction) {
            state.history.set_reference_context_item(None);
            state.history.set_world_state_baseline(None);
        }
        state.window_is_full = false;
        state.total_tokens = None;
        state.window_number += 1;
        Ok(())
    }
}

fn end_outside_turn(state: &mut State, turn_id: Option<String>) -> Result<(), SessionError> {
    let Some(turn_id) = turn_id else { return Ok(()) };
    let members = vec![("turn_id", Json::from(turn_id)), ("last_agent_message", Json::Null)];
    durable(state, |record| record.event("task_complete", members))
}

/// Writes, and says in an error which file it was.
pub(super) fn durable(
    state: &mut State,
    write: impl FnOnce(&mut Record) -> Result<(), WriteError>,
) -> Result<(), SessionError> {
    write(&mut state.record)
        .map_err(|error| SessionError::Write { path: state.record.path().to_owned(), error })
}

/// Records an item: first in the file, whole, then in the live history, as a resume would have it: filtered, cut, its
/// pictures prepared.
pub(super) fn record_item(
    state: &mut State,
    item: Arc<ResponseItem>,
    turn_id: Option<&str>,
) -> Result<(), SessionError> {
    durable(state, |record| record.item(&item, turn_id))?;
    if image_count(&item) == 0 {
        state.history.record_items([item]);
    } else {
        let (prepared, _) = prepare(&[item].into_iter().collect(), &mut state.pictures);
        state.history.record_items(prepared.iter().cloned());
    }
    Ok(())
}
