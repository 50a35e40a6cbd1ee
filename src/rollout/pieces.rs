//! Turns, as they are gathered from the last line of a rollout back to the first, and which of them rollbacks take away.

use super::line::{Event, RolloutLine};
use super::read::Located;
use crate::history::is_turn_start;
use std::ops::ControlFlow;

/// A turn, as it is gathered on the way back. Places are places in the list of lines.
#[derive(Debug, Default)]
pub(super) struct Piece<'a> {
    turn_id: Option<&'a str>,
    /// Whether it holds something that makes it a turn to drop.
    pub(super) is_turn: bool,
    /// Whether it holds a compaction of either kind.
    pub(super) compacted: bool,
    /// Its last compaction with a replacement history.
    pub(super) compaction: Option<usize>,
    /// Its last turn context.
    pub(super) last_turn_context: Option<usize>,
    /// Its last turn context behind its last compaction.
    pub(super) turn_context: Option<usize>,
    /// Its world state lines behind its last compaction, the newest first.
    pub(super) world_state: Vec<usize>,
}

impl Piece<'_> {
    fn take_turn_context(&mut self, at: usize) {
        self.last_turn_context.get_or_insert(at);
        if !self.compacted {
            self.turn_context.get_or_insert(at);
        }
    }

    fn take_world_state(&mut self, at: usize) {
        if !self.compacted {
            self.world_state.push(at);
        }
    }
}

/// Whether a rollback takes a piece away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    Dropped,
}

/// Walks from the last line to the first and gives `take` each piece as it closes, until it breaks off.
pub(super) fn walk_back<'a>(
    lines: &'a [Located<RolloutLine>],
    mut take: impl FnMut(&Piece<'a>, Fate) -> ControlFlow<()>,
) {
    let mut to_drop = 0_u64;
    let mut close = |piece: &Piece<'a>, to_drop: &mut u64| {
        if *to_drop == 0 {
            return take(piece, Fate::Kept);
        }
        *to_drop -= u64::from(piece.is_turn);
        take(piece, Fate::Dropped)
    };
    let mut open: Option<Piece<'a>> = None;
    for (at, line) in lines.iter().enumerate().rev() {
        match &line.value {
            RolloutLine::Event(Event::ThreadRolledBack { num_turns }) => {
                to_drop = to_drop.saturating_add(u64::from(*num_turns));
            }
            RolloutLine::Event(Event::TaskStarted { turn_id }) => {
                if let Some(piece) = open.take_if(|piece| piece.turn_id.is_none_or(|id| id == turn_id))
                    && close(&piece, &mut to_drop).is_break()
                {
                    return;
                }
            }
            RolloutLine::Event(
                Event::TaskComplete { turn_id } | Event::TurnAborted { turn_id: Some(turn_id) },
            ) => {
                open.get_or_insert_default().turn_id.get_or_insert(turn_id);
            }
            RolloutLine::TurnContext { turn_id, .. } => {
                let piece = open.get_or_insert_default();
                piece.take_turn_context(at);
                if let Some(turn_id) = turn_id {
                    piece.turn_id.get_or_insert(turn_id);
                }
            }
            // Opens a piece for its own sake: as far as the history goes, an empty piece changes nothing.
            RolloutLine::WorldState(_) => open.get_or_insert_default().take_world_state(at),
            RolloutLine::ResponseItem(item) => open.get_or_insert_default().is_turn |= is_turn_start(item),
            RolloutLine::InterAgent(_) | RolloutLine::Event(Event::UserMessage) => {
                open.get_or_insert_default().is_turn = true;
            }
            RolloutLine::Compacted(compacted) => {
                let piece = open.get_or_insert_default();
                piece.compacted = true;
                if compacted.replacement_history.is_some() {
                    piece.compaction.get_or_insert(at);
                }
            }
            RolloutLine::Event(Event::TurnAborted { turn_id: None } | Event::Other(_))
            | RolloutLine::SessionMeta(_)
            | RolloutLine::InterAgentMetadata => {}
        }
    }
    if let Some(piece) = open {
        // Nothing is left to break off.
        let _ = close(&piece, &mut to_drop);
    }
}
