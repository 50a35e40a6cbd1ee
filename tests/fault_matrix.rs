//! Every planted fault is caught, by the laws alone too, and every invariant is needed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::verify::matrix;

#[test]
fn every_fault_is_caught_and_every_invariant_is_needed() {
    let matrix = matrix(1000, 7, 2, None).unwrap();
    for row in &matrix.rows {
        println!(
            "{:40} {:?} {:?} {:?} {:?} | {:?} | {:?}",
            row.fault, row.after, row.after_by_laws, row.first_law, row.elapsed, row.codex, row.responses
        );
    }
    println!("needed: {:#?}", matrix.needed_by());
    println!("uncaught: {:#?}", matrix.uncaught());
    println!("unneeded: {:#?}", matrix.unneeded());
    assert_eq!(matrix.uncaught(), [""; 0]);
    assert_eq!(matrix.unneeded(), [""; 0]);
}
