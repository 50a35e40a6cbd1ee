//! Sentences of the article that the session layer was built after, each as a test where no other one shows it.
//! `docs/seed-claims.md` says which sentence is shown where.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod session_support;

use callpair::history::{AnomalyPolicy, ContextManager, ToolOutputLimit};
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::session::{Session, SettingsTexts, TurnSettings, UserTurn};
use callpair::world_state::EnvironmentSnapshot;
use session_support::{Answer, Rig, Sent, Step, config, item, json, text_part};
use std::path::Path;
use std::sync::Arc;

fn good() -> Answer {
    let said = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}"#;
    Answer::Stream(vec![Step::item(&item(said)), Step::completed()])
}

fn settings() -> TurnSettings {
    TurnSettings {
        texts: SettingsTexts {
            permissions: Some("<permissions instructions>x".to_owned()),
            ..SettingsTexts::default()
        },
        environments: Some(EnvironmentSnapshot::default()),
        ..TurnSettings::default()
    }
}

fn says(text: &str) -> UserTurn {
    UserTurn { content: vec![text_part(text)], ..UserTurn::default() }
}

/// A process that resumes the file, runs a turn and ends. Gives the request.
fn resumed_turn(path: &Path, item_ids: bool) -> Sent {
    let rig = Rig::new();
    let mut config = config(settings());
    config.item_ids = item_ids;
    let session = Session::resume(path, config, rig.services()).unwrap();
    rig.server.serve(&session);
    rig.server.expect([good()]);
    session.run_turn(says("go on")).unwrap();
    rig.server.take_sent().remove(0)
}

fn outputs(sent: &Sent) -> Vec<Json> {
    let is_output = |item: &Json| item.get("type").and_then(Json::as_str) == Some("function_call_output");
    sent.input().into_iter().filter(is_output).collect()
}

#[test]
fn the_opening_sample_is_repaired_twice_alike_and_nothing_of_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl");
    let meta = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"o","cli_version":"0.144.6"}}"#;
    let call = r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call","id":"fc_existing","name":"run","arguments":"{}","call_id":"missing-output-call"}}"#;
    let fixture = format!("{meta}\n{call}\n");
    std::fs::write(&path, &fixture).unwrap();
    let (first, second) = (resumed_turn(&path, true), resumed_turn(&path, true));
    let (first_made, second_made) = (outputs(&first), outputs(&second));
    assert_eq!(first_made.len(), 1);
    assert_eq!(first_made[0].get("output").and_then(Json::as_str), Some("aborted"));
    assert_eq!(first_made[0].get("call_id").and_then(Json::as_str), Some("missing-output-call"));
    // It stands right behind its call.
    assert_eq!(first.input()[1], first_made[0]);
    // The same id again, of version 5.
    assert_eq!(first_made[0].to_string(), second_made[0].to_string());
    let id = first_made[0].get("id").and_then(Json::as_str).unwrap();
    let uuid = uuid::Uuid::try_parse(id.strip_prefix("fco_").unwrap()).unwrap();
    assert_eq!(uuid.get_version_num(), 5);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.starts_with(&fixture), "what was there stays byte for byte");
    assert!(!written.contains("function_call_output") && !written.contains("aborted"));
}

#[test]
fn a_call_without_an_item_id_is_answered_without_one() {
    let mut history = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect);
    for id in ["", r#""id":"","#] {
        let call = format!(
            r#"{{"type":"function_call",{id}"name":"run","arguments":"{{}}","call_id":"a{}"}}"#,
            id.len()
        );
        history.record_items([item(&call)]);
    }
    let prompt = history.clone_history().for_prompt(Modalities::TextAndImage);
    let made: Vec<_> =
        prompt.iter().filter(|item| matches!(&***item, ResponseItem::FunctionCallOutput(_))).collect();
    assert_eq!(made.len(), 2);
    assert!(made.iter().all(|item| item.id().is_none()));
}

