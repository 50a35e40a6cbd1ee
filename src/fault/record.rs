//! The durable record: turns, replacements and rollbacks in the order in which they happened. It only ever grows.

use super::{Hand, Slip};
use crate::history::is_turn_start;
use crate::item::ResponseItem;

/// What is written at once.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// The items of a turn, as they came.
    Turn(Vec<ResponseItem>),
    /// The history was replaced by these.
    Replaced(Vec<ResponseItem>),
    /// That many turns were taken back.
    RolledBack(u32),
}

/// The durable record of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    pub(super) entries: Vec<Entry>,
    /// Whether the last turn goes on.
    open: bool,
}

impl Record {
    /// Writes an item: into the turn that goes on, or into a new one.
    pub(super) fn append(&mut self, item: ResponseItem) {
        let goes_on = self.open && !is_turn_start(&item);
        match self.entries.last_mut() {
            Some(Entry::Turn(items)) if goes_on => items.push(item),
            _ => self.entries.push(Entry::Turn(vec![item])),
        }
        self.open = true;
    }

    /// Writes what ends the turn, or that it ended.
    pub(super) fn end_turn(&mut self, with: Option<Entry>) {
        self.entries.extend(with);
        self.open = false;
    }

    /// Every item that was written, turn by turn.
    pub(super) fn items_mut(&mut self) -> impl Iterator<Item = &mut ResponseItem> {
        self.entries.iter_mut().flat_map(|entry| match entry {
            Entry::Turn(items) | Entry::Replaced(items) => items.as_mut_slice(),
            Entry::RolledBack(_) => &mut [],
        })
    }

    /// The history that the record tells of.
    pub(super) fn replay(&self, hand: &Hand) -> Vec<ResponseItem> {
        let mut history: Vec<ResponseItem> = Vec::new();
        for entry in self.entries.iter().skip(self.beginning()) {
            match entry {
                Entry::Turn(items) => items.iter().for_each(|item| {
                    let recorded = hand.recorded(item, history.last());
                    history.extend(recorded);
                }),
                Entry::Replaced(_) if hand.slips(Slip::ReplacementLost) => {}
                Entry::Replaced(items) => history = hand.replaced_on_resume(items),
                Entry::RolledBack(_) if hand.slips(Slip::RollbackNotDurable) => {}
                Entry::RolledBack(turns) => hand.take_back(&mut history, *turns),
            }
        }
        history
    }

    /// Where reading begins: with the newest replacement that no rollback took back; behind the oldest, where all were.
    ///
    /// Walking back, a rollback takes as many turns as it says, and whatever stands between them: a replacement is no
    /// turn, so that a rollback right behind one takes it and more.
    fn beginning(&self) -> usize {
        let (mut to_drop, mut oldest_dropped) = (0_u64, None);
        for (at, entry) in self.entries.iter().enumerate().rev() {
            match entry {
                Entry::RolledBack(turns) => to_drop += u64::from(*turns),
                Entry::Replaced(_) if to_drop == 0 => return at,
                Entry::Replaced(_) => oldest_dropped = Some(at),
                Entry::Turn(items) if items.iter().any(is_turn_start) => to_drop = to_drop.saturating_sub(1),
                Entry::Turn(_) => {}
            }
        }
        oldest_dropped.map_or(0, |at| at + 1)
    }
}

impl Hand {
    /// A replacement as a resume reads it: neither filtered nor cut.
    fn replaced_on_resume(&self, items: &[ResponseItem]) -> Vec<ResponseItem> {
        match self.slip {
            Some(Slip::ReplacementFiltered) => {
                items.iter().filter(|item| self.is_for_the_model(item)).cloned().collect()
            }
            Some(Slip::ReplacementCut) => items.iter().map(|item| self.cut(item)).collect(),
            _ => items.to_vec(),
        }
    }
}
