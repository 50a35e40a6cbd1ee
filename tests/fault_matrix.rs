//! Every planted fault is caught, by the laws alone too, every invariant is needed, and the smallest cases are those that were
//! reviewed. One file, since all of it is read from one matrix, and making that takes a while.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::report::case_line;
use callpair::verify::{Caught, Matrix, MatrixOptions, matrix};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

static MATRIX: LazyLock<Matrix> = LazyLock::new(|| {
    let options = MatrixOptions {
        limit: 1000,
        seed: 7,
        jobs: 2,
        children: None,
        interrupted: &AtomicBool::new(false),
        progress: &|_| {},
    };
    matrix(&options).unwrap().unwrap()
});

#[test]
fn every_fault_is_caught_and_every_invariant_is_needed() {
    let matrix = &*MATRIX;
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

#[test]
fn the_smallest_case_of_every_fault_is_the_one_that_was_reviewed() {
    let line = |row: &Caught| {
        let law = row.first_law.unwrap_or("nothing");
        let case = match &row.smallest {
            Some(case) => {
                format!("items {}, steps {}: {}", case.item_count(), case.steps.len(), case_line(case))
            }
            None => "no case of its own: it takes a chain".to_owned(),
        };
        format!("{}\n    {law}\n    {case}\n", row.fault)
    };
    insta::assert_snapshot!("smallest_cases", MATRIX.rows.iter().map(line).collect::<String>());
}

#[test]
fn a_matrix_that_is_interrupted_is_none() {
    let options = MatrixOptions {
        limit: 1000,
        seed: 7,
        jobs: 2,
        children: None,
        interrupted: &AtomicBool::new(true),
        progress: &|_| {},
    };
    assert_eq!(matrix(&options).unwrap(), None);
}
