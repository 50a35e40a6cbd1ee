//! What a case contains, told from the case itself and not from the generator's intentions.
//!
//! A run counts the cases of each label, and a share below its floor makes the run `vacuous`: a harness that stopped
//! reaching a corner must not stay green.

use super::script::{Histories, Options};
use crate::case::{Case, Step};
use crate::history::{CutItem, is_api_message, is_context_message};
use crate::item::{CallId, ItemKind, Modalities, ResponseItem};
use crate::pairing::{CallKind, OutputKind, Role};
use crate::projection::{image_count, role};
use std::sync::Arc;

macro_rules! labels {
    ($($name:literal $label:ident, $floor:literal, $needs:expr;)*) => {
        /// Something that a case can contain.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the name of a label says what it is: see `as_str`")]
        pub enum Label {
            $($label,)*
        }

        impl Label {
            /// All of them.
            pub const ALL: &'static [Label] = &[$(Label::$label),*];

            /// The name in reports.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Label::$label => $name,)*
                }
            }

            /// The share of cases below which a run is vacuous, in per mille, with arbitrary histories.
            fn floor_where_possible(self) -> u32 {
                match self {
                    $(Label::$label => $floor,)*
                }
            }

            fn needs(self) -> Needs {
                match self {
                    $(Label::$label => $needs,)*
                }
            }
        }
    };
}

/// What must be drawn for a label to occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing.
    Nothing,
    /// Histories with defects.
    Defects,
    /// This kind of call, and defects.
    OpenCall(CallKind),
    /// An output of this kind, and defects.
    Orphan(OutputKind),
    /// Calls at all.
    Calls,
    /// Tool searches, and defects.
    ToolSearches,
    /// Local shell calls or tool searches, and defects.
    OptionalCallIds,
    /// Items that are left out while recording.
    Filtered,
    /// A limit on tool outputs.
    Truncation,
    /// A model of this kind.
    Model(Modalities),
    /// `resume`.
    Resume,
    /// `rollback`.
    Rollback,
    /// `fork`.
    Fork,
    /// A history of the subject's own.
    Stateful,
    /// This kind of item.
    Kind(ItemKind),
}

// Name, label, floor in per mille, what it needs. A floor is about half of the share that was measured over 20,000 cases,
// so that chance alone never reaches it.
labels! {
    "no items" Empty, 5, Needs::Nothing;
    "50 items or more" Long, 5, Needs::Nothing;
    "call and output paired" Paired, 200, Needs::Calls;
    "function_call without output" OpenFunction, 60, Needs::OpenCall(CallKind::Function);
    "local_shell_call without output" OpenLocalShell, 60, Needs::OpenCall(CallKind::LocalShell);
    "custom_tool_call without output" OpenCustomTool, 60, Needs::OpenCall(CallKind::CustomTool);
    "tool_search_call without output" OpenToolSearch, 60, Needs::OpenCall(CallKind::ToolSearch);
    "orphan function_call_output" OrphanFunction, 60, Needs::Orphan(OutputKind::Function);
    "orphan custom_tool_call_output" OrphanCustomTool, 60, Needs::Orphan(OutputKind::CustomTool);
    "orphan tool_search_output" OrphanToolSearch, 30, Needs::Orphan(OutputKind::ToolSearch);
    "tool_search_output of a server without call" ExemptServer, 20, Needs::ToolSearches;
    "tool_search_output without call id" ExemptNoCallId, 20, Needs::ToolSearches;
    "call without call id" CallWithoutId, 20, Needs::OptionalCallIds;
    "output of the wrong kind for its call" WrongKind, 50, Needs::Defects;
    "output before its call" OutputFirst, 50, Needs::Defects;
    "second output of a call" DoubledOutput, 50, Needs::Defects;
    "second call under a call id" DoubledCall, 60, Needs::Defects;
    "call id under several kinds of call" SharedAcrossKinds, 20, Needs::Defects;
    "call ids that nearly collide" NearCollision, 40, Needs::Defects;
    "empty call id" EmptyCallId, 20, Needs::Defects;
    "open call without item id" OpenWithoutItemId, 60, Needs::Defects;
    "open call with an item id" OpenWithItemId, 60, Needs::Defects;
    "open call with an empty item id" OpenWithEmptyItemId, 5, Needs::Defects;
    "item id on several open calls" SharedItemId, 5, Needs::Defects;
    "calls in a batch" Batch, 80, Needs::Calls;
    "output far from its call" FarOutput, 50, Needs::Calls;
    "picture, text-only model" PictureStripped, 40, Needs::Model(Modalities::Text);
    "picture, model that takes pictures" PictureKept, 40, Needs::Model(Modalities::TextAndImage);
    "item that recording leaves out" Filtered, 30, Needs::Filtered;
    "output over the limit" OverLimit, 30, Needs::Truncation;
    "several records" SeveralRecords, 60, Needs::Stateful;
    "projection in the middle" EarlyProjection, 60, Needs::Nothing;
    "replacement in the middle" Replacement, 40, Needs::Nothing;
    "resume" Resume, 100, Needs::Resume;
    "rollback" Rollback, 40, Needs::Rollback;
    "fork" Fork, 40, Needs::Fork;
    "context message" ContextMessage, 20, Needs::Filtered;
    "reasoning" Reasoning, 60, Needs::Kind(ItemKind::Reasoning);
    "web_search_call" WebSearch, 20, Needs::Kind(ItemKind::WebSearchCall);
    "image_generation_call" ImageGeneration, 20, Needs::Kind(ItemKind::ImageGenerationCall);
    "agent_message" AgentMessage, 20, Needs::Kind(ItemKind::AgentMessage);
    "nothing to repair" Healthy, 60, Needs::Nothing;
}

