//! The private folder of a driven program: its CODEX_HOME, its HOME, its temporary and its working folder.
//!
//! It goes when this is dropped. What a killed run left behind is cleared by the next one: each folder holds a file that is
//! locked as long as its owner lives.

use super::error::CodexError;
use crate::json::{Json, Numbers, ObjectWriter, write_string};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use uuid::Uuid;

/// What the folders' names begin with.
const PREFIX: &str = "callpair-codex-";

/// The provider under which the server on loopback is configured where a rollout names none.
pub(super) const PROVIDER: &str = "callpair";

/// The base instructions of every thread. Newer versions send them as the first item, which is told by this text.
pub(super) const BASE_INSTRUCTIONS: &str = "callpair: base instructions";

/// The model that accepts text and pictures, and the one that accepts text only.
pub(super) const MODELS: [(&str, &[&str]); 2] =
    [("callpair-image", &["text", "image"]), ("callpair-text", &["text"])];

/// The folder.
#[derive(Debug)]
pub(super) struct Home {
    root: TempDir,
    /// Locked until it is closed.
    _lock: File,
}

impl Home {
    /// Makes the folder, with a configuration whose provider is at `base_url`.
    pub(super) fn create(base_url: &str) -> Result<Home, CodexError> {
        clear_left_folders(&std::env::temp_dir());
        Home::try_create(base_url).map_err(|error| CodexError::NoSurroundings {
            what: "a private folder",
            reason: error.to_string(),
        })
    }

    fn try_create(base_url: &str) -> io::Result<Home> {
        let root = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = File::create(root.path().join("lock"))?;
        lock.lock()?;
        for folder in ["home", "tmp", "work", "codex", "codex/sessions/2026/01/02"] {
            fs::create_dir_all(root.path().join(folder))?;
        }
        let home = Home { root, _lock: lock };
        let catalog = home.codex_home().join("models.json");
        fs::write(home.codex_home().join("config.toml"), configuration(&catalog, base_url))?;
        fs::write(&catalog, model_catalog())?;
        Ok(home)
    }

    /// The folder of all folders.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    fn codex_home(&self) -> PathBuf {
        self.root().join("codex")
    }

    /// `program app-server`, with an environment that leads nowhere but into this folder.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg("app-server").current_dir(self.root().join("work")).env_clear();
        command.env("HOME", self.root().join("home")).env("CODEX_HOME", self.codex_home());
        command.env("TMPDIR", self.root().join("tmp"));
        command.envs([("LANG", "C.UTF-8"), ("NO_COLOR", "1")]);
        // Installed by npm, the program may be a script of a runtime that is looked up there.
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    /// Writes a rollout where the program keeps those of the thread `id`.
    pub(super) fn write_rollout(&self, id: Uuid, bytes: &[u8]) -> Result<PathBuf, CodexError> {
        let name = format!("sessions/2026/01/02/rollout-2026-01-02T03-04-05-{id}.jsonl");
        let path = self.codex_home().join(name);
        fs::write(&path, bytes).map_err(|error| CodexError::NoSurroundings {
            what: "a rollout in the private folder",
            reason: error.to_string(),
        })?;
        Ok(path)
    }
}

/// Settings under which nothing is asked, nothing but the server is spoken to, and a turn adds as little as it can.
/// Names that a version does not know are ignored by it.
fn configuration(catalog: &Path, base_url: &str) -> Vec<u8> {
    let mut out = Vec::new();
    // A basic string of TOML takes the escapes of JSON.
    let mut setting = |name: &str, value: &str| {
        out.extend_from_slice(format!("{name} = ").as_bytes());
        write_string(value, &mut out);
        out.push(b'\n');
    };
    setting("model", MODELS[0].0);
    setting("model_provider", PROVIDER);
    setting("model_catalog_json", &catalog.to_string_lossy());
    setting("approval_policy", "never");
    setting("sandbox_mode", "danger-full-access");
    setting("web_search", "disabled");
    // Nobody is asked there; should a version do so all the same, it meets the server on loopback.
    setting("chatgpt_base_url", base_url);
    setting("openai_base_url", base_url);
    out.extend_from_slice(FLAGS.as_bytes());
    out.extend_from_slice(b"\n[model_providers]\n");
    out.extend_from_slice(format!("{PROVIDER} = {}\n", provider_toml(base_url)).as_bytes());
    out
}

const FLAGS: &str = "\
check_for_update_on_startup = false
suppress_unstable_features_warning = true
include_permissions_instructions = false
include_environment_context = false
include_apps_instructions = false

[analytics]
enabled = false

[feedback]
enabled = false

[history]
persistence = \"none\"

[skills]
include_instructions = false

[skills.bundled]
enabled = false

[features]
item_ids = true
shell_snapshot = false
apps = false
plugins = false
remote_plugin = false
plugin_sharing = false
goals = false
hooks = false
image_generation = false
tool_suggest = false
browser_use = false
computer_use = false
enable_request_compression = false
";

