//! Where synthetic outputs stand.

use super::view::call_of;
use super::{CODEX, Check, Invariant, Needs, Sighting, Verdict};
use std::collections::HashMap;

pub(super) const AFTER_ITS_CALL: Invariant = Invariant {
    id: "position/after-its-call",
    statement: "A synthetic output stands right after a call that it answers.",
    law: "P(H)[n] synthetic ⇒ P(H)[n-1] is a call, answered by the kind of P(H)[n], with its call id",
    why: "Its place must not depend on what follows, or each new item moves it and the prompt cache is lost.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(after_its_call),
};

pub(super) const ONE_FOR_EACH_CALL: Invariant = Invariant {
    id: "position/one-for-each-call",
    statement: "Each call without an output is followed by one synthetic output, also where several share a call id.",
    law: "|synthetic outputs of P(H)| = |calls of H without output in H|",
    why: "One output for two calls leaves the pair of the second to the reader's guess.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(one_for_each_call),
};

fn after_its_call(sighting: &Sighting<'_>) -> Verdict {
    let mut checked = 0;
    for (at, kind, call_id) in sighting.synthetic() {
        checked += 1;
        let before = at.checked_sub(1).and_then(|at| sighting.items().get(at));
        let call = before.and_then(|item| call_of(item));
        if call.is_none_or(|(call, id)| call.output() != kind || id != call_id) {
            return Verdict::broken(format!(
                "{} does not stand right after its call",
                sighting.in_request(at)
            ));
        }
    }
    Verdict::holds_if_any(checked)
}

fn one_for_each_call(sighting: &Sighting<'_>) -> Verdict {
    let mut checked = 0;
    // By (kind of output, call id): calls minus outputs.
    let mut balance: HashMap<_, _, foldhash::fast::RandomState> = HashMap::default();
    let open = |kind, id| !sighting.history.has_output(kind, id);
    for (_, kind, id) in sighting.request.calls().filter(|&(_, kind, id)| open(kind.output(), id)) {
        checked += 1;
        *balance.entry((kind.output(), id)).or_insert(0_i64) += 1;
    }
    for (_, kind, id) in sighting.request.outputs().filter(|&(_, kind, id)| open(kind, id)) {
        *balance.entry((kind, id)).or_insert(0) -= 1;
    }
    // No output at all is the pairing family's; orphans are the orphan family's.
    let uneven = |&(&(kind, id), &balance): &(&(_, &str), &i64)| {
        balance != 0 && sighting.request.has_output(kind, id) && sighting.request.has_call_for(kind, id)
    };
    match balance.iter().filter(uneven).min_by_key(|((_, id), _)| *id) {
        Some(((kind, id), balance)) => {
            let many = if *balance > 0 { "fewer" } else { "more" };
            Verdict::broken(format!(
                "there are {many} synthetic {} for call id {id:?} than calls",
                kind.type_name()
            ))
        }
        None => Verdict::holds_if_any(checked),
    }
}
