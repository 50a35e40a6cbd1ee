//! The faults of the bank: a case fails where the answers differ from those of the honest bank.

use super::single::single_removals;
use super::{UNTIMED, drawn_cases, json, options};
use crate::case::{Case, Outcome, Step};
use crate::fault::{Bank, Slip};
use crate::minimize::{Minimized, minimize};
use crate::subject::Subject;
use std::collections::HashMap;

/// How many cases of a fault are made small.
const CASES_A_SLIP: usize = 4;

fn script(case: &Case) -> Vec<Step> {
    case.script(&options().capabilities.modalities)
}

/// The cases of a fault, made small; those that do not fail again from a fresh start are left out.
fn smallest_cases(slip: Slip, drawn: &[(Vec<Step>, Vec<Outcome>, Case)]) -> Vec<Minimized> {
    let (mut honest, mut wrong) = (Bank::new(None), Bank::new(Some(slip)));
    let mut smallest = Vec::new();
    for (script_of_case, expected, case) in drawn {
        if smallest.len() == CASES_A_SLIP {
            break;
        }
        if wrong.run(script_of_case) == *expected {
            continue;
        }
        let mut fails = |case: &Case| {
            let script = script(case);
            honest.run(&script) != wrong.run(&script)
        };
        let minimized = minimize(case, &mut fails, UNTIMED, &mut |_| {});
        if minimized.flaky {
            continue;
        }
        let form = &minimized.case;
        assert!(minimized.finished, "{}", slip.id());
        let still = single_removals(form).into_iter().find(|case| fails(case));
        assert_eq!(
            still.as_ref().map(json),
            None,
            "{}: one thing less still fails: {}",
            slip.id(),
            json(form)
        );
        smallest.push(minimized);
    }
    smallest
}

#[test]
fn faults_of_the_bank_end_small_soon_and_in_one_form() {
    let mut honest = Bank::new(None);
    let with_answers = |case: Case| {
        let script = script(&case);
        let answers = honest.run(&script);
        (script, answers, case)
    };
    let drawn: Vec<_> = drawn_cases(5).take(400).map(with_answers).collect();
    let (mut calls, mut items, mut agreeing, mut cases) = (Vec::new(), Vec::new(), 0, 0);
    for &slip in Slip::ALL.iter().filter(|slip| !slip.needs_child()) {
        let smallest = smallest_cases(slip, &drawn);
        let mut forms: HashMap<String, usize> = HashMap::new();
        for minimized in &smallest {
            *forms.entry(json(&minimized.case)).or_default() += 1;
            calls.push(minimized.calls);
        }
        if forms.len() > 1 {
            println!("{}: {forms:#?}", slip.id());
        }
        agreeing += forms.values().max().copied().unwrap_or_default();
        cases += smallest.len();
        items.extend(smallest.iter().map(|minimized| minimized.case.item_count()).max());
    }
    calls.sort_unstable();
    let (median, most) = (calls[calls.len() / 2], calls[calls.len() - 1]);
    let small = items.iter().filter(|items| **items <= 2).count();
    println!(
        "{} faults, {cases} cases: calls {median} in the median, {most} at most; {small} faults end with at most 2 items; \
         {agreeing} cases end in the commonest form of their fault",
        items.len()
    );
    assert!(median <= 100 && most <= 500);
    assert!(10 * small >= 9 * items.len());
    assert!(10 * agreeing >= 9 * cases);
}