#[test]
fn recording_filters_and_cuts_and_replacing_does_neither() {
    let long = format!(r#"{{"type":"function_call_output","call_id":"a","output":"{}"}}"#, "x".repeat(200));
    let system = r#"{"type":"message","role":"system","content":[]}"#;
    let items = [item(&long), item(system)];
    let empty = || {
        let limit = Some(ToolOutputLimit::Bytes(10));
        ContextManager::new().with_tool_output_limit(limit).with_anomaly_policy(AnomalyPolicy::Collect)
    };
    let (mut recorded, mut replaced) = (empty(), empty());
    recorded.record_items(items.iter().cloned());
    replaced.replace(items.iter().cloned().collect());
    assert_eq!(recorded.raw_items().len(), 1);
    assert_ne!(recorded.raw_items().get(0), items.first());
    assert!(replaced.raw_items().iter().eq(items.iter()), "raw items need not have been recorded");
}

#[test]
fn the_live_history_is_cut_where_the_file_is_whole() {
    let (rig, folder) = (Rig::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("r.jsonl");
    let mut config = config(settings());
    config.tool_output_limit = Some(ToolOutputLimit::Bytes(10));
    let session = Session::start(&path, config, rig.services()).unwrap();
    let long = format!(r#"{{"type":"function_call_output","call_id":"a","output":"{}"}}"#, "x".repeat(200));
    session.record(vec![item(&long)]).unwrap();
    let live = session.snapshot().get(0).unwrap().to_wire();
    assert!(live.contains("truncated") && !live.contains(&"x".repeat(200)));
    assert!(std::fs::read_to_string(&path).unwrap().contains(&"x".repeat(200)));
}

#[test]
fn normalizing_a_live_manager_changes_it_and_a_prompt_of_a_clone_does_not() {
    let call = item(r#"{"type":"function_call","name":"run","arguments":"{}","call_id":"a"}"#);
    let orphan = item(r#"{"type":"function_call_output","call_id":"z","output":"x"}"#);
    let mut live = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect);
    live.record_items([call, orphan]);
    let before: Vec<Arc<ResponseItem>> = live.raw_items().iter().cloned().collect();
    let version = live.history_version();
    let prompt = live.clone_history().for_prompt(Modalities::TextAndImage);
    assert_ne!(prompt, before);
    assert!(live.raw_items().iter().eq(before.iter()), "the clone was repaired, not the history");
    assert_eq!(live.history_version(), version);
    live.normalize(Modalities::TextAndImage);
    assert!(
        live.raw_items().iter().eq(prompt.iter()),
        "what protects a history is the clone, not the function"
    );
}

#[test]
fn an_anomaly_panics_where_the_policy_says_so_and_changes_nothing() {
    let custom = item(r#"{"type":"custom_tool_call","name":"patch","input":"","call_id":"a"}"#);
    let function = item(r#"{"type":"function_call","name":"run","arguments":"{}","call_id":"b"}"#);
    let panics = |items: Vec<Arc<ResponseItem>>| {
        let mut live = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Panic);
        live.record_items(items);
        std::panic::catch_unwind(move || live.for_prompt(Modalities::TextAndImage)).is_err()
    };
    assert!(panics(vec![custom]), "a custom call without output is an anomaly");
    assert!(!panics(vec![function]), "a function call without output is not");
    let of_build = if cfg!(debug_assertions) { AnomalyPolicy::Panic } else { AnomalyPolicy::Log };
    assert_eq!(AnomalyPolicy::of_build(), of_build);
}

#[test]
fn a_resumed_session_has_more_than_the_items_of_its_file() {
    let (rig, folder) = (Rig::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("r.jsonl");
    let session = Session::start(&path, config(settings()), rig.services()).unwrap();
    rig.server.serve(&session);
    rig.server.expect([good()]);
    session.run_turn(says("one")).unwrap();
    let resumed = Session::resume(&path, config(settings()), rig.services()).unwrap();
    let (live, again) = (session.clone_history(), resumed.clone_history());
    assert!(live.reference_context_item().is_some());
    assert_eq!(live.reference_context_item(), again.reference_context_item());
    assert!(live.world_state_baseline().is_some());
    assert_eq!(live.world_state_baseline(), again.world_state_baseline());
}

#[test]
fn an_interrupted_first_turn_has_told_the_model_and_the_next_one_is_steady() {
    let (rig, folder) = (Rig::new(), tempfile::tempdir().unwrap());
    let session = Session::start(&folder.path().join("r.jsonl"), config(settings()), rig.services()).unwrap();
    rig.server.serve(&session);
    rig.server.expect([Answer::Stream(vec![Step::Interrupt]), good()]);
    session.run_turn(says("one")).unwrap();
    session.run_turn(says("two")).unwrap();
    let sent = rig.server.take_sent();
    let input: Vec<String> = sent[1].input().iter().map(Json::to_string).collect();
    let told = input.iter().filter(|item| item.contains("<permissions instructions>")).count();
    assert_eq!(told, 1, "{input:#?}");
}

#[test]
fn a_file_without_a_turn_context_is_told_everything() {
    let (rig, folder) = (Rig::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("r.jsonl");
    let session = Session::start(&path, config(settings()), rig.services()).unwrap();
    rig.server.serve(&session);
    rig.server.expect([good()]);
    session.run_turn(says("one")).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: String =
        text.split_inclusive('\n').filter(|line| !line.contains(r#""type":"turn_context""#)).collect();
    assert_ne!(kept, text);
    std::fs::write(&path, kept).unwrap();
    let input: Vec<String> = resumed_turn(&path, false).input().iter().map(Json::to_string).collect();
    let told = input.iter().filter(|item| item.contains("<permissions instructions>")).count();
    assert_eq!(told, 2, "{input:#?}");
    let last = std::fs::read_to_string(&path).unwrap();
    let states = last.lines().filter(|line| line.contains(r#""type":"world_state""#));
    assert!(states.map(json).all(|line| line.get("payload").unwrap().get("full") == Some(&Json::Bool(true))));
}

#[test]
fn a_rollback_to_a_compaction_is_followed_by_a_full_injection() {
    let (rig, folder) = (Rig::new(), tempfile::tempdir().unwrap());
    let session = Session::start(&folder.path().join("r.jsonl"), config(settings()), rig.services()).unwrap();
    rig.server.serve(&session);
    rig.server.expect([good(), good(), good(), good()]);
    session.run_turn(says("one")).unwrap();
    session.compact().unwrap();
    session.run_turn(says("two")).unwrap();
    session.rollback(1).unwrap();
    assert!(session.world_state_baseline().is_none());
    session.run_turn(says("three")).unwrap();
    let sent = rig.server.take_sent();
    let input: Vec<String> = sent[3].input().iter().map(Json::to_string).collect();
    let place = |text: &str| input.iter().position(|item| item.contains(text));
    assert_eq!(place("one"), Some(0), "{input:#?}");
    assert!(place("{summary prefix}") < place("<permissions instructions>"), "{input:#?}");
    assert!(place("<permissions instructions>") < place("three"), "{input:#?}");
    assert_eq!(place("two"), None);
}
