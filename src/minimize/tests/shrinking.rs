//! The strategy of drawn cases in an ordinary property test.

use super::{has_open_custom_call, json, options, steps};
use crate::case::Case;
use crate::generate::any_case;
use crate::minimize::CaseTree;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestError, TestRunner};

fn smallest() -> Case {
    steps(r#"[{"record":[{"type":"custom_tool_call","call_id":"a","name":"","input":""}]}]"#)
}

#[test]
fn a_property_test_that_fails_shrinks_to_the_smallest_value() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let found = TestRunner::new(config).run(&any_case(options()), |case| {
        prop_assert!(!has_open_custom_call(&case));
        Ok(())
    });
    match found {
        Err(TestError::Fail(_, case)) => assert_eq!(json(&case), json(&smallest())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tree_that_is_told_no_goes_back_to_what_failed() {
    for case in super::drawn_cases(2).filter(has_open_custom_call).take(20) {
        let mut tree = CaseTree::new(case.clone());
        assert_eq!(tree.current(), case);
        let mut more = tree.simplify();
        while more {
            more = tree.complicate();
        }
        assert_eq!(tree.current(), case);
    }
}
