//! Passes over texts: plain letters, and as few of them as fail. Words with a meaning and ids are not texts.

use super::edits::{Edit, Place, Unit};
use super::fields::{Change, Letters, Path, each_value, is_name, is_word};
use super::walk::{Choices, Plan, rewrite};
use crate::case::Case;
use crate::json::Json;

/// Into how many runs a text is cut at most. A longer text is cut again in the next round, when it is shorter.
const RUNS: usize = 256;

/// Into how many runs a long text is cut in the first place, and how long it is then.
const COARSE_RUNS: usize = 32;
const LONG: usize = 2 * RUNS;

/// Large pieces of long texts away, so that what comes after has less to look at.
pub(super) fn much_shorter(case: &Case) -> Plan {
    Plan::Together(runs(case, LONG, COARSE_RUNS, |_| true, Letters::None))
}

/// Every letter an `a`.
pub(super) fn plain_letters(case: &Case) -> Plan {
    Plan::Together(runs(case, 0, RUNS, |letters| letters.iter().any(|letter| *letter != 'a'), Letters::One))
}

/// Every letter of several bytes as many `a`s: what hangs on a text's length mostly hangs on its length in bytes.
pub(super) fn plain_bytes(case: &Case) -> Plan {
    Plan::Together(runs(case, 0, RUNS, |letters| !letters.iter().all(char::is_ascii), Letters::AsBytes))
}

/// Letters away.
pub(super) fn shorter(case: &Case) -> Plan {
    Plan::Together(runs(case, 0, RUNS, |_| true, Letters::None))
}

/// Letters that stand for others that something trips over, the plainest first.
const LETTERS: [char; 3] = ['a', ' ', '\n'];

/// What is plainer than a letter, the plainest first.
pub(super) fn plainer_letters(letter: char) -> impl Iterator<Item = char> {
    LETTERS.into_iter().take_while(move |plain| *plain != letter)
}

/// Up to how long a text is looked at letter by letter for [`odd_letters`].
const SHORT: usize = 8;

/// Each letter of a short text that cannot be an `a` another one.
pub(super) fn odd_letters(case: &Case) -> Plan {
    let mut places: Vec<Choices> = Vec::new();
    each_text(case, |place, path, letters| {
        for (at, letter) in letters.iter().enumerate().take_while(|_| letters.len() <= SHORT) {
            let with = |plain| {
                let text = letters.iter().enumerate().map(|(n, own)| if n == at { plain } else { *own });
                Change::Set(Json::String(text.collect()))
            };
            let changes = plainer_letters(*letter).map(with);
            places.push(
                changes.map(|change| rewrite(vec![Edit::Inside(place, path.clone(), change)])).collect(),
            );
        }
    });
    Plan::Again(places)
}

/// The runs of all texts of some length for which a change is wanted.
fn runs(case: &Case, at_least: usize, count: usize, wanted: fn(&[char]) -> bool, with: Letters) -> Vec<Unit> {
    let mut units = Vec::new();
    each_text(case, |place, path, letters| {
        if letters.len() < at_least {
            return;
        }
        let size = letters.len().div_ceil(count).max(1);
        for (at, run) in letters.chunks(size).enumerate() {
            if wanted(run) {
                let range = at * size..at * size + run.len();
                units.push(vec![Edit::Inside(place, path.clone(), Change::Letters(range, with))]);
            }
        }
    });
    units
}

fn each_text(case: &Case, mut visit: impl FnMut(Place, &Path, &[char])) {
    each_value(case, |place, _, path, value| {
        if let Some(text) = value.as_str().filter(|text| !is_word(path, text) && !is_name(path)) {
            visit(place, path, &text.chars().collect::<Vec<char>>());
        }
    });
}