impl Label {
    /// The share of cases below which a run with these options is vacuous, in per mille; 0 where the label cannot occur.
    pub fn floor(self, options: &Options) -> u32 {
        if !options.recorded.is_empty() || options.own.is_some() {
            return 0;
        }
        let defects = options.histories == Histories::Arbitrary;
        let knows_call = |kind| options.knows_call(kind);
        let any_call = CallKind::ALL.into_iter().any(knows_call);
        let all_calls = CallKind::ALL.into_iter().all(knows_call);
        let can = &options.capabilities;
        let possible = match self.needs() {
            Needs::Nothing => true,
            // Fewer kinds of call make each of these rarer or more common, so that the floors hold for all of them only.
            Needs::Defects => defects && all_calls,
            Needs::OpenCall(kind) => defects && knows_call(kind),
            Needs::Orphan(kind) => {
                defects && CallKind::ALL.into_iter().any(|call| call.output() == kind && knows_call(call))
            }
            Needs::Calls => any_call,
            Needs::ToolSearches => defects && knows_call(CallKind::ToolSearch),
            Needs::OptionalCallIds => {
                defects && (knows_call(CallKind::ToolSearch) || knows_call(CallKind::LocalShell))
            }
            Needs::Filtered => defects && options.may_be_filtered(),
            Needs::Truncation => can.truncation.is_some(),
            Needs::Model(modalities) => can.modalities.contains(&modalities),
            Needs::Resume => can.resume,
            Needs::Rollback => can.rollback,
            Needs::Fork => can.fork,
            Needs::Stateful => can.stateful,
            Needs::Kind(kind) => can.knows(kind),
        };
        let only_arbitrary = matches!(self, Label::FarOutput);
        if possible && (defects || !only_arbitrary) { self.floor_where_possible() } else { 0 }
    }
}

/// The labels of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Labels(u64);

impl Labels {
    /// Whether a label is among them.
    pub fn has(self, label: Label) -> bool {
        self.0 & (1 << label as u8) != 0
    }

