//! The runtime tests itself: the suite in an ordinary test, a fault that it must find, an invariant and a generator of its own.

use callpair::case::{Case, Items, Step};
use callpair::generate::Draw;
use callpair::invariant::{Check, Invariant, Needs, Sighting, Verdict};
use callpair::item::{ItemKind, ResponseItem, ToolOutput};
use callpair::json::Json;
use callpair::subject::Profile;
use callpair::verify::Suite;
use outsider::{Release, Runtime};
use std::sync::Arc;

fn sound() -> Runtime {
    Runtime::new(Release::Sound)
}

fn faulty() -> Runtime {
    Runtime::new(Release::SendsOpenCalls)
}

/// The house rule of this project, beside what any projector owes.
const INTERRUPTION_IS_NAMED: Invariant = Invariant {
    id: "house/interruption-is-named",
    statement: "What the runtime makes up says that the call was interrupted.",
    law: "∀ o ∈ P(H) \\ H: o.output = \"interrupted\"",
    why: "The model would take anything else for what the tool said.",
    needs: Needs::Nothing,
    profiles: &[Profile::Responses],
    reports: &[],
    check: Check::Projection(interruption_is_named),
};

fn interruption_is_named(seen: &Sighting<'_>) -> Verdict {
    let mut verdict = Verdict::NotApplicable;
    for (at, _, _) in seen.synthetic() {
        let Some(ResponseItem::FunctionCallOutput(item)) = seen.items().get(at).map(|item| &**item) else {
            continue;
        };
        if item.output != ToolOutput::Text("interrupted".to_owned()) {
            return Verdict::Broken(format!("{} says something else", seen.in_request(at)));
        }
        verdict = Verdict::Holds;
    }
    verdict
}

/// The message of the panic with which a test fails.
fn panic_of(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(test).expect_err("the suite found nothing");
    *panic.downcast::<String>().expect("a sentence")
}

#[test]
fn the_runtime_keeps_what_any_projector_owes() {
    Suite::new().with(INTERRUPTION_IS_NAMED).assert(sound);
}

#[test]
fn a_fault_panics_once_with_the_smallest_case_and_how_to_run_it_again() {
    let said = panic_of(|| Suite::new().cases(200).assert(faulty));
    assert!(said.starts_with("fail: outsider by profile responses\n"), "{said}");
    assert!(
        said.contains("\npairing/function-call: item 0 of the request (function_call a) has no "),
        "{said}"
    );
    let smallest = r#"the smallest case: {"schema":"callpair.case/1","steps":[{"record":[{"type":"function_call","name":"","arguments":"","call_id":"a"}]}]}"#;
    assert!(said.contains(smallest), "{said}");
    assert!(said.contains("to run it again: this test (seed g1-"), "{said}");
}

#[test]
fn a_case_that_failed_is_kept_and_comes_first_from_then_on() {
    let folder = std::env::temp_dir().join(format!("outsider-{}", std::process::id()));
    let suite = Suite::new().cases(100).regressions(&folder);
    let first = suite.check(faulty).expect_err("the fault is found");
    assert!(first.contains("every run of this test begins with it"), "{first}");
    // One drawn case would not find it: the saved one does.
    let again = suite.clone().cases(1).check(faulty).expect_err("the saved case fails");
    assert!(again.contains("a saved case: "), "{again}");
    suite.check(sound).expect("the sound release passes on the saved cases too");
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

#[test]
fn an_invariant_of_ones_own_can_fail() {
    const NEVER: Invariant = Invariant {
        id: "house/nothing-is-made-up",
        check: Check::Projection(|seen| match seen.synthetic().next() {
            Some((at, _, _)) => Verdict::Broken(format!("{} is made up", seen.in_request(at))),
            None => Verdict::Holds,
        }),
        ..INTERRUPTION_IS_NAMED
    };
    let said = panic_of(|| Suite::new().cases(100).with(NEVER).assert(sound));
    assert!(said.contains("house/nothing-is-made-up: "), "{said}");
    assert!(said.contains("what must hold: What the runtime makes up"), "{said}");
}

#[test]
fn a_generator_of_ones_own_decides_what_is_drawn() {
    // As this project's users talk: one call after the other, the last one open.
    let drawn = |draw: &mut callpair::generate::Seeded| {
        let calls: Items = (0..=draw.below(5)).map(|number| Arc::new(call(number))).collect();
        Case { steps: vec![Step::Record(calls), Step::Resume] }
    };
    let outcome = Suite::new().drawing(drawn).check(sound).expect("it holds");
    let with = |name: &str| {
        let label = outcome.labels.iter().find(|count| count.label.as_str() == name);
        label.expect("there is such a label").cases
    };
    assert_eq!(with("function_call without output"), 2000, "every case leaves its calls open");
    assert_eq!(with("orphan function_call_output"), 0, "no case has an output");
    assert_eq!(with("resume"), 2000);
}

fn call(number: usize) -> ResponseItem {
    let text =
        format!(r#"{{"type":"function_call","name":"ls","arguments":"{{}}","call_id":"call_{number}"}}"#);
    let item = ResponseItem::load(Json::parse(&text).expect("JSON")).expect("a function call");
    assert_eq!(item.kind(), ItemKind::FunctionCall);
    item
}
