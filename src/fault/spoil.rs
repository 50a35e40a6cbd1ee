//! Slips around the steps of a session: failures, caches, what a projection leaves behind, what a resume and a fork
//! spoil. The honest bank passes through all of these without an effect.

use super::bank::Bank;
use super::losses::message;
use super::record::{Entry, Record};
use super::{Hand, Slip};
use crate::case::{Failure, FailureKind};
use crate::item::{CallId, ItemId, ItemKind, Modalities, ResponseItem, ToolOutput};
use crate::pairing::OutputKind;
use std::collections::HashSet;

/// What only slips remember.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) cached: Option<(CacheKey, Vec<ResponseItem>)>,
    /// Raised by every change of the history that the cache is told of.
    pub(super) version: u64,
    pub(super) made_up: HashSet<(OutputKind, CallId)>,
}

/// By what a projection is found again.
#[derive(Debug, PartialEq)]
pub(super) enum CacheKey {
    Count(usize, Modalities),
    Last(Option<ResponseItem>, Modalities),
    Version(u64, Modalities),
    History(Vec<ResponseItem>),
}

impl Memory {
    /// The projection that is kept under this key.
    pub(super) fn cached(&self, key: &CacheKey) -> Option<&[ResponseItem]> {
        self.cached.as_ref().filter(|(cached, _)| cached == key).map(|(_, prompt)| prompt.as_slice())
    }
}

impl Bank {
    /// The failures that slips commit on some shapes.
    pub(super) fn fail_on_purpose(&self) -> Result<(), Failure> {
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
        let strict = Hand { slip: Some(Slip::TakeOutputBeforeCall), ..Hand::default() };
        strict.orphans(&self.live).len() > Hand::default().orphans(&self.live).len()
    }

    /// By what this projection would be found again, where a slip keeps it.
    pub(super) fn cache_key(&self, modalities: Modalities) -> Option<CacheKey> {
        Some(match self.hand.slip? {
            Slip::CacheByCount => CacheKey::Count(self.live.len(), modalities),
            Slip::CacheByLastItem => CacheKey::Last(self.live.last().cloned(), modalities),
            Slip::CacheOverModalities => CacheKey::History(self.live.clone()),
            Slip::CacheOverOutputs => {
                let real = self.live.iter().filter(|item| self.hand.output(item).is_none());
                CacheKey::Count(real.count(), modalities)
            }
            Slip::CacheOverReplace
            | Slip::CacheOverRollback
            | Slip::CacheOverResume
            | Slip::CacheOverReset => CacheKey::Version(self.memory.version, modalities),
            _ => return None,
        })
    }

    /// Throws away real outputs of calls for which one was made up before.
    pub(super) fn forget_late_outputs(&mut self, prompt: &mut Vec<ResponseItem>) {
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
    pub(super) fn leave_traces(&mut self, prompt: &[ResponseItem], modalities: Modalities) {
        match self.hand.slip {
            Some(Slip::LiveWrittenBack) => self.live = prompt.to_vec(),
            Some(Slip::LiveWrittenBackLater) if self.hand.projections.is_multiple_of(2) => {
                self.live = prompt.to_vec();
            }
            Some(Slip::LiveWrittenBackLate) if self.hand.projections > 2 => self.live = prompt.to_vec(),
            Some(Slip::LiveImages) if !modalities.accepts_images() => self.hand.strip_images(&mut self.live),
            Some(Slip::LiveOrphans) => self.hand.remove_orphans(&mut self.live),
            Some(Slip::LiveOrphansPersisted) if !self.hand.orphans(&self.live).is_empty() => {
                self.hand.remove_orphans(&mut self.live);
                self.record.end_turn(Some(Entry::Replaced(self.live.clone())));
            }
            Some(Slip::LiveIds) => fill_in_ids(&mut self.live),
            Some(Slip::RepairPersisted) => self.write_repairs(),
            _ => {}
        }
    }

    /// Writes made-up outputs that the record does not have yet, as if they had come.
    fn write_repairs(&mut self) {
        let hand = self.hand.clone();
        let written = self.record.items_mut().filter(|item| hand.output(item).is_some());
        let written: HashSet<CallId> = written.filter_map(|item| item.call_id().cloned()).collect();
        for (_, output) in hand.missing_outputs(&self.live) {
            if output.call_id().is_some_and(|id| !written.contains(id)) {
                self.record.append(output);
            }
        }
    }

    /// What is wrong with a history that was just loaded.
    pub(super) fn spoil_resumed(&mut self, history: &mut Vec<ResponseItem>) {
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
            Some(Slip::ResumeNotice) => history.push(message("developer", "The session was resumed.")),
            Some(Slip::ResumeAppends) => {
                let loaded = std::mem::take(history);
                history.append(&mut self.live);
                history.extend(loaded);
            }
            _ => {}
        }
    }

    /// What is wrong with a record before the fork goes on with it.
    pub(super) fn spoil_forked(&mut self) {
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
    let is_empty = |output: &ToolOutput| matches!(output, ToolOutput::Parts(parts) if parts.is_empty());
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
