//! Drawing of a history's items one after the other: calls, outputs in all places, and what stands between them.

use super::features::{Feature, Features};
use super::items::ItemDraw;
use super::script::{Histories, Options};
use super::{Draw, pools};
use crate::case::Items;
use crate::item::{CallId, ItemKind, ResponseItem};
use crate::pairing::{CallKind, OutputKind};

/// Draws items, remembering which calls are open.
pub(super) struct HistoryDraw<'a, D> {
    item: ItemDraw<'a, D>,
    /// The call ids of this case.
    ids: Vec<CallId>,
    /// How many ids are used up, where each belongs to one call only.
    fresh: usize,
    kinds: Vec<CallKind>,
    open: Vec<(CallKind, CallId)>,
    /// Every call so far, and those whose output came first.
    called: Vec<(CallKind, CallId)>,
    items: Items,
    /// The calls of the batch that is being drawn; empty between batches, and kept for its memory.
    batch: Vec<(CallKind, CallId)>,
}

impl<'a, D: Draw> HistoryDraw<'a, D> {
    pub(super) fn new(draw: &'a mut D, features: Features, options: &'a Options) -> Self {
        let ids = draw_ids(draw, features);
        let kinds = call_kinds(features, options);
        let item = ItemDraw { draw, features, options, drawn: 0 };
        HistoryDraw {
            item,
            ids,
            fresh: 0,
            kinds,
            open: Vec::new(),
            called: Vec::new(),
            items: Items::new(),
            batch: Vec::new(),
        }
    }

    pub(super) fn draw(&mut self) -> &mut D {
        self.item.draw
    }

    fn has(&self, feature: Feature) -> bool {
        self.item.has(feature)
    }

    /// At least `count` more items.
    pub(super) fn take(&mut self, count: usize) -> Items {
        let well_formed = self.item.options.histories == Histories::WellFormed;
        self.items.reserve(count);
        // Each round may add nothing where the kinds do not allow what was drawn.
        for _ in 0..4 * count {
            if self.items.len() >= count {
                break;
            }
            if well_formed { self.healthy() } else { self.anything() }
        }
        std::mem::take(&mut self.items)
    }

    /// Forgets which calls are open: the history was replaced.
    pub(super) fn forget(&mut self) {
        self.open.clear();
        self.called.clear();
    }

    fn push(&mut self, item: ResponseItem) {
        self.items.push(ItemDraw::<D>::shared(item));
    }

    fn anything(&mut self) {
        match self.item.draw.below(24) {
            0..2 => self.user_message(),
            2..4 => self.bystander(),
            4..12 => self.calls(),
            12..14 if self.has(Feature::LateOutputs) => self.late_output(),
            14..16 if self.has(Feature::Orphans) => self.orphan(),
            16 if self.has(Feature::WrongKinds) => self.wrong_kind(),
            17 if self.has(Feature::DoubledOutputs) => self.doubled_output(),
            18 if self.has(Feature::OutputsFirst) => self.output_first(),
            19 if self.has(Feature::NoCallIds) => self.without_call_id(),
            20 if self.has(Feature::NotForTheModel) && self.item.options.may_be_filtered() => {
                let item = self.item.not_for_the_model();
                self.push(item);
            }
            21 if self.has(Feature::ContextMessages) => {
                let item = self.item.context_message();
                self.push(item);
            }
            22 if self.has(Feature::ServerSearches) => self.server_output(),
            _ => self.bystander(),
        }
    }

    /// What a healthy runtime records: calls, and in time an output for each.
    fn healthy(&mut self) {
        match self.item.draw.below(8) {
            0 => self.user_message(),
            1..3 => self.bystander(),
            _ => {
                let batch = self.batch_size();
                let calls: Vec<_> = (0..batch).filter_map(|_| self.fresh_call()).collect();
                for (kind, call_id) in calls {
                    let output = self.item.output(kind.output(), Some(call_id));
                    self.push(output);
                }
            }
        }
    }

    fn user_message(&mut self) {
        if self.item.options.capabilities.knows(ItemKind::Message) {
            let item = self.item.user_message();
            self.push(item);
        }
    }

    fn bystander(&mut self) {
        let knows = |kind| self.item.options.capabilities.knows(kind);
        let (message, reasoning) = (knows(ItemKind::Message), knows(ItemKind::Reasoning));
        match self.item.draw.below(3) {
            0 if message && self.has(Feature::Messages) => {
                let item = self.item.other_message();
                self.push(item);
            }
            1 if reasoning && self.has(Feature::Reasoning) => {
                let item = self.item.reasoning();
                self.push(item);
            }
            2 if self.has(Feature::OtherKinds) => {
                if let Some(item) = self.item.other_kind() {
                    self.push(item);
                }
            }
            _ => {}
        }
    }

    fn batch_size(&mut self) -> usize {
        if self.has(Feature::ParallelBatches) && self.item.draw.chance(1, 3) {
            2 + self.item.draw.below(3)
        } else {
            1
        }
    }

    /// A batch of calls, then outputs for some or all of them, in any order.
    fn calls(&mut self) {
        let size = self.batch_size();
        let mut made = std::mem::take(&mut self.batch);
        made.extend((0..size).filter_map(|_| self.call()));
        while !made.is_empty() {
            let (kind, call_id) = made.swap_remove(self.item.draw.below(made.len()));
            if self.has(Feature::OpenCalls) && self.item.draw.chance(2, 3) {
                self.open.push((kind, call_id));
            } else {
                let output = self.item.output(kind.output(), Some(call_id));
                self.push(output);
            }
        }
        self.batch = made;
    }

    fn kind(&mut self) -> Option<CallKind> {
        if self.kinds.is_empty() { None } else { Some(*self.item.draw.pick(&self.kinds)) }
    }

