//! What is known of the program by its own tests, and what those left open.
//!
//! The first two tests bear the names of the program's own, and show the same. The program has no end-to-end test of the other
//! kinds of call, nor of any orphan; here each has one: a file, two resumes, nothing written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::history::{AnomalyPolicy, ContextManager};
use callpair::item::{ItemList, Modalities, ResponseItem};
use callpair::json::Json;
use callpair::projection::project;
use callpair::rollout::{PictureCache, Rollout, RolloutWriter, line_text, resume};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

const SESSION_META: &str = r#"{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"test","cli_version":"0.144.6"}"#;

const OPEN_CALL: &str = r#"{"type":"function_call","id":"fc_existing","name":"shell","arguments":"{}","call_id":"missing-output-call"}"#;

/// Every kind of call that needs an output, and the prefix of its synthetic output's id.
const CALLS: [(&str, &str, &str); 4] = [
    (
        r#"{"type":"function_call","id":"i","name":"n","arguments":"{}","call_id":"c"}"#,
        "function_call_output",
        "fco_",
    ),
    (
        r#"{"type":"local_shell_call","id":"i","call_id":"c","status":"completed","action":{"type":"exec","command":["ls"]}}"#,
        "function_call_output",
        "fco_",
    ),
    (
        r#"{"type":"custom_tool_call","id":"i","name":"n","input":"","call_id":"c"}"#,
        "custom_tool_call_output",
        "ctco_",
    ),
    (
        r#"{"type":"tool_search_call","id":"i","call_id":"c","execution":"client","arguments":{}}"#,
        "tool_search_output",
        "tso_",
    ),
];

/// Every kind of output that must not stand alone.
const ORPHANS: [&str; 4] = [
    r#"{"type":"function_call_output","id":"i","call_id":"c","output":"x"}"#,
    r#"{"type":"custom_tool_call_output","id":"i","call_id":"c","output":"x"}"#,
    r#"{"type":"tool_search_output","id":"i","call_id":"c","status":"completed","execution":"client","tools":[]}"#,
    r#"{"type":"tool_search_output","id":"i","call_id":"c","status":"completed","execution":"weird","tools":[]}"#,
];

/// Outputs that may stand alone.
const EXEMPT: [&str; 2] = [
    r#"{"type":"tool_search_output","id":"i","call_id":"c","status":"completed","execution":"server","tools":[]}"#,
    r#"{"type":"tool_search_output","id":"i","call_id":null,"status":"completed","execution":"client","tools":[]}"#,
];

fn json(text: &str) -> Json {
    Json::parse(text).expect("the text is JSON")
}

fn item(text: &str) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(json(text)).expect("the item loads"))
}

fn wire(items: &[Arc<ResponseItem>]) -> Vec<String> {
    items.iter().map(|item| item.to_wire()).collect()
}

fn live(items: &[&str], policy: AnomalyPolicy) -> ContextManager {
    let mut live = ContextManager::new().with_anomaly_policy(policy);
    live.record_items(items.iter().map(|text| item(text)));
    live
}

/// Writes a rollout of a session_meta and these items.
fn write_rollout(path: &Path, items: &[&str]) {
    let mut writer = RolloutWriter::append_to(path).unwrap();
    writer.append(&line_text("t", "session_meta", &json(SESSION_META))).unwrap();
    for item in items {
        writer.append(&line_text("t", "response_item", &json(item))).unwrap();
    }
}

/// Resumes a file as a new process does: the live history, and the request made of it.
fn resume_from(path: &Path) -> (ContextManager, Vec<String>) {
    let rollout = Rollout::from_bytes(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!((rollout.refusal(), &rollout.skipped), (None, &Vec::new()));
    let mut live = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect);
    live.replace(resume(&rollout.lines, None, &mut PictureCache::new()).history);
    let prompt = live.clone_history().for_prompt(Modalities::TextAndImage);
    (live, wire(&prompt))
}

