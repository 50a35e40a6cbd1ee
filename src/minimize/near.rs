//! Passes over names that the failure hangs on, since they are nearly the same or of one form: a plainer pair that is
//! near in the same way, a shorter name.

use super::names::{SORTS, Sort, is_plain, renamed};
use super::texts::plainer_letters;
use super::walk::{Choices, Plan, Rewrite};
use crate::case::Case;
use std::collections::HashMap;

/// Pairs of names that something takes for one, or that differ in one respect only; the plainest first.
const NEAR_PAIRS: &[(&str, &str)] = &[
    ("a", "A"),
    ("a", "aa"),
    ("a", "a "),
    ("", "a"),
    ("1", "01"),
    ("call_a", "a"),
    ("\u{e9}", "e"),
    ("\u{e9}", "e\u{301}"),
    ("a", "a\0"),
];

/// Up to how many names of a sort are looked at.
const NAME_LIMIT: usize = 6;

/// Up to how long a name is shortened letter by letter.
const LETTER_LIMIT: usize = 80;

/// Two names at once, for a pair that is near in some plainer way; and the shorter of them first.
pub(super) fn plainer_pairs(case: &Case) -> Plan {
    let mut places: Vec<Choices> = Vec::new();
    for sort in SORTS {
        let names = sort.names(case);
        if names.len() > NAME_LIMIT {
            continue;
        }
        for (at, first) in names.iter().enumerate() {
            for second in names.iter().skip(at + 1) {
                if !(is_plain(first, names.len()) && is_plain(second, names.len())) {
                    places.push(pairs_before(sort, first, second));
                }
            }
        }
    }
    Plan::Again(places)
}

fn pairs_before(sort: Sort, first: &str, second: &str) -> Choices {
    let both_ways = NEAR_PAIRS.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let plainer = both_ways.take_while(|pair| *pair != (first, second));
    let renamed = |a: &str, b: &str| {
        rename(sort, vec![(first.to_owned(), a.to_owned()), (second.to_owned(), b.to_owned())])
    };
    let swapped = (second.len() < first.len()).then(|| renamed(second, first));
    plainer.map(|(a, b)| renamed(a, b)).chain(swapped).collect()
}

/// Renames, where no two names fall together by it.
fn rename(sort: Sort, changes: Vec<(String, String)>) -> Rewrite {
    Box::new(move |case| {
        let names = sort.names(case);
        let table: HashMap<&str, String> =
            changes.iter().map(|(from, to)| (from.as_str(), to.clone())).collect();
        let mut after: Vec<&str> =
            names.iter().map(|name| table.get(name).map_or(*name, String::as_str)).collect();
        after.sort_unstable();
        after.dedup();
        (after.len() == names.len()).then(|| renamed(case, sort, &table))
    })
}

/// A name that is not plain: without what several begin with, without a letter, with a plain letter.
pub(super) fn shorter_names(case: &Case) -> Plan {
    let mut places: Vec<Choices> = Vec::new();
    for sort in SORTS {
        let names = sort.names(case);
        let odd: Vec<&str> = names.iter().copied().filter(|name| !is_plain(name, names.len())).collect();
        if odd.len() > NAME_LIMIT {
            continue;
        }
        if let [first, rest @ ..] = odd.as_slice()
            && !rest.is_empty()
        {
            let shared = rest.iter().map(|name| shared_letters(first, name)).min().unwrap_or(0);
            places.push(without_beginning(sort, &odd, shared));
        }
        places.extend(odd.iter().flat_map(|name| letter_by_letter(sort, name)));
    }
    Plan::Again(places)
}

fn shared_letters(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// All of them with less of what they begin with, and with plain letters there.
fn without_beginning(sort: Sort, names: &[&str], shared: usize) -> Choices {
    let doubled = std::iter::successors(Some(1), |kept: &usize| kept.checked_mul(2));
    let kept = std::iter::once(0).chain(doubled).take_while(|kept| *kept < shared);
    let last = shared.checked_sub(1);
    let with = |kept: usize| {
        let changes = names.iter().map(|name| {
            let rest: String = name.chars().skip(shared).collect();
            ((*name).to_owned(), format!("{}{rest}", "a".repeat(kept)))
        });
        rename(sort, changes.collect())
    };
    kept.chain(last).chain(std::iter::once(shared)).map(with).collect()
}

fn letter_by_letter(sort: Sort, name: &str) -> Vec<Choices> {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() > LETTER_LIMIT {
        let half: String = letters.iter().take(letters.len() / 2).collect();
        return vec![vec![rename(sort, vec![(name.to_owned(), half)])]];
    }
    let change = |at: usize, with: Option<char>| {
        let before = letters.iter().take(at);
        let changed = before.chain(with.iter()).chain(letters.iter().skip(at + 1)).collect();
        rename(sort, vec![(name.to_owned(), changed)])
    };
    let shorter = (0..letters.len()).map(|at| vec![change(at, None)]);
    let plainer = letters.iter().enumerate().map(|(at, letter)| {
        plainer_letters(*letter).map(|plain| change(at, Some(plain))).collect::<Choices>()
    });
    shorter.chain(plainer).collect()
}