    fn call(&mut self) -> Option<(CallKind, CallId)> {
        let kind = self.kind()?;
        let call_id = match self.item.draw.below(8) {
            0 | 1 if self.has(Feature::DoubledCalls) && !self.called.is_empty() => {
                self.item.draw.pick(&self.called).1.clone()
            }
            2..5 => self.fresh_id(),
            _ => self.id_for(kind),
        };
        Some(self.push_call(kind, call_id))
    }

    /// A call under an id that no call has yet.
    fn fresh_call(&mut self) -> Option<(CallKind, CallId)> {
        let kind = self.kind()?;
        let call_id = self.fresh_id();
        Some(self.push_call(kind, call_id))
    }

    fn fresh_id(&mut self) -> CallId {
        self.fresh += 1;
        let spare = pools::FRESH_CALL_IDS.get(self.fresh);
        spare.cloned().unwrap_or_else(|| CallId::from(format!("fresh_{}", self.fresh)))
    }

    fn push_call(&mut self, kind: CallKind, call_id: CallId) -> (CallKind, CallId) {
        let call = self.item.call(kind, Some(call_id.clone()));
        self.push(call);
        self.called.push((kind, call_id.clone()));
        (kind, call_id)
    }

    /// Any id; where kinds do not share them, one of the kind's own.
    fn id_for(&mut self, kind: CallKind) -> CallId {
        let ids = self.ids.len();
        let at = self.item.draw.below(ids);
        let at = if self.has(Feature::SharedAcrossKinds) { at } else { (at * 4 + kind as usize) % ids };
        self.ids.get(at).cloned().unwrap_or_else(|| CallId::from(""))
    }

    fn any_id(&mut self) -> CallId {
        self.item.draw.pick(&self.ids).clone()
    }

    fn known_output(&mut self) -> Option<OutputKind> {
        let kind = self.kind()?;
        Some(kind.output())
    }

    fn late_output(&mut self) {
        if self.open.is_empty() {
            return self.calls();
        }
        let at = self.item.draw.below(self.open.len());
        let (kind, call_id) = self.open.swap_remove(at);
        let output = self.item.output(kind.output(), Some(call_id));
        self.push(output);
    }

    fn orphan(&mut self) {
        if let Some(kind) = self.known_output() {
            let call_id = if self.item.draw.chance(1, 2) { self.fresh_id() } else { self.any_id() };
            let output = self.item.output(kind, Some(call_id));
            self.push(output);
        }
    }

    fn wrong_kind(&mut self) {
        if self.called.is_empty() {
            return self.orphan();
        }
        let (kind, call_id) = self.item.draw.pick(&self.called).clone();
        if let Some(other) = self.known_output().filter(|&other| other != kind.output()) {
            let output = self.item.output(other, Some(call_id));
            self.push(output);
        }
    }

    fn doubled_output(&mut self) {
        if self.called.is_empty() {
            return self.calls();
        }
        let (kind, call_id) = self.item.draw.pick(&self.called).clone();
        for _ in 0..=self.item.draw.below(2) {
            let output = self.item.output(kind.output(), Some(call_id.clone()));
            self.push(output);
        }
    }

    fn output_first(&mut self) {
        let Some(kind) = self.kind() else { return };
        let call_id = self.id_for(kind);
        let output = self.item.output(kind.output(), Some(call_id.clone()));
        self.push(output);
        if self.item.draw.chance(1, 2) {
            self.bystander();
        }
        self.push_call(kind, call_id);
    }

    fn without_call_id(&mut self) {
        let searches = self.kinds.contains(&CallKind::ToolSearch);
        let shells = self.kinds.contains(&CallKind::LocalShell);
        let item = match self.item.draw.below(3) {
            0 if shells => self.item.call(CallKind::LocalShell, None),
            1 if searches => self.item.call(CallKind::ToolSearch, None),
            2 if searches => self.item.output(OutputKind::ToolSearch, None),
            _ => return,
        };
        self.push(item);
    }

    /// An output of a tool search, under an id that may or may not have a call.
    fn server_output(&mut self) {
        if self.kinds.contains(&CallKind::ToolSearch) {
            let call_id = if self.item.draw.chance(1, 2) { self.fresh_id() } else { self.any_id() };
            let output = self.item.output(OutputKind::ToolSearch, Some(call_id));
            self.push(output);
        }
    }
}

/// A small pool of call ids, so that they collide.
fn draw_ids(draw: &mut impl Draw, features: Features) -> Vec<CallId> {
    let mut ids = if features.has(Feature::NearCollisions) {
        draw.pick(&pools::NEAR_COLLISIONS).clone()
    } else {
        let most = pools::CALL_IDS.len();
        pools::CALL_IDS.iter().take(1 + draw.below(most)).cloned().collect()
    };
    if features.has(Feature::EmptyCallId) && draw.chance(1, 2) {
        ids.push(CallId::from(""));
    }
    ids
}

/// The kinds of calls of this case that the subject knows, with their outputs; all that it knows where none was switched on.
fn call_kinds(features: Features, options: &Options) -> Vec<CallKind> {
    let known = || CallKind::ALL.into_iter().filter(|&kind| options.knows_call(kind));
    let on = |kind: &CallKind| {
        features.has(match kind {
            CallKind::Function => Feature::FunctionCalls,
            CallKind::LocalShell => Feature::LocalShellCalls,
            CallKind::CustomTool => Feature::CustomToolCalls,
            CallKind::ToolSearch => Feature::ToolSearchCalls,
        })
    };
    let chosen: Vec<CallKind> = known().filter(on).collect();
    if chosen.is_empty() { known().collect() } else { chosen }
}
