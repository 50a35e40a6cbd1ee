//! What a resumed session compares its settings and its world state with.
//!
//! Lines of turns that were rolled back do not count, nor those before a compaction. A turn counts once its user message
//! is there: the context messages of one that a crash cut off before that can go with a later rollback.

use super::line::RolloutLine;
use super::pieces::{Fate, Piece, walk_back};
use super::read::Located;
use super::reconstruct::{Start, reading_start};
use crate::json::Json;
use std::ops::ControlFlow;

/// The payloads that count for comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baseline<'a> {
    /// The settings that the model knows of. Without them everything is injected anew.
    pub turn_context: Option<&'a Json>,
    /// The settings of the last turn that was kept, also where a compaction took their text away: they tell whether the
    /// model is another one.
    pub last_turn_context: Option<&'a Json>,
    /// The world state, a whole one first and then patches; empty where there is no whole one. A chain begins anew with
    /// each whole one.
    pub world_state: Vec<&'a Json>,
}

/// Finds the lines that count. They need not be those of a file that the program would resume.
pub fn baseline(lines: &[Located<RolloutLine>]) -> Baseline<'_> {
    let mut gathered = Gathered::default();
    walk_back(lines, |piece, fate| {
        if fate == Fate::Kept {
            gathered.take(lines, piece);
        }
        if gathered.complete() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Start::EmptyAfter(at) = reading_start(lines) {
        gathered.forget_before(at);
    }
    let payload = |at: usize| match &lines.get(at)?.value {
        RolloutLine::TurnContext { payload, .. } | RolloutLine::WorldState(payload) => Some(payload),
        _ => None,
    };
    Baseline {
        turn_context: gathered.turn_context.and_then(payload),
        last_turn_context: gathered.last_turn_context.and_then(payload),
        world_state: match gathered.whole {
            true => gathered.world_state.into_iter().rev().filter_map(payload).collect(),
            false => Vec::new(),
        },
    }
}

/// What was met on the way back, by place.
#[derive(Debug, Default)]
struct Gathered {
    turn_context: Option<usize>,
    last_turn_context: Option<usize>,
    /// The newest first.
    world_state: Vec<usize>,
    /// Whether a whole state was met: what is older does not count.
    whole: bool,
    /// Whether a compaction was met: what is older does not count.
    compacted: bool,
}

impl Gathered {
    fn take(&mut self, lines: &[Located<RolloutLine>], piece: &Piece<'_>) {
        if piece.is_turn {
            self.last_turn_context = self.last_turn_context.or(piece.last_turn_context);
            if !self.compacted {
                self.turn_context = self.turn_context.or(piece.turn_context);
                piece.world_state.iter().for_each(|&at| self.take_world_state(lines, at));
            }
        }
        self.compacted |= piece.compacted;
    }

    fn take_world_state(&mut self, lines: &[Located<RolloutLine>], at: usize) {
        if !self.whole {
            self.world_state.push(at);
            self.whole = lines.get(at).is_some_and(|line| is_whole(&line.value));
        }
    }

    fn complete(&self) -> bool {
        let told = self.compacted || (self.turn_context.is_some() && self.whole);
        told && self.last_turn_context.is_some()
    }

    /// Where a compaction was taken back and reading begins behind it, what stands before it is not in the history.
    fn forget_before(&mut self, at: usize) {
        self.turn_context = self.turn_context.filter(|&context| context > at);
        self.whole &= self.world_state.iter().all(|&state| state > at);
    }
}

/// `"full": true`.
fn is_whole(line: &RolloutLine) -> bool {
    matches!(line, RolloutLine::WorldState(payload) if payload.get("full") == Some(&Json::Bool(true)))
}
