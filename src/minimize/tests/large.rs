//! Long histories: as a recorded session of thousands of items is one.

use super::{UNTIMED, has_open_custom_call, json, steps};
use crate::case::{Case, Items, Step};
use crate::item::{Modalities, ResponseItem};
use crate::json::Json;
use crate::minimize::{Minimized, minimize};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn item(text: &str) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(Json::parse(text).unwrap()).unwrap())
}

/// A healthy session: questions, thoughts, calls in pairs, each with its output.
fn session(items: usize) -> Items {
    let round = |n: usize| {
        [
            format!(
                r#"{{"type":"message","id":"msg_{n}","role":"user","content":[{{"type":"input_text","text":"question {n}"}}]}}"#
            ),
            format!(r#"{{"type":"reasoning","id":"rs_{n}","summary":[],"encrypted_content":"thought {n}"}}"#),
            format!(
                r#"{{"type":"function_call","id":"fc_{n}","name":"shell","arguments":"{{}}","call_id":"call_{n}"}}"#
            ),
            format!(
                r#"{{"type":"custom_tool_call","id":"ctc_{n}","name":"apply_patch","input":"patch {n}","call_id":"patch_{n}"}}"#
            ),
            format!(r#"{{"type":"custom_tool_call_output","call_id":"patch_{n}","output":"done {n}"}}"#),
            format!(r#"{{"type":"function_call_output","call_id":"call_{n}","output":"listing {n}"}}"#),
            format!(
                r#"{{"type":"message","id":"msg_a{n}","role":"assistant","content":[{{"type":"output_text","text":"answer {n}"}}]}}"#
            ),
            r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"note"}]}"#
                .to_owned(),
        ]
    };
    (0..).flat_map(round).take(items).map(|text| item(&text)).collect()
}

/// What the runs would cost at a millisecond for 4,000 items. Counted and not slept, so that the tests say the same on any
/// machine; what minimising takes by itself is printed.
struct Costly<F> {
    fails: F,
    cost: Duration,
}

impl<F: Fn(&Case) -> bool> Costly<F> {
    fn run(&mut self, case: &Case) -> bool {
        self.cost += Duration::from_nanos(250 * case.item_count() as u64);
        (self.fails)(case)
    }
}

fn minimized(case: &Case, fails: impl Fn(&Case) -> bool) -> (Minimized, Duration) {
    let mut costly = Costly { fails, cost: Duration::ZERO };
    let started = Instant::now();
    let minimized = minimize(case, &mut |case| costly.run(case), UNTIMED, &mut |_| {});
    println!("{} calls, {:?} of runs, {:?} besides", minimized.calls, costly.cost, started.elapsed());
    (minimized, costly.cost)
}

#[test]
fn one_planted_fault_in_a_session_of_4000_items_is_found_in_seconds() {
    let smallest = steps(r#"[{"record":[{"type":"custom_tool_call","call_id":"a","name":"","input":""}]}]"#);
    for planted in [0, 1_777, 2_500, 3_999] {
        let mut items = session(4_000);
        items.insert(
            planted,
            item(r#"{"type":"custom_tool_call","id":"ctc_x","name":"n","input":"i","call_id":"lost"}"#),
        );
        let case = Case::of_history(items, Modalities::TextAndImage);
        let (minimized, took) = minimized(&case, has_open_custom_call_fast);
        assert_eq!(json(&minimized.case), json(&smallest));
        assert!(minimized.finished && minimized.calls <= 150, "{} calls", minimized.calls);
        assert!(took < Duration::from_millis(200), "{took:?}");
    }
}

/// As [`has_open_custom_call`], in linear time.
fn has_open_custom_call_fast(case: &Case) -> bool {
    let answered: std::collections::HashSet<_> = case
        .items()
        .filter(|item| matches!(***item, ResponseItem::CustomToolCallOutput(_)))
        .filter_map(|item| item.call_id())
        .collect();
    let mut calls = case.items().filter(|item| matches!(***item, ResponseItem::CustomToolCall(_)));
    calls.any(|call| call.call_id().is_some_and(|id| !answered.contains(id)))
}

#[test]
fn the_fast_search_for_an_open_call_finds_what_the_plain_one_finds() {
    for case in super::drawn_cases(3).take(500) {
        assert_eq!(has_open_custom_call_fast(&case), has_open_custom_call(&case));
    }
}

#[test]
fn items_that_belong_together_far_apart_are_found_among_5000() {
    let mut items = session(5_000);
    items.insert(4_100, item(r#"{"type":"function_call","name":"f","arguments":"","call_id":"call_3"}"#));
    let case = Case { steps: vec![Step::Record(items), Step::Resume, Step::Project(Modalities::Text)] };
    let doubled = |case: &Case| {
        let mut known = std::collections::HashSet::new();
        let mut calls = case.items().filter(|item| matches!(***item, ResponseItem::FunctionCall(_)));
        calls.any(|call| call.call_id().is_some_and(|id| !known.insert(id)))
    };
    let (minimized, took) = minimized(&case, doubled);
    let call = r#"{"type":"function_call","name":"","arguments":"","call_id":"a"}"#;
    assert_eq!(json(&minimized.case), json(&steps(&format!(r#"[{{"record":[{call},{call}]}}]"#))));
    assert!(minimized.calls <= 200, "{} calls", minimized.calls);
    assert!(took < Duration::from_millis(200), "{took:?}");
}

#[test]
fn thousands_of_items_under_one_call_id_go_as_fast() {
    let output = item(r#"{"type":"function_call_output","call_id":"x","output":"o"}"#);
    let case = Case::of_history(vec![output; 5_000], Modalities::Text);
    let (minimized, took) = minimized(&case, |case| case.item_count() > 2);
    assert_eq!(minimized.case.item_count(), 3);
    assert!(
        minimized.calls <= 100 && took < Duration::from_millis(200),
        "{} calls, {took:?}",
        minimized.calls
    );
}

#[test]
fn many_steps_fall_together() {
    let mut many = Vec::new();
    for item in session(404) {
        many.extend([Step::Record(vec![item]), Step::Project(Modalities::Text), Step::Snapshot]);
    }
    let (minimized, _) = minimized(&Case { steps: many }, |case| {
        let projections = case.steps.iter().filter(|step| matches!(step, Step::Project(_)));
        projections.count() > 1 && has_open_custom_call_fast(case)
    });
    let smallest = r#"[{"record":[{"type":"custom_tool_call","call_id":"a","name":"","input":""}]},{"project":["text"]},{"project":["text"]}]"#;
    assert_eq!(json(&minimized.case), json(&steps(smallest)));
    assert!(minimized.calls <= 250, "{} calls", minimized.calls);
}

#[test]
fn a_text_of_many_pages_shrinks_to_what_is_needed() {
    let mut text = "lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(4_000);
    text.insert_str(150_123, "needle");
    let message =
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#);
    let case = Case::of_history(vec![item(&message)], Modalities::Text);
    let holds = |case: &Case| case.items().any(|item| item.to_wire().contains("needle"));
    let (minimized, _) = minimized(&case, holds);
    assert_eq!(
        minimized.case.items().map(|item| item.to_wire().len()).sum::<usize>(),
        83,
        "{}",
        json(&minimized.case)
    );
    assert!(minimized.calls <= 300, "{} calls", minimized.calls);
}
