//! The generator as a proptest strategy and as `Arbitrary`.

use super::{Options, Seeded, case};
use crate::case::Case;
use crate::subject::{Capabilities, Reference, Subject};
use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::{Strategy, any};

/// A proptest strategy of cases for a subject. It draws what `callpair verify` draws.
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
    any::<u64>().prop_map(move |seed| case(&mut Seeded::of_case(seed, 0), &options))
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
