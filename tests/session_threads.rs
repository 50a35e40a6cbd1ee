//! What happens to a session from outside while a turn runs, and what is computed once however many ask.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod session_support;

use callpair::item::{Modalities, ResponseItem, ToolOutput};
use callpair::json::Json;
use callpair::session::{
    AbortReason, ForkPoint, Session, SessionError, StepContext, ToolOutcome, TurnContext, TurnEnd,
    TurnSettings, UserTurn,
};
use session_support::{Answer, Rig, Step, ToolPlan, config, item, json, naive, text_part, texts};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};

fn said(text: &str) -> Arc<ResponseItem> {
    item(&format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
    ))
}

fn call(call_id: &str) -> Arc<ResponseItem> {
    item(&format!(
        r#"{{"type":"function_call","id":"fc_{call_id}","name":"run","arguments":"{{}}","call_id":"{call_id}"}}"#
    ))
}

fn answer(items: &[Arc<ResponseItem>]) -> Answer {
    Answer::Stream(items.iter().map(Step::item).chain([Step::completed()]).collect())
}

fn says(text: &str) -> UserTurn {
    UserTurn { content: vec![text_part(text)], ..UserTurn::default() }
}

fn answered() -> ToolOutcome {
    ToolOutcome::Answered(ToolOutput::Text("done".to_owned()))
}

/// A session in its own folder, served.
fn session(rig: &Rig) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let session = Session::start(&path, config(TurnSettings::default()), rig.services()).unwrap();
    rig.server.serve(&session);
    (folder, session)
}

/// The items as short texts: role or kind, and the beginning of what is said.
fn outline(items: impl IntoIterator<Item = Arc<ResponseItem>>) -> Vec<String> {
    let short = |item: Arc<ResponseItem>| match &*item {
        ResponseItem::Message(message) => {
            let wire = json(&item.to_wire());
            let part = wire.get("content").and_then(Json::as_array).and_then(<[Json]>::first).cloned();
            let text =
                part.and_then(|part| part.get("text")?.as_str().map(str::to_owned)).unwrap_or_default();
            format!("{} {}", message.role, text.chars().take(14).collect::<String>())
        }
        ResponseItem::FunctionCallOutput(output) => match &output.output {
            ToolOutput::Text(text) => format!("output {}", text.chars().take(15).collect::<String>()),
            ToolOutput::Parts(_) => "output of parts".to_owned(),
        },
        other => other.kind().as_str().to_owned(),
    };
    items.into_iter().map(short).collect()
}

fn history(session: &Session) -> Vec<String> {
    outline(session.snapshot().iter().cloned())
}

#[test]
fn a_step_asks_for_its_tools_once_however_many_threads_ask() {
    let rig = Rig::new();
    *rig.mcp.tools.lock().unwrap() = vec![json(r#"{"type":"function","name":"atlas"}"#)];
    let turn = TurnContext { turn_id: "t".to_owned(), settings: Arc::default(), output_schema: None };
    let services = rig.services();
    let step = StepContext::new(Arc::new(turn), Vec::new(), services.mcp, None);
    assert_eq!(rig.mcp.listed.load(Ordering::SeqCst), 0, "nobody has asked yet");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert_eq!(step.mcp_tools().len(), 1));
        }
    });
    assert_eq!(rig.mcp.listed.load(Ordering::SeqCst), 1);
}

#[test]
fn a_steer_while_the_last_answer_streams_makes_another_step() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    let steer = |session: &Session| session.steer(vec![text_part("more")]).unwrap();
    let streams = vec![Step::item(&said("so far")), Step::Meanwhile(Box::new(steer)), Step::completed()];
    rig.server.expect([Answer::Stream(streams), answer(&[said("done")])]);
    let report = session.run_turn(says("go")).unwrap();
    assert_eq!(report.end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
    assert_eq!(history(&session), ["user go", "assistant so far", "user more", "assistant done"]);
    assert_eq!(rig.server.take_sent().len(), 2);
}

#[test]
fn an_interrupt_loses_a_steer_that_still_waits() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    let act = |session: &Session| {
        session.steer(vec![text_part("lost")]).unwrap();
        session.interrupt();
    };
    rig.server.plan("a", ToolPlan::While(Box::new(act), answered()));
    rig.server.expect([answer(&[call("a")])]);
    let report = session.run_turn(says("go")).unwrap();
    assert_eq!(report.end, TurnEnd::Aborted(AbortReason::Interrupted));
    assert_eq!(history(&session), ["user go", "function_call", "output done", "user <turn_aborted>"]);
    let text = std::fs::read_to_string(session.path()).unwrap();
    assert!(!text.contains("lost"), "neither file nor history has it");
}

