//! Steps, and the case that is made of them.

use crate::item::{Modalities, ResponseItem};
use std::sync::Arc;

/// Items of a step or of an answer: shared, so that running a case copies pointers only.
pub type Items = Vec<Arc<ResponseItem>>;

/// One thing that is done to a subject. The JSON form stands behind each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `{"record":[…]}`: items are appended as a running turn does.
    Record(Items),
    /// `{"replace":[…]}`: the history is exactly these items, durably, as after a compaction.
    Replace(Items),
    /// `{"project":["text"]}`: what would the next request hold?
    Project(Modalities),
    /// `{"snapshot":true}`: what is the live history?
    Snapshot,
    /// `{"resume":true}`: all state in memory is lost and rebuilt from the durable record.
    Resume,
    /// `{"rollback":1}`: the last user turns go.
    Rollback(u32),
    /// `{"fork":true}`: the session goes on in a fork of itself.
    Fork,
}

impl Step {
    /// The items that the step brings, if any.
    pub fn items(&self) -> &[Arc<ResponseItem>] {
        match self {
            Step::Record(items) | Step::Replace(items) => items,
            _ => &[],
        }
    }

    /// The step's name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Record(_) => "record",
            Step::Replace(_) => "replace",
            Step::Project(_) => "project",
            Step::Snapshot => "snapshot",
            Step::Resume => "resume",
            Step::Rollback(_) => "rollback",
            Step::Fork => "fork",
        }
    }
}

/// A script, run from an empty history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Case {
    /// The steps in order.
    pub steps: Vec<Step>,
}

impl Case {
    /// A case that installs a history and projects it: what a recorded session or a found history becomes.
    pub fn of_history(items: Items, modalities: Modalities) -> Case {
        Case { steps: vec![Step::Replace(items), Step::Project(modalities)] }
    }

    /// The number of history items that the case brings.
    pub fn item_count(&self) -> usize {
        self.steps.iter().map(|step| step.items().len()).sum()
    }

    /// All items that the case brings, in the order of the steps.
    pub fn items(&self) -> impl Iterator<Item = &Arc<ResponseItem>> {
        self.steps.iter().flat_map(Step::items)
    }

    /// The script that is run for the case. The live history is looked at after every step that changes it. Each
    /// projection is done twice in a row, so that it can be seen what it was given, what it left behind, and whether it
    /// repeats itself. A case that ends without a projection gets one for each of `modalities`, those that the subject takes.
    pub fn script(&self, modalities: &[Modalities]) -> Vec<Step> {
        let mut script = Vec::with_capacity(4 * self.steps.len() + 8);
        script.push(Step::Snapshot);
        for step in &self.steps {
            match step {
                Step::Project(modalities) => project_twice(&mut script, *modalities),
                Step::Snapshot => {}
                change => script.extend([change.clone(), Step::Snapshot]),
            }
        }
        if !matches!(self.steps.last(), Some(Step::Project(_))) {
            modalities.iter().for_each(|modalities| project_twice(&mut script, *modalities));
        }
        script
    }
}

fn project_twice(script: &mut Vec<Step>, modalities: Modalities) {
    script.extend([Step::Project(modalities), Step::Project(modalities), Step::Snapshot]);
}
