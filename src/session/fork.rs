//! Forks: a new session that has the lines of another one so far.

use super::compact::turn_members;
use super::error::SessionError;
use super::interrupt::AbortReason;
use super::live::{durable, record_item};
use super::record::Record;
use super::resume::read;
use super::state::{Session, SessionConfig, SessionServices, must_be_empty, session_meta};
use crate::json::Json;
use crate::rollout::{Caps, Event, Lines, Rollout, RolloutLine};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Where a fork leaves its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkPoint {
    /// With its last line.
    Now,
    /// With the end of this turn.
    AfterTurn(String),
}

impl Session {
    /// Begins a session in `path` that has the lines of this one. A turn that had not ended is ended in the fork, as by an
    /// interrupt; a call that is open in it stays open. This session goes on as it was, also while a turn runs.
    ///
    /// # Errors
    /// Where `path` holds something already, or a file cannot be read or written.
    pub fn fork(
        &self,
        path: &Path,
        point: &ForkPoint,
        config: SessionConfig,
        services: SessionServices,
    ) -> Result<Session, SessionError> {
        let source = {
            let state = self.lock();
            state.record.exists().then(|| state.record.path().to_owned())
        };
        let Some(source) = source else { return Session::start(path, config, services) };
        must_be_empty(path)?;
        let lines = lines_until(&source, point)?;
        let (thread_id, instructions) = (services.host.new_id(), &self.shared.base_instructions);
        let parent = Some(self.thread_id());
        let head = session_meta(&*services.host, &thread_id, parent, instructions, &config.settings);
        let mut copy = Record::new(path, Arc::clone(&services.host), head);
        copy_lines(&mut copy, &lines)
            .map_err(|error| SessionError::Write { path: path.to_owned(), error })?;
        drop(copy);
        let open_turn = open_turn(&read(path)?);
        let fork = Session::resume(path, config, services)?;
        if let Some(turn_id) = open_turn {
            fork.end_copied_turn(&turn_id)?;
        }
        Ok(fork)
    }

    fn end_copied_turn(&self, turn_id: &str) -> Result<(), SessionError> {
        let mut state = self.lock();
        let message = crate::world_state::message("user", [self.shared.config.texts.turn_aborted.clone()]);
        record_item(&mut state, Arc::new(message), Some(turn_id))?;
        let mut members = turn_members(turn_id);
        members.push(("reason", Json::from(AbortReason::Interrupted.as_str())));
        durable(&mut state, |record| record.event("turn_aborted", members))
    }
}

/// The texts of the lines that load, up to where the fork leaves. Torn and unknown lines are not copied.
fn lines_until(source: &Path, point: &ForkPoint) -> Result<Vec<String>, SessionError> {
    let file = File::open(source).map_err(|error| SessionError::Open { path: source.to_owned(), error })?;
    let failed = |error| SessionError::Read { path: source.to_owned(), error };
    let mut physical = Lines::new(file, Caps::default()).map_err(failed)?;
    let (mut copied, mut turn_seen) = (Vec::new(), false);
    while let Some(line) = physical.next_line().map_err(failed)? {
        let Ok(text) = std::str::from_utf8(line.bytes) else { continue };
        let Ok(loaded) = RolloutLine::load(text) else { continue };
        copied.push(text.trim().to_owned());
        let ended = matches!(
            (&loaded, point),
            (
                RolloutLine::Event(
                    Event::TaskComplete { turn_id } | Event::TurnAborted { turn_id: Some(turn_id) }
                ),
                ForkPoint::AfterTurn(wanted),
            ) if turn_id == wanted
        );
        if ended {
            turn_seen = true;
            break;
        }
    }
    match point {
        ForkPoint::AfterTurn(wanted) if !turn_seen => Err(SessionError::NoSuchTurn(wanted.clone())),
        ForkPoint::AfterTurn(_) | ForkPoint::Now => Ok(copied),
    }
}

/// The head of the fork, then the lines, the source's own head first.
fn copy_lines(copy: &mut Record, lines: &[String]) -> Result<(), crate::rollout::WriteError> {
    copy.write_head()?;
    lines.iter().try_for_each(|line| copy.append_text(line))
}

/// The turn that has begun and not ended, if any.
fn open_turn(rollout: &Rollout) -> Option<String> {
    if !rollout.ends_in_a_turn() {
        return None;
    }
    rollout.lines.iter().rev().find_map(|line| match &line.value {
        RolloutLine::Event(Event::TaskStarted { turn_id }) => Some(turn_id.clone()),
        _ => None,
    })
}
