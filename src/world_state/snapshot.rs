//! The snapshot of a whole world state.

use super::patch;
use crate::json::{Json, Object};
use std::collections::BTreeMap;

/// What is compared and kept of a world state: a map from section ids to snapshots, in the order of the ids. Holds no
/// null, so that a merge patch can always say what it must. It is never part of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorldStateSnapshot {
    sections: BTreeMap<String, Json>,
}

impl WorldStateSnapshot {
    /// Reads a state that was written whole; `None` where it is no object. Nulls are left out.
    pub fn from_json(state: &Json) -> Option<WorldStateSnapshot> {
        let sections = state.as_object()?.iter();
        Some(sections.map(|(id, section)| (id.to_owned(), section.clone())).collect())
    }

    /// The state as it is written.
    pub fn to_json(&self) -> Json {
        let members = self.sections.iter().map(|(id, section)| (id.as_str().into(), section.clone()));
        Json::Object(members.collect())
    }

    /// The snapshot of one section.
    pub fn section(&self, id: &str) -> Option<&Json> {
        self.sections.get(id)
    }

    /// The smallest merge patch that makes this of `previous`; `None` where they are equal.
    pub fn diff(&self, previous: &WorldStateSnapshot) -> Option<Json> {
        patch::diff(&previous.to_json(), &self.to_json())
    }

    /// This state with a patch applied; `None` where the patch makes no object of it.
    #[must_use]
    pub fn patched(&self, patch: &Json) -> Option<WorldStateSnapshot> {
        WorldStateSnapshot::from_json(&patch::apply(&self.to_json(), patch))
    }
}

impl FromIterator<(String, Json)> for WorldStateSnapshot {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(sections: I) -> WorldStateSnapshot {
        let sections =
            sections.into_iter().filter_map(|(id, section)| Some((id, without_nulls(section)?))).collect();
        WorldStateSnapshot { sections }
    }
}

fn without_nulls(json: Json) -> Option<Json> {
    match json {
        Json::Null => None,
        Json::Object(object) => {
            let members = object.into_iter().filter_map(|(key, value)| Some((key, without_nulls(value)?)));
            Some(Json::Object(members.collect::<Object>()))
        }
        Json::Array(elements) => Some(Json::Array(elements.into_iter().filter_map(without_nulls).collect())),
        other @ (Json::Bool(_) | Json::Number(_) | Json::String(_)) => Some(other),
    }
}
