//! JUnit XML: a suite of the invariants, a test case each; and a suite of the run itself, so that a run that says nothing
//! (vacuous, interrupted, an outdated baseline) is red there too.

use super::human::found;
use super::laws::promise;
use super::{Settings, redact, subject_name};
use crate::invariant::by_id;
use crate::projection::summary;
use crate::report::junit;
use crate::report::text::{per_mille, plain, share};
use crate::verify::{InvariantCount, Outcome, Violation};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};

/// Writes JUnit XML.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_junit(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let mut report = Report::new("callpair verify");
    report.set_time(outcome.elapsed);
    report.add_test_suite(invariants(outcome, settings));
    report.add_test_suite(the_run(outcome));
    junit::write(&report, out)
}

fn invariants(outcome: &Outcome, settings: &Settings<'_>) -> TestSuite {
    let mut suite =
        TestSuite::new(format!("{}, profile {}", subject_name(&outcome.subject), outcome.profile));
    suite.add_property(("seed", outcome.seed.to_string().as_str()));
    suite.add_property(("cases", outcome.cases.to_string().as_str()));
    for count in &outcome.invariants {
        let broken = outcome.violations.iter().enumerate().find(|(_, broken)| broken.invariant == count.id);
        let status = match broken {
            Some((at, violation)) => failure(violation, outcome, settings, settings.replay.get(at)),
            None => no_failure(count),
        };
        suite.add_test_case(test(count.id, count.id, status));
    }
    // What the runner itself found has no count where it was not asked.
    for (at, violation) in outcome.violations.iter().enumerate() {
        if !outcome.invariants.iter().any(|count| count.id == violation.invariant) {
            let status = failure(violation, outcome, settings, settings.replay.get(at));
            suite.add_test_case(test(violation.invariant, violation.invariant, status));
        }
    }
    suite
}

fn test(name: &str, id: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("callpair.{}", id.split('/').next().unwrap_or(id)));
    case
}

fn no_failure(count: &InvariantCount) -> TestCaseStatus {
    if count.checked > 0 {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::skipped();
    status.set_message("no case had anything to check");
    status
}

fn failure(
    violation: &Violation,
    outcome: &Outcome,
    settings: &Settings<'_>,
    replay: Option<&String>,
) -> TestCaseStatus {
    let message = plain(&redact::message(&violation.message, settings.show_content));
    if let Some(reason) = &violation.known {
        let mut status = TestCaseStatus::skipped();
        status.set_message(format!("known failure: {}", plain(reason))).set_description(message);
        return status;
    }
    let mut lines = Vec::new();
    lines.extend(by_id(violation.invariant).map(|invariant| invariant.statement.to_owned()));
    lines.push(message.clone());
    lines.push(found(violation, outcome));
    for (at, step) in violation.case.steps.iter().enumerate() {
        lines.push(format!("step {}: {}", at + 1, step.name()));
        lines.extend(step.items().iter().take(LISTED).map(|item| format!("  {}", summary(item))));
        let more = step.items().len().saturating_sub(LISTED);
        if more > 0 {
            lines.push(format!("  and {more} more"));
        }
    }
    lines.extend(replay.map(|replay| format!("replay: {}", plain(replay))));
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(violation.invariant).set_message(message).set_description(lines.join("\n"));
    status
}

/// So many items of a step are listed.
const LISTED: usize = 40;

/// What makes a run worthless or unfinished without a broken invariant.
fn the_run(outcome: &Outcome) -> TestSuite {
    let mut suite = TestSuite::new("the run itself");
    let low: Vec<String> = outcome
        .low_labels()
        .map(|label| {
            let share = share(label.cases, outcome.cases);
            format!("{}: {share}, floor {}", label.label.as_str(), per_mille(u64::from(label.floor)))
        })
        .collect();
    let reaches = match (outcome.cases, low.is_empty()) {
        (0, _) => red("no case was judged", &promise(outcome)),
        (_, true) => TestCaseStatus::success(),
        (_, false) => red("the run is vacuous: what was drawn misses corners", &low.join("\n")),
    };
    suite.add_test_case(test("every corner is reached", "run", reaches));
    let baseline = match outcome.stale.is_empty() {
        true => TestCaseStatus::success(),
        false => red("known failures that no longer fail", &plain(&outcome.stale.join("\n"))),
    };
    suite.add_test_case(test("the baseline is up to date", "run", baseline));
    let finished = match outcome.interrupted {
        true => red("interrupted", &promise(outcome)),
        false => TestCaseStatus::success(),
    };
    suite.add_test_case(test("the run came to its end", "run", finished));
    suite
}

fn red(message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message).set_description(description);
    status
}
