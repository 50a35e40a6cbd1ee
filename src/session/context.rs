//! Telling the model of its settings and its surroundings: whole, or what changed.
//!
//! Whole on a first turn, after a compaction, after a rollback that leaves nothing to compare with, and for files without a
//! turn context. Otherwise what changed: first the settings, as one message, then the world state, neighbours of one role
//! merged; the two are never merged with each other.

use super::error::SessionError;
use super::fault::Slip;
use super::live::{durable, record_item};
use super::settings::SettingsChanges;
use super::state::{Session, State};
use super::step::StepContext;
use crate::item::ResponseItem;
use crate::json::{Json, Object};
use crate::world_state::{
    Fragment, FragmentRole, Markers, WorldState, WorldStateSnapshot, group_by_role,
    merge_contextual_fragments,
};
use std::sync::Arc;

/// A value that a client gives with a user message; the model reads it when it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdditionalContext {
    /// Who vouches for it.
    pub kind: ContextKind,
    /// The value.
    pub value: String,
}

/// Who vouches for a value of additional context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextKind {
    /// The application: a developer message.
    Application,
    /// Nobody: a user message.
    Untrusted,
}

/// What is to be recorded before a user message.
pub(super) struct ContextUpdate {
    items: Vec<ResponseItem>,
    /// The payload of the world state line, where one is due: whole or not, and the state or patch.
    world_state: Option<(bool, Json)>,
    snapshot: WorldStateSnapshot,
    turn_context: Json,
}

impl Session {
    /// What the model must be told at the beginning of a turn. Rendering happens outside the lock.
    pub(super) fn context_update(&self, step: &StepContext) -> ContextUpdate {
        let (reference, previous, retained) = {
            let state = self.lock();
            let previous = state.history.world_state_baseline().cloned();
            (state.history.reference_context_item().cloned(), previous, state.history.raw_items().clone())
        };
        let world = self.world_state(step);
        let Some(reference) = reference else { return self.full_injection(step, &world) };
        let turn_context = step.turn.payload();
        let changes = SettingsChanges::between(&reference, &turn_context);
        let settings = step.turn.settings.texts.changed(changes);
        let settings = (!settings.is_empty()).then(|| crate::world_state::message("developer", settings));
        let previous = previous.and_then(|previous| WorldStateSnapshot::from_json(&previous));
        let fragments = world.render_history_diff(previous.as_ref(), &retained);
        let snapshot = world.snapshot();
        let world_state = match &previous {
            Some(previous) => snapshot.diff(previous).map(|patch| (false, self.written_patch(patch))),
            None => Some((true, snapshot.to_json())),
        };
        let items = settings.into_iter().chain(merge_contextual_fragments(&fragments)).collect();
        ContextUpdate { items, world_state, snapshot, turn_context }
    }

    /// Everything, as if the model had been told nothing. Needs no previous snapshot and no merging of neighbours; the
    /// snapshot is taken afterwards.
    pub(super) fn full_injection(&self, step: &StepContext, world: &WorldState) -> ContextUpdate {
        let last = self.lock().last_turn_context.clone();
        let turn_context = step.turn.payload();
        let switched = last.is_some_and(|last| SettingsChanges::between(&last, &turn_context).model);
        let items = group_by_role(step.turn.settings.texts.whole(switched), &world.render_full());
        let snapshot = world.snapshot();
        ContextUpdate { items, world_state: Some((true, snapshot.to_json())), snapshot, turn_context }
    }

    pub(super) fn world_state(&self, step: &StepContext) -> WorldState {
        let contributors = self.lock().contributors.clone();
        step.world_state(self.thread_id(), &self.shared.config.texts.agents_md, &contributors)
    }

    fn written_patch(&self, patch: Json) -> Json {
        if self.shared.slips.has(Slip::PatchLosesRemoval) { without_removals(patch) } else { patch }
    }
}

impl ContextUpdate {
    /// Takes the items out, for a compaction that has them in its replacement history.
    pub(super) fn take_items(&mut self) -> Vec<ResponseItem> {
        std::mem::take(&mut self.items)
    }

    /// Records the messages, then the world state line, then the turn context, and makes them the new baseline.
    pub(super) fn record(self, state: &mut State, turn_id: &str) -> Result<(), SessionError> {
        for item in self.items {
            record_item(state, Arc::new(item), Some(turn_id))?;
        }
        if let Some((full, payload)) = self.world_state {
            durable(state, |record| record.world_state(full, payload))?;
        }
        durable(state, |record| record.append("turn_context", &self.turn_context))?;
        let turn_context = Arc::new(self.turn_context);
        state.history.set_world_state_baseline(Some(Arc::new(self.snapshot.to_json())));
        state.history.set_reference_context_item(Some(Arc::clone(&turn_context)));
        state.last_turn_context = Some(turn_context);
        Ok(())
    }
}

/// Records the values of additional context that changed, each as its own message.
pub(super) fn record_additional_context(
    state: &mut State,
    values: Vec<(String, AdditionalContext)>,
    turn_id: &str,
) -> Result<(), SessionError> {
    for (key, context) in values {
        if state.additional_context.get(&key) == Some(&context) {
            continue;
        }
        let fragment = context.fragment(&key);
        let message = crate::world_state::message(fragment.role.as_str(), [fragment.text()]);
        record_item(state, Arc::new(message), Some(turn_id))?;
        state.additional_context.insert(key, context);
    }
    Ok(())
}

/// How the tag of a value begins that nobody vouches for.
const UNTRUSTED: &str = "external_";

impl AdditionalContext {
    fn fragment(&self, key: &str) -> Fragment {
        let (role, prefix) = match self.kind {
            ContextKind::Application => (FragmentRole::Developer, ""),
            ContextKind::Untrusted => (FragmentRole::User, UNTRUSTED),
        };
        let markers =
            Markers { start: format!("<{prefix}{key}>").into(), end: format!("</{prefix}{key}>").into() };
        Fragment { role, markers, body: self.value.clone() }
    }
}

/// Whether a user text is such a value and not what a person said.
pub(super) fn is_untrusted_context(text: &str) -> bool {
    let name = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(name, _)| name);
    name.is_some_and(|name| name.starts_with(UNTRUSTED) && text.ends_with(&format!("</{name}>")))
}

/// For a slip: a patch without its nulls.
fn without_removals(patch: Json) -> Json {
    match patch {
        Json::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !matches!(value, Json::Null));
            Json::Object(kept.map(|(key, value)| (key, without_removals(value))).collect::<Object>())
        }
        other => other,
    }
}
