//! The smallest case that fails the same way.
//!
//! It works on values, so that a drawn case, a fuzzer's find and a recorded session of thousands of items are treated
//! alike: chunks of steps and items go first, by halves, then parts, fields, texts and names. It ends where removing or
//! simplifying any single thing makes the failure go away, and in one form: ids `a`, `b`, …, texts empty, the plainest
//! kinds, one step.
//!
//! [`minimize`] asks a function about each candidate; [`CaseTree`] lets proptest ask. Both walk the same way. Not here:
//! what a failure is.

mod edits;
mod fields;
mod items;
mod kinds;
mod memo;
mod names;
mod near;
mod order;
mod plain;
mod steps;
mod texts;
mod tree;
mod walk;

pub use tree::CaseTree;

use crate::case::Case;
use std::time::{Duration, Instant};
use walk::{Next, Walk};

/// What minimising may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// How many cases are run at most; never fewer than the two that look whether the case fails at all.
    pub calls: usize,
    /// How long it may take. A single run is not broken off.
    pub time: Duration,
}

/// 5,000 runs, 10 seconds.
impl Default for Budget {
    fn default() -> Budget {
        Budget { calls: 5_000, time: Duration::from_secs(10) }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Minimized {
    /// The smallest case that was found. It was seen to fail, unless not even the given one was: then it is that one.
    pub case: Case,
    /// How many cases were run.
    pub calls: usize,
    /// Whether nothing simpler is left to be tried. `false`: the budget ended it.
    pub finished: bool,
    /// Whether the same case was seen to fail once and to pass once.
    pub flaky: bool,
}

/// How far it is, told after each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cases run so far.
    pub calls: usize,
    /// Steps of the smallest case so far.
    pub steps: usize,
    /// History items of the smallest case so far.
    pub items: usize,
}

/// Finds the smallest case that fails as `case` does.
///
/// `fails` runs a case and says whether the *same* thing is still wrong. It has to say no to a case that is not for the
/// subject: one with steps, kinds or modalities that the subject does not know.
///
/// ```
/// # use callpair::{case::SavedCase, item::ItemKind, minimize::{Budget, minimize}};
/// let text = r#"{"schema":"callpair.case/1","steps":[
///     {"replace":[{"type":"message","role":"assistant","content":[]},
///                 {"type":"function_call","id":"fc_9","name":"ls","arguments":"{}","call_id":"call_7"}]},
///     {"resume":true},{"project":["text","image"]}]}"#;
/// let case = SavedCase::parse(text)?.case;
/// // What is wrong happens wherever there is a function call.
/// let mut fails = |case: &_| callpair::case::Case::items(case).any(|item| item.kind() == ItemKind::FunctionCall);
/// let minimized = minimize(&case, &mut fails, Budget::default(), &mut |_| {});
/// let smallest = r#"{"steps":[{"record":[{"type":"function_call","name":"","arguments":"","call_id":"a"}]}]}"#;
/// assert_eq!(minimized.case.to_json().to_string(), smallest);
/// # Ok::<(), callpair::case::CaseError>(())
/// ```
pub fn minimize(
    case: &Case,
    fails: &mut dyn FnMut(&Case) -> bool,
    budget: Budget,
    progress: &mut dyn FnMut(Progress),
) -> Minimized {
    let started = Instant::now();
    let seen_to_fail = [fails(case), fails(case)];
    let mut calls = seen_to_fail.len();
    let mut flaky = seen_to_fail != [true, true];
    if seen_to_fail == [false, false] {
        return Minimized { case: case.clone(), calls, finished: true, flaky };
    }
    let mut walk = Walk::new(case.clone());
    let finished = loop {
        // One run is kept for the last look.
        if calls + 1 >= budget.calls || started.elapsed() >= budget.time {
            break false;
        }
        match walk.next() {
            Next::End => break true,
            Next::Passed => {}
            Next::Try(candidate) => {
                let failed = fails(candidate);
                calls += 1;
                walk.answer(failed);
                let smallest = walk.smallest();
                progress(Progress { calls, steps: smallest.steps.len(), items: smallest.item_count() });
            }
        }
    };
    let smallest = walk.into_smallest();
    if smallest != *case && calls < budget.calls {
        flaky |= !fails(&smallest);
        calls += 1;
    }
    Minimized { case: smallest, calls, finished, flaky }
}

#[cfg(test)]
mod tests;
