//! Arbitrary steps, done to a session and to a plain model: what must hold is checked after every step.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod session_support;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use session_support::machine::Machine;
use session_support::ops::{Op, steps};

fn holds(ops: &[Op]) -> Result<(), TestCaseError> {
    let mut machine = Machine::new(None);
    for (n, op) in ops.iter().enumerate() {
        let violations = machine.step(op);
        if let Some(first) = violations.first() {
            return Err(TestCaseError::fail(format!("step {n}: {}: {}", first.invariant, first.message)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("proptest-regressions/session.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_done_the_session_is_as_the_plain_model_says(ops in steps(14)) {
        holds(&ops)?;
    }
}
