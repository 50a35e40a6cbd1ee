//! Which lines of a rollout load, and what the others are skipped for: the table of line types in `docs/shapes.md`, row by row.

#![allow(clippy::expect_used, clippy::panic)]

use callpair::item::ResponseItem;
use callpair::json::JsonProblem;
use callpair::rollout::{LineProblem, RolloutLine};

fn load(line_type: &str, payload: &str) -> Result<RolloutLine, LineProblem> {
    RolloutLine::load(&format!(r#"{{"timestamp":"t","type":"{line_type}","payload":{payload}}}"#))
}

/// Each payload loads, or does not, and no line is anything in between.
fn assert_rows<G: AsRef<str>, B: AsRef<str>>(line_type: &str, good: &[G], bad: &[B]) {
    for payload in good.iter().map(AsRef::as_ref) {
        assert!(load(line_type, payload).is_ok(), "{line_type} {payload}: {:?}", load(line_type, payload));
    }
    for payload in bad.iter().map(AsRef::as_ref) {
        assert!(
            matches!(load(line_type, payload), Err(LineProblem::Shape(_))),
            "{line_type} {payload}: {:?}",
            load(line_type, payload)
        );
    }
}

/// A payload of these fields, with one of them changed or, for an empty value, left out.
fn with(fields: &[(&str, &str)], name: &str, value: &str) -> String {
    let changed = fields.iter().map(|&(key, old)| if key == name { (key, value) } else { (key, old) });
    let added = fields.iter().all(|&(key, _)| key != name).then_some((name, value));
    let members = changed.chain(added).filter(|(_, value)| !value.is_empty());
    format!("{{{}}}", members.map(|(key, value)| format!(r#""{key}":{value}"#)).collect::<Vec<_>>().join(","))
}

const META: [(&str, &str); 5] = [
    ("id", r#""11111111-1111-7111-8111-111111111111""#),
    ("timestamp", r#""any""#),
    ("cwd", r#""/w""#),
    ("originator", r#""o""#),
    ("cli_version", r#""0.144.6""#),
];

#[test]
fn a_session_meta_needs_five_fields_and_knows_some_more() {
    let good = [("x", ""), ("model_provider", r#""p""#), ("model_provider", "null"), ("source", r#""any""#)];
    let more =
        [("git", "{}"), ("base_instructions", "null"), ("base_instructions", "{}"), ("unknown", "[1]")];
    let good: Vec<String> = good.iter().chain(&more).map(|(name, value)| with(&META, name, value)).collect();
    let missing = META.map(|(name, _)| with(&META, name, ""));
    let null = META.map(|(name, _)| with(&META, name, "null"));
    let number = META.map(|(name, _)| with(&META, name, "1"));
    let wrong = [("id", r#""x""#), ("source", "1"), ("base_instructions", "1"), ("model_provider", "1")]
        .map(|(name, value)| with(&META, name, value));
    let no_objects = ["null", "[]", "\"x\""].map(str::to_owned);
    assert_rows("session_meta", &good, &[&missing[..], &null, &number, &wrong, &no_objects].concat());
}

#[test]
fn a_session_meta_keeps_whose_session_it_is() {
    let payload = with(&META, "forked_from_id", r#""22222222-2222-7222-8222-222222222222""#);
    let Ok(RolloutLine::SessionMeta(meta)) = load("session_meta", &payload) else {
        panic!("the session_meta loads")
    };
    assert_eq!(meta.id.to_string(), "11111111-1111-7111-8111-111111111111");
    assert_eq!(meta.cli_version, "0.144.6");
    assert_eq!(meta.forked_from_id.as_deref(), Some("22222222-2222-7222-8222-222222222222"));
}

#[test]
fn a_compaction_needs_a_message_and_a_list_that_loads_as_a_whole() {
    assert_rows(
        "compacted",
        &[
            r#"{"message":""}"#,
            r#"{"message":"m","replacement_history":null}"#,
            r#"{"message":"m","replacement_history":[]}"#,
            r#"{"message":"m","replacement_history":[{"type":"hologram"}],"unknown":1}"#,
            r#"{"message":"m","window_number":1,"window_id":"w","first_window_id":null}"#,
        ],
        &[
            "{}",
            r#"{"message":null}"#,
            r#"{"message":1}"#,
            r#"{"message":"m","replacement_history":"x"}"#,
            r#"{"message":"m","replacement_history":{}}"#,
            r#"{"message":"m","replacement_history":[{}]}"#,
            r#"{"message":"m","replacement_history":[{"type":null}]}"#,
            r#"{"message":"m","replacement_history":[{"type":"message"}]}"#,
            r#"{"message":"m","window_number":"1"}"#,
            r#"{"message":"m","window_number":1.5}"#,
            r#"{"message":"m","window_id":1}"#,
            r#"{"message":"m","first_window_id":1}"#,
            r#"{"message":"m","previous_window_id":1}"#,
        ],
    );
}

#[test]
fn of_a_replacement_history_only_a_ghost_snapshot_goes() {
    let payload = r#"{"message":"","replacement_history":[{"type":"ghost_snapshot"},{"type":"hologram"},{"type":"compaction_trigger"}]}"#;
    let Ok(RolloutLine::Compacted(compacted)) = load("compacted", payload) else {
        panic!("the compaction loads")
    };
    let kept = compacted.replacement_history.unwrap_or_default();
    let kept: Vec<ResponseItem> = kept.iter().map(|item| ResponseItem::clone(item)).collect();
    assert_eq!(kept, [ResponseItem::Other("hologram".to_owned()), ResponseItem::CompactionTrigger]);
}

#[test]
fn an_inter_agent_line_needs_paths_a_text_and_a_trigger() {
    const FIELDS: [(&str, &str); 4] = [
        ("author", r#""/root""#),
        ("recipient", r#""/root/a_1""#),
        ("content", r#""""#),
        ("trigger_turn", "false"),
    ];
    let texts = |rows: &[(&str, &str)]| -> Vec<String> {
        rows.iter().map(|(name, value)| with(&FIELDS, name, value)).collect()
    };
    let good = [
        ("x", ""),
        ("trigger_turn", "true"),
        ("author", r#""/morpheus""#),
        ("other_recipients", "[]"),
        ("other_recipients", r#"["/root/b"]"#),
        ("encrypted_content", "null"),
        ("encrypted_content", r#""""#),
        ("id", r#""i""#),
    ];
    let bad = [
        ("author", ""),
        ("author", "null"),
        ("author", r#""a""#),
        ("author", r#""/root/""#),
        ("author", r#""/root/root""#),
        ("recipient", ""),
        ("recipient", r#""/root/A""#),
        ("content", ""),
        ("content", "null"),
        ("trigger_turn", ""),
        ("trigger_turn", "null"),
        ("trigger_turn", "1"),
        ("other_recipients", r#"["b"]"#),
        ("other_recipients", "1"),
        ("encrypted_content", "1"),
        ("id", "1"),
    ];
    assert_rows("inter_agent_communication", &texts(&good), &texts(&bad));
}

#[test]
fn the_events_that_count_have_shapes_of_their_own() {
    let event = |good: &[&str], bad: &[&str]| assert_rows("event_msg", good, bad);
    event(
        &[
            r#"{"type":"thread_rolled_back","num_turns":0}"#,
            r#"{"type":"thread_rolled_back","num_turns":4294967295}"#,
        ],
        &[
            r#"{"type":"thread_rolled_back"}"#,
            r#"{"type":"thread_rolled_back","num_turns":null}"#,
            r#"{"type":"thread_rolled_back","num_turns":-1}"#,
            r#"{"type":"thread_rolled_back","num_turns":"1"}"#,
            r#"{"type":"thread_rolled_back","num_turns":1.0}"#,
            r#"{"type":"thread_rolled_back","num_turns":true}"#,
            r#"{"type":"thread_rolled_back","num_turns":4294967296}"#,
        ],
    );
    for name in ["task_started", "turn_started"] {
        let payload = |rest: &str| format!(r#"{{"type":"{name}"{rest}}}"#);
        assert_rows(
            "event_msg",
            &[
                payload(r#","turn_id":"""#),
                payload(r#","turn_id":"a","model_context_window":1,"started_at":null"#),
                payload(r#","turn_id":"a","collaboration_mode_kind":null"#),
            ],
            &[
                payload(""),
                payload(r#","turn_id":null"#),
                payload(r#","turn_id":1"#),
                payload(r#","turn_id":"a","model_context_window":"1""#),
                payload(r#","turn_id":"a","started_at":1.5"#),
                payload(r#","turn_id":"a","collaboration_mode_kind":1"#),
            ],
        );
    }
    event(
        &[
            r#"{"type":"task_complete","turn_id":"a","last_agent_message":null}"#,
            r#"{"type":"turn_complete","turn_id":"","last_agent_message":"x"}"#,
            r#"{"type":"turn_aborted","reason":"interrupted"}"#,
            r#"{"type":"turn_aborted","reason":"replaced","turn_id":null}"#,
            r#"{"type":"turn_aborted","reason":"review_ended","turn_id":"a"}"#,
            r#"{"type":"turn_aborted","reason":"budget_limited"}"#,
            r#"{"type":"user_message","message":"","images":null}"#,
            r#"{"type":"user_message","message":"x","images":["a"]}"#,
            r#"{"type":"anything_else"}"#,
        ],
        &[
            r#"{"type":"task_complete"}"#,
            r#"{"type":"task_complete","turn_id":"a","last_agent_message":1}"#,
            r#"{"type":"turn_aborted"}"#,
            r#"{"type":"turn_aborted","reason":"bored"}"#,
            r#"{"type":"turn_aborted","reason":"interrupted","turn_id":1}"#,
            r#"{"type":"user_message"}"#,
            r#"{"type":"user_message","message":null}"#,
            r#"{"type":"user_message","message":"x","images":[1]}"#,
            "{}",
            "null",
        ],
    );
}

#[test]
fn both_spellings_of_an_event_are_the_same_event() {
    for (one, other) in [("task_started", "turn_started"), ("task_complete", "turn_complete")] {
        let event = |name| load("event_msg", &format!(r#"{{"type":"{name}","turn_id":"a"}}"#));
        assert_eq!(event(one), event(other));
    }
}

#[test]
fn a_line_needs_a_timestamp_that_is_a_string_and_a_type_that_is_one() {
    let item = r#""payload":{"type":"web_search_call"}"#;
    let loads = |head: &str| RolloutLine::load(&format!("{{{head},{item}}}")).is_ok();
    let good = [
        r#""timestamp":"","type":"response_item""#,
        r#""timestamp":"not a time","type":"response_item","ordinal":[{}]"#,
        r#""type":"response_item","timestamp":"t""#,
        r#""timestamp":1,"timestamp":"t","type":"x","type":"response_item""#,
    ];
    let bad = [
        r#""type":"response_item""#,
        r#""timestamp":null,"type":"response_item""#,
        r#""timestamp":1,"type":"response_item""#,
        r#""timestamp":"t""#,
        r#""timestamp":"t","type":1"#,
        r#""timestamp":"t","type":null"#,
        r#""timestamp":"t","type":"response_item","x":18446744073709551616"#,
        r#""timestamp":"t","type":"response_item","x":"\ud800""#,
    ];
    assert!(good.iter().all(|head| loads(head)));
    assert!(!bad.iter().any(|head| loads(head)));
}

#[test]
fn what_is_no_record_says_what_it_is() {
    let problem = |text: &str| RolloutLine::load(text).expect_err("the line does not load").to_string();
    assert_eq!(problem("[]"), "the line is a list, not an object");
    assert_eq!(problem("17"), "the line is a number, not an object");
    assert_eq!(problem("{}"), "timestamp: is required and missing");
    assert_eq!(problem(r#"{"timestamp":"t","type":"x"}"#), r#"unknown line type "x""#);
    assert_eq!(
        problem(r#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user"}}"#),
        "payload.content: is required and missing"
    );
    assert_eq!(
        problem(r#"{"timestamp":"t","type":"response_item"}"#),
        "payload: expected an object, found null"
    );
}

#[test]
fn a_foreign_name_can_hold_neither_a_novel_nor_a_terminal_escape() {
    let text = format!(r#"{{"timestamp":"t","type":"\u001b[31m{}"}}"#, "x".repeat(1_000));
    let problem = RolloutLine::load(&text).expect_err("the type is unknown").to_string();
    assert!(problem.len() < 100 && !problem.contains('\u{1b}'), "{problem}");
}

#[test]
fn a_glued_line_is_told_from_a_torn_one() {
    let problem = |text: &str| match RolloutLine::load(text) {
        Err(LineProblem::NotJson(error)) => error.problem,
        other => panic!("expected no JSON, got {other:?}"),
    };
    let whole = r#"{"timestamp":"t","type":"world_state","payload":{}}"#;
    assert_eq!(problem(&format!("{whole}{whole}")), JsonProblem::Trailing);
    assert_eq!(problem(&format!("{whole} {whole}")), JsonProblem::Trailing);
    for cut in 1..whole.len() {
        assert_eq!(problem(&whole[..cut]), JsonProblem::UnexpectedEnd, "cut at {cut}");
        // Behind the torn head of another line it is lost, wherever that was torn.
        let glued = format!("{}{whole}", &whole[..cut]);
        assert!(matches!(RolloutLine::load(&glued), Err(LineProblem::NotJson(_))), "cut at {cut}");
    }
}