/// Resumes a file of these items twice, and gives the request, which is the same and leaves no trace.
fn request_of_two_resumes(items: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl");
    write_rollout(&path, items);
    let before = std::fs::read(&path).unwrap();
    let (live, first) = resume_from(&path);
    assert_eq!(std::fs::read(&path).unwrap(), before, "the first resume leaves the file as it was");
    assert_eq!(
        live.raw_items(),
        &items.iter().map(|text| item(text)).collect(),
        "the live history is as recorded"
    );
    let (_, second) = resume_from(&path);
    assert_eq!(std::fs::read(&path).unwrap(), before, "the second resume leaves the file as it was");
    assert_eq!(first, second);
    first
}

fn assert_is_uuid_of_version_5(text: &str) {
    let uuid = uuid::Uuid::try_parse(text).expect("a UUID follows the prefix");
    assert_eq!((uuid.get_version_num(), uuid.hyphenated().to_string().as_str()), (5, text));
}

#[test]
fn normalize_adds_missing_output_for_function_call_inserts_output() {
    let mut manager = live(&[OPEN_CALL], AnomalyPolicy::of_build());
    manager.normalize(Modalities::TextAndImage);
    let items: Vec<_> = manager.raw_items().iter().cloned().collect();
    let [call, ResponseItem::FunctionCallOutput(output)] =
        items.iter().map(|item| &**item).collect::<Vec<_>>()[..]
    else {
        panic!("expected the call and its output, got {items:?}");
    };
    assert_eq!(call, &*item(OPEN_CALL));
    assert_eq!(output.call_id.as_str(), "missing-output-call");
    assert_eq!(output.output, callpair::item::ToolOutput::Text("aborted".to_owned()));
}

#[test]
fn synthetic_call_output_id_is_stable_across_resumes() {
    let request = request_of_two_resumes(&[OPEN_CALL]);
    let output = json(&request[1]);
    assert_eq!(request.len(), 2);
    assert_eq!(output.get("type").and_then(Json::as_str), Some("function_call_output"));
    assert_eq!(output.get("output").and_then(Json::as_str), Some("aborted"));
    let id = output.get("id").and_then(Json::as_str).unwrap();
    assert_is_uuid_of_version_5(id.strip_prefix("fco_").expect("the id begins with fco_"));
}

#[test]
fn a_turn_between_two_resumes_writes_only_itself_and_changes_no_synthetic_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl");
    write_rollout(&path, &[OPEN_CALL]);
    let before = std::fs::read_to_string(&path).unwrap();
    let (_, first) = resume_from(&path);
    let said = line_text(
        "t",
        "response_item",
        &json(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}"#),
    );
    RolloutWriter::append_to(&path).unwrap().append(&said).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{before}{said}\n"));
    let (_, second) = resume_from(&path);
    assert_eq!(second[..2], first[..]);
    assert_eq!(second.len(), 3);
}

#[test]
fn every_kind_of_call_gets_the_same_output_on_every_resume_and_none_is_written() {
    for (call, output_type, prefix) in CALLS {
        let request = request_of_two_resumes(&[call]);
        assert_eq!(request.len(), 2, "{call}");
        assert_eq!(request[0], item(call).to_wire());
        let output = json(&request[1]);
        assert_eq!(output.get("type").and_then(Json::as_str), Some(output_type));
        assert_eq!(output.get("call_id").and_then(Json::as_str), Some("c"));
        let id = output.get("id").and_then(Json::as_str).unwrap();
        assert_is_uuid_of_version_5(id.strip_prefix(prefix).expect(output_type));
    }
}

#[test]
fn every_kind_of_orphan_is_left_out_of_every_request_and_stays_in_the_file() {
    for orphan in ORPHANS {
        assert_eq!(request_of_two_resumes(&[orphan]), [""; 0], "{orphan}");
    }
    for exempt in EXEMPT {
        assert_eq!(request_of_two_resumes(&[exempt]), [item(exempt).to_wire()]);
    }
}

#[test]
fn an_output_of_the_wrong_kind_is_an_orphan_and_its_call_stays_open() {
    for (call, output_type, _) in CALLS {
        for orphan in ORPHANS {
            let kind = item(orphan).kind().as_str();
            let request = request_of_two_resumes(&[call, orphan]);
            let answered = kind == output_type;
            assert_eq!(request.len(), 2, "{call} {orphan}");
            assert_eq!(request[1] == item(orphan).to_wire(), answered, "{call} {orphan}");
        }
    }
}

