//! What the model is told of its surroundings: typed sections, their snapshots, and the fragments that they render to.
//!
//! [`WorldState`] is runtime state. Only `WorldState` -> render -> [`Fragment`] leads to something the model sees;
//! a [`WorldStateSnapshot`] is compared and kept, never sent. [`diff`] makes the smallest RFC 7386 merge patch between two
//! snapshots, [`apply`] applies one.
//!
//! Not here: when a state is injected whole and when by difference (`session/`), and the messages about settings, which
//! are no world state: they are compared with the last turn context.

mod agents_md;
mod environments;
mod fragment;
mod patch;
mod section;
mod snapshot;
mod switches;

pub use agents_md::{AgentsMd, AgentsMdNotices, AgentsMdSection};
pub use environments::{Environment, EnvironmentSnapshot};
pub(crate) use fragment::message;
pub use fragment::{Fragment, FragmentRole, Markers, group_by_role, merge_contextual_fragments};
pub use patch::{apply, diff};
pub use section::{Previous, Section, SectionSnapshot};
pub use snapshot::WorldStateSnapshot;
pub use switches::{APPS_ID, PLUGINS_ID, SKILLS_ID, SkillsSection, SkillsSnapshot, SwitchSection};

use crate::item::ItemList;
use section::AnySection;
use std::sync::Arc;

/// The sections that hold for one turn, in the order in which they are rendered.
///
/// ```
/// # use callpair::{item::ItemList, world_state::{SwitchSection, WorldState}};
/// let with = |text: Option<&str>| {
///     let mut world = WorldState::new();
///     world.set(SwitchSection::plugins(text.map(str::to_owned)));
///     world
/// };
/// let (before, now) = (with(None).snapshot(), with(Some("Use the atlas.")));
/// let fragments = now.render_history_diff(Some(&before), &ItemList::new());
/// assert_eq!(fragments[0].text(), "<plugins_instructions>Use the atlas.</plugins_instructions>");
/// assert_eq!(now.snapshot().diff(&before).unwrap().to_string(), r#"{"plugins_instructions":true}"#);
/// ```
#[derive(Debug, Clone, Default)]
pub struct WorldState {
    sections: Vec<Arc<dyn AnySection>>,
}

impl WorldState {
    /// A state without sections.
    pub fn new() -> WorldState {
        WorldState::default()
    }

    /// Adds a section behind those there are, or puts it in the place of the one with its id.
    pub fn set(&mut self, section: impl Section + 'static) {
        let section: Arc<dyn AnySection> = Arc::new(section);
        match self.sections.iter_mut().find(|there| there.section_id() == section.section_id()) {
            Some(there) => *there = section,
            None => self.sections.push(section),
        }
    }

    /// The ids of the sections, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|section| section.section_id())
    }

    /// All sections as fragments, as if the model had been told nothing. In a full injection the program has the skills
    /// before the plugins, in a steady one behind them.
    pub fn render_full(&self) -> Vec<Fragment> {
        let (plugins, others): (Vec<_>, Vec<_>) =
            self.sections.iter().partition(|section| section.section_id() == PLUGINS_ID);
        others.into_iter().chain(plugins).filter_map(|section| section.render_whole()).collect()
    }

    /// What the model must be told since `previous`. Where `previous` has no snapshot of a section that loads, `retained`,
    /// the history as it stands, decides: a text of the section in it makes the section [`Previous::Unknown`].
    pub fn render_history_diff(
        &self,
        previous: Option<&WorldStateSnapshot>,
        retained: &ItemList,
    ) -> Vec<Fragment> {
        let snapshot_of = |id: &str| previous.and_then(|previous| previous.section(id));
        self.sections
            .iter()
            .filter_map(|section| section.render_since(snapshot_of(section.section_id()), retained))
            .collect()
    }

    /// What is compared and kept. Holds no null.
    pub fn snapshot(&self) -> WorldStateSnapshot {
        let of = |section: &Arc<dyn AnySection>| (section.section_id().to_owned(), section.snapshot_json());
        self.sections.iter().map(of).collect()
    }
}