#[test]
fn while_a_turn_runs_a_rollback_is_refused_and_nothing_is_changed() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    let act = |session: &Session| {
        assert!(matches!(session.rollback(1), Err(SessionError::TurnInProgress)));
        assert!(matches!(session.replace(Vec::new()), Err(SessionError::TurnInProgress)));
    };
    rig.server.plan("a", ToolPlan::While(Box::new(act), answered()));
    rig.server.expect([answer(&[call("a")]), answer(&[said("done")])]);
    session.run_turn(says("go")).unwrap();
    assert_eq!(history(&session), ["user go", "function_call", "output done", "assistant done"]);
    assert!(matches!(session.steer(Vec::new()), Err(SessionError::NoActiveTurn)));
}

#[test]
fn a_compaction_from_another_thread_ends_the_turn_without_telling_the_model() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    let (started, wait) = mpsc::channel();
    let act = move |session: &Session| {
        session.steer(vec![text_part("lost")]).unwrap();
        started.send(()).unwrap();
    };
    rig.server.plan("a", ToolPlan::While(Box::new(act), answered()));
    // Ends when the compaction ends the turn.
    rig.server.plan("b", ToolPlan::Never);
    rig.server.expect([answer(&[call("a"), call("b")]), answer(&[said("all of it")])]);
    let turn = {
        let session = session.clone();
        std::thread::spawn(move || session.run_turn(says("go")).unwrap())
    };
    wait.recv().unwrap();
    let compaction = session.compact().unwrap();
    assert_eq!(turn.join().unwrap().end, TurnEnd::Aborted(AbortReason::Replaced));
    assert_eq!(compaction.end, TurnEnd::Completed { last_message: None });
    assert_eq!(history(&session), ["user go", "user {summary prefi"]);
    let text = std::fs::read_to_string(session.path()).unwrap();
    assert!(text.contains(r#""reason":"replaced""#) && text.contains("aborted by user after"));
    assert!(!text.contains(&texts().turn_aborted.replace('\n', "\\n")) && !text.contains("lost"));
}

#[test]
fn a_fork_of_a_running_turn_keeps_its_call_open_and_its_requests_say_aborted() {
    let rig = Rig::new();
    let (folder, session) = session(&rig);
    let path = folder.path().join("fork.jsonl");
    let (fork_path, services) = (path.clone(), rig.services());
    let act = move |session: &Session| {
        session.fork(&fork_path, &ForkPoint::Now, config(TurnSettings::default()), services).unwrap();
    };
    rig.server.plan("a", ToolPlan::While(Box::new(act), answered()));
    rig.server.expect([answer(&[call("a")]), answer(&[said("done")])]);
    session.run_turn(says("go")).unwrap();
    let fork = Session::resume(&path, config(TurnSettings::default()), rig.services()).unwrap();
    assert_ne!(fork.thread_id(), session.thread_id());
    assert_eq!(history(&fork), ["user go", "function_call", "user <turn_aborted>"]);
    let request = outline(fork.project(Modalities::TextAndImage));
    assert_eq!(request, ["user go", "function_call", "output aborted", "user <turn_aborted>"]);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(!written.contains("function_call_output"), "what is made up for a request is never written");
    assert_eq!(history(&session), ["user go", "function_call", "output done", "assistant done"]);
}

#[test]
fn a_fork_after_a_turn_has_that_turn_and_none_behind_it() {
    let rig = Rig::new();
    let (folder, session) = session(&rig);
    rig.server.expect([answer(&[said("one")]), answer(&[said("two")])]);
    let first = session.run_turn(says("first")).unwrap();
    session.run_turn(says("second")).unwrap();
    let path = folder.path().join("fork.jsonl");
    let fork =
        |point: &ForkPoint| session.fork(&path, point, config(TurnSettings::default()), rig.services());
    let missing = ForkPoint::AfterTurn("never".to_owned());
    assert!(matches!(fork(&missing), Err(SessionError::NoSuchTurn(_))));
    let fork = fork(&ForkPoint::AfterTurn(first.turn_id)).unwrap();
    assert_eq!(history(&fork), ["user first", "assistant one"]);
}

#[test]
fn items_put_in_while_a_tool_runs_follow_its_output() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    let act = |session: &Session| session.inject(vec![call("put-in")]).unwrap();
    rig.server.plan("a", ToolPlan::While(Box::new(act), answered()));
    rig.server.expect([answer(&[call("a")]), answer(&[said("done")])]);
    session.run_turn(says("go")).unwrap();
    let recorded = ["user go", "function_call", "output done", "function_call", "assistant done"];
    assert_eq!(history(&session), recorded);
    let sent = rig.server.take_sent();
    let last = sent.last().unwrap().input();
    assert_eq!(last.last().unwrap().get("output").and_then(Json::as_str), Some("aborted"));
}

