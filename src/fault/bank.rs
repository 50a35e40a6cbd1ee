//! The session: a live history, its durable record, and the steps of a case.

use super::record::{Entry, Record};
use super::recording::LIMIT;
use super::{Hand, Slip};
use crate::case::{Failure, FailureKind, Items, Projected};
use crate::item::{CallId, ItemId, ItemKind, ItemList, Modalities, OutputPart, ResponseItem, ToolOutput};
use crate::pairing::OutputKind;
use crate::rollout::{PictureCache, prepare};
use crate::subject::{Capabilities, Profile, Subject};
use std::collections::HashSet;
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
    hand: Hand,
    live: Vec<ResponseItem>,
    record: Record,
    pictures: PictureCache,
    forks: u64,
    memory: Memory,
}

/// What only slips remember.
#[derive(Debug, Default)]
struct Memory {
    cached: Option<(CacheKey, Vec<ResponseItem>)>,
    /// Raised by every change of the history that the cache is told of.
    version: u64,
    made_up: HashSet<(OutputKind, CallId)>,
}

/// By what a projection is found again.
#[derive(Debug, PartialEq)]
enum CacheKey {
    Count(usize, Modalities),
    Last(Option<ResponseItem>, Modalities),
    Version(u64, Modalities),
    History(Vec<ResponseItem>),
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

    fn slips(&self, slip: Slip) -> bool {
        self.hand.slips(slip)
    }

    /// Tells the cache of a change; a cache that does not listen to it is a slip.
    fn changed(&mut self, deaf: Slip) {
        self.memory.version += u64::from(!self.slips(deaf));
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
            ItemKind::ToolSearchOutput => !self.slips(Slip::OutputsNotWritten),
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
        self.memory = Memory::default();
        (self.hand.projections, self.hand.resumes) = (0, 0);
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
        if let (Some(key), Some((cached, prompt))) = (&key, &self.memory.cached)
            && key == cached
        {
            return Ok(Projected::of_items(shared(prompt)));
        }
        let mut prompt = self.live.clone();
        self.forget_late_outputs(&mut prompt);
        self.hand.normalise(&mut prompt, modalities);
        self.memory.cached = key.map(|key| (key, prompt.clone()));
        self.leave_traces(&prompt, modalities);
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

    /// The record is copied, and an item without an id gets a fresh one, named as in the reference.
    fn fork(&mut self) -> Result<(), Failure> {
        self.record.end_turn(None);
        self.spoil_forked();
        self.forks += 1;
        let mut fresh = 0_u64;
        for id in self.record.items_mut().filter_map(ResponseItem::id_mut).filter(|id| id.is_none()) {
            fresh += 1;
            *id = Some(ItemId::from(format!("fork_{}_{fresh}", self.forks)));
        }
        self.live = self.load();
        self.memory.version += 1;
        Ok(())
    }
}

/// Slips around the steps. The honest bank passes through all of these without an effect.
impl Bank {
    fn fail_on_purpose(&self) -> Result<(), Failure> {
        let Some(slip) = self.hand.slip else { return Ok(()) };
        let crash = |message: &str| Err(Failure::new(FailureKind::Crashed, message));
        match slip {
            Slip::CrashOnOutputBeforeCall if self.has_output_before_call() => {
                crash("attempt to subtract with overflow")
            }
            Slip::CrashOnPartList if self.live.iter().any(has_empty_part_list) => {
                crash("index out of bounds")
            }
            Slip::RefuseOpenCalls if !self.hand.missing_outputs(&self.live).is_empty() => {
                Err(Failure::new(FailureKind::Refused, "a call has no output"))
            }
            Slip::AbortOnToolSearch
                if self.live.iter().any(|item| item.kind() == ItemKind::ToolSearchCall) =>
            {
                std::process::abort()
            }
            Slip::HangOnOrphan if !self.hand.orphans(&self.live).is_empty() => loop {
                std::thread::park();
            },
            _ => Ok(()),
        }
    }

    fn has_output_before_call(&self) -> bool {
        let honest = Hand { slip: Some(Slip::TakeOutputBeforeCall), ..Hand::default() };
        honest.orphans(&self.live).len() > Hand::default().orphans(&self.live).len()
    }

    fn cache_key(&self, modalities: Modalities) -> Option<CacheKey> {
        Some(match self.hand.slip? {
            Slip::CacheByCount => CacheKey::Count(self.live.len(), modalities),
            Slip::CacheByLastItem => CacheKey::Last(self.live.last().cloned(), modalities),
            Slip::CacheOverModalities => CacheKey::History(self.live.clone()),
            Slip::CacheOverReplace | Slip::CacheOverRollback | Slip::CacheOverResume => {
                CacheKey::Version(self.memory.version, modalities)
            }
            _ => return None,
        })
    }

