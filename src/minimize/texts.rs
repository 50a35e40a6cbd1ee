//! Passes over texts: plain letters, and as few of them as fail. Words with a meaning and ids are not texts.

use super::edits::{Edit, Unit};
use super::fields::{Change, each_value, is_name, is_word};
use super::walk::Plan;
use crate::case::Case;
use std::ops::Range;

/// Into how many runs a text is cut at most. A longer text is cut again in the next round, when it is shorter.
const RUNS: usize = 256;

/// Every letter an `a`.
pub(super) fn plain_letters(case: &Case) -> Plan {
    Plan::Together(runs(case, |letters| letters.iter().any(|letter| *letter != 'a'), Change::Letters))
}

/// Letters away.
pub(super) fn shorter(case: &Case) -> Plan {
    Plan::Together(runs(case, |_| true, Change::Cut))
}

/// The runs of all texts for which a change is wanted.
fn runs(case: &Case, wanted: fn(&[char]) -> bool, change: fn(Range<usize>) -> Change) -> Vec<Unit> {
    let mut units = Vec::new();
    each_value(case, |place, _, path, value| {
        let Some(text) = value.as_str().filter(|text| !is_word(path, text) && !is_name(path)) else { return };
        let letters: Vec<char> = text.chars().collect();
        let size = letters.len().div_ceil(RUNS).max(1);
        for (at, run) in letters.chunks(size).enumerate() {
            if wanted(run) {
                let range = at * size..at * size + run.len();
                units.push(vec![Edit::Inside(place, path.clone(), change(range))]);
            }
        }
    });
    units
}
