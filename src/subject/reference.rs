//! The reference as a subject: `ContextManager`, and a durable record that real reconstruction reads.

use super::{Capabilities, Profile, Subject};
use crate::case::{Failure, Items, Projected};
use crate::history::{AnomalyPolicy, ContextManager, ToolOutputLimit, is_turn_start};
use crate::item::{ItemId, Modalities, ResponseItem};
use crate::rollout::{Compacted, Event, Located, PictureCache, RolloutLine, resume};
use std::sync::Arc;

/// The limit of the reference's tool outputs: small, so that outputs over it are cheap to draw.
const LIMIT: ToolOutputLimit = ToolOutputLimit::Bytes(100);

/// The projection of release rust-v0.144.6 with a session around it: recording, a rollout, resume, rollback, fork.
///
/// The rollout is kept as loaded lines. Turns are marked by task events as the program does, so that a rollback behind a
/// compaction finds its place again.
#[derive(Debug)]
pub struct Reference {
    live: ContextManager,
    rollout: Vec<Located<RolloutLine>>,
    pictures: PictureCache,
    /// The number of the open task, and whether one is open.
    task: u64,
    task_open: bool,
    forks: u64,
}

impl Default for Reference {
    fn default() -> Reference {
        Reference::new()
    }
}

impl Reference {
    /// A session without a history.
    pub fn new() -> Reference {
        Reference {
            live: empty_history(),
            rollout: Vec::new(),
            pictures: PictureCache::new(),
            task: 0,
            task_open: false,
            forks: 0,
        }
    }

    fn write(&mut self, value: RolloutLine) {
        let line = self.rollout.len() + 1;
        self.rollout.push(Located { line, value });
    }

    fn begin_task(&mut self) {
        self.end_task();
        self.task += 1;
        self.task_open = true;
        self.write(RolloutLine::Event(Event::TaskStarted { turn_id: self.task.to_string() }));
    }

    fn end_task(&mut self) {
        if std::mem::take(&mut self.task_open) {
            self.write(RolloutLine::Event(Event::TaskComplete { turn_id: self.task.to_string() }));
        }
    }
}

fn empty_history() -> ContextManager {
    ContextManager::new().with_tool_output_limit(Some(LIMIT)).with_anomaly_policy(AnomalyPolicy::Collect)
}

impl Subject for Reference {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            name: "reference".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stateful: true,
            resume: true,
            rollback: true,
            fork: true,
            truncation: Some(LIMIT),
            prepares_pictures: true,
            profile: Profile::Codex,
            ..Capabilities::stateless("reference")
        }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.live = empty_history();
        self.rollout.clear();
        (self.task, self.task_open, self.forks) = (0, false, 0);
        Ok(())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        for item in items {
            if !self.task_open || is_turn_start(item) {
                self.begin_task();
            }
            self.write(RolloutLine::ResponseItem(Arc::clone(item)));
        }
        self.live.record_items(items.iter().cloned());
        Ok(())
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.begin_task();
        let replacement_history = Some(items.to_vec());
        self.write(RolloutLine::Compacted(Compacted { message: String::new(), replacement_history }));
        self.end_task();
        self.live.replace(items.iter().cloned().collect());
        Ok(())
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        Ok(Projected::of_items(self.live.clone_history().for_prompt(modalities)))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        Ok(self.live.raw_items().iter().cloned().collect())
    }

    fn resume(&mut self) -> Result<(), Failure> {
        self.end_task();
        let resumed = resume(&self.rollout, Some(LIMIT), &mut self.pictures);
        self.live = empty_history();
        self.live.replace(resumed.history);
        Ok(())
    }

    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        self.end_task();
        self.write(RolloutLine::Event(Event::ThreadRolledBack { num_turns: turns }));
        self.live.rollback(u64::from(turns));
        Ok(())
    }

    /// As the program does with ids on: the lines are copied, and an item without an id, or with an empty one, gets a fresh one.
    fn fork(&mut self) -> Result<(), Failure> {
        self.end_task();
        self.forks += 1;
        let (forks, mut fresh) = (self.forks, 0_u64);
        let mut with_id = |item: &mut Arc<ResponseItem>| {
            if item.id().is_some_and(|id| !id.as_str().is_empty()) {
                return;
            }
            if let Some(id) = Arc::make_mut(item).id_mut() {
                fresh += 1;
                *id = Some(ItemId::from(format!("fork_{forks}_{fresh}")));
            }
        };
        for line in &mut self.rollout {
            match &mut line.value {
                RolloutLine::ResponseItem(item) => with_id(item),
                RolloutLine::Compacted(Compacted { replacement_history: Some(items), .. }) => {
                    items.iter_mut().for_each(&mut with_id);
                }
                _ => {}
            }
        }
        let resumed = resume(&self.rollout, Some(LIMIT), &mut self.pictures);
        self.live = empty_history();
        self.live.replace(resumed.history);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{Compaction, ItemId};

    #[test]
    fn a_fork_fills_missing_and_empty_ids_and_keeps_others() {
        let with_id = |id: Option<&str>| {
            let (id, encrypted_content) = (id.map(ItemId::from), "x".to_owned());
            Arc::new(ResponseItem::Compaction(Compaction { id, encrypted_content }))
        };
        let mut reference = Reference::new();
        reference.record(&[with_id(None), with_id(Some("")), with_id(Some("own"))]).expect("it records");
        reference.fork().expect("it forks");
        let forked = reference.snapshot().expect("it has a history");
        let ids: Vec<_> = forked.iter().filter_map(|item| item.id()).map(ItemId::as_str).collect();
        assert_eq!(ids, ["fork_1_1", "fork_1_2", "own"]);
    }
}
