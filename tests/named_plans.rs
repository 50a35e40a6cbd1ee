//! What becomes of every named history of `tests/conformance/`, in the plan notation, for a reviewer to read.

mod vectors;

use std::collections::BTreeMap;
use vectors::{modalities, projection, rollout_of, text, vectors};

/// A snapshot for each rule, in it each corner under its name.
#[test]
fn every_named_history_has_the_plan_that_was_reviewed() {
    let mut by_rule: BTreeMap<String, String> = BTreeMap::new();
    for vector in vectors("named.jsonl") {
        let name = text(&vector, "name");
        let (rule, corner) = name.split_once('/').expect("a name is rule/corner");
        let rollout = rollout_of(vectors::list(&vector, "history"));
        let modalities = modalities(&vector);
        let plan = projection(rollout.as_bytes(), modalities).expect("the rollout resumes");
        by_rule.entry(rule.to_owned()).or_default().push_str(&format!("{corner} ({modalities})\n{plan}\n"));
    }
    assert_eq!(by_rule.len(), 14, "{:?}", by_rule.keys());
    for (rule, plans) in &by_rule {
        insta::assert_snapshot!(format!("plans_{}", rule.replace('-', "_")), plans);
    }
}
