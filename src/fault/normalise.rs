//! The projection of a copy of the history: outputs for calls that lack one, then orphans out, then images.

use super::losses::message;
use super::made_up::Hole;
use super::matching::Key;
use super::{Hand, Slip};
use crate::history::is_turn_start;
use crate::item::{Modalities, ResponseItem, ToolOutput};
use crate::pairing::{CallKind, OutputKind};
use std::collections::HashSet;

impl Hand {
    /// Turns a copy of the history into the request input.
    pub(super) fn normalise(&self, items: &mut Vec<ResponseItem>, modalities: Modalities) {
        self.rewrite_call_ids(items);
        self.answer_open_calls(items);
        self.remove_orphans(items);
        if !modalities.accepts_images() || self.slips(Slip::ImageThoughAccepted) {
            self.strip_images(items);
        }
        self.lose_on_the_way(items);
    }

    /// Puts an output behind each call that has none.
    fn answer_open_calls(&self, items: &mut Vec<ResponseItem>) {
        if self.slips(Slip::FlakyRepair) && self.lifetime_projections.is_multiple_of(50) {
            return;
        }
        let missing = self.missing_outputs(items);
        if self.slips(Slip::DropOpenCall) {
            // From the end, so that the places before stay good.
            missing.iter().rev().for_each(|(at, _)| drop(items.remove(*at)));
            return;
        }
        if self.slips(Slip::PlaceStale) {
            for (at, output) in missing {
                items.insert(at + 1, output);
            }
            return;
        }
        let notice = (self.slips(Slip::AppendNotice) && !missing.is_empty())
            .then(|| message("developer", "The history was repaired."));
        let places: Vec<usize> = missing.iter().map(|(at, _)| self.place(items, *at)).collect();
        for ((_, output), place) in missing.into_iter().zip(places).rev() {
            items.insert(place, output);
        }
        items.extend(notice);
    }

