//! A recorded session becomes the request that the real program sent when it resumed it.
//!
//! The sessions were recorded by the published program; see tests/rollouts/README.md. Other versions than 0.144.6 are read
//! too, and what differs is written down in docs/codex-versions.md and stated here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use assert_cmd::Command;
use callpair::history::ToolOutputLimit;
use callpair::item::Modalities;
use callpair::json::{Json, Object};
use callpair::projection::project;
use callpair::rollout::{Caps, PictureCache, Rollout};
use callpair::source;
use std::fs::{self, File};
use std::path::PathBuf;

const METADATA: &str = "internal_chat_message_metadata_passthrough";

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rollouts").join(name)
}

fn json(name: &str) -> Json {
    let text = fs::read_to_string(path(name)).expect(name);
    Json::parse_wrapped(&text, 3).expect(name)
}

/// A session and what the manifest says of it.
struct Session(Json);

impl Session {
    fn all() -> Vec<Session> {
        let manifest = json("manifest.json");
        let files = manifest.get("files").and_then(Json::as_array).expect("a list of files");
        files.iter().cloned().map(Session).collect()
    }

    fn of(version: &str) -> Vec<Session> {
        Session::all().into_iter().filter(|session| session.text("version") == version).collect()
    }

    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Json::as_str).unwrap_or_default()
    }

    fn file(&self) -> &str {
        self.text("file")
    }

    fn stem(&self) -> &str {
        self.file().trim_end_matches(".zst").trim_end_matches(".jsonl")
    }

    fn indices(&self, key: &str) -> Vec<u64> {
        let indices = self.0.get(key).and_then(Json::as_array).unwrap_or_default();
        indices.iter().filter_map(Json::as_u64).collect()
    }

    fn ids_kept(&self) -> bool {
        self.0.get("ids_kept") == Some(&Json::Bool(true))
    }

    /// What the program sent, less what was not in the history.
    fn sent(&self, kind: &str) -> Option<Vec<Json>> {
        let name = format!("{}.{kind}.json", self.stem());
        path(&name).exists().then(|| {
            let left_out = [self.indices("new_turn_indices"), self.indices("prefix_indices")].concat();
            let input = json(&name);
            let items = input.as_array().expect("an input is a list").iter().zip(0_u64..);
            let kept = items.filter(|(_, index)| !left_out.contains(index));
            kept.map(|(item, _)| self.comparable(item)).collect()
        })
    }

    /// An item without what only the vendor's own provider gets, and without its id where the request has none.
    fn comparable(&self, item: &Json) -> Json {
        let object = item.as_object().expect("an item is an object");
        let drops = |key: &str| key == METADATA || (key == "id" && !self.ids_kept());
        let members = object.iter().filter(|(key, _)| !drops(key));
        Json::Object(members.map(|(key, value)| (key.into(), value.clone())).collect::<Object>())
    }

    fn projected(&self, modalities: Modalities) -> Vec<Json> {
        let mut file = File::open(path(self.file())).expect("the session is there");
        let source = source::read(&mut file, None, Caps::default()).expect("the session is read");
        let loaded = source.load(ToolOutputLimit::Tokens(10_000), &mut PictureCache::new());
        self.list(&project(&loaded.items, modalities).to_wire())
    }

    fn list(&self, wire: &str) -> Vec<Json> {
        let wire = Json::parse_wrapped(wire, 1).expect("the wire form is JSON");
        wire.as_array().expect("a list").iter().map(|item| self.comparable(item)).collect()
    }
}

/// Equal as values and as text; numbers would otherwise pass that are written differently.
fn assert_same(what: &str, ours: &[Json], theirs: &[Json]) {
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours.to_string(), theirs.to_string(), "{what}: item {index}");
    }
    assert_eq!(ours.len(), theirs.len(), "{what}: the number of items");
}

#[test]
fn every_session_of_0_144_6_becomes_the_input_that_the_program_sent() {
    let sessions = Session::of("0.144.6");
    assert_eq!(sessions.len(), 32);
    for session in sessions {
        let sent = session.sent("input").expect("each session has an input");
        assert_same(session.file(), &session.projected(Modalities::TextAndImage), &sent);
    }
}

