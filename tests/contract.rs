//! Each rule of the API tells the catalogue's input that breaks it from the repaired one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::contract::ContractRule;
use callpair::item::ResponseItem;
use callpair::json::Json;
use std::collections::BTreeMap;
use std::sync::Arc;

const EXAMPLES: &str = include_str!("contract/responses.jsonl");

fn items(array: &serde_json::Value) -> Vec<Arc<ResponseItem>> {
    let item = |value: &serde_json::Value| {
        let value = Json::parse(&value.to_string()).unwrap();
        Arc::new(
            ResponseItem::load(value).unwrap_or_else(|error| panic!("an example does not load: {error}")),
        )
    };
    array.as_array().unwrap().iter().map(item).collect()
}

/// By rule: an input that breaks it, and the repaired one.
type Examples = BTreeMap<String, (Vec<Arc<ResponseItem>>, Vec<Arc<ResponseItem>>)>;

fn examples() -> Examples {
    let example = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = line["id"].as_str().unwrap().to_owned();
        (id, (items(&line["violating"]), items(&line["conforming"])))
    };
    EXAMPLES.lines().map(example).collect()
}

#[test]
fn each_rule_tells_a_breach_from_its_repair() {
    let mut examples = examples();
    for rule in ContractRule::ALL {
        let Some((violating, conforming)) = examples.remove(rule.id) else {
            // The catalogue's example has the status on a function call; the wire form has none there. See below.
            assert_eq!(rule.id, "responses/status-value", "{} has an example", rule.id);
            continue;
        };
        assert!(rule.read(&violating).breach.is_some(), "{} sees the breach", rule.id);
        assert_eq!(rule.read(&conforming).breach, None, "{} takes the repair", rule.id);
    }
    assert!(examples.is_empty(), "a rule for each example: {:?}", examples.keys());
}

#[test]
fn a_status_that_the_api_does_not_know_is_a_breach() {
    let search = |status: &str| {
        let line = serde_json::json!([{"type": "tool_search_output", "call_id": "a", "status": status,
            "execution": "client", "tools": []}]);
        let items = items(&line);
        let reading = ContractRule::STATUS.read(&items);
        (reading.concerned, reading.breach.map(|breach| format!("item {} {}", breach.index, breach.how)))
    };
    for known in ["in_progress", "completed", "incomplete"] {
        assert_eq!(search(known), (1, None));
    }
    assert_eq!(search("aborted"), (1, Some("item 0 has the status \"aborted\"".to_owned())));
}

#[test]
fn two_calls_of_one_id_may_have_two_outputs_and_not_three() {
    let of = |kinds: &str| {
        let item = |kind: char| match kind {
            'c' => {
                serde_json::json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "a"})
            }
            's' => serde_json::json!({"type": "local_shell_call", "call_id": "a", "status": "completed",
                "action": {"type": "exec", "command": [], "timeout_ms": null, "working_directory": null, "env": null,
                           "user": null}}),
            _ => serde_json::json!({"type": "function_call_output", "call_id": "a", "output": ""}),
        };
        let items = items(&kinds.chars().map(item).collect());
        ContractRule::DUPLICATE_OUTPUT.read(&items).breach.map(|breach| breach.index)
    };
    assert_eq!(of("cocoo"), Some(4));
    assert_eq!((of("csoo"), of("coco"), of("co"), of("c")), (None, None, None, None));
    assert_eq!(of("oo"), None, "an output without a call is another rule's");
}

#[test]
fn the_length_of_an_item_id_is_counted_in_characters() {
    let breach = |id: &str| {
        let items = items(&serde_json::json!([{"type": "reasoning", "id": id, "summary": []}]));
        ContractRule::ID_LENGTH.read(&items).breach.map(|breach| breach.how.to_string())
    };
    assert_eq!((breach(&"x".repeat(64)), breach(&"é".repeat(64))), (None, None));
    let says = breach(&"é".repeat(65)).unwrap();
    assert!(says.contains("65 characters"), "{says}");
}
