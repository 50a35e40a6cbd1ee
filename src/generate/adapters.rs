//! The generator as a proptest strategy and as `Arbitrary`.

use super::{Options, Seeded, case};
use crate::case::Case;
use crate::minimize::CaseTree;
use crate::subject::{Capabilities, Reference, Subject};
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::{Strategy, any};
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;

/// A proptest strategy of cases for a subject. It draws what `callpair verify` draws, and a case that fails shrinks as
/// [`minimize`](crate::minimize::minimize) shrinks it.
///
/// ```
/// # use callpair::{generate::{Options, any_case}, subject::Capabilities};
/// # use proptest::{prelude::*, test_runner::TestRunner};
/// let cases = any_case(Options::for_subject(Capabilities::stateless("mine")));
/// TestRunner::default().run(&cases, |case| {
///     prop_assert!(!case.steps.is_empty());
///     Ok(())
/// }).unwrap();
/// ```
pub fn any_case(options: Options) -> impl Strategy<Value = Case> {
    AnyCase { options }
}

#[derive(Debug)]
struct AnyCase {
    options: Options,
}

impl Strategy for AnyCase {
    type Tree = CaseTree;
    type Value = Case;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<AnyCase> {
        let seed = any::<u64>().new_tree(runner)?.current();
        Ok(CaseTree::new(case(&mut Seeded::of_case(seed, 0), &self.options)))
    }
}

/// A case from the bytes of a fuzzer.
pub fn arbitrary_case(bytes: &mut Unstructured<'_>, capabilities: Capabilities) -> Case {
    case(bytes, &Options::for_subject(capabilities))
}

/// A case for the reference, which can do all steps.
impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Case> {
        Ok(arbitrary_case(bytes, Reference::new().capabilities()))
    }
}
