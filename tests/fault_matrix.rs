//! Every planted fault is caught, by the laws alone too, and every invariant is needed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::verify::matrix;

#[test]
fn every_fault_is_caught_and_every_invariant_is_needed() {
    let matrix = matrix(1000, 7, 2, None).unwrap();
    let median = |mut values: Vec<u64>| {
        values.sort_unstable();
        values[values.len() / 2]
    };
    let caught_after = matrix.rows.iter().filter_map(|row| row.after_by_laws).collect();
    assert_eq!(matrix.uncaught(), [""; 0]);
    assert_eq!(matrix.unneeded(), [""; 0]);
    assert!(median(caught_after) <= 50, "the median fault is caught within 50 cases");
    // A fault that only shows in a chain of cases has no smallest case of its own.
    let sizes: Vec<usize> =
        matrix.rows.iter().filter_map(|row| row.smallest.as_ref()).map(|case| case.item_count()).collect();
    let small = sizes.iter().filter(|size| **size <= 2).count();
    assert!(small * 10 >= sizes.len() * 9, "{small} of {} smallest cases have at most 2 items", sizes.len());
}
