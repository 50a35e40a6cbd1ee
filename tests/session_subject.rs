//! The session layer keeps every invariant, judged as any subject is.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::generate::{self, Seeded};
use callpair::session::SessionSubject;
use callpair::subject::Subject;
use callpair::verify::Judge;

#[test]
fn the_session_layer_keeps_every_invariant() {
    let mut subject = SessionSubject::new().unwrap();
    let capabilities = subject.capabilities();
    let judge = Judge::new(capabilities.profile, capabilities.clone());
    let options = generate::Options::for_subject(capabilities);
    for number in 0..150 {
        let case = generate::case(&mut Seeded::of_case(7, number), &options);
        let judgement = judge.judge(&mut subject, &case);
        let broken: Vec<_> =
            judgement.broken.iter().map(|(at, how)| (judge.invariants()[*at].id, how)).collect();
        assert!(broken.is_empty(), "case {number}: {broken:?}\n{}", case.to_json());
    }
}