    /// Throws away real outputs of calls for which one was made up before.
    fn forget_late_outputs(&mut self, prompt: &mut Vec<ResponseItem>) {
        if !self.slips(Slip::LateOutputIgnored) {
            return;
        }
        let made_up = &mut self.memory.made_up;
        let key =
            |item: &ResponseItem| self.hand.output(item).map(|(kind, call_id)| (kind, CallId::from(call_id)));
        prompt.retain(|item| key(item).is_none_or(|key| !made_up.contains(&key)));
        let missing = self.hand.missing_outputs(prompt);
        made_up.extend(missing.iter().filter_map(|(_, output)| key(output)));
    }

    /// What a projection leaves behind in the session.
    fn leave_traces(&mut self, prompt: &[ResponseItem], modalities: Modalities) {
        match self.hand.slip {
            Some(Slip::LiveWrittenBack) => self.live = prompt.to_vec(),
            Some(Slip::LiveWrittenBackLater) if self.hand.projections.is_multiple_of(2) => {
                self.live = prompt.to_vec();
            }
            Some(Slip::LiveImages) if !modalities.accepts_images() => self.hand.strip_images(&mut self.live),
            Some(Slip::LiveOrphans) => self.hand.remove_orphans(&mut self.live),
            Some(Slip::LiveIds) => fill_in_ids(&mut self.live),
            Some(Slip::RepairPersisted) => {
                let outputs = self.hand.missing_outputs(&self.live);
                let known: HashSet<CallId> = self
                    .record
                    .items_mut()
                    .filter(|item| self.hand.output(item).is_some())
                    .filter_map(|item| item.call_id().cloned())
                    .collect();
                let new = outputs
                    .into_iter()
                    .filter(|(_, item)| item.call_id().is_some_and(|id| !known.contains(id)));
                new.for_each(|(_, output)| self.record.append(output));
            }
            _ => {}
        }
    }

    fn spoil_resumed(&mut self, history: &mut Vec<ResponseItem>) {
        match self.hand.slip {
            Some(Slip::LastItemLost) => drop(history.pop()),
            Some(Slip::RepairOnResume) => self.hand.normalise(history, Modalities::TextAndImage),
            Some(Slip::OrphansOnResume) => self.hand.remove_orphans(history),
            Some(Slip::IdsLost) => {
                history.iter_mut().filter_map(ResponseItem::id_mut).for_each(|id| *id = None);
            }
            Some(Slip::IdsRenumbered) => {
                for (at, id) in history.iter_mut().filter_map(ResponseItem::id_mut).flatten().enumerate() {
                    *id = ItemId::from(format!("loaded_{at}"));
                }
            }
            Some(Slip::ResumeAppends) => {
                let loaded = std::mem::take(history);
                history.append(&mut self.live);
                history.extend(loaded);
            }
            _ => {}
        }
    }

    fn spoil_forked(&mut self) {
        match self.hand.slip {
            Some(Slip::ForkDropsOpenCalls) => {
                let open: Vec<ResponseItem> = self
                    .hand
                    .missing_outputs(&self.live)
                    .iter()
                    .filter_map(|(at, _)| self.live.get(*at).cloned())
                    .collect();
                for entry in &mut self.record.entries {
                    if let Entry::Turn(items) | Entry::Replaced(items) = entry {
                        items.retain(|item| !open.contains(item));
                    }
                }
            }
            Some(Slip::ForkRepairs) => {
                let mut prompt = self.live.clone();
                self.hand.normalise(&mut prompt, Modalities::TextAndImage);
                self.record = Record::default();
                self.record.end_turn(Some(Entry::Replaced(prompt)));
            }
            Some(Slip::ForkDropsLastTurn) => self.record.end_turn(Some(Entry::RolledBack(1))),
            _ => {}
        }
    }
}

fn has_empty_part_list(item: &ResponseItem) -> bool {
    let is_empty = |output: &ToolOutput| matches!(output, ToolOutput::Parts(parts) if Vec::<OutputPart>::is_empty(parts));
    match item {
        ResponseItem::FunctionCallOutput(output) => is_empty(&output.output),
        ResponseItem::CustomToolCallOutput(output) => is_empty(&output.output),
        _ => false,
    }
}

fn fill_in_ids(items: &mut [ResponseItem]) {
    for (at, id) in items.iter_mut().filter_map(ResponseItem::id_mut).enumerate() {
        id.get_or_insert_with(|| ItemId::from(format!("live_{at}")));
    }
}
