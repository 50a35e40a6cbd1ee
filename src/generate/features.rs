//! Swarm testing: each case switches whole features on or off, so that rare ones meet and common ones get out of the way.

use super::Draw;

macro_rules! features {
    ($($(#[$meta:meta])* $name:ident,)*) => {
        /// Something that a case can have or lack as a whole.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Feature {
            $($(#[$meta])* $name,)*
        }

        impl Feature {
            /// All of them.
            pub const ALL: &'static [Feature] = &[$(Feature::$name),*];
        }
    };
}

features! {
    /// `function_call`s.
    FunctionCalls,
    /// `local_shell_call`s.
    LocalShellCalls,
    /// `custom_tool_call`s.
    CustomToolCalls,
    /// `tool_search_call`s.
    ToolSearchCalls,
    /// Calls in batches, as a model that calls in parallel makes them.
    ParallelBatches,
    /// Calls that are left without an output.
    OpenCalls,
    /// Outputs that come later, far from their call.
    LateOutputs,
    /// Outputs of no call.
    Orphans,
    /// Outputs of another kind than their call wants.
    WrongKinds,
    /// A second output of a call.
    DoubledOutputs,
    /// A second call under a call id.
    DoubledCalls,
    /// Outputs before their call.
    OutputsFirst,
    /// One call id under calls of several kinds.
    SharedAcrossKinds,
    /// Call ids that differ in case, blanks, accents or their last letter only.
    NearCollisions,
    /// The empty call id.
    EmptyCallId,
    /// Item ids at all.
    ItemIds,
    /// One item id on several items, and empty ones.
    SharedItemIds,
    /// Tool searches that a server did, or somebody else.
    ServerSearches,
    /// Tool searches and shell calls without a call id.
    NoCallIds,
    /// Messages between anything else.
    Messages,
    /// Reasoning items.
    Reasoning,
    /// Searches of the web, pictures made, compactions, messages of agents, additional tools.
    OtherKinds,
    /// What is not for the model: system messages, unknown kinds, compaction triggers.
    NotForTheModel,
    /// Pictures.
    Pictures,
    /// Pictures that can never be sent.
    UnsendablePictures,
    /// Outputs that are lists of parts.
    PartLists,
    /// Outputs over the limit.
    LongOutputs,
    /// Odd texts: control characters, other scripts, blanks.
    OddTexts,
    /// Messages of the runtime, which begin no turn.
    ContextMessages,
    /// Several `record` steps.
    SeveralRecords,
    /// Projections in the middle.
    EarlyProjections,
    /// A `replace` in the middle, which may cut a pair in two.
    Replacements,
    /// `resume` steps.
    Resumes,
    /// `rollback` steps.
    Rollbacks,
    /// `fork` steps.
    Forks,
}

/// The features that a case has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features(u64);

impl Features {
    /// Draws the features of a case: mostly each with even odds; sometimes all, sometimes few.
    pub fn draw(draw: &mut impl Draw) -> Features {
        let drawn = match draw.below(8) {
            0 => draw.bits() & draw.bits(),
            7 => u64::MAX,
            _ => draw.bits(),
        };
        // What the harness is about is on in three of four cases.
        let defects = [Feature::OpenCalls, Feature::Orphans, Feature::ItemIds];
        let wanted =
            defects.iter().filter(|_| draw.chance(1, 2)).fold(0, |bits, &defect| bits | 1 << defect as u8);
        Features(drawn | wanted)
    }

    /// Whether the case has a feature.
    pub fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u8) != 0
    }

    /// The same features without these.
    #[must_use]
    pub fn without(self, features: &[Feature]) -> Features {
        Features(features.iter().fold(self.0, |bits, &feature| bits & !(1 << feature as u8)))
    }
}
