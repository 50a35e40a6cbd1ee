//! Going on with a session from its rollout.

use super::error::SessionError;
use super::fault::Slip;
use super::live::durable;
use super::record::Record;
use super::state::{Session, SessionConfig, SessionServices, State};
use crate::history::ToolOutputLimit;
use crate::item::ItemList;
use crate::json::Json;
use crate::rollout::{Caps, PictureCache, Refusal, Rollout, RolloutLine, baseline, resume};
use crate::world_state::WorldStateSnapshot;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// What a file gives back.
struct Rebuilt {
    history: ItemList,
    turn_context: Option<Arc<Json>>,
    last_turn_context: Option<Arc<Json>>,
    world_state: Option<WorldStateSnapshot>,
    window_number: u64,
}

impl Session {
    /// Goes on with a session from its rollout. Writes nothing. Where a crash cut the file within its very head, nothing
    /// had happened, and the session begins anew behind what is left of it.
    ///
    /// # Errors
    /// Where the file cannot be read, or is none that the program resumes.
    pub fn resume(
        path: &Path,
        config: SessionConfig,
        services: SessionServices,
    ) -> Result<Session, SessionError> {
        let rollout = read(path)?;
        if rollout.compressed {
            return Err(SessionError::Compressed(path.to_owned()));
        }
        match rollout.refusal() {
            Some(Refusal::Empty) if rollout.unfinished || rollout.physical_lines == 0 => {
                return Ok(Session::begin(path, config, services));
            }
            Some(refusal) => return Err(SessionError::Refused { path: path.to_owned(), refusal }),
            None => {}
        }
        let meta = rollout.session_meta();
        let thread_id = meta.map(|meta| meta.id.to_string()).unwrap_or_default();
        let of_file = meta.and_then(|meta| meta.base_instructions.as_deref());
        let base_instructions = of_file.unwrap_or(&config.base_instructions).into();
        let record = Record::resumed(path, Arc::clone(&services.host));
        let session = Session::assemble(config, services, thread_id, base_instructions, record);
        let mut state = session.lock();
        session.install(&mut state, &rollout);
        if session.shared.slips.has(Slip::HalfLineTakenForWhole) {
            durable(&mut state, Record::take_end_for_whole)?;
        }
        drop(state);
        Ok(session)
    }

    /// Puts what a file gives in the place of what was in memory.
    pub(super) fn install(&self, state: &mut State, rollout: &Rollout) {
        let rebuilt = rebuild(rollout, self.shared.config.tool_output_limit, &mut state.pictures);
        state.history.replace(rebuilt.history);
        state.history.set_reference_context_item(rebuilt.turn_context);
        let world_state = rebuilt.world_state.map(|snapshot| Arc::new(snapshot.to_json()));
        state.history.set_world_state_baseline(world_state);
        state.last_turn_context = rebuilt.last_turn_context;
        state.window_number = rebuilt.window_number;
    }
}

pub(super) fn read(path: &Path) -> Result<Rollout, SessionError> {
    let file = File::open(path).map_err(|error| SessionError::Open { path: path.to_owned(), error })?;
    Rollout::read(file, Caps::default()).map_err(|error| SessionError::Read { path: path.to_owned(), error })
}

fn rebuild(rollout: &Rollout, limit: Option<ToolOutputLimit>, pictures: &mut PictureCache) -> Rebuilt {
    let known = baseline(&rollout.lines);
    let owned = |payload: &Json| Arc::new(payload.clone());
    let is_compaction = |line: &RolloutLine| matches!(line, RolloutLine::Compacted(_));
    Rebuilt {
        history: resume(&rollout.lines, limit, pictures).history,
        turn_context: known.turn_context.map(owned),
        last_turn_context: known.last_turn_context.map(owned),
        world_state: fold_world_state(&known.world_state),
        window_number: rollout.lines.iter().filter(|line| is_compaction(&line.value)).count() as u64,
    }
}

/// The state that a whole one and the patches behind it give.
fn fold_world_state(payloads: &[&Json]) -> Option<WorldStateSnapshot> {
    payloads.iter().fold(None, |state: Option<WorldStateSnapshot>, payload| {
        let told = payload.get("state")?;
        match payload.get("full") {
            Some(Json::Bool(true)) => WorldStateSnapshot::from_json(told),
            _ => state?.patched(told),
        }
    })
}
