//! What a live history records, cuts, replaces and takes back, and what a detached copy carries.

#![allow(clippy::expect_used, clippy::panic)]

use callpair::history::{AnomalyPolicy, ContextManager, TokenUsageInfo, ToolOutputLimit};
use callpair::item::{CallId, FunctionCallOutput, ItemKind, ItemList, Modalities, ResponseItem, ToolOutput};
use callpair::json::Json;
use std::sync::Arc;

fn item(text: &str) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(Json::parse(text).expect("JSON")).expect("the item loads"))
}

fn said(role: &str, text: &str) -> Arc<ResponseItem> {
    item(&format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#
    ))
}

fn output(text: String) -> Arc<ResponseItem> {
    let (call_id, output) = (CallId::from("c"), ToolOutput::Text(text));
    Arc::new(ResponseItem::FunctionCallOutput(FunctionCallOutput { id: None, call_id, output }))
}

fn text_of(item: &ResponseItem) -> &str {
    match item {
        ResponseItem::FunctionCallOutput(FunctionCallOutput { output: ToolOutput::Text(text), .. }) => text,
        other => panic!("expected an output of one text, got {other:?}"),
    }
}

fn manager() -> ContextManager {
    ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect)
}

fn recorded(items: impl IntoIterator<Item = Arc<ResponseItem>>) -> ContextManager {
    let mut live = manager();
    live.record_items(items);
    live
}

/// An item of every kind, in the order of [`ItemKind::ALL`].
const ONE_OF_EACH: [&str; 17] = [
    r#"{"type":"message","role":"user","content":[]}"#,
    r#"{"type":"agent_message","author":"/root","recipient":"/root/a","content":[]}"#,
    r#"{"type":"reasoning","summary":[]}"#,
    r#"{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":[]}}"#,
    r#"{"type":"function_call","name":"n","arguments":"","call_id":"c"}"#,
    r#"{"type":"tool_search_call","call_id":"c","execution":"client","arguments":null}"#,
    r#"{"type":"function_call_output","call_id":"c","output":""}"#,
    r#"{"type":"custom_tool_call","call_id":"c","name":"n","input":""}"#,
    r#"{"type":"custom_tool_call_output","call_id":"c","output":""}"#,
    r#"{"type":"tool_search_output","call_id":"c","status":"","execution":"client","tools":[]}"#,
    r#"{"type":"web_search_call"}"#,
    r#"{"type":"image_generation_call","status":"","result":""}"#,
    r#"{"type":"compaction","encrypted_content":""}"#,
    r#"{"type":"context_compaction"}"#,
    r#"{"type":"additional_tools","role":"system","tools":[]}"#,
    r#"{"type":"compaction_trigger"}"#,
    r#"{"type":"hologram"}"#,
];

#[test]
fn every_kind_but_triggers_and_unknown_ones_is_recorded() {
    let items: Vec<_> = ONE_OF_EACH.iter().map(|text| item(text)).collect();
    assert_eq!(items.iter().map(|item| item.kind()).collect::<Vec<_>>(), ItemKind::ALL);
    for item in items {
        let kind = item.kind();
        let kept = !matches!(kind, ItemKind::CompactionTrigger | ItemKind::Other);
        assert_eq!(recorded([item]).raw_items().len(), usize::from(kept), "{kind:?}");
    }
}

#[test]
fn of_messages_only_those_of_the_role_system_to_the_letter_are_left_out() {
    for (role, kept) in [("system", 0), ("System", 1), ("user", 1), ("developer", 1), ("tool", 1), ("", 1)] {
        assert_eq!(recorded([said(role, "x")]).raw_items().len(), kept, "{role}");
    }
}

#[test]
fn recording_keeps_the_order_and_the_very_same_items() {
    let items = [said("user", "1"), said("system", "2"), said("assistant", "3")];
    let live = recorded(items.clone());
    let kept: ItemList = [items[0].clone(), items[2].clone()].into_iter().collect();
    assert!(live.raw_items().shares_items_with(&kept));
    assert_eq!(live.history_version(), 0, "recording does not count");
}

#[test]
fn a_long_output_is_cut_while_recording_and_only_in_memory() {
    let long = output("x".repeat(12_001));
    let mut live = manager().with_tool_output_limit(Some(ToolOutputLimit::Bytes(10_000)));
    live.record_items([Arc::clone(&long), output("x".repeat(12_000))]);
    let texts: Vec<&str> = live.raw_items().iter().map(|item| text_of(item)).collect();
    let half = "x".repeat(6_000);
    assert_eq!(texts, [format!("{half}…1 chars truncated…{half}"), "x".repeat(12_000)]);
    assert_eq!(text_of(&long).len(), 12_001, "the item that was given stays whole");
}

#[test]
fn a_manager_without_a_word_cuts_at_48000_bytes() {
    let live = recorded([output("x".repeat(48_000)), output("x".repeat(48_001))]);
    let lengths: Vec<usize> = live.raw_items().iter().map(|item| text_of(item).len()).collect();
    assert_eq!(lengths, [48_000, 48_000 + "…1 tokens truncated…".len()]);
}

