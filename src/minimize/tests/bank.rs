//! The faults of the bank: a case fails where its trace differs from that of the honest bank.

use crate::case::Case;
use crate::fault::{Bank, Slip};
use crate::generate::{Options, Seeded, case};
use crate::item::Modalities;
use crate::minimize::{Budget, minimize};
use crate::subject::{Reference, Subject};
use std::collections::HashMap;

fn differs(honest: &mut Bank, wrong: &mut Bank, case: &Case) -> bool {
    let script = case.script(&Modalities::ALL);
    honest.run(script.clone()).outcomes != wrong.run(script).outcomes
}

#[test]
fn measure() {
    let options = Options::for_subject(Reference::new().capabilities());
    let cases: Vec<Case> = (0..600).map(|n| case(&mut Seeded::of_case(5, n), &options)).collect();
    let mut all = Vec::new();
    for &slip in Slip::ALL.iter().filter(|slip| !slip.needs_child()) {
        let (mut honest, mut wrong) = (Bank::new(None), Bank::new(Some(slip)));
        let mut forms: HashMap<String, usize> = HashMap::new();
        let (mut calls, mut items) = (Vec::new(), Vec::new());
        for case in &cases {
            if calls.len() == 6 {
                break;
            }
            if !differs(&mut honest, &mut wrong, case) {
                continue;
            }
            let m =
                minimize(case, &mut |c| differs(&mut honest, &mut wrong, c), Budget::default(), &mut |_| {});
            assert!(m.finished);
            calls.push(m.calls);
            items.push(m.case.item_count());
            *forms.entry(m.case.to_json().to_string()).or_default() += 1;
        }
        calls.sort();
        all.extend(calls.iter().copied());
        println!(
            "{:40} n{} calls {:?} items {:?} forms {}",
            slip.id(),
            calls.len(),
            calls,
            items,
            forms.len()
        );
        let mut forms: Vec<_> = forms.into_iter().collect();
        forms.sort_by_key(|f| std::cmp::Reverse(f.1));
        for (f, n) in &forms {
            println!("      {n} {}", &f[..f.len().min(900)]);
        }
    }
    all.sort();
    println!(
        "calls median {} p90 {} max {}",
        all[all.len() / 2],
        all[all.len() * 9 / 10],
        all[all.len() - 1]
    );
}