    /// The labels, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Label> {
        Label::ALL.iter().copied().filter(move |&label| self.has(label))
    }

    fn set(&mut self, label: Label, value: bool) {
        self.0 |= u64::from(value) << label as u8;
    }

    /// Tells the labels of a case.
    pub fn of(case: &Case, options: &Options) -> Labels {
        let mut labels = Labels::default();
        let items: Vec<&Arc<ResponseItem>> = case.items().collect();
        labels.set(Label::Empty, items.is_empty());
        labels.set(Label::Long, items.len() >= 50);
        labels.of_steps(&case.steps);
        labels.of_kinds(&items, case, options);
        labels.of_pairing(&items);
        labels
    }

    fn of_steps(&mut self, steps: &[Step]) {
        let mut records = 0;
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::Record(_) => records += 1,
                Step::Replace(_) => self.set(Label::Replacement, at > 0),
                Step::Project(_) => self.set(Label::EarlyProjection, at + 1 < steps.len()),
                Step::Resume => self.set(Label::Resume, true),
                Step::Rollback(_) => self.set(Label::Rollback, true),
                Step::Fork => self.set(Label::Fork, true),
                Step::Snapshot => {}
            }
        }
        self.set(Label::SeveralRecords, records > 1);
    }

    fn of_kinds(&mut self, items: &[&Arc<ResponseItem>], case: &Case, options: &Options) {
        let pictures = items.iter().any(|item| image_count(item) > 0);
        for step in &case.steps {
            if let Step::Project(modalities) = step {
                self.set(Label::PictureStripped, pictures && !modalities.accepts_images());
                self.set(Label::PictureKept, pictures && modalities.accepts_images());
            }
        }
        for item in items {
            let label = match item.kind() {
                ItemKind::Reasoning => Label::Reasoning,
                ItemKind::WebSearchCall => Label::WebSearch,
                ItemKind::ImageGenerationCall => Label::ImageGeneration,
                ItemKind::AgentMessage => Label::AgentMessage,
                ItemKind::Message if is_context_message(item) => Label::ContextMessage,
                _ if !is_api_message(item) => Label::Filtered,
                _ => continue,
            };
            self.set(label, true);
        }
        if let Some(limit) = options.capabilities.truncation {
            let over =
                |item: &&&Arc<ResponseItem>| matches!(limit.cut(Arc::clone(item)), CutItem::Shortened(_));
            self.set(Label::OverLimit, items.iter().find(over).is_some());
        }
    }

    fn of_pairing(&mut self, items: &[&Arc<ResponseItem>]) {
        let roles: Vec<Placed<'_>> =
            items.iter().enumerate().filter_map(|(at, item)| Placed::of(at, item)).collect();
        for (n, role) in roles.iter().enumerate() {
            self.set(Label::CallWithoutId, matches!(role, Placed::Unnamed { output: false }));
            self.set(Label::ExemptNoCallId, matches!(role, Placed::Unnamed { output: true }));
            let earlier = roles.get(..n).unwrap_or_default();
            match role {
                Placed::Call { .. } => self.of_call(role, earlier, &roles),
                Placed::Output { .. } => self.of_output(role, earlier, &roles),
                Placed::Unnamed { .. } => {}
            }
        }
        let defects = [
            Label::OpenFunction,
            Label::OpenLocalShell,
            Label::OpenCustomTool,
            Label::OpenToolSearch,
            Label::OrphanFunction,
            Label::OrphanCustomTool,
            Label::OrphanToolSearch,
        ];
        let healthy = !defects.into_iter().any(|label| self.has(label));
        self.set(Label::Healthy, healthy);
    }

    fn of_call(&mut self, call: &Placed<'_>, earlier: &[Placed<'_>], all: &[Placed<'_>]) {
        let Placed::Call { at, kind, call_id, item_id } = call else { return };
        self.set(Label::EmptyCallId, call_id.as_str().is_empty());
        self.set(Label::NearCollision, earlier.iter().any(|other| other.nearly_has(call_id)));
        for other in earlier {
            if let Placed::Call { at: before, kind: other_kind, call_id: other_id, .. } = other {
                self.set(Label::Batch, before + 1 == *at);
                self.set(Label::DoubledCall, other_id == call_id);
                self.set(Label::SharedAcrossKinds, other_id == call_id && other_kind != kind);
            }
        }
        let answers = |other: &&Placed<'_>| matches!(other, Placed::Output { kind: output, call_id: id, .. } if *output == kind.output() && id == call_id);
        self.set(Label::OutputFirst, earlier.iter().any(|other| answers(&other)));
        let outputs = all.iter().filter(answers).count();
        self.set(Label::Paired, outputs > 0);
        self.set(Label::DoubledOutput, outputs > 1);
        if outputs == 0 {
            self.of_open_call(*kind, *item_id, earlier);
        }
    }

    fn of_open_call(&mut self, kind: CallKind, item_id: Option<&str>, earlier: &[Placed<'_>]) {
        self.set(
            match kind {
                CallKind::Function => Label::OpenFunction,
                CallKind::LocalShell => Label::OpenLocalShell,
                CallKind::CustomTool => Label::OpenCustomTool,
                CallKind::ToolSearch => Label::OpenToolSearch,
            },
            true,
        );
        match item_id {
            None => self.set(Label::OpenWithoutItemId, true),
            Some("") => self.set(Label::OpenWithEmptyItemId, true),
            Some(id) => {
                self.set(Label::OpenWithItemId, true);
                let same = |other: &Placed<'_>| matches!(other, Placed::Call { item_id: Some(other), .. } if *other == id);
                self.set(Label::SharedItemId, earlier.iter().any(same));
            }
        }
    }

    fn of_output(&mut self, output: &Placed<'_>, earlier: &[Placed<'_>], all: &[Placed<'_>]) {
        let Placed::Output { at, kind, call_id, exempt } = output else { return };
        self.set(Label::EmptyCallId, call_id.as_str().is_empty());
        let call_of = |other: &&Placed<'_>| matches!(other, Placed::Call { kind: call, call_id: id, .. } if call.output() == *kind && id == call_id);
        let call_before = earlier.iter().rev().find(call_of).map(Placed::at);
        self.set(Label::FarOutput, call_before.is_some_and(|call| at - call > 3));
        if all.iter().any(|other| call_of(&other)) {
            return;
        }
        let other_kind =
            |other: &Placed<'_>| matches!(other, Placed::Call { call_id: id, .. } if id == call_id);
        self.set(Label::WrongKind, all.iter().any(other_kind));
        self.set(
            match (kind, exempt) {
                (_, true) => Label::ExemptServer,
                (OutputKind::Function, _) => Label::OrphanFunction,
                (OutputKind::CustomTool, _) => Label::OrphanCustomTool,
                (OutputKind::ToolSearch, _) => Label::OrphanToolSearch,
            },
            true,
        );
    }
}

