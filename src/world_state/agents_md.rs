//! The section `agents_md`: instructions that a project keeps in AGENTS.md.

use super::{Fragment, FragmentRole, Markers, Previous, Section, SectionSnapshot};
use crate::json::{Json, Object};

const MARKERS: Markers = Markers::new("# AGENTS.md instructions", "</INSTRUCTIONS>");

/// AGENTS.md as it was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsMd {
    /// The folder that it is for.
    pub directory: String,
    /// What it says, its line end included.
    pub text: String,
}

/// Both there or both not.
impl SectionSnapshot for Option<AgentsMd> {
    fn to_json(&self) -> Json {
        let mut members = Object::new();
        if let Some(observed) = self {
            members.set("directory", Json::from(observed.directory.as_str()));
            members.set("text", Json::from(observed.text.as_str()));
        }
        Json::Object(members)
    }

    fn from_json(json: &Json) -> Option<Option<AgentsMd>> {
        let members = json.as_object()?;
        let text_of = |key: &str| match members.get(key) {
            None | Some(Json::Null) => Some(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())),
        };
        match (text_of("directory")?, text_of("text")?) {
            (Some(directory), Some(text)) => Some(Some(AgentsMd { directory, text })),
            (None, None) => Some(None),
            (Some(_), None) | (None, Some(_)) => None,
        }
    }
}

/// What the model is told when instructions change. The program's own sentences are its vendor's, so the caller has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsMdNotices {
    /// These instructions replace all earlier ones.
    pub replaced: String,
    /// The earlier instructions no longer apply.
    pub removed: String,
}

/// The section: AGENTS.md as observed, or that there is none.
#[derive(Debug, Clone)]
pub struct AgentsMdSection {
    /// What was observed.
    pub observed: Option<AgentsMd>,
    /// What is said when it changed.
    pub notices: AgentsMdNotices,
}

impl Section for AgentsMdSection {
    type Snapshot = Option<AgentsMd>;

    fn id(&self) -> &str {
        "agents_md"
    }

    fn snapshot(&self) -> Option<AgentsMd> {
        self.observed.clone()
    }

    fn render(&self, previous: Previous<'_, Option<AgentsMd>>) -> Option<Fragment> {
        let told_before = match previous {
            Previous::Known(known) if *known == self.observed => return None,
            Previous::Known(known) => known.is_some(),
            Previous::Unknown => true,
            Previous::Absent => false,
        };
        let body = match (&self.observed, told_before) {
            (None, false) => return None,
            (None, true) => format!("\n\n<INSTRUCTIONS>\n{}\n", self.notices.removed),
            (Some(AgentsMd { directory, text }), false) => {
                format!(" for {directory}\n\n<INSTRUCTIONS>\n{text}\n")
            }
            (Some(AgentsMd { directory, text }), true) => {
                format!(" for {directory}\n\n<INSTRUCTIONS>\n{}\n\n{text}\n", self.notices.replaced)
            }
        };
        Some(Fragment { role: FragmentRole::User, markers: MARKERS, body })
    }

    fn rendered(&self, role: FragmentRole, text: &str) -> bool {
        role == FragmentRole::User && MARKERS.enclose(text)
    }
}