#[test]
fn sessions_with_pictures_become_the_input_that_a_text_only_model_got() {
    let mut compared = 0;
    for session in Session::of("0.144.6") {
        if let Some(sent) = session.sent("textonly.input") {
            assert_same(session.file(), &session.projected(Modalities::Text), &sent);
            compared += 1;
        }
    }
    assert_eq!(compared, 4);
}

#[test]
fn the_command_prints_what_the_library_gives() {
    for session in Session::all() {
        let mut command = Command::cargo_bin("callpair").expect("the command is built");
        command.args(["project", "--format", "json", "--tool-output-limit", "tokens:10000"]);
        let output = command.arg(path(session.file())).assert().success().get_output().stdout.clone();
        let printed = session.list(&String::from_utf8(output).expect("UTF-8"));
        assert_same(session.file(), &printed, &session.projected(Modalities::TextAndImage));
    }
}

#[test]
fn made_up_outputs_stand_where_the_program_put_them() {
    let mut made_up = 0;
    for session in Session::of("0.144.6") {
        let before = session.indices("prefix_indices").len() as u64;
        let projected = session.projected(Modalities::TextAndImage);
        for index in session.indices("made_up_indices") {
            let place = usize::try_from(index - before).expect("a small number");
            assert_eq!(
                projected[place].get("output").and_then(Json::as_str),
                Some("aborted"),
                "{}",
                session.file()
            );
            made_up += 1;
        }
    }
    assert_eq!(made_up, 10);
}

#[test]
fn sessions_of_0_171_0_become_the_input_that_it_sent_ids_included() {
    let sessions = Session::of("0.171.0");
    assert_eq!(sessions.len(), 2);
    for session in sessions {
        assert!(session.ids_kept());
        assert_eq!(session.indices("prefix_indices"), [0], "its base instructions are in no file");
        let sent = session.sent("input").expect("each session has an input");
        assert_same(session.file(), &session.projected(Modalities::TextAndImage), &sent);
    }
}

#[test]
fn the_lines_that_only_0_171_0_writes_are_skipped_and_reported() {
    for (session, reported) in skipped("0.171.0") {
        assert!(!reported.is_empty(), "{session}");
        for problem in reported {
            assert_eq!(problem, r#"unknown line type "token_usage_record""#, "{session}");
        }
    }
    assert!(skipped("0.101.0").iter().all(|(_, reported)| reported.is_empty()));
}

/// Each session of a version and why lines of it are skipped.
fn skipped(version: &str) -> Vec<(String, Vec<String>)> {
    let of = |session: Session| {
        let bytes = fs::read(path(session.file())).expect("the session is there");
        let rollout = Rollout::from_bytes(&bytes).expect("the session is read");
        let problems = rollout.skipped.iter().map(|skipped| skipped.value.to_string()).collect();
        (session.file().to_owned(), problems)
    };
    Session::of(version).into_iter().map(of).collect()
}

#[test]
fn sessions_of_0_101_0_differ_in_the_output_that_it_rewrote() {
    let sessions = Session::of("0.101.0");
    assert_eq!(sessions.len(), 2);
    for session in sessions {
        let mut sent = session.sent("input").expect("each session has an input");
        let mut ours = session.projected(Modalities::TextAndImage);
        if session.stem() == "v0.101.0-plain" {
            let (ours, sent) = (ours.remove(10), sent.remove(10));
            let text = |item: &Json| item.get("output").and_then(Json::as_str).expect("a text").to_owned();
            assert_eq!(sent.get("type").and_then(Json::as_str), Some("custom_tool_call_output"));
            assert!(text(&sent).starts_with("Exit code: 0\nWall time: 0 seconds\nOutput:\n"));
            let recorded = Json::parse(&text(&ours)).expect("recorded as JSON");
            let output = recorded.get("output").and_then(Json::as_str).expect("a text");
            assert!(text(&sent).ends_with(output), "the same text in another wrapping");
        }
        assert_same(session.file(), &ours, &sent);
    }
}
