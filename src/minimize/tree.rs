//! The walk as proptest's value tree: an ordinary property test shrinks to the smallest value, not to another seed.

use super::walk::{Next, Walk};
use crate::case::Case;
use proptest::strategy::ValueTree;

/// A case that proptest can shrink, the way [`minimize`](super::minimize) does.
#[derive(Debug)]
pub struct CaseTree {
    walk: Walk,
}

impl CaseTree {
    /// Begins at a drawn case. Nothing is computed before it fails.
    pub fn new(case: Case) -> CaseTree {
        CaseTree { walk: Walk::new(case) }
    }

    fn propose(&mut self) -> bool {
        loop {
            match self.walk.next() {
                Next::Try(_) => return true,
                Next::Passed => {}
                Next::End => return false,
            }
        }
    }
}

impl ValueTree for CaseTree {
    type Value = Case;

    fn current(&self) -> Case {
        self.walk.candidate().unwrap_or_else(|| self.walk.smallest()).clone()
    }

    /// The current case fails: on to a simpler one.
    fn simplify(&mut self) -> bool {
        self.walk.answer(true);
        self.propose()
    }

    /// The current case passes: back to the last that failed, and on to another one that is simpler.
    fn complicate(&mut self) -> bool {
        self.walk.answer(false);
        self.propose()
    }
}
