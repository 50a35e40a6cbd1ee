//! The session: a live history, its durable record, and the steps of a case.

use super::record::{Entry, Record};
use super::recording::LIMIT;
use super::spoil::Memory;
use super::{Hand, Slip};
use crate::case::{Failure, Items, Projected};
use crate::item::{ItemId, ItemKind, ItemList, Modalities, ResponseItem};
use crate::rollout::{PictureCache, prepare};
use crate::subject::{Capabilities, Profile, Subject};
use std::sync::Arc;

/// A subject that is honest, or wrong in one way.
///
/// A slip that [`needs_child`](Slip::needs_child) takes this process down: run it over stdio only.
///
/// ```
/// # use callpair::{fault::{Bank, Slip}, subject::Subject};
/// let mut honest = Bank::new(None);
/// let mut wrong = Bank::new(Slip::from_id("forget/function-call"));
/// assert_eq!(honest.capabilities().name, "bank");
/// assert_eq!(wrong.capabilities().name, "bank with forget/function-call");
/// ```
#[derive(Debug)]
pub struct Bank {
    pub(super) hand: Hand,
    pub(super) live: Vec<ResponseItem>,
    pub(super) record: Record,
    pictures: PictureCache,
    forks: u64,
    pub(super) memory: Memory,
}

impl Bank {
    /// A session without a history. Without a slip it is honest.
    pub fn new(slip: Option<Slip>) -> Bank {
        Bank {
            hand: Hand { slip, ..Hand::default() },
            live: Vec::new(),
            record: Record::default(),
            pictures: PictureCache::new(),
            forks: 0,
            memory: Memory::default(),
        }
    }

    /// The slip, if there is one.
    pub fn slip(&self) -> Option<Slip> {
        self.hand.slip
    }

    pub(super) fn slips(&self, slip: Slip) -> bool {
        self.hand.slips(slip)
    }

    /// Tells the cache of a change; a cache that does not listen to it is a slip.
    fn changed(&mut self, deaf: Slip) {
        self.memory.version += u64::from(!self.slips(deaf));
        self.hand.retries = 0;
    }

    /// The history that the record tells of, its pictures prepared.
    fn load(&mut self) -> Vec<ResponseItem> {
        let history = self.record.replay(&self.hand);
        if self.slips(Slip::PicturesNotPrepared) {
            return history;
        }
        let history: ItemList = history.into_iter().collect();
        let (prepared, _) = prepare(&history, &mut self.pictures);
        prepared.iter().map(|item| ResponseItem::clone(item)).collect()
    }

    /// Whether the kind of an item is on the list of those that are written: all are.
    fn is_written(&self, item: &ResponseItem) -> bool {
        match item.kind() {
            ItemKind::CustomToolCall => !self.slips(Slip::CustomCallsNotWritten),
            ItemKind::ToolSearchOutput => !self.slips(Slip::SearchOutputsNotWritten),
            _ => true,
        }
    }
}

fn shared(items: &[ResponseItem]) -> Items {
    items.iter().cloned().map(Arc::new).collect()
}

impl Subject for Bank {
    fn capabilities(&self) -> Capabilities {
        let name = match self.hand.slip {
            None => "bank".to_owned(),
            Some(slip) => format!("bank with {}", slip.id()),
        };
        Capabilities {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stateful: true,
            resume: true,
            rollback: true,
            fork: true,
            truncation: Some(LIMIT),
            prepares_pictures: true,
            profile: Profile::Codex,
            ..Capabilities::stateless(&name)
        }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.live.clear();
        self.record = Record::default();
        self.forks = 0;
        let cached = self.memory.cached.take().filter(|_| self.slips(Slip::CacheOverReset));
        self.memory = Memory { cached, ..Memory::default() };
        (self.hand.projections, self.hand.retries, self.hand.resumes) = (0, 0, 0);
        Ok(())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        for item in items {
            if self.is_written(item) {
                let cut = self.slips(Slip::CutBeforeWriting);
                self.record.append(if cut { self.hand.cut(item) } else { ResponseItem::clone(item) });
            }
            let recorded = self.hand.recorded(item, self.live.last());
            self.live.extend(recorded);
        }
        self.memory.version += 1;
        self.hand.retries = 0;
        Ok(())
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        let items = items.iter().map(|item| ResponseItem::clone(item));
        let items: Vec<ResponseItem> = match self.hand.slip {
            Some(Slip::ReplaceCuts) => items.map(|item| self.hand.cut(&item)).collect(),
            Some(Slip::ReplaceFilters) => items.filter(|item| self.hand.is_for_the_model(item)).collect(),
            _ => items.collect(),
        };
        self.record.end_turn(Some(Entry::Replaced(items.clone())));
        self.live = items;
        self.changed(Slip::CacheOverReplace);
        Ok(())
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        self.hand.projections += 1;
        self.hand.lifetime_projections += 1;
        self.fail_on_purpose()?;
        let key = self.cache_key(modalities);
        if let Some(prompt) = key.as_ref().and_then(|key| self.memory.cached(key)) {
            return Ok(Projected::of_items(shared(prompt)));
        }
        let mut prompt = self.live.clone();
        self.forget_late_outputs(&mut prompt);
        self.hand.normalise(&mut prompt, modalities);
        self.memory.cached = key.map(|key| (key, prompt.clone()));
        self.leave_traces(&prompt, modalities);
        self.hand.retries += 1;
        Ok(Projected::of_items(shared(&prompt)))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        Ok(shared(&self.live))
    }

    fn resume(&mut self) -> Result<(), Failure> {
        self.hand.resumes += 1;
        self.record.end_turn(None);
        let mut history = self.load();
        self.spoil_resumed(&mut history);
        self.live = history;
        self.memory.made_up.clear();
        self.changed(Slip::CacheOverResume);
        Ok(())
    }

    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        self.record.end_turn(Some(Entry::RolledBack(turns)));
        self.hand.take_back(&mut self.live, turns);
        self.changed(Slip::CacheOverRollback);
        Ok(())
    }

    /// The record is copied, and an item without an id, or with an empty one, gets a fresh one, named as in the reference.
    fn fork(&mut self) -> Result<(), Failure> {
        self.record.end_turn(None);
        self.spoil_forked();
        self.forks += 1;
        let mut fresh = 0_u64;
        let missing = |id: &&mut Option<ItemId>| id.as_ref().is_none_or(|id| id.as_str().is_empty());
        for id in self.record.items_mut().filter_map(ResponseItem::id_mut).filter(missing) {
            fresh += 1;
            *id = Some(ItemId::from(format!("fork_{}_{fresh}", self.forks)));
        }
        self.live = self.load();
        self.memory.version += 1;
        self.hand.retries = 0;
        Ok(())
    }
}
