//! The 36 failure scripts of `tests/session/retries.json`: how many requests each leads to, how many items each carries,
//! whether its bytes are those of the one before, what is recorded, and how long was waited.

#![cfg(feature = "session")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must stop"
)]

mod session_support;

use callpair::item::{ResponseItem, ToolOutput};
use callpair::json::Json;
use callpair::session::{
    RetryLimits, SendError, Session, SettingsTexts, StreamEvent, ToolOutcome, TurnEnd, TurnSettings, UserTurn,
};
use callpair::world_state::EnvironmentSnapshot;
use session_support::{Answer, Rig, Sent, Step, ToolPlan, config, item, json, text_part};
use std::sync::Arc;

fn call(n: usize) -> Arc<ResponseItem> {
    item(&format!(r#"{{"type":"function_call","name":"run","arguments":"{{}}","call_id":"c{n}"}}"#))
}

fn custom_call(n: usize) -> Arc<ResponseItem> {
    item(&format!(r#"{{"type":"custom_tool_call","name":"patch","input":"","call_id":"c{n}"}}"#))
}

fn said(text: &str) -> Arc<ResponseItem> {
    let content = format!(r#"[{{"type":"output_text","text":"{text}"}}]"#);
    item(&format!(r#"{{"type":"message","role":"assistant","content":{content}}}"#))
}

fn thought() -> Arc<ResponseItem> {
    item(r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#)
}

fn stream(items: &[Arc<ResponseItem>], end: Option<Step>) -> Answer {
    Answer::Stream(items.iter().map(Step::item).chain(end).collect())
}

fn good() -> Answer {
    stream(&[said("ok")], Some(Step::completed()))
}

fn broken(items: &[Arc<ResponseItem>]) -> Answer {
    stream(items, Some(Step::Break))
}

fn status(code: u16) -> Answer {
    Answer::Refuse(SendError::Status { code, message: "scripted failure".to_owned() })
}

fn failed(code: &str, message: &str) -> Answer {
    let event = StreamEvent::Failed { code: code.to_owned(), message: message.to_owned() };
    stream(&[], Some(Step::Event(event)))
}

/// The answers to the first `of` requests of a script.
fn script(name: &str, of: usize) -> Vec<Answer> {
    let repeat = |answer: fn() -> Answer| (0..of).map(|_| answer()).collect::<Vec<_>>();
    let then_good = |mut bad: Vec<Answer>| {
        bad.push(good());
        bad
    };
    match name {
        "rt_400" | "rt_400_context" | "rt_400_unpaired" => vec![status(400)],
        "rt_401" => repeat(|| status(401)),
        "rt_404" => repeat(|| status(404)),
        "rt_413" => repeat(|| status(413)),
        "rt_429_always" | "rt_429_retry_after" | "rt_429_usage_limit" => vec![status(429)],
        "rt_500_always" | "rt_500_always_0_3" | "rt_500_always_2_1" | "rt_500_always_3_0" => {
            repeat(|| status(500))
        }
        "rt_500_twice" => then_good(vec![status(500), status(500)]),
        "rt_503_twice" => then_good(vec![status(503), status(503)]),
        "rt_after_call" => then_good(vec![stream(&[call(0)], Some(Step::completed())), broken(&[])]),
        "rt_break_after_delta" => {
            then_good(vec![Answer::Stream(vec![Step::Event(StreamEvent::Delta), Step::Break])])
        }
        "rt_break_after_fc" => then_good(vec![broken(&[call(0)])]),
        "rt_break_after_fc_clean" => then_good(vec![stream(&[call(0)], None)]),
        "rt_break_after_fc_slow" => then_good(vec![broken(&[said("I run it."), call(0)])]),
        "rt_break_after_msg" => then_good(vec![broken(&[said("half an answer")])]),
        "rt_break_after_reasoning" => then_good(vec![broken(&[thought()])]),
        "rt_break_after_two_fc" => then_good(vec![broken(&[call(0), call(1), custom_call(2)])]),
        "rt_break_always" => (0..of).map(|n| broken(&[call(n)])).collect(),
        "rt_break_always_default" => repeat(|| broken(&[])),
        "rt_break_before" => then_good(vec![broken(&[])]),
        "rt_break_then_500" => then_good(vec![broken(&[call(0)]), status(500)]),
        "rt_close" => repeat(|| Answer::Refuse(SendError::Unreachable("closed".to_owned()))),
        "rt_context_midturn" => {
            vec![stream(&[call(0)], Some(Step::completed())), failed("context_length_exceeded", "")]
        }
        "rt_failed_context" => vec![failed("context_length_exceeded", "")],
        "rt_failed_invalid" => vec![failed("invalid_prompt", "")],
        "rt_failed_overloaded" => vec![failed("server_is_overloaded", "")],
        "rt_failed_quota" => vec![failed("insufficient_quota", "")],
        "rt_failed_rate" => then_good(vec![failed("rate_limit_exceeded", "try again in 1.3s")]),
        "rt_failed_server" => then_good(vec![failed("server_error", "")]),
        "rt_incomplete" => {
            let cut = || {
                let event = StreamEvent::Incomplete { reason: "max_output_tokens".to_owned() };
                stream(&[said("cut")], Some(Step::Event(event)))
            };
            then_good(vec![cut(), cut()])
        }
        other => panic!("a script that nobody thought of: {other}"),
    }
}

/// Two context messages stand before the user's, as in the record.
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

fn limits(record: &Json, what: &str) -> RetryLimits {
    let number = |lead: &str| {
        let (_, rest) = what.split_once(lead)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let defaults = RetryLimits::default();
    let notice = array(record, "notices").iter().find_map(|notice| {
        let (_, limit) = notice.get("message")?.as_str()?.split_once("Reconnecting... 1/")?;
        limit.parse().ok()
    });
    let attempts = number("stream_max_retries ").or(notice).unwrap_or(defaults.attempts);
    RetryLimits { requests: number("request_max_retries ").unwrap_or(defaults.requests), attempts }
}

fn array<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json.get(key).and_then(Json::as_array).unwrap_or_else(|| panic!("{key} is a list"))
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json.get(key).and_then(Json::as_str).unwrap_or_else(|| panic!("{key} is a text"))
}

fn number(json: &Json, key: &str) -> Option<u64> {
    json.get(key).and_then(Json::as_u64)
}

/// Everything but who asks, whose order an attempt draws anew.
fn equal_as_json(a: &Sent, b: &Sent) -> bool {
    a.json() == b.json()
}

#[test]
fn every_failure_leads_to_the_requests_that_were_recorded() {
    let records = json(include_str!("session/retries.json"));
    let records = records.as_array().unwrap();
    assert_eq!(records.len(), 36);
    for record in records {
        replay(record);
    }
}

fn replay(record: &Json) {
    let (name, what) = (text(record, "name"), text(record, "what"));
    let rig = Rig::new();
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(settings());
    config.retries = limits(record, what);
    let session = Session::start(&folder.path().join("r.jsonl"), config, rig.services()).unwrap();
    rig.server.serve(&session);
    let requests = array(record, "requests");
    rig.server.expect(script(name, requests.len()));
    for n in 0..3 {
        let answered = ToolOutcome::Answered(ToolOutput::Text(format!("answer {n}")));
        rig.server.plan(&format!("c{n}"), ToolPlan::Ends(answered));
    }
    let turn = UserTurn { content: vec![text_part("One.")], ..UserTurn::default() };
    let report = session.run_turn(turn.clone()).unwrap();
    let sent = rig.server.take_sent();
    compare_requests(name, requests, &sent);
    let completed = matches!(report.end, TurnEnd::Completed { .. });
    assert_eq!(if completed { "completed" } else { "failed" }, text(record, "turn_status"), "{name}");
    let notices = array(record, "notices").iter();
    let announced = notices.filter(|notice| notice.get("will_retry") == Some(&Json::Bool(true))).count();
    assert_eq!(report.reconnects as usize, announced, "{name}: announced attempts");
    let recorded: Vec<String> = session.snapshot().iter().skip(2).map(|item| kind(item)).collect();
    let expected: Vec<&str> =
        array(record, "response_items_recorded").iter().filter_map(Json::as_str).collect();
    assert_eq!(recorded, expected, "{name}: items recorded");
    rig.server.answers.lock().unwrap().clear();
    rig.server.expect([good(), good()]);
    session.run_turn(turn).unwrap();
    let next: Vec<usize> = rig.server.take_sent().iter().map(|sent| sent.input().len()).collect();
    let expected: Vec<usize> = array(record, "next_turn_requests")
        .iter()
        .filter_map(|count| Some(count.as_u64()? as usize))
        .collect();
    assert_eq!(next, expected, "{name}: the next turn");
}

fn compare_requests(name: &str, requests: &[Json], sent: &[Sent]) {
    assert_eq!(sent.len(), requests.len(), "{name}: number of requests");
    for (n, (sent_now, recorded)) in sent.iter().zip(requests).enumerate() {
        let items = sent_now.input().len() as u64;
        assert_eq!(Some(items), number(recorded, "input_items"), "{name}, request {n}: items");
        let Some(before) = n.checked_sub(1).and_then(|before| sent.get(before)) else { continue };
        let same = Json::Bool(before.body == sent_now.body);
        assert_eq!(Some(&same), recorded.get("bytes_same"), "{name}, request {n}: bytes");
        let equal = Json::Bool(equal_as_json(before, sent_now));
        assert_eq!(Some(&equal), recorded.get("equal_as_json"), "{name}, request {n}: value");
        assert_ne!(
            before.authorisation, sent_now.authorisation,
            "{name}, request {n}: authorisation is fresh"
        );
        // The program strays by a tenth, and the machine needs its time; a tool of the slow script ran 1.5 s.
        let (waited, measured) =
            (sent_now.paused_ms - before.paused_ms, number(recorded, "ms_after_previous").unwrap());
        assert!(
            measured * 10 >= waited * 9,
            "{name}, request {n}: {waited} ms waited, {measured} ms measured"
        );
        assert!(
            measured <= waited * 11 / 10 + 1700,
            "{name}, request {n}: {waited} ms, {measured} ms measured"
        );
    }
}

/// As the record names kinds.
fn kind(item: &ResponseItem) -> String {
    match item {
        ResponseItem::Message(message) => format!("message/{}", message.role),
        other => other.kind().as_str().to_owned(),
    }
}
