//! The sections of which only on or off is kept: apps, plugins and skills.

use super::{Fragment, FragmentRole, Markers, Previous, Section, SectionSnapshot};
use crate::json::{Json, Object};

/// The id of the section about apps.
pub const APPS_ID: &str = "apps_instructions";
/// The id of the section about plugins.
pub const PLUGINS_ID: &str = "plugins_instructions";
/// The id of the section about skills.
pub const SKILLS_ID: &str = "skills";

const APPS: Markers = Markers::new("<apps_instructions>", "</apps_instructions>");
const PLUGINS: Markers = Markers::new("<plugins_instructions>", "</plugins_instructions>");
const SKILLS: Markers = Markers::new("<skills_instructions>", "</skills_instructions>");

/// Apps or plugins: said once when they come, nothing when they go, nothing when their text changes.
#[derive(Debug, Clone)]
pub struct SwitchSection {
    id: &'static str,
    markers: Markers,
    /// What the model is told; `None` while off.
    instructions: Option<String>,
}

impl SwitchSection {
    /// The section about apps. (Its rules could not be seen; taken to be those of plugins.)
    pub fn apps(instructions: Option<String>) -> SwitchSection {
        SwitchSection { id: APPS_ID, markers: APPS, instructions }
    }

    /// The section about plugins.
    pub fn plugins(instructions: Option<String>) -> SwitchSection {
        SwitchSection { id: PLUGINS_ID, markers: PLUGINS, instructions }
    }
}

impl Section for SwitchSection {
    type Snapshot = bool;

    fn id(&self) -> &str {
        self.id
    }

    fn snapshot(&self) -> bool {
        self.instructions.is_some()
    }

    fn render(&self, previous: Previous<'_, bool>) -> Option<Fragment> {
        match previous {
            Previous::Known(true) | Previous::Unknown => None,
            Previous::Known(false) | Previous::Absent => Some(Fragment {
                role: FragmentRole::Developer,
                markers: self.markers.clone(),
                body: self.instructions.clone()?,
            }),
        }
    }

    fn rendered(&self, role: FragmentRole, text: &str) -> bool {
        role == FragmentRole::Developer && self.markers.enclose(text)
    }
}

/// Skills: said whenever it is not known that they were.
#[derive(Debug, Clone)]
pub struct SkillsSection {
    /// What the model is told; `None` where it is not to be.
    pub instructions: Option<String>,
}

/// Whether the model was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillsSnapshot {
    include_instructions: bool,
}

impl SectionSnapshot for SkillsSnapshot {
    fn to_json(&self) -> Json {
        let mut members = Object::new();
        members.set("includeInstructions", Json::Bool(self.include_instructions));
        Json::Object(members)
    }

    fn from_json(json: &Json) -> Option<SkillsSnapshot> {
        let include_instructions = bool::from_json(json.get("includeInstructions")?)?;
        Some(SkillsSnapshot { include_instructions })
    }
}

impl Section for SkillsSection {
    type Snapshot = SkillsSnapshot;

    fn id(&self) -> &str {
        SKILLS_ID
    }

    fn snapshot(&self) -> SkillsSnapshot {
        SkillsSnapshot { include_instructions: self.instructions.is_some() }
    }

    fn render(&self, previous: Previous<'_, SkillsSnapshot>) -> Option<Fragment> {
        match previous {
            Previous::Known(known) if known.include_instructions => None,
            Previous::Known(_) | Previous::Unknown | Previous::Absent => Some(Fragment {
                role: FragmentRole::Developer,
                markers: SKILLS,
                body: self.instructions.clone()?,
            }),
        }
    }

    fn rendered(&self, role: FragmentRole, text: &str) -> bool {
        role == FragmentRole::Developer && SKILLS.enclose(text)
    }
}
