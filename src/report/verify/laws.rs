//! The four laws that this is all about, in plain words, and the verdict as a sentence.

use crate::report::text::{counted, grouped};
use crate::verify::{Outcome, Verdict};

/// A law and the invariants that state it.
pub(super) struct Law {
    pub(super) words: &'static str,
    invariants: &'static [&'static str],
}

/// What a run says of a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It was checked on this many cases, at least, and holds.
    Holds(u64),
    /// It is broken on this many cases, at least.
    Broken(u64),
    /// There was nothing to check, or it was not asked.
    NotChecked,
}

/// The four, in the order in which everybody asks for them.
pub(super) const LAWS: [Law; 4] = [
    Law {
        words: "every call has its output",
        invariants: &[
            "pairing/function-call",
            "pairing/local-shell-call",
            "pairing/custom-tool-call",
            "pairing/tool-search-call",
        ],
    },
    Law {
        words: "no orphan output is left",
        invariants: &[
            "orphan/function-call-output",
            "orphan/custom-tool-call-output",
            "orphan/tool-search-output",
        ],
    },
    Law { words: "the live history stays as it was", invariants: &["live/history-unchanged"] },
    Law {
        words: "ids are the same in every projection",
        invariants: &["identity/stable", "metamorphic/repeat"],
    },
];

impl Law {
    /// Of several invariants the largest number counts: the law was checked on these cases at least.
    pub(super) fn standing(&self, outcome: &Outcome) -> Standing {
        let counts = || outcome.invariants.iter().filter(|count| self.invariants.contains(&count.id));
        let broken = counts().map(|count| count.violations).max().unwrap_or_default();
        let checked = counts().map(|count| count.checked).max().unwrap_or_default();
        match (broken, checked) {
            (0, 0) => Standing::NotChecked,
            (0, checked) => Standing::Holds(checked),
            (broken, _) => Standing::Broken(broken),
        }
    }
}

/// The word before the colon: bad ones in capitals.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::Vacuous => "VACUOUS",
        Verdict::Interrupted => "interrupted",
    }
}

/// What follows the word.
pub(super) fn verdict_words(outcome: &Outcome) -> String {
    let cases = counted(outcome.cases, "case");
    let broken = outcome.violations.iter().filter(|violation| violation.known.is_none()).count() as u64;
    let known = outcome.violations.len() as u64 - broken;
    let mut words = match outcome.verdict {
        Verdict::Pass => {
            let asked = outcome.invariants.iter().filter(|count| count.checked > 0).count() as u64;
            let hold = asked.saturating_sub(known);
            format!(
                "{} on {cases}",
                if hold == 1 {
                    "1 invariant holds".to_owned()
                } else {
                    format!("{} invariants hold", grouped(hold))
                }
            )
        }
        Verdict::Fail if broken > 0 => format!("{} broken on {cases}", counted(broken, "invariant")),
        Verdict::Fail => format!("no invariant is broken on {cases}, but the baseline is out of date"),
        Verdict::Vacuous if outcome.cases == 0 => "no case was judged".to_owned(),
        Verdict::Vacuous if outcome.low_labels().next().is_none() => {
            format!("no invariant had anything to check on {cases}, so nothing was judged")
        }
        Verdict::Vacuous => {
            let low = match outcome.low_labels().count() as u64 {
                1 => "1 label is below its floor".to_owned(),
                low => format!("{} labels are below their floors", grouped(low)),
            };
            format!("no invariant is broken on {cases}, but {low}")
        }
        Verdict::Interrupted => format!("no invariant is broken on the {cases} judged so far"),
    };
    if known > 0 {
        words.push_str(&format!(", {}", counted(known, "known failure")));
    }
    if !outcome.stale.is_empty() {
        words.push_str(&format!(", {} stale", grouped(outcome.stale.len() as u64)));
    }
    if outcome.interrupted && outcome.verdict != Verdict::Interrupted {
        words.push_str("; interrupted before its end");
    }
    words
}

/// What the number of cases can promise.
pub(super) fn promise(outcome: &Outcome) -> String {
    match outcome.promise() {
        0 => "no case was judged: nothing is promised".to_owned(),
        one_in => format!(
            "{}: what is rarer than 1 in {} may be missed",
            counted(outcome.cases, "case"),
            grouped(one_in)
        ),
    }
}
