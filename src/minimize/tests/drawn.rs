//! Failures that are said by hand, each on 200 drawn cases: how small, after how many calls, in how many forms, and that
//! nothing more can be taken away.

use super::single::single_removals;
use super::{Fails, UNTIMED, drawn_cases, has_open_custom_call, json, steps};
use crate::case::{Case, Step};
use crate::item::{CallId, ContentPart, ResponseItem, ToolOutput};
use crate::minimize::minimize;
use crate::pairing::Role;
use crate::projection::{image_count, role};
use std::collections::HashMap;
use std::sync::LazyLock;

const CASES: usize = 200;

/// Enough drawn cases that each failure is in 200 of them.
static CASES_OF_ALL: LazyLock<Vec<Case>> = LazyLock::new(|| drawn_cases(11).take(8_000).collect());

/// Minimises 200 cases that fail, checks each, and says how often the commonest form came out.
fn check(fails: Fails, smallest: &str, most_items: usize) {
    let mut forms: HashMap<String, usize> = HashMap::new();
    let mut calls = Vec::new();
    for case in CASES_OF_ALL.iter().filter(|case| fails(case)).take(CASES) {
        let minimized = minimize(case, &mut |case| fails(case), UNTIMED, &mut |_| {});
        assert!(minimized.finished && !minimized.flaky && fails(&minimized.case));
        let form = json(&minimized.case);
        assert!(minimized.case.item_count() <= most_items, "{form}");
        if !forms.contains_key(&form) {
            let still = single_removals(&minimized.case).into_iter().find(fails);
            assert_eq!(still.as_ref().map(json), None, "one thing less still fails: {form}");
        }
        calls.push(minimized.calls);
        *forms.entry(form).or_default() += 1;
    }
    assert_eq!(calls.len(), CASES, "too few of the drawn cases fail");
    calls.sort_unstable();
    let (median, most) = (calls[CASES / 2], calls[CASES - 1]);
    assert!(median <= 100 && most <= 1_000, "calls: median {median}, most {most}");
    let expected = json(&steps(smallest));
    let agreeing = forms.get(&expected).copied().unwrap_or_default();
    assert!(10 * agreeing >= 9 * CASES, "{agreeing} of {CASES} end as {expected}: {forms:#?}");
    println!("median {median}, most {most}, {agreeing} of {CASES} agree, {} forms", forms.len());
}

#[test]
fn an_open_custom_call_is_all_that_is_left() {
    let smallest = r#"[{"record":[{"type":"custom_tool_call","call_id":"a","name":"","input":""}]}]"#;
    check(has_open_custom_call, smallest, 1);
}

fn calls_that_share_an_id(case: &Case) -> bool {
    let calls: Vec<&CallId> = case
        .items()
        .filter_map(|item| match role(item) {
            Role::Call { call_id, .. } => Some(call_id),
            _ => None,
        })
        .collect();
    calls.iter().enumerate().any(|(at, id)| calls.iter().skip(at + 1).any(|other| other == id))
}

#[test]
fn two_calls_that_share_an_id_keep_it() {
    let call = r#"{"type":"function_call","name":"","arguments":"","call_id":"a"}"#;
    check(calls_that_share_an_id, &format!(r#"[{{"record":[{call},{call}]}}]"#), 2);
}

#[test]
fn a_history_that_must_be_long_is_as_long_as_it_must_be_and_plain() {
    let message = r#"{"type":"message","role":"user","content":[]}"#;
    let smallest = format!(r#"[{{"record":[{message},{message},{message},{message}]}}]"#);
    check(|case| case.item_count() > 3, &smallest, 4);
}

fn resume_behind_a_recorded_reasoning(case: &Case) -> bool {
    let recorded = case.steps.iter().position(|step| {
        matches!(step, Step::Record(items) if items.iter().any(|item| matches!(**item, ResponseItem::Reasoning(_))))
    });
    recorded.is_some_and(|at| case.steps.iter().skip(at + 1).any(|step| *step == Step::Resume))
}

#[test]
fn a_resume_stays_where_it_must_follow_a_record() {
    let smallest = r#"[{"record":[{"type":"reasoning","summary":[],"content":null,"encrypted_content":null}]},{"resume":true}]"#;
    check(resume_behind_a_recorded_reasoning, smallest, 1);
}

fn long_output(case: &Case) -> bool {
    let texts = case.items().filter_map(|item| match &**item {
        ResponseItem::FunctionCallOutput(output) => Some(&output.output),
        ResponseItem::CustomToolCallOutput(output) => Some(&output.output),
        _ => None,
    });
    texts
        .filter_map(|output| if let ToolOutput::Text(text) = output { Some(text) } else { None })
        .any(|text| text.len() > 64)
}

#[test]
fn a_text_that_must_be_long_is_as_long_as_it_must_be() {
    let text = "a".repeat(65);
    let smallest =
        format!(r#"[{{"record":[{{"type":"function_call_output","call_id":"a","output":"{text}"}}]}}]"#);
    check(long_output, &smallest, 1);
}

fn ids_that_differ_in_blanks(case: &Case) -> bool {
    let ids: Vec<&str> = case.items().filter_map(|item| item.call_id()).map(CallId::as_str).collect();
    ids.iter().any(|id| ids.iter().any(|other| id != other && id.trim() == other.trim()))
}

#[test]
fn two_ids_that_are_nearly_the_same_stay_so_in_one_form() {
    let call = |id| format!(r#"{{"type":"function_call","name":"","arguments":"","call_id":"{id}"}}"#);
    check(ids_that_differ_in_blanks, &format!(r#"[{{"record":[{},{}]}}]"#, call("a"), call("a ")), 2);
}

#[test]
fn a_picture_ends_in_a_message_wherever_it_was() {
    let smallest = r#"[{"record":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":""}]}]}]"#;
    check(|case| case.items().any(|item| image_count(item) > 0), smallest, 1);
}

fn two_texts_in_a_message(case: &Case) -> bool {
    case.items().any(|item| match &**item {
        ResponseItem::Message(message) => {
            let texts = message.content.iter().filter(|part| !matches!(part, ContentPart::InputImage(_)));
            texts.count() > 1
        }
        _ => false,
    })
}

#[test]
fn parts_go_to_those_that_are_needed() {
    let part = r#"{"type":"input_text","text":""}"#;
    let smallest =
        format!(r#"[{{"record":[{{"type":"message","role":"user","content":[{part},{part}]}}]}}]"#);
    check(two_texts_in_a_message, &smallest, 1);
}
