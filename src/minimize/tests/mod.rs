//! What minimising promises: by hand-made failures on drawn cases, on long histories, and by the faults of the bank.

mod bank;
mod drawn;
mod flaky;
mod large;
mod passes;
mod shrinking;
mod single;

use crate::case::{Case, SavedCase};
use crate::generate::{Options, Seeded, case};
use crate::item::ResponseItem;
use crate::minimize::Budget;
use crate::pairing::{CallKind, Role};
use crate::projection::role;
use crate::subject::{Reference, Subject};
use std::time::Duration;

/// What may be wrong with a case.
type Fails = fn(&Case) -> bool;

/// A budget that a busy machine does not cut short.
const UNTIMED: Budget = Budget { calls: 5_000, time: Duration::MAX };

fn options() -> Options {
    Options::for_subject(Reference::new().capabilities())
}

/// Cases as they are drawn for the reference.
fn drawn_cases(seed: u64) -> impl Iterator<Item = Case> {
    let options = options();
    (0..).map(move |number| case(&mut Seeded::of_case(seed, number), &options))
}

/// A case by its steps in JSON.
fn steps(steps: &str) -> Case {
    let text = format!(r#"{{"schema":"callpair.case/1","steps":{steps}}}"#);
    SavedCase::parse(&text).expect("the steps are well-formed").case
}

fn json(case: &Case) -> String {
    case.to_json().to_string()
}

fn is_call(item: &ResponseItem, kind: CallKind) -> bool {
    matches!(role(item), Role::Call { kind: own, .. } if own == kind)
}

/// A custom tool call without any output of its kind and id.
fn has_open_custom_call(case: &Case) -> bool {
    let answered = |call: &ResponseItem| {
        case.items().any(|item| {
            matches!(&**item, ResponseItem::CustomToolCallOutput(output) if Some(&output.call_id) == call.call_id())
        })
    };
    case.items().any(|item| is_call(item, CallKind::CustomTool) && !answered(item))
}
