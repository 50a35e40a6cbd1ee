//! How many cases a second the runner judges on the reference, on one thread, beside what drawing alone costs: this
//! generator's, and that of a plain proptest strategy without any check.
//!
//! `cargo bench --bench rate`, or with words of the lines wanted: `cargo bench --bench rate -- without`

#![allow(missing_docs)]

mod clock;

use callpair::case::Step;
use callpair::generate::{self, Seeded};
use callpair::item::{CallId, FunctionCall, FunctionCallOutput, ResponseItem, ToolOutput};
use callpair::subject::{Reference, Subject};
use callpair::verify::Judge;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const CASES: u64 = 20_000;

fn rate(name: &str, mut each: impl FnMut(u64)) {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
        return;
    }
    (0..CASES / 10).for_each(&mut each);
    let start = clock::now();
    (0..CASES).for_each(&mut each);
    let elapsed = clock::now() - start;
    println!("{name:<48} {:>10.0} cases/s", CASES as f64 / elapsed.as_secs_f64());
}

/// What one would write first: a vector of calls and outputs with ids from a small pool.
fn plain_strategy() -> impl Strategy<Value = Vec<ResponseItem>> {
    let call_id = prop_oneof![Just("a"), Just("b"), Just("c")].prop_map(CallId::from);
    let call = call_id.clone().prop_map(|call_id| {
        ResponseItem::FunctionCall(FunctionCall {
            id: None,
            name: "f".into(),
            namespace: None,
            arguments: "{}".into(),
            call_id,
        })
    });
    let output = call_id.prop_map(|call_id| {
        ResponseItem::FunctionCallOutput(FunctionCallOutput {
            id: None,
            call_id,
            output: ToolOutput::Text("ok".into()),
        })
    });
    prop::collection::vec(prop_oneof![call, output], 0..25)
}

fn main() {
    let capabilities = Reference::new().capabilities();
    let options = generate::Options::for_subject(capabilities.clone());
    let all = Judge::new(capabilities.profile, capabilities.clone());
    let fast = all.clone().keep(|invariant| invariant.family() != "metamorphic");
    let mut subject = Reference::new();
    let drawn = |number| generate::case(&mut Seeded::of_case(7, number), &options);
    rate("drawing only", |number| drop(drawn(number)));
    let (mut items, mut projections) = (0, 0);
    for case in (0..CASES).map(drawn) {
        let steps = case.script(&capabilities.modalities);
        items += case.item_count();
        projections += steps.iter().filter(|step| matches!(step, Step::Project(_))).count();
    }
    println!(
        "a case has {:.1} items and {:.1} projections in the mean",
        items as f64 / CASES as f64,
        projections as f64 / CASES as f64
    );
    let mut runner = TestRunner::deterministic();
    let plain = plain_strategy();
    rate("drawing only, a plain proptest strategy", |_| {
        drop(plain.new_tree(&mut runner).map(|tree| tree.current()));
    });
    rate("driving only", |number| drop(subject.run(&drawn(number).script(&capabilities.modalities))));
    rate("without the metamorphic invariants", |number| drop(fast.judge(&mut subject, &drawn(number))));
    rate("every invariant", |number| drop(all.judge(&mut subject, &drawn(number))));
}
