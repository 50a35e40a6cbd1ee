//! The saved form of a case: JSON with `"schema":"callpair.case/1"`, readable and reviewed like a test.
//!
//! A field that this version does not know is ignored when it is read, so that a case of a later version of the same
//! schema can be replayed.

use super::script::{Case, Items, Step};
use crate::item::{Modalities, ResponseItem};
use crate::json::{Json, Object, ObjectWriter, write_list};
use std::sync::Arc;

/// The name of the form.
pub const SCHEMA: &str = "callpair.case/1";

/// A case with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedCase {
    /// The subject that it was found with, by name.
    pub subject: Option<String>,
    /// The profile that it was judged by.
    pub profile: Option<String>,
    /// The invariant that it broke.
    pub invariant: Option<String>,
    /// The sentence that says how.
    pub message: Option<String>,
    /// The steps.
    pub case: Case,
}

/// The most that steps times items may be: after each step the whole history is kept, so that what a step did can be judged.
/// At this a run takes half a gigabyte.
const MOST_STEPS_BY_ITEMS: usize = 2_000_000;

/// Why a text is no saved case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// It is no JSON.
    #[error("the case is {0}; take a whole copy")]
    NotJson(#[from] crate::json::JsonError),
    /// It is of another schema.
    #[error("not a case of schema {SCHEMA}: {0}; a saved case is {{\"schema\":\"{SCHEMA}\",\"steps\":[…]}}")]
    Schema(String),
    /// Running it would take more memory than a case is worth.
    #[error(
        "{steps} steps on {items} items are too many to be run, since the history is looked at after each step: at most \
         {MOST_STEPS_BY_ITEMS} steps times items; record more items in a step"
    )]
    TooLarge {
        /// How many steps it has.
        steps: usize,
        /// How many items all steps bring.
        items: usize,
    },
    /// A step is not one.
    #[error("steps[{step}]: {problem}")]
    Step {
        /// Its place, counted from 0.
        step: usize,
        /// What is wrong.
        problem: String,
    },
}

impl SavedCase {
    /// A case of which nothing else is known.
    pub fn bare(case: Case) -> SavedCase {
        SavedCase { case, ..SavedCase::default() }
    }

    /// Reads a case.
    ///
    /// # Errors
    /// Names the step and the item that are wrong.
    ///
    /// ```
    /// # use callpair::case::SavedCase;
    /// let text = r#"{"schema":"callpair.case/1","steps":[{"record":[{"type":"ghost_snapshot"}]},{"project":["text"]}]}"#;
    /// let saved = SavedCase::parse(text)?;
    /// assert_eq!(saved.to_json(), text);
    /// # Ok::<(), callpair::case::CaseError>(())
    /// ```
    pub fn parse(text: &str) -> Result<SavedCase, CaseError> {
        // Items stand two levels deeper here than in a line.
        let json = Json::parse_wrapped(text, 2)?;
        match json.get("schema").and_then(Json::as_str) {
            Some(SCHEMA) => {}
            Some(other) => {
                return Err(CaseError::Schema(format!(
                    "it says {:?}",
                    other.chars().take(40).collect::<String>()
                )));
            }
            None => return Err(CaseError::Schema("it has no \"schema\"".to_owned())),
        }
        let word = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        let steps = json
            .get("steps")
            .and_then(Json::as_array)
            .ok_or_else(|| CaseError::Schema("it has no list \"steps\"".to_owned()))?;
        let items = |step: &Json| {
            let of = |key| step.get(key).and_then(Json::as_array).map_or(0, <[Json]>::len);
            of("record") + of("replace")
        };
        let items: usize = steps.iter().map(items).sum();
        if steps.len().saturating_mul(items) > MOST_STEPS_BY_ITEMS {
            return Err(CaseError::TooLarge { steps: steps.len(), items });
        }
        let steps = steps
            .iter()
            .enumerate()
            .map(|(step, json)| Step::from_json(json).map_err(|problem| CaseError::Step { step, problem }));
        Ok(SavedCase {
            subject: word("subject"),
            profile: word("profile"),
            invariant: word("invariant"),
            message: word("message"),
            case: Case { steps: steps.collect::<Result<_, _>>()? },
        })
    }