#[test]
fn a_manager_without_a_limit_cuts_nothing() {
    let mut live = manager().with_tool_output_limit(None);
    live.record_items([output("x".repeat(1_000_000))]);
    assert_eq!(live.raw_items().get(0).map(|item| text_of(item).len()), Some(1_000_000));
}

#[test]
fn nothing_but_function_and_custom_outputs_is_cut() {
    let long = "x".repeat(100_000);
    let items = [
        said("user", &long),
        item(&format!(r#"{{"type":"function_call","name":"n","arguments":"{long}","call_id":"c"}}"#)),
        item(&format!(r#"{{"type":"custom_tool_call","name":"n","input":"{long}","call_id":"c"}}"#)),
        item(&format!(
            r#"{{"type":"tool_search_output","call_id":"c","status":"","execution":"","tools":["{long}"]}}"#
        )),
        item(&format!(r#"{{"type":"compaction","encrypted_content":"{long}"}}"#)),
    ];
    let live = recorded(items.clone());
    assert!(live.raw_items().shares_items_with(&items.into_iter().collect()));
}

#[test]
fn replacing_installs_as_is_and_raises_the_version() {
    let items: ItemList =
        [said("system", "x"), item(ONE_OF_EACH[15]), item(ONE_OF_EACH[16]), output("x".repeat(100_000))]
            .into_iter()
            .collect();
    let mut live = recorded([said("user", "gone")]);
    live.replace(items.clone());
    assert!(live.raw_items().shares_items_with(&items), "neither filtered nor cut");
    assert_eq!(live.history_version(), 1);
    live.replace(ItemList::new());
    assert_eq!((live.raw_items().len(), live.history_version()), (0, 2));
}

#[test]
fn a_rollback_takes_turns_off_the_end_and_raises_the_version_when_something_went() {
    let turns = ["q1", "r1", "q2", "r2"]
        .map(|text| said(if text.starts_with('q') { "user" } else { "assistant" }, text));
    let first: ItemList = turns[..2].iter().cloned().collect();
    let mut live = recorded(turns);
    let clone = live.clone_history();
    assert!(!live.rollback(0));
    assert_eq!(live.history_version(), 0);
    assert!(live.rollback(1));
    assert!(live.raw_items().shares_items_with(&first));
    assert_eq!((live.history_version(), clone.raw_items().len()), (1, 4));
    assert!(live.rollback(u64::MAX));
    assert!(live.raw_items().is_empty());
    assert!(!live.rollback(1), "there is no turn left");
    assert_eq!(live.history_version(), 2);
}

#[test]
fn a_rollback_can_split_a_pair_which_the_next_prompt_repairs() {
    let call = item(ONE_OF_EACH[4]);
    let mut live = recorded([said("user", "q1"), call, said("user", "q2"), output("x".to_owned())]);
    assert!(live.rollback(1));
    let prompt = live.clone_history().for_prompt(Modalities::TextAndImage);
    assert_eq!(prompt.last().map(|item| text_of(item)), Some("aborted"));
    assert_eq!(live.raw_items().len(), 2);
}

#[test]
fn a_clone_carries_all_that_is_beside_the_items() {
    let info = TokenUsageInfo { total_tokens: 7, last_tokens: 3, model_context_window: Some(1_000) };
    let (context, world) = (Arc::new(Json::from("context")), Arc::new(Json::from("world")));
    let mut live = recorded([said("user", "x")]);
    live.replace(live.raw_items().clone());
    live.set_token_info(Some(info));
    live.set_reference_context_item(Some(Arc::clone(&context)));
    live.set_world_state_baseline(Some(Arc::clone(&world)));
    let clone = live.clone_history();
    live.set_token_info(None);
    live.set_reference_context_item(None);
    live.set_world_state_baseline(None);
    assert_eq!((clone.history_version(), clone.token_info()), (1, Some(info)));
    assert_eq!(clone.reference_context_item(), Some(&context));
    assert_eq!(clone.world_state_baseline(), Some(&world));
    assert_eq!(
        (live.token_info(), live.reference_context_item(), live.world_state_baseline()),
        (None, None, None)
    );
}

#[test]
fn a_clone_keeps_the_limit_and_the_policy() {
    let live = manager().with_tool_output_limit(Some(ToolOutputLimit::Bytes(10)));
    let mut clone = live.clone_history();
    clone.record_items([output("x".repeat(13))]);
    assert_eq!(clone.raw_items().get(0).map(|item| text_of(item)), Some("xxxxxx…1 chars truncated…xxxxxx"));
    // An orphan: under another policy than to collect, a debug build would panic.
    assert_eq!(clone.for_prompt(Modalities::Text), []);
}

#[test]
fn what_stands_beside_the_items_never_reaches_a_prompt() {
    let mut live = recorded([said("user", "x")]);
    live.set_reference_context_item(Some(Arc::new(Json::from("context"))));
    live.set_world_state_baseline(Some(Arc::new(Json::from("world"))));
    assert_eq!(live.clone_history().for_prompt(Modalities::TextAndImage), [said("user", "x")]);
}
