//! The section `environments`: where commands run, the date, what may be written.

use super::{Fragment, FragmentRole, Markers, Previous, Section, SectionSnapshot};
use crate::json::{Json, Object};
use std::collections::BTreeMap;

const MARKERS: Markers = Markers::new("<environment_context>", "</environment_context>");

/// A place where commands run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The working directory.
    pub cwd: String,
    /// `available`, and whatever else a runtime knows.
    pub status: String,
    /// The shell, where one is known.
    pub shell: Option<String>,
}

/// The environments of a turn, as they were observed. It is its own section and its own snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentSnapshot {
    /// By id, in the order of the ids.
    pub environments: BTreeMap<String, Environment>,
    /// The day, `YYYY-MM-DD`.
    pub current_date: Option<String>,
    /// The time zone.
    pub timezone: Option<String>,
    /// What may be read and written, as the caller puts it.
    pub filesystem: Option<String>,
}

impl SectionSnapshot for EnvironmentSnapshot {
    fn to_json(&self) -> Json {
        let mut environments = Object::new();
        for (id, environment) in &self.environments {
            let mut members = Object::new();
            members.set("cwd", Json::from(environment.cwd.as_str()));
            members.set("status", Json::from(environment.status.as_str()));
            set_text(&mut members, "shell", environment.shell.as_deref());
            environments.set(id.as_str(), Json::Object(members));
        }
        let mut members = Object::new();
        members.set("environments", Json::Object(environments));
        set_text(&mut members, "current_date", self.current_date.as_deref());
        set_text(&mut members, "timezone", self.timezone.as_deref());
        set_text(&mut members, "filesystem", self.filesystem.as_deref());
        Json::Object(members)
    }

    fn from_json(json: &Json) -> Option<EnvironmentSnapshot> {
        let environments = json.get("environments")?.as_object()?.iter();
        let load = |(id, environment): (&str, &Json)| {
            let cwd = environment.get("cwd")?.as_str()?.to_owned();
            let status = environment.get("status")?.as_str()?.to_owned();
            Some((id.to_owned(), Environment { cwd, status, shell: text_of(environment, "shell")? }))
        };
        Some(EnvironmentSnapshot {
            environments: environments.map(load).collect::<Option<_>>()?,
            current_date: text_of(json, "current_date")?,
            timezone: text_of(json, "timezone")?,
            filesystem: text_of(json, "filesystem")?,
        })
    }
}

fn set_text(members: &mut Object, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        members.set(key, Json::from(text));
    }
}

/// The text under a key, where there is one; `None` where something else stands there.
fn text_of(json: &Json, key: &str) -> Option<Option<String>> {
    match json.get(key) {
        None => Some(None),
        Some(value) => value.as_str().map(|text| Some(text.to_owned())),
    }
}

impl Section for EnvironmentSnapshot {
    type Snapshot = EnvironmentSnapshot;

    fn id(&self) -> &str {
        "environments"
    }

    fn snapshot(&self) -> EnvironmentSnapshot {
        self.clone()
    }

    /// Date, time zone and filesystem always; the environments only where they changed.
    fn render(&self, previous: Previous<'_, EnvironmentSnapshot>) -> Option<Fragment> {
        let before = match previous {
            Previous::Known(known) if known == self => return None,
            Previous::Known(known) => Some(&known.environments),
            Previous::Unknown | Previous::Absent => None,
        };
        let mut lines = match before {
            Some(before) if *before == self.environments => Vec::new(),
            Some(before) => self.environment_lines(before),
            None => self.environment_lines(&BTreeMap::new()),
        };
        let texts = [("current_date", &self.current_date), ("timezone", &self.timezone)];
        lines.extend(texts.into_iter().filter_map(|(tag, text)| Some(element(tag, text.as_deref()?))));
        lines.extend(self.filesystem.clone());
        let body: String = lines.iter().flat_map(|line| ["\n  ", line.as_str()]).collect();
        Some(Fragment { role: FragmentRole::User, markers: MARKERS, body: body + "\n" })
    }

    fn rendered(&self, role: FragmentRole, text: &str) -> bool {
        role == FragmentRole::User && MARKERS.enclose(text)
    }
}

impl EnvironmentSnapshot {
    /// One environment, and none gone: its folder and shell. Otherwise a list, in which what is gone is unavailable.
    /// (How several at once are written could not be seen: that they stand in the same list is ours.)
    fn environment_lines(&self, before: &BTreeMap<String, Environment>) -> Vec<String> {
        let gone: Vec<&String> = before.keys().filter(|id| !self.environments.contains_key(*id)).collect();
        let mut here = self.environments.iter();
        let (first, second) = (here.next(), here.next());
        match (first, second) {
            (None, _) if gone.is_empty() => Vec::new(),
            (Some((_, only)), None) if gone.is_empty() => only.lines(),
            _ => {
                let mut lines = vec!["<environments>".to_owned()];
                for (id, environment) in &self.environments {
                    lines.push(format!("  <environment id=\"{id}\" status=\"{}\">", environment.status));
                    lines.extend(environment.lines().iter().map(|line| format!("    {line}")));
                    lines.push("  </environment>".to_owned());
                }
                let unavailable = |id| format!("  <environment id=\"{id}\" status=\"unavailable\" />");
                lines.extend(gone.into_iter().map(unavailable));
                lines.push("</environments>".to_owned());
                lines
            }
        }
    }
}

impl Environment {
    fn lines(&self) -> Vec<String> {
        let shell = self.shell.as_deref().map(|shell| element("shell", shell));
        [element("cwd", &self.cwd)].into_iter().chain(shell).collect()
    }
}

fn element(tag: &str, text: &str) -> String {
    format!("<{tag}>{text}</{tag}>")
}
