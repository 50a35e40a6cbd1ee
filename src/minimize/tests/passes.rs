//! Single passes: steps, kinds, fields and names, one failure each that needs just that.

use super::{UNTIMED, json, steps};
use crate::case::{Case, Step};
use crate::item::{ItemId, ItemKind, Modalities, ResponseItem};
use crate::minimize::minimize;

fn smallest_of(case: &Case, fails: impl Fn(&Case) -> bool) -> String {
    assert!(fails(case), "the case does not fail in the first place");
    let minimized = minimize(case, &mut |case| fails(case), UNTIMED, &mut |_| {});
    assert!(minimized.finished);
    json(&minimized.case)
}

const CALL: &str = r#"{"type":"function_call","id":"fc_1","name":"ls","arguments":"{}","call_id":"call_1"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"x"}"#;

#[test]
fn a_case_that_always_fails_ends_without_steps() {
    let case = steps(&format!(r#"[{{"record":[{CALL}]}},{{"resume":true}},{{"project":["text"]}}]"#));
    assert_eq!(smallest_of(&case, |_| true), r#"{"steps":[]}"#);
}

#[test]
fn a_replacement_and_a_fork_stay_only_where_they_are_needed() {
    let case = steps(&format!(
        r#"[{{"replace":[{CALL}]}},{{"fork":true}},{{"rollback":7}},{{"project":["text","image"]}}]"#
    ));
    let has = |case: &Case, wanted: fn(&Step) -> bool| case.steps.iter().any(wanted);
    let only = |wanted: fn(&Step) -> bool| smallest_of(&case, |case| has(case, wanted));
    assert_eq!(only(|step| matches!(step, Step::Replace(_))), r#"{"steps":[{"replace":[]}]}"#);
    assert_eq!(only(|step| matches!(step, Step::Fork)), r#"{"steps":[{"fork":true}]}"#);
    assert_eq!(only(|step| matches!(step, Step::Rollback(2..))), r#"{"steps":[{"rollback":2}]}"#);
    assert_eq!(only(|step| matches!(step, Step::Project(_))), r#"{"steps":[{"project":["text"]}]}"#);
    let images = |step: &Step| matches!(step, Step::Project(Modalities::TextAndImage));
    assert_eq!(only(images), r#"{"steps":[{"project":["text","image"]}]}"#);
}

#[test]
fn pairs_change_their_kind_together() {
    let pair = r#"[{"record":[{"type":"tool_search_call","call_id":"s","execution":"server","arguments":{"q":1}}]},
                   {"record":[{"type":"tool_search_output","call_id":"s","status":"x","execution":"weird","tools":[1,2]}]}]"#;
    let paired = |case: &Case| {
        let items: Vec<_> = case.items().collect();
        let kinds = |call, output| {
            items.iter().any(|item| item.kind() == call)
                && items.iter().any(|item| item.kind() == output)
                && items.iter().all(|item| item.call_id() == items[0].call_id())
        };
        kinds(ItemKind::ToolSearchCall, ItemKind::ToolSearchOutput)
            || kinds(ItemKind::FunctionCall, ItemKind::FunctionCallOutput)
    };
    let expected = concat!(
        r#"{"steps":[{"record":[{"type":"function_call","name":"","arguments":"","call_id":"a"},"#,
        r#"{"type":"function_call_output","call_id":"a","output":""}]}]}"#
    );
    assert_eq!(smallest_of(&steps(pair), paired), expected);
}

#[test]
fn every_field_goes_or_is_plain() {
    let shell = r#"[{"record":[{"type":"local_shell_call","id":"l","call_id":"c","status":"incomplete",
        "action":{"type":"exec","command":["a","b"],"timeout_ms":5,"working_directory":"w","env":{"A":"x"},"user":"u"}}]}]"#;
    let is_shell = |case: &Case| case.items().any(|item| item.kind() == ItemKind::LocalShellCall);
    let action = r#""action":{"type":"exec","command":[],"timeout_ms":null,"working_directory":null,"env":null,"user":null}"#;
    let plain = |call_id| {
        format!(
            r#"{{"steps":[{{"record":[{{"type":"local_shell_call","call_id":{call_id},"status":"completed",{action}}}]}}]}}"#
        )
    };
    assert_eq!(smallest_of(&steps(shell), is_shell), plain("null"));
    let with_id = |case: &Case| is_shell(case) && case.items().all(|item| item.call_id().is_some());
    assert_eq!(smallest_of(&steps(shell), with_id), plain(r#""a""#));
}

#[test]
fn what_a_failure_needs_of_a_nested_value_stays_alone() {
    let search = r#"[{"record":[{"type":"tool_search_call","call_id":"s","execution":"client",
        "arguments":{"deep":[{"x":[1,2,{"wanted":true,"y":2}]},"z"],"more":null}}]}]"#;
    let wanted = |case: &Case| case.items().any(|item| item.to_wire().contains(r#""wanted":true"#));
    let smallest = r#"{"steps":[{"record":[{"type":"tool_search_call","call_id":null,"execution":"client","arguments":{"wanted":true}}]}]}"#;
    assert_eq!(smallest_of(&steps(search), wanted), smallest);
}

#[test]
fn item_ids_that_are_needed_are_named_in_order_of_appearance() {
    let message = |id: &str| format!(r#"{{"type":"message","id":"{id}","role":"user","content":[]}}"#);
    let case = steps(&format!(r#"[{{"record":[{},{},{}]}}]"#, message("z"), message("z"), message("q")));
    let three = |case: &Case| case.items().filter(|item| item.id().is_some()).count() == 3;
    let named = |ids: [&str; 3]| format!(r#"{{"steps":[{{"record":[{}]}}]}}"#, ids.map(message).join(","));
    assert_eq!(smallest_of(&case, three), named(["a", "b", "c"]));
    let shared = |case: &Case| {
        let ids: Vec<&ItemId> = case.items().filter_map(|item| item.id()).collect();
        three(case) && ids[0] == ids[1]
    };
    assert_eq!(smallest_of(&case, shared), named(["a", "a", "b"]));
}

#[test]
fn a_call_and_its_item_are_named_apart_where_the_failure_needs_it() {
    let case = steps(&format!(r#"[{{"record":[{CALL},{OUTPUT}]}}]"#));
    let apart = |case: &Case| {
        case.items().any(|item| match &**item {
            ResponseItem::FunctionCall(call) => call
                .id
                .as_ref()
                .is_some_and(|id| !id.as_str().is_empty() && id.as_str() != call.call_id.as_str()),
            _ => false,
        })
    };
    let smallest = r#"{"steps":[{"record":[{"type":"function_call","id":"b","name":"","arguments":"","call_id":"a"}]}]}"#;
    assert_eq!(smallest_of(&case, apart), smallest);
}

#[test]
fn items_stand_in_order_of_their_kinds_where_order_does_not_matter() {
    let case = steps(&format!(r#"[{{"record":[{OUTPUT},{CALL}]}}]"#));
    let both = |case: &Case| {
        let has = |kind| case.items().any(|item| item.kind() == kind);
        has(ItemKind::FunctionCall) && has(ItemKind::FunctionCallOutput)
    };
    let kinds = |form: String| form.find("\"function_call\"") < form.find("\"function_call_output\"");
    assert!(kinds(smallest_of(&case, both)));
    let output_first = |case: &Case| {
        both(case) && case.items().next().is_some_and(|item| item.kind() == ItemKind::FunctionCallOutput)
    };
    assert!(!kinds(smallest_of(&case, output_first)));
}

#[test]
fn a_long_id_is_as_long_as_it_must_be() {
    let id = "x".repeat(70);
    let call = |id: &str| format!(r#"{{"type":"function_call","name":"","arguments":"","call_id":"{id}"}}"#);
    let case = steps(&format!(r#"[{{"record":[{},{}]}}]"#, call(&format!("{id}1")), call(&format!("{id}2"))));
    let near = |case: &Case| {
        let heads: Vec<String> = case
            .items()
            .filter_map(|item| item.call_id())
            .map(|id| id.as_str().chars().take(64).collect())
            .collect();
        let ids: Vec<_> = case.items().filter_map(|item| item.call_id()).collect();
        matches!(heads.as_slice(), [a, b] if a == b && a.len() == 64) && ids[0] != ids[1]
    };
    let (short, long) = ("a".repeat(64), "a".repeat(65));
    let smallest = format!(r#"{{"steps":[{{"record":[{},{}]}}]}}"#, call(&short), call(&long));
    assert_eq!(smallest_of(&case, near), smallest);
}