// Anomalies: these run in debug and in release builds, and hold in both.

/// Histories with an anomaly, and what the program says of it.
const ANOMALIES: [(&str, &str); 6] = [
    (CALLS[1].0, "Local shell call output is missing for call id: c"),
    (CALLS[2].0, "Custom tool call output is missing for call id: c"),
    (ORPHANS[0], "Orphan function call output for call id: c"),
    (ORPHANS[1], "Orphan custom tool call output for call id: c"),
    (ORPHANS[2], "Orphan tool search output for call id: c"),
    (ORPHANS[3], "Orphan tool search output for call id: c"),
];

/// Missing outputs that are no anomaly, and what the program says of them.
const EXPECTED_HOLES: [(&str, &str); 2] = [
    (CALLS[0].0, "Function call output is missing for call id: c"),
    (CALLS[3].0, "Tool search output is missing for call id: c"),
];

/// The words of the panic, if there is one.
fn panic_of(policy: AnomalyPolicy, history: &str) -> Option<String> {
    let live = live(&[history], policy);
    let outcome =
        catch_unwind(AssertUnwindSafe(|| live.clone_history().for_prompt(Modalities::TextAndImage)));
    assert_eq!(live.raw_items().len(), 1);
    outcome.err().map(|payload| payload.downcast_ref::<String>().expect("a panic with words").clone())
}

#[test]
fn an_anomaly_panics_in_a_debug_build_and_not_in_a_release_build() {
    for (history, words) in ANOMALIES {
        let expected = if cfg!(debug_assertions) { Some(words.to_owned()) } else { None };
        assert_eq!(panic_of(AnomalyPolicy::of_build(), history), expected, "{history}");
    }
}

#[test]
fn the_policy_of_the_build_is_that_of_the_program() {
    #[cfg(debug_assertions)]
    assert_eq!(AnomalyPolicy::of_build(), AnomalyPolicy::Panic);
    #[cfg(not(debug_assertions))]
    assert_eq!(AnomalyPolicy::of_build(), AnomalyPolicy::Log);
}

#[test]
fn a_missing_output_that_a_crash_explains_panics_in_no_build() {
    for (history, _) in EXPECTED_HOLES {
        for policy in [AnomalyPolicy::Panic, AnomalyPolicy::Log, AnomalyPolicy::Collect] {
            assert_eq!(panic_of(policy, history), None, "{history} {policy:?}");
        }
    }
}

#[test]
fn only_the_policy_to_panic_panics() {
    for (history, words) in ANOMALIES {
        assert_eq!(panic_of(AnomalyPolicy::Panic, history).as_deref(), Some(words));
        assert_eq!(panic_of(AnomalyPolicy::Log, history), None);
        assert_eq!(panic_of(AnomalyPolicy::Collect, history), None);
    }
}

#[test]
fn an_anomaly_that_panics_leaves_a_normalized_manager_as_it_was() {
    let mut live = live(&[ORPHANS[0], OPEN_CALL], AnomalyPolicy::Panic);
    let before = live.raw_items().clone();
    let outcome = catch_unwind(AssertUnwindSafe(|| live.normalize(Modalities::TextAndImage).len()));
    assert!(outcome.is_err());
    assert!(live.raw_items().shares_items_with(&before));
}

thread_local! {
    static LOGGED: RefCell<Vec<(log::Level, String)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what a thread logs; tests run in threads of their own.
struct Capture;

impl log::Log for Capture {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        LOGGED.with_borrow_mut(|logged| logged.push((record.level(), record.args().to_string())));
    }

    fn flush(&self) {}
}

fn logged(policy: AnomalyPolicy, items: &[&str]) -> Vec<(log::Level, String)> {
    // Another test of this binary may have set it already: it is the same one.
    let _ = log::set_logger(&Capture);
    log::set_max_level(log::LevelFilter::Trace);
    LOGGED.take();
    let _ = live(items, policy).for_prompt(Modalities::TextAndImage);
    LOGGED.take()
}

