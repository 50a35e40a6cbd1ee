//! The settings of a turn, and which of their texts the model must read.
//!
//! The texts themselves are the caller's and opaque here. When one is due is decided by comparison with the last turn
//! context: settings are no world state.

use crate::item::Modalities;
use crate::json::{Json, Object};
use crate::session::request::RequestForm;
use crate::world_state::{EnvironmentSnapshot, SkillsSection};

/// The settings of a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnSettings {
    /// The model.
    pub model: ModelSettings,
    /// What is written as `turn_context`, without the turn's id: `cwd`, `approval_policy`, `sandbox_policy`, `model` and
    /// whatever else the caller keeps there.
    pub context: Object,
    /// What the model reads of them.
    pub texts: SettingsTexts,
    /// Where commands run; `None` where the model is not told.
    pub environments: Option<EnvironmentSnapshot>,
    /// What the model reads about apps; `None` while there are none.
    pub apps: Option<String>,
    /// What the model reads about plugins; `None` while there are none.
    pub plugins: Option<String>,
    /// The section about skills, where there is one.
    pub skills: Option<SkillsSection>,
    /// The tools of the runtime itself.
    pub tools: Vec<Json>,
    /// Further members of the request's `client_metadata`.
    pub client_metadata: Vec<(String, String)>,
}

/// What a session must know of a model.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// Its name.
    pub name: String,
    /// What it reads.
    pub modalities: Modalities,
    /// The `reasoning` of a request.
    pub reasoning: Option<Json>,
    /// Whether it may call several tools at once.
    pub parallel_tool_calls: bool,
    /// How long its answers are to be.
    pub verbosity: Option<String>,
    /// Sent only where it is set.
    pub service_tier: Option<String>,
    /// How instructions and tools are sent to it.
    pub form: RequestForm,
}

impl Default for ModelSettings {
    fn default() -> ModelSettings {
        ModelSettings {
            name: String::new(),
            modalities: Modalities::TextAndImage,
            reasoning: None,
            parallel_tool_calls: true,
            verbosity: None,
            service_tier: None,
            form: RequestForm::Fields,
        }
    }
}

/// What the model reads of its settings, each text whole, markers included. `None` where there is nothing to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsTexts {
    /// That the model is another one now.
    pub model_switch: Option<String>,
    /// What needs approval and what may be written.
    pub permissions: Option<String>,
    /// What the client says to every model; in a full injection only.
    pub developer_instructions: Option<String>,
    /// How to work with the user.
    pub collaboration_mode: Option<String>,
    /// How to speak.
    pub personality_spec: Option<String>,
}

impl SettingsTexts {
    /// The texts of a full injection, in order.
    pub(super) fn whole(&self, model_switched: bool) -> Vec<String> {
        let switch = self.model_switch.as_ref().filter(|_| model_switched);
        let texts = [
            switch,
            self.permissions.as_ref(),
            self.developer_instructions.as_ref(),
            self.collaboration_mode.as_ref(),
            self.personality_spec.as_ref(),
        ];
        texts.into_iter().flatten().cloned().collect()
    }

    /// The texts of a steady update, in order. A model switch always brings the permissions along, and no personality.
    pub(super) fn changed(&self, changes: SettingsChanges) -> Vec<String> {
        let when = |due: bool, text: &Option<String>| text.clone().filter(|_| due);
        let texts = [
            when(changes.model, &self.model_switch),
            when(changes.permissions || changes.model, &self.permissions),
            when(changes.collaboration_mode, &self.collaboration_mode),
            when(changes.personality && !changes.model, &self.personality_spec),
        ];
        texts.into_iter().flatten().collect()
    }
}

/// What changed between two turn contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SettingsChanges {
    pub(super) model: bool,
    permissions: bool,
    collaboration_mode: bool,
    personality: bool,
}

impl SettingsChanges {
    pub(super) fn between(before: &Json, now: &Json) -> SettingsChanges {
        let differs = |key: &str| before.get(key) != now.get(key);
        let policies = ["approval_policy", "sandbox_policy", "permission_profile"];
        // Under this policy the folder says what may be written.
        let folder_counts = now.get("sandbox_policy").and_then(|policy| policy.get("type"))
            == Some(&Json::from("workspace-write"));
        SettingsChanges {
            model: differs("model"),
            permissions: policies.into_iter().any(differs) || (folder_counts && differs("cwd")),
            collaboration_mode: collaboration(before) != collaboration(now),
            personality: differs("personality"),
        }
    }
}

/// The mode and its text; the model and the effort in it are told elsewhere.
fn collaboration(context: &Json) -> (Option<&Json>, Option<&Json>) {
    let mode = context.get("collaboration_mode");
    let text = mode.and_then(|mode| mode.get("settings")?.get("developer_instructions"));
    (mode.and_then(|mode| mode.get("mode")), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> SettingsTexts {
        SettingsTexts {
            model_switch: Some("switch".to_owned()),
            permissions: Some("permissions".to_owned()),
            developer_instructions: Some("client".to_owned()),
            collaboration_mode: Some("mode".to_owned()),
            personality_spec: Some("personality".to_owned()),
        }
    }

    fn context(changed: &[(&str, &str)]) -> Json {
        let mut members = Object::new();
        let before = [
            ("cwd", "\"/a\""),
            ("approval_policy", "\"never\""),
            ("sandbox_policy", r#"{"type":"workspace-write"}"#),
            ("model", "\"one\""),
            ("effort", "\"low\""),
            ("personality", "\"friendly\""),
            (
                "collaboration_mode",
                r#"{"mode":"plan","settings":{"model":"one","developer_instructions":"x"}}"#,
            ),
        ];
        for (key, value) in before.iter().chain(changed) {
            members.set(*key, Json::parse(value).unwrap());
        }
        Json::Object(members)
    }

    fn told(changed: &[(&str, &str)]) -> Vec<String> {
        texts().changed(SettingsChanges::between(&context(&[]), &context(changed)))
    }

    #[test]
    fn only_what_changed_is_told() {
        assert!(told(&[]).is_empty());
        assert!(told(&[("effort", "\"high\""), ("model", "\"one\"")]).is_empty());
        assert_eq!(told(&[("approval_policy", "\"on-request\"")]), ["permissions"]);
        assert_eq!(told(&[("personality", "\"terse\"")]), ["personality"]);
        let mode = r#"{"mode":"default","settings":{"model":"one","developer_instructions":"y"}}"#;
        assert_eq!(told(&[("collaboration_mode", mode)]), ["mode"]);
    }

    #[test]
    fn a_model_switch_brings_the_permissions_and_no_personality() {
        let mode = r#"{"mode":"plan","settings":{"model":"two","developer_instructions":"x"}}"#;
        let switched = [("model", "\"two\""), ("personality", "\"terse\""), ("collaboration_mode", mode)];
        assert_eq!(told(&switched), ["switch", "permissions"]);
    }

    #[test]
    fn the_folder_counts_only_where_it_says_what_may_be_written() {
        assert_eq!(told(&[("cwd", "\"/b\"")]), ["permissions"]);
        let (full, cwd) = (("sandbox_policy", r#"{"type":"danger-full-access"}"#), ("cwd", "\"/b\""));
        let changes = SettingsChanges::between(&context(&[full]), &context(&[full, cwd]));
        assert!(texts().changed(changes).is_empty());
    }

    #[test]
    fn a_full_injection_has_everything_but_a_switch_that_was_none() {
        assert_eq!(texts().whole(false), ["permissions", "client", "mode", "personality"]);
        assert_eq!(texts().whole(true).first().map(String::as_str), Some("switch"));
    }
}