    /// The made-up outputs, each with the place of its call, in the order of the calls.
    pub(super) fn missing_outputs(&self, items: &[ResponseItem]) -> Vec<(usize, ResponseItem)> {
        let outputs: HashSet<Key<OutputKind>> = items
            .iter()
            .filter_map(|item| self.output(item))
            .map(|(kind, id)| (kind, self.compared(id)))
            .collect();
        let mut missing = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let Some((kind, call_id)) = self.call(item) else { continue };
            if self.overlooks(items, at) || self.is_answered(items, &outputs, at) {
                continue;
            }
            let hole = Hole { at, earlier: &missing, kind, call: item, call_id };
            missing.push((at, self.made_up_output(&hole)));
        }
        match self.slip {
            Some(Slip::ForgetAllButFirst) => missing.truncate(1),
            Some(Slip::ForgetAllButLast) => drop(missing.drain(..missing.len().saturating_sub(1))),
            Some(Slip::AnswerTwice) => missing = missing.into_iter().flat_map(twice).collect(),
            _ => {}
        }
        missing
    }

    /// Whether an output of the right kind with the call's id stands anywhere.
    fn is_answered(&self, items: &[ResponseItem], outputs: &HashSet<Key<OutputKind>>, at: usize) -> bool {
        let Some((kind, call_id)) = items.get(at).and_then(|item| self.call(item)) else { return true };
        let asks = |item: &&ResponseItem| self.call(item) == Some((kind, call_id));
        let call_id = self.compared(call_id);
        let answers = |item: &ResponseItem| {
            self.output(item).is_some_and(|(output, id)| {
                self.answers(kind).contains(&output) && self.compared(id) == call_id
            })
        };
        let later = || items.iter().skip(at + 1);
        match self.slip {
            Some(Slip::MatchNextItem) => later().take(1).any(answers),
            Some(Slip::MatchSameTurn) => later().take_while(|item| !is_turn_start(item)).any(answers),
            Some(Slip::MatchLaterOnly) => later().any(answers),
            Some(Slip::MatchByCount) => {
                let calls = items.iter().take(at + 1).filter(asks).count();
                calls <= items.iter().filter(|item| answers(item)).count()
            }
            Some(Slip::MatchPrefix) => outputs.iter().any(|(output, id)| {
                self.answers(kind).contains(output) && (id.starts_with(&call_id) || call_id.starts_with(id))
            }),
            _ => self.answers(kind).iter().any(|output| outputs.contains(&(*output, call_id.clone()))),
        }
    }

    /// The place at which the output of the call at `at` is put in: right behind it.
    fn place(&self, items: &[ResponseItem], at: usize) -> usize {
        let run = |of: &dyn Fn(&ResponseItem) -> bool| {
            items.iter().skip(at + 1).take_while(|item| of(item)).count()
        };
        match self.slip {
            Some(Slip::PlaceEnd) => items.len(),
            Some(Slip::PlaceFront) => 0,
            Some(Slip::PlaceBeforeCall) => at,
            Some(Slip::PlaceAfterBatch) => at + 1 + run(&|item| self.call(item).is_some()),
            Some(Slip::PlaceEndOfTurn) => at + 1 + run(&|item| !is_turn_start(item)),
            _ => at + 1,
        }
    }

    /// Takes out every output that belongs to no call.
    pub(super) fn remove_orphans(&self, items: &mut Vec<ResponseItem>) {
        let orphans = self.orphans(items);
        match self.slip {
            Some(Slip::KeepLaterOrphans) => {
                orphans.first().into_iter().for_each(|at| drop(items.remove(*at)))
            }
            Some(Slip::OrphanToMessage) => {
                for item in
                    (0..).zip(items.iter_mut()).filter(|(at, _)| orphans.contains(at)).map(|(_, item)| item)
                {
                    *item = as_message(item);
                }
            }
            Some(Slip::RemoveById) => {
                let ids: HashSet<_> =
                    orphans.iter().filter_map(|at| items.get(*at)?.call_id().cloned()).collect();
                items.retain(|item| item.call_id().is_none_or(|id| !ids.contains(id)));
            }
            Some(Slip::KeepNeighbour) => {
                let after_a_removal = |at: &usize| *at > 0 && orphans.contains(&(at - 1));
                let seen: Vec<usize> = orphans.iter().copied().filter(|at| !after_a_removal(at)).collect();
                seen.iter().rev().for_each(|at| drop(items.remove(*at)));
            }
            _ => {
                let orphans: HashSet<usize> = orphans.into_iter().collect();
                let mut at = 0..;
                items.retain(|_| at.next().is_none_or(|at| !orphans.contains(&at)));
            }
        }
    }

    /// The places of outputs that belong to no call, in order.
    pub(super) fn orphans(&self, items: &[ResponseItem]) -> Vec<usize> {
        let calls: HashSet<Key<CallKind>> = items
            .iter()
            .filter_map(|item| self.call(item))
            .map(|(kind, id)| (kind, self.compared(id)))
            .collect();
        let mut so_far: HashSet<Key<CallKind>> = HashSet::new();
        let mut orphans = Vec::new();
        for (at, item) in items.iter().enumerate() {
            so_far.extend(self.call(item).map(|(kind, id)| (kind, self.compared(id))));
            let known = if self.slips(Slip::TakeOutputBeforeCall) { &so_far } else { &calls };
            if self.is_orphan(item, known) {
                orphans.push(at);
            }
        }
        orphans
    }

    fn is_orphan(&self, item: &ResponseItem, calls: &HashSet<Key<CallKind>>) -> bool {
        if self.is_exempt(item) {
            return false;
        }
        if self.slips(Slip::TakeSearchWithoutCallId)
            && matches!(item, ResponseItem::ToolSearchOutput(output) if output.call_id.is_none())
        {
            return true;
        }
        let Some((kind, call_id)) = self.output(item) else { return false };
        let call_id = self.compared(call_id);
        !self.owners(kind).iter().any(|call| calls.contains(&(*call, call_id.clone())))
    }

    /// Whether an output may stand without a call: where a server made it.
    fn is_exempt(&self, item: &ResponseItem) -> bool {
        let execution = match item {
            ResponseItem::ToolSearchOutput(output) => output.execution.as_str(),
            _ => "",
        };
        match (self.slip, self.output(item)) {
            (Some(Slip::KeepFunctionOrphan), Some((OutputKind::Function, _)))
            | (Some(Slip::KeepCustomOrphan), Some((OutputKind::CustomTool, _)))
            | (Some(Slip::KeepSearchOrphan), Some((OutputKind::ToolSearch, _)))
            | (Some(Slip::KeepEmptyOrphan), Some((_, ""))) => true,
            (Some(Slip::KeepOddExecution), Some((OutputKind::ToolSearch, _))) => execution != "client",
            (Some(Slip::KeepServerAnyCase), _) => execution.eq_ignore_ascii_case("server"),
            (Some(Slip::TakeServerSearch), _) => false,
            _ => execution == "server",
        }
    }
}

/// An output as something that somebody said.
fn as_message(output: &ResponseItem) -> ResponseItem {
    let text = match output {
        ResponseItem::FunctionCallOutput(output) => text_of(&output.output),
        ResponseItem::CustomToolCallOutput(output) => text_of(&output.output),
        _ => String::new(),
    };
    message("user", &text)
}

fn text_of(output: &ToolOutput) -> String {
    match output {
        ToolOutput::Text(text) => text.clone(),
        ToolOutput::Parts(_) => String::new(),
    }
}

/// An output, and a second one of another maker, who gives no ids.
fn twice((at, output): (usize, ResponseItem)) -> [(usize, ResponseItem); 2] {
    let mut second = output.clone();
    if let Some(id) = second.id_mut() {
        *id = None;
    }
    [(at, output), (at, second)]
}