fn provider_toml(base_url: &str) -> String {
    format!(
        "{{ name = \"callpair\", base_url = \"{base_url}\", wire_api = \"responses\", requires_openai_auth = false, \
         supports_websockets = false, request_max_retries = 0, stream_max_retries = 0 }}"
    )
}

/// The settings that make `name` a provider at `base_url`, for one thread. A file that names its provider is resumed with
/// that one: version 0.171.0 takes no other.
pub(super) fn write_provider(out: &mut Vec<u8>, name: &str, base_url: &str) {
    let mut settings = ObjectWriter::open(out);
    let mut provider = ObjectWriter::open(settings.key(&format!("model_providers.{name}")));
    provider.string("name", "callpair");
    provider.string("base_url", base_url);
    provider.string("wire_api", "responses");
    for flag in ["requires_openai_auth", "supports_websockets"] {
        provider.key(flag).extend_from_slice(b"false");
    }
    for retries in ["request_max_retries", "stream_max_retries"] {
        provider.key(retries).push(b'0');
    }
    provider.close();
    settings.close();
}

/// Two models that differ in what they accept: tool outputs are cut at 10000 in bytes mode, and the window is so large that
/// nothing is ever compacted.
fn model_catalog() -> Vec<u8> {
    let mut out = br#"{"models":["#.to_vec();
    for (priority, (slug, modalities)) in (1..).zip(MODELS) {
        if priority > 1 {
            out.push(b',');
        }
        let mut model = ObjectWriter::open(&mut out);
        for name in ["slug", "display_name", "description"] {
            model.string(name, slug);
        }
        model.string("base_instructions", BASE_INSTRUCTIONS);
        let modalities = modalities.iter().map(|name| Json::from(*name)).collect();
        Json::Array(modalities).write(model.key("input_modalities"), Numbers::AsWritten);
        model.key("priority").extend_from_slice(format!("{priority}").as_bytes());
        for (name, json) in MODEL_FIELDS {
            model.key(name).extend_from_slice(json.as_bytes());
        }
        model.close();
    }
    out.extend_from_slice(b"]}");
    out
}

const MODEL_FIELDS: &[(&str, &str)] = &[
    ("default_reasoning_level", r#""low""#),
    ("supported_reasoning_levels", r#"[{"effort":"low","description":"low"}]"#),
    ("shell_type", r#""shell_command""#),
    ("visibility", r#""list""#),
    ("supported_in_api", "true"),
    ("supports_reasoning_summaries", "false"),
    ("support_verbosity", "false"),
    ("default_verbosity", "null"),
    ("apply_patch_tool_type", "null"),
    ("truncation_policy", r#"{"mode":"bytes","limit":10000}"#),
    ("supports_parallel_tool_calls", "true"),
    ("supports_image_detail_original", "true"),
    ("context_window", "1000000000"),
    ("effective_context_window_percent", "95"),
    ("experimental_supported_tools", "[]"),
    ("availability_nux", "null"),
    ("upgrade", "null"),
];

/// Removes the folders of runs that are over. One whose owner lives is locked, one of another user cannot be opened.
fn clear_left_folders(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // A link is not followed.
        if !named || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let lock = File::options().write(true).open(entry.path().join("lock"));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // Whoever cannot remove it leaves it to its owner.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_when_it_is_dropped() {
        let home = Home::create("http://127.0.0.1:1/v1").expect("a folder can be made");
        let root = home.root().to_path_buf();
        assert!(root.join("codex/config.toml").exists());
        drop(home);
        assert!(!root.exists());
    }

    #[test]
    fn folders_of_runs_that_are_over_are_cleared_and_living_ones_kept() {
        let temporary = tempfile::tempdir().expect("a folder can be made");
        let make = |name: &str| {
            let folder = temporary.path().join(name);
            fs::create_dir(&folder).expect("a folder can be made");
            (File::create(folder.join("lock")).expect("a file can be made"), folder)
        };
        let (left, left_folder) = make("callpair-codex-left");
        drop(left);
        let (living, living_folder) = make("callpair-codex-living");
        living.lock().expect("a lock can be had");
        let (_, foreign_folder) = make("other");
        clear_left_folders(temporary.path());
        assert_eq!(
            [left_folder, living_folder, foreign_folder].map(|folder| folder.exists()),
            [false, true, true]
        );
    }

    #[test]
    fn the_catalogue_holds_a_model_of_each_kind() {
        let catalog = String::from_utf8(model_catalog()).expect("text");
        let catalog = Json::parse(&catalog).expect("JSON");
        let models = catalog.get("models").and_then(Json::as_array).expect("a list");
        let modalities: Vec<String> =
            models.iter().filter_map(|model| model.get("input_modalities")).map(Json::to_string).collect();
        assert_eq!(modalities, [r#"["text","image"]"#, r#"["text"]"#]);
    }
}
