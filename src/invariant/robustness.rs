//! That a subject answers at all, and always the same. The runner itself judges these.

use super::{BOTH, Check, Invariant, Needs};

/// See the statement.
pub const ANSWERS: Invariant = Invariant {
    id: "robustness/answers",
    statement: "Every step is answered within the time limit, by the protocol, without an error.",
    law: "∀ H: P(H) is defined",
    why: "A projector that fails on a history leaves its session stuck, just as the API's refusal does.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Runner,
};

/// See the statement.
pub const NOT_REFUSED: Invariant = Invariant {
    id: "robustness/not-refused",
    statement: "No history is refused. (Profile responses: refusals can be allowed by --allow-refusals.)",
    law: "∀ H: P(H) is not refused",
    why: "A validator that throws on a broken history does not repair it.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Runner,
};

/// See the statement.
pub const LEAKS_OVER_RESET: Invariant = Invariant {
    id: "robustness/leaks-over-reset",
    statement: "A case that fails fails in a fresh process too: nothing of an earlier case lives on over a reset.",
    law: "trace(case) after other cases = trace(case) in a fresh process",
    why: "State that leaks between sessions sends one user's history to another's model.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Runner,
};

/// See the statement.
pub const AGAINST: Invariant = Invariant {
    id: "agreement/against",
    statement: "The subject and the one that it is compared with (--against) give the same request.",
    law: "P(H) = P'(H)",
    why: "A new version must not send other prompts than the old one without anybody knowing.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Runner,
};

/// See the statement.
pub const SAME_OVER_PROCESSES: Invariant = Invariant {
    id: "robustness/same-over-processes",
    statement: "Two processes of one subject give the same bytes for one case.",
    law: "trace(case) in process 1 = trace(case) in process 2",
    why: "Ids and orders that depend on hash seeds, clocks or process ids change with every restart.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Runner,
};
