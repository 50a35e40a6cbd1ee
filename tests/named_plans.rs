//! What becomes of every named history of `tests/conformance/`, in the plan notation, for a reviewer to read.

mod vectors;

use callpair::pairing::{Action, Edit};
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

/// A history is counted without being made whole, and what was projected can be asked for.
#[test]
fn a_projection_tells_its_history_its_repairs_and_its_length() {
    let mut lengths = Vec::new();
    for vector in vectors("named.jsonl") {
        let rollout = rollout_of(vectors::list(&vector, "history"));
        let projection = projection(rollout.as_bytes(), modalities(&vector)).expect("the rollout resumes");
        let items = projection.to_items();
        assert_eq!((projection.len(), projection.is_empty()), (items.len(), items.is_empty()));
        assert_eq!(projection.plan().edits().len(), projection.edits().count());
        let inserts = |edit: &Edit| matches!(edit.action(), Action::InsertAfter(_));
        let inserted = projection.edits().filter(|(edit, _)| inserts(edit)).count();
        let removed = projection.edits().filter(|(_, made)| made.is_none()).count();
        assert_eq!(projection.base().len() + inserted - removed, items.len());
        lengths.push(items.len());
    }
    assert!(lengths.contains(&0) && lengths.contains(&1) && lengths.iter().any(|length| *length > 2));
}
