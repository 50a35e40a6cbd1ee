//! How far a command is, in one line that fits a terminal of 80 columns.

use super::text::grouped;
use crate::minimize;
use crate::verify::{Amount, MatrixProgress, Progress};
use std::time::Duration;

/// Of a run of `verify`: rate, time left, failures so far.
pub fn of_run(progress: Progress, amount: Amount) -> String {
    let seconds = progress.elapsed.as_secs_f64().max(0.001);
    let rate = progress.cases as f64 / seconds;
    let left = match amount {
        Amount::Cases(cases) => cases.saturating_sub(progress.cases) as f64 / rate.max(0.001),
        Amount::Time(time) => (time.as_secs_f64() - seconds).max(0.0),
    };
    let left = whole_seconds(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
    let broken = match progress.broken {
        0 => "nothing broken".to_owned(),
        1 => "1 invariant broken".to_owned(),
        broken => format!("{broken} invariants broken"),
    };
    format!("{} cases, {} a second, {left} left, {broken}", grouped(progress.cases), grouped(rate as u64))
}

/// Of a kill matrix.
pub fn of_matrix(progress: MatrixProgress) -> String {
    let MatrixProgress { done, of, uncaught } = progress;
    let uncaught = if uncaught == 0 { String::new() } else { format!(", {uncaught} uncaught") };
    format!("{done} of {of} planted faults tried{uncaught}")
}

/// Of the search for the smallest case of an invariant.
pub fn of_minimize(progress: minimize::Progress, invariant: &str) -> String {
    let (calls, steps, items) = (progress.calls, progress.steps, progress.items);
    format!("{invariant}: {steps} steps, {items} items after {calls} runs")
}

/// A time that changes once a second at most: `3 s`, `2 min 5 s`, `1 h 40 min`.
fn whole_seconds(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", grouped(seconds / 3600), seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_run_says_rate_time_left_and_failures() {
        let progress = Progress { cases: 12_000, broken: 0, elapsed: Duration::from_secs(10) };
        assert_eq!(
            of_run(progress, Amount::Cases(200_000)),
            "12,000 cases, 1,200 a second, 2 min 36 s left, nothing broken"
        );
        let timed = Amount::Time(Duration::from_secs(4 * 3600));
        assert_eq!(
            of_run(Progress { broken: 3, ..progress }, timed),
            "12,000 cases, 1,200 a second, 3 h 59 min left, 3 invariants broken"
        );
    }

    #[test]
    fn a_run_that_has_judged_nothing_yet_has_a_line_too() {
        let progress = Progress { cases: 0, broken: 0, elapsed: Duration::ZERO };
        let line = of_run(progress, Amount::Cases(u64::MAX));
        assert!(line.starts_with("0 cases, 0 a second, "), "{line}");
    }

    #[test]
    fn the_line_of_a_matrix_says_what_was_not_caught() {
        let progress = MatrixProgress { done: 12, of: 60, uncaught: 0 };
        assert_eq!(of_matrix(progress), "12 of 60 planted faults tried");
        assert_eq!(
            of_matrix(MatrixProgress { uncaught: 2, ..progress }),
            "12 of 60 planted faults tried, 2 uncaught"
        );
    }
}
