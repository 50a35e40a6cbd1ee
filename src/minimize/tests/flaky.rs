//! Failures that come and go, and budgets: never is a case returned that was not seen to fail.

use super::{UNTIMED, drawn_cases, has_open_custom_call};
use crate::case::Case;
use crate::minimize::{Budget, Progress, minimize};
use std::time::{Duration, Instant};

fn failing_case() -> Case {
    drawn_cases(1).find(|case| has_open_custom_call(case) && case.item_count() > 10).expect("one is drawn")
}

#[test]
fn a_case_that_does_not_fail_comes_back_as_it_was_and_is_called_flaky() {
    let case = failing_case();
    let mut calls = 0;
    let mut never = |_: &Case| {
        calls += 1;
        false
    };
    let minimized = minimize(&case, &mut never, UNTIMED, &mut |_| {});
    assert_eq!((minimized.case, minimized.calls, minimized.flaky), (case, 2, true));
    assert_eq!(calls, 2);
}

#[test]
fn what_fails_every_third_time_is_called_flaky_and_still_failed_once() {
    for offset in 0..3 {
        let case = failing_case();
        let (mut calls, mut failed) = (0, Vec::new());
        let mut sometimes = |case: &Case| {
            calls += 1;
            let fails = has_open_custom_call(case) && (calls + offset) % 3 == 0;
            if fails {
                failed.push(case.clone());
            }
            fails
        };
        let minimized = minimize(&case, &mut sometimes, UNTIMED, &mut |_| {});
        assert!(minimized.flaky);
        assert!(failed.contains(&minimized.case) || minimized.case == case);
    }
}

#[test]
fn whatever_the_budget_the_result_was_seen_to_fail_and_the_budget_is_kept() {
    let case = failing_case();
    let mut sizes = Vec::new();
    for calls in 0..60 {
        let mut failed = Vec::new();
        let mut fails = |case: &Case| {
            let fails = has_open_custom_call(case);
            if fails {
                failed.push(case.clone());
            }
            fails
        };
        let budget = Budget { calls, time: Duration::from_secs(60) };
        let minimized = minimize(&case, &mut fails, budget, &mut |_| {});
        assert!(failed.contains(&minimized.case));
        assert!(minimized.calls <= calls.max(2), "{} of {calls}", minimized.calls);
        assert!(!minimized.flaky);
        sizes.push((minimized.case.item_count(), minimized.finished));
    }
    assert!(sizes.is_sorted_by(|a, b| a.0 >= b.0), "{sizes:?}");
    assert_eq!((sizes.first(), sizes.last()), (Some(&(case.item_count(), false)), Some(&(1, true))));
}

#[test]
fn time_that_is_up_ends_it() {
    let mut slow = |case: &Case| {
        std::thread::sleep(Duration::from_millis(5));
        has_open_custom_call(case)
    };
    let started = Instant::now();
    let budget = Budget { calls: 5_000, time: Duration::from_millis(25) };
    let minimized = minimize(&failing_case(), &mut slow, budget, &mut |_| {});
    assert!(!minimized.finished && minimized.calls <= 6, "{} calls", minimized.calls);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn progress_is_told_after_each_run_and_items_never_grow() {
    let mut told: Vec<Progress> = Vec::new();
    let mut fails = |case: &Case| has_open_custom_call(case);
    let minimized = minimize(&failing_case(), &mut fails, UNTIMED, &mut |progress| told.push(progress));
    let calls: Vec<usize> = told.iter().map(|progress| progress.calls).collect();
    assert_eq!(calls, (3..minimized.calls).collect::<Vec<_>>());
    assert!(told.is_sorted_by(|a, b| a.items >= b.items && a.steps >= b.steps));
}

#[test]
fn no_case_is_run_twice_but_for_the_looks_whether_it_fails_at_all() {
    for case in drawn_cases(8).filter(has_open_custom_call).take(50) {
        let mut runs = Vec::new();
        let mut fails = |case: &Case| {
            runs.push(super::json(case));
            has_open_custom_call(case)
        };
        let minimized = minimize(&case, &mut fails, UNTIMED, &mut |_| {});
        assert_eq!(runs.len(), minimized.calls);
        runs.sort_unstable();
        runs.dedup();
        assert!(runs.len() + 2 >= minimized.calls, "{} of {}", runs.len(), minimized.calls);
    }
}