#[test]
fn the_log_has_the_words_of_the_program_the_missing_before_the_orphans() {
    let other =
        r#"{"type":"tool_search_output","call_id":"z","status":"completed","execution":"client","tools":[]}"#;
    let history = [ORPHANS[0], CALLS[2].0, CALLS[3].0, other];
    let expected = [
        (log::Level::Error, "Custom tool call output is missing for call id: c"),
        (log::Level::Info, "Tool search output is missing for call id: c"),
        (log::Level::Error, "Orphan function call output for call id: c"),
        (log::Level::Error, "Orphan tool search output for call id: z"),
    ];
    let logged = logged(AnomalyPolicy::Log, &history);
    let logged: Vec<_> = logged.iter().map(|(level, words)| (*level, words.as_str())).collect();
    assert_eq!(logged, expected);
}

#[test]
fn each_notice_has_the_words_of_the_program() {
    for (words, level) in ANOMALIES
        .map(|anomaly| (anomaly, log::Level::Error))
        .into_iter()
        .chain(EXPECTED_HOLES.map(|hole| (hole, log::Level::Info)))
    {
        assert_eq!(logged(AnomalyPolicy::Log, &[words.0]), [(level, words.1.to_owned())]);
    }
}

#[test]
fn collecting_writes_nothing_to_the_log() {
    for (history, _) in ANOMALIES {
        assert_eq!(logged(AnomalyPolicy::Collect, &[history]), []);
    }
}

// The negative boundaries.

#[test]
fn normalize_on_a_live_manager_does_change_it() {
    let mut live = live(&[OPEN_CALL], AnomalyPolicy::Collect);
    let done = live.normalize(Modalities::TextAndImage);
    assert_eq!((done.base().len(), done.len(), live.raw_items().len()), (1, 2, 2));
}

#[test]
fn normalize_of_a_sound_history_keeps_the_very_same_items() {
    let output = r#"{"type":"function_call_output","call_id":"missing-output-call","output":"x"}"#;
    let mut live = live(&[OPEN_CALL, output], AnomalyPolicy::Panic);
    let before = live.raw_items().clone();
    assert!(live.normalize(Modalities::Text).plan().is_empty());
    assert!(live.raw_items().shares_items_with(&before));
}

#[test]
fn a_prompt_of_a_clone_changes_nothing_live() {
    let picture = r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}"#;
    let history = [OPEN_CALL, ORPHANS[0], ORPHANS[1], picture];
    let live = live(&history, AnomalyPolicy::Collect);
    let before: ItemList = live.raw_items().clone();
    let prompt = live.clone_history().for_prompt(Modalities::Text);
    assert_eq!(prompt.len(), 3, "the call, its output and the message");
    assert!(live.raw_items().shares_items_with(&before));
    assert_eq!(live.raw_items(), &history.iter().map(|text| item(text)).collect());
    assert_eq!(live.history_version(), 0);
}

#[test]
fn a_clone_does_not_see_later_records_nor_its_origin_the_clones() {
    let mut live = live(&[OPEN_CALL], AnomalyPolicy::Collect);
    let mut clone = live.clone_history();
    live.record_items([item(CALLS[0].0), item(CALLS[2].0)]);
    clone.record_items([item(CALLS[3].0)]);
    assert_eq!((live.raw_items().len(), clone.raw_items().len()), (3, 2));
    clone.replace(ItemList::new());
    assert_eq!((live.raw_items().len(), live.history_version(), clone.history_version()), (3, 0, 1));
}

#[test]
fn what_a_prompt_leaves_as_it_is_is_shared_and_not_copied() {
    let live = live(&[OPEN_CALL, CALLS[0].0], AnomalyPolicy::Collect);
    let prompt = live.clone_history().for_prompt(Modalities::TextAndImage);
    let shared = live.raw_items().iter().all(|item| prompt.iter().any(|sent| Arc::ptr_eq(item, sent)));
    assert!(shared);
    assert_eq!(project(live.raw_items(), Modalities::TextAndImage).to_items(), prompt);
}