    /// The saved form, compact. Items are in the recorded form: the wire form, but unknown kinds keep their name.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        let mut writer = ObjectWriter::open(&mut out);
        writer.string("schema", SCHEMA);
        let words = [
            ("subject", &self.subject),
            ("profile", &self.profile),
            ("invariant", &self.invariant),
            ("message", &self.message),
        ];
        for (key, word) in words {
            if let Some(word) = word {
                writer.string(key, word);
            }
        }
        write_list(writer.key("steps"), &self.case.steps, |step, out| step.write(out));
        writer.close();
        // Everything written is text.
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Case {
    /// `{"steps":[…]}`, as it stands in reports.
    pub fn to_json(&self) -> Json {
        let mut out = Vec::new();
        let mut writer = ObjectWriter::open(&mut out);
        write_list(writer.key("steps"), &self.steps, |step, out| step.write(out));
        writer.close();
        let text = String::from_utf8(out).unwrap_or_default();
        // What was just written is JSON, of at most the depth of its items and their wrappers.
        Json::parse_wrapped(&text, 8).unwrap_or_default()
    }
}

impl Step {
    fn write(&self, out: &mut Vec<u8>) {
        let mut writer = ObjectWriter::open(out);
        let value = writer.key(self.name());
        match self {
            Step::Record(items) | Step::Replace(items) => {
                write_list(value, items, |item, out| item.write_recorded(out))
            }
            Step::Project(modalities) => {
                write_list(value, modalities.names(), |name, out| crate::json::write_string(name, out))
            }
            Step::Rollback(turns) => value.extend_from_slice(turns.to_string().as_bytes()),
            Step::Snapshot | Step::Resume | Step::Fork => value.extend_from_slice(b"true"),
        }
        writer.close();
    }

    fn from_json(json: &Json) -> Result<Step, String> {
        let step = json.as_object().and_then(single_member);
        let (name, value) = step.ok_or("a step is an object with one member, such as {\"resume\":true}")?;
        Ok(match name {
            "record" => Step::Record(load_items(value)?),
            "replace" => Step::Replace(load_items(value)?),
            "project" => {
                let names = value.as_array().ok_or("\"project\" takes a list of modalities")?;
                let names: Option<Vec<&str>> = names.iter().map(Json::as_str).collect();
                let names = names.ok_or("a modality is a string")?;
                Step::Project(Modalities::from_names(names).map_err(|error| error.to_string())?)
            }
            "rollback" => {
                let turns = value.as_u64().and_then(|turns| u32::try_from(turns).ok());
                Step::Rollback(turns.ok_or("\"rollback\" takes a number of turns from 0 to 4294967295")?)
            }
            "snapshot" if *value == Json::Bool(true) => Step::Snapshot,
            "resume" if *value == Json::Bool(true) => Step::Resume,
            "fork" if *value == Json::Bool(true) => Step::Fork,
            "snapshot" | "resume" | "fork" => return Err(format!("\"{name}\" takes true")),
            other => return Err(format!("no such step: {:?}", other.chars().take(40).collect::<String>())),
        })
    }
}

fn single_member(object: &Object) -> Option<(&str, &Json)> {
    let mut members = object.iter();
    members.next().filter(|_| members.next().is_none())
}

fn load_items(json: &Json) -> Result<Items, String> {
    let items = json.as_array().ok_or("a list of items is needed")?;
    let load = |(index, item): (usize, &Json)| match ResponseItem::load(item.clone()) {
        Ok(item) => Ok(Arc::new(item)),
        Err(error) => Err(format!("item {index} does not load: {error}")),
    };
    items.iter().enumerate().map(load).collect()
}