#[test]
fn an_interrupt_keeps_what_is_done_and_loses_what_is_half_done() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    let half = Step::Event(callpair::session::StreamEvent::Delta);
    rig.server.expect([Answer::Stream(vec![Step::item(&said("done")), half, Step::Interrupt])]);
    let report = session.run_turn(says("go")).unwrap();
    assert_eq!(report.end, TurnEnd::Aborted(AbortReason::Interrupted));
    assert_eq!(history(&session), ["user go", "assistant done", "user <turn_aborted>"]);
}

#[test]
fn recording_while_a_prompt_lives_does_not_change_the_prompt() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    session.record(vec![call("a")]).unwrap();
    let prompt = session.project(Modalities::TextAndImage);
    session.inject(vec![said("later")]).unwrap();
    assert_eq!(outline(prompt), ["function_call", "output aborted"]);
    assert_eq!(history(&session), ["function_call", "assistant later"]);
}

#[test]
fn a_session_is_not_started_where_another_one_is() {
    let rig = Rig::new();
    let (_folder, session) = session(&rig);
    session.record(vec![said("here")]).unwrap();
    let again = Session::start(&session.path(), config(TurnSettings::default()), rig.services());
    assert!(matches!(again, Err(SessionError::NotEmpty(_))));
}

#[test]
fn a_file_that_is_no_rollout_is_refused_and_left_alone() {
    let rig = Rig::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for text in [
        "a line\n",
        "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[]}}\n",
    ] {
        std::fs::write(&path, text).unwrap();
        let resumed = Session::resume(&path, config(TurnSettings::default()), rig.services());
        assert!(matches!(resumed, Err(SessionError::Refused { .. })), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_compressed_rollout_is_not_appended_to() {
    let (rig, folder) = (Rig::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("r.jsonl.zst");
    std::fs::copy("tests/rollouts/v0.144.6-compressed-killed.jsonl.zst", &path).unwrap();
    let resumed = Session::resume(&path, config(TurnSettings::default()), rig.services());
    assert!(matches!(resumed, Err(SessionError::Compressed(_))));
}

#[test]
fn base_instructions_are_those_of_the_file_whoever_resumes() {
    let rig = Rig::new();
    let (folder, session) = session(&rig);
    rig.server.expect([answer(&[said("one")]), answer(&[said("two")])]);
    session.run_turn(says("first")).unwrap();
    let mut other = config(TurnSettings::default());
    other.base_instructions = "others".to_owned();
    let resumed = Session::resume(&folder.path().join("r.jsonl"), other, rig.services()).unwrap();
    assert_eq!(resumed.thread_id(), session.thread_id());
    rig.server.serve(&resumed);
    resumed.run_turn(says("second")).unwrap();
    let instructions = |sent: &session_support::Sent| sent.json().get("instructions").cloned();
    let sent = rig.server.take_sent();
    assert_eq!(instructions(&sent[0]), Some(Json::from("{base instructions #478e}")));
    assert_eq!(instructions(&sent[0]), instructions(&sent[1]));
}

#[test]
fn a_crash_at_any_byte_of_a_session_leaves_its_beginning() {
    let rig = Rig::new();
    let (folder, session) = session(&rig);
    rig.server.plan("a", ToolPlan::Ends(answered()));
    rig.server.expect([answer(&[call("a"), said("über — 漢字")]), answer(&[said("done")])]);
    session.run_turn(says("žluťoučký")).unwrap();
    let bytes = std::fs::read(session.path()).unwrap();
    let whole: Vec<_> = session.snapshot().iter().cloned().collect();
    let path = folder.path().join("cut.jsonl");
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let resumed = Session::resume(&path, config(TurnSettings::default()), rig.services())
            .unwrap_or_else(|error| panic!("cut at byte {cut}: {error}"));
        let live: Vec<_> = resumed.snapshot().iter().cloned().collect();
        assert!(whole.starts_with(&live), "cut at byte {cut}");
        assert_eq!(live, naive::read(&bytes[..cut]).history, "cut at byte {cut}");
        assert_eq!(std::fs::read(&path).unwrap(), &bytes[..cut], "resuming writes nothing");
        // And the session goes on behind the cut: tried at some, for time's sake.
        if cut % 7 != 0 {
            continue;
        }
        resumed.record(vec![said("later")]).unwrap();
        let again = Session::resume(&path, config(TurnSettings::default()), rig.services()).unwrap();
        assert_eq!(history(&again), history(&resumed), "cut at byte {cut}");
        assert_eq!(history(&again).last().map(String::as_str), Some("assistant later"));
    }
}
