//! The plan of a ledger is what the plainest reading of the rules gives, for any roles, however they were entered.

use callpair::pairing::{CallKind, Edit, Ledger, OutputKind, Reason, Role};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// The rules in five lines, at a cost that grows with the square of the history.
fn oracle(roles: &[Role<&str>]) -> Vec<Edit> {
    let output_of = |kind: CallKind, id: &str| {
        roles.iter().any(|role| matches!(role, Role::Output { kind: k, call_id, .. } if *k == kind.output() && *call_id == id))
    };
    let call_of = |kind: OutputKind, id: &str| {
        roles.iter().any(
            |role| matches!(role, Role::Call { kind: k, call_id } if k.output() == kind && *call_id == id),
        )
    };
    let reason = |role: &Role<&str>| match *role {
        Role::Call { kind, call_id } if !output_of(kind, call_id) => Some(Reason::CallWithoutOutput(kind)),
        Role::Output { kind, call_id, exempt: false } if !call_of(kind, call_id) => {
            Some(Reason::OutputWithoutCall(kind))
        }
        _ => None,
    };
    roles.iter().enumerate().filter_map(|(index, role)| Some(Edit { index, reason: reason(role)? })).collect()
}

/// Ids from a small pool, so that they meet; some that only look alike.
fn call_id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "a",
        "A",
        "b",
        "c",
        "é",
        "e\u{301}",
        "call_0000000000000001",
        "call_0000000000000002",
    ])
}

fn role() -> impl Strategy<Value = Role<&'static str>> {
    prop_oneof![
        4 => (prop::sample::select(&CallKind::ALL[..]), call_id())
            .prop_map(|(kind, call_id)| Role::Call { kind, call_id }),
        4 => (prop::sample::select(&OutputKind::ALL[..]), call_id(), prop::bool::weighted(0.2))
            .prop_map(|(kind, call_id, exempt)| Role::Output { kind, call_id, exempt }),
        1 => Just(Role::Bystander),
    ]
}

/// Lengths around the block of the ledger, too.
fn roles() -> impl Strategy<Value = Vec<Role<&'static str>>> {
    prop_oneof![
        8 => prop::collection::vec(role(), 0..12),
        1 => prop::collection::vec(role(), 60..140),
    ]
}

fn config() -> ProptestConfig {
    let file = FileFailurePersistence::Direct("proptest-regressions/pairing_oracle.txt");
    ProptestConfig { failure_persistence: Some(Box::new(file)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_plan_is_what_the_plain_rules_give(roles in roles()) {
        let ledger: Ledger<&str> = roles.iter().copied().collect();
        prop_assert_eq!(ledger.len(), roles.len());
        prop_assert_eq!(ledger.plan().edits().to_vec(), oracle(&roles));
    }

    #[test]
    fn a_ledger_that_is_kept_plans_as_one_built_at_once(roles in roles(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(roles.len() + 1);
        let mut kept: Ledger<&str> = roles[..cut].iter().copied().collect();
        let plan_before = kept.plan();
        let clone = kept.clone();
        for role in &roles[cut..] {
            kept.push(*role);
        }
        prop_assert_eq!(kept.plan().edits().to_vec(), oracle(&roles));
        prop_assert_eq!(clone.plan(), plan_before);
    }

    #[test]
    fn planning_does_not_depend_on_what_the_ids_are(roles in roles()) {
        let renamed = roles.iter().map(|role| match *role {
            Role::Call { kind, call_id } => Role::Call { kind, call_id: format!("x{call_id}") },
            Role::Output { kind, call_id, exempt } => {
                Role::Output { kind, call_id: format!("x{call_id}"), exempt }
            }
            Role::Bystander => Role::Bystander,
        });
        let renamed: Ledger<String> = renamed.collect();
        let original: Ledger<&str> = roles.into_iter().collect();
        prop_assert_eq!(renamed.plan(), original.plan());
    }
}

/// Many distinct ids, so that the table of numbers grows several times.
#[test]
fn ten_thousand_ids_are_told_apart() {
    let ids: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
    let calls = ids.iter().map(|id| Role::Call { kind: CallKind::CustomTool, call_id: id.as_str() });
    let outputs = ids.iter().step_by(2).map(|id| Role::Output {
        kind: OutputKind::CustomTool,
        call_id: id.as_str(),
        exempt: false,
    });
    let mut ledger = Ledger::default();
    calls.chain(outputs).for_each(|role| ledger.push(role));
    let open: Vec<usize> = ledger.plan().edits().iter().map(|edit| edit.index).collect();
    assert_eq!(open, (1..10_000).step_by(2).collect::<Vec<_>>());
}

/// A generator that never pairs anything would let a wrong planner pass.
#[test]
fn the_generated_roles_hold_pairs_holes_and_orphans() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let (mut pairs, mut holes, mut orphans) = (0, 0, 0);
    for _ in 0..500 {
        let Ok(tree) = roles().new_tree(&mut runner) else { continue };
        let roles = tree.current();
        let edits = oracle(&roles);
        let calls = roles.iter().filter(|role| matches!(role, Role::Call { .. })).count();
        let open = edits.iter().filter(|edit| matches!(edit.reason, Reason::CallWithoutOutput(_))).count();
        pairs += usize::from(open < calls);
        holes += usize::from(open > 0);
        orphans += usize::from(edits.len() > open);
    }
    assert!(pairs > 100 && holes > 300 && orphans > 300, "{pairs} {holes} {orphans}");
}

#[test]
fn a_ledger_counts_its_roles() {
    let mut ledger = Ledger::default();
    assert!(ledger.is_empty());
    ledger.push(Role::Bystander);
    ledger.push(Role::Call { kind: CallKind::Function, call_id: "a" });
    assert_eq!((ledger.len(), ledger.is_empty()), (2, false));
}