/// A call or an output with its place.
enum Placed<'a> {
    Call {
        at: usize,
        kind: CallKind,
        call_id: &'a CallId,
        item_id: Option<&'a str>,
    },
    Output {
        at: usize,
        kind: OutputKind,
        call_id: &'a CallId,
        exempt: bool,
    },
    /// A call or an output without a call id.
    Unnamed {
        output: bool,
    },
}

impl<'a> Placed<'a> {
    fn of(at: usize, item: &'a ResponseItem) -> Option<Placed<'a>> {
        match role(item) {
            Role::Call { kind, call_id } => {
                Some(Placed::Call { at, kind, call_id, item_id: item.id().map(|id| id.as_str()) })
            }
            Role::Output { kind, call_id, exempt } => Some(Placed::Output { at, kind, call_id, exempt }),
            Role::Bystander => match item.kind() {
                ItemKind::LocalShellCall | ItemKind::ToolSearchCall => {
                    Some(Placed::Unnamed { output: false })
                }
                ItemKind::ToolSearchOutput => Some(Placed::Unnamed { output: true }),
                _ => None,
            },
        }
    }

    fn at(&self) -> usize {
        match self {
            Placed::Call { at, .. } | Placed::Output { at, .. } => *at,
            Placed::Unnamed { .. } => 0,
        }
    }

    /// Whether the call id is another one, but the same without blanks and case, or one begins with the other.
    fn nearly_has(&self, id: &CallId) -> bool {
        let (Placed::Call { call_id, .. } | Placed::Output { call_id, .. }) = self else { return false };
        let (a, b) = (call_id.as_str(), id.as_str());
        a != b
            && !a.is_empty()
            && !b.is_empty()
            && (a.starts_with(b) || b.starts_with(a) || a.trim().eq_ignore_ascii_case(b.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Seeded, case};
    use crate::subject::{Reference, Subject};

    fn shares(options: &Options, cases: u64) -> Vec<(Label, u64)> {
        let mut counts = vec![0; Label::ALL.len()];
        for number in 0..cases {
            let drawn = case(&mut Seeded::of_case(7, number), options);
            Labels::of(&drawn, options).iter().for_each(|label| counts[label as usize] += 1);
        }
        Label::ALL.iter().copied().zip(counts).collect()
    }

    #[test]
    fn every_label_is_reached_well_above_its_floor() {
        let options = Options::for_subject(Reference::new().capabilities());
        for histories in [Histories::Arbitrary, Histories::WellFormed] {
            let options = Options { histories, ..options.clone() };
            let mut low = Vec::new();
            for (label, count) in shares(&options, 3000) {
                let (share, floor) = (count * 1000 / 3000, u64::from(label.floor(&options)));
                if share * 2 < floor * 3 {
                    low.push((label.as_str(), share, floor));
                }
            }
            assert!(low.is_empty(), "{histories}: {low:?}");
        }
    }
}
