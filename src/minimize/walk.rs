//! The walk from a failing case to the smallest one: pass after pass, from coarse to fine, until a whole round changes
//! nothing. It proposes a case and is told whether that one fails; who asks whom is left to the caller.

use super::edits::{Unit, apply};
use super::memo::Memo;
use super::{fields, items, kinds, names, near, order, steps, texts};
use crate::case::Case;
use std::collections::VecDeque;
use std::fmt;

/// What a pass wants to try on a case, made from that case.
pub(super) enum Plan {
    /// Changes that do not depend on each other: all at once, then by halves.
    Together(Vec<Unit>),
    /// For each place its alternatives, the plainest first. The first that fails is taken; what comes behind the case as
    /// it is, is less plain and not tried.
    Choices(Vec<Choices>),
    /// The same, but each may change what the others are about: after one is taken, the pass plans again.
    Again(Vec<Choices>),
}

/// Alternatives for one place.
pub(super) type Choices = Vec<Rewrite>;

/// A change of a case; `None` where there is nothing to change, or where items would come out that are none.
pub(super) type Rewrite = Box<dyn Fn(&Case) -> Option<Case> + Send>;

/// A rewrite that makes one unit's changes.
pub(super) fn rewrite(unit: Unit) -> Rewrite {
    Box::new(move |case| apply(case, unit.iter()))
}

/// The passes of a round.
const PASSES: &[fn(&Case) -> Plan] = &[
    steps::one_step,
    steps::without_steps,
    items::without_call_ids,
    items::without_items,
    steps::simpler_steps,
    kinds::plain_items,
    kinds::plain_items_with_ids,
    kinds::plainer_kinds_together,
    kinds::plainer_kinds,
    fields::without_elements,
    fields::plain_words,
    fields::simpler_values,
    names::plain_names,
    names::apart,
    names::one_by_one,
    near::plainer_pairs,
    near::shorter_names,
    texts::much_shorter,
    texts::plain_bytes,
    texts::plain_letters,
    texts::shorter,
    texts::odd_letters,
    order::ordered,
    order::fewer_in_another_order,
];

/// What is to be done next.
pub(super) enum Next<'a> {
    /// Say by [`Walk::answer`] whether this case fails.
    Try(&'a Case),
    /// A candidate that needs no run was passed over; ask again.
    Passed,
    /// Nothing simpler is left.
    End,
}

/// The walk. What it holds is bounded by the case and the number of candidates tried.
pub(super) struct Walk {
    smallest: Case,
    memo: Memo,
    /// The place of the pass under way in [`PASSES`].
    pass: usize,
    tries: Option<Tries>,
    /// Whether this round has changed the case.
    changed: bool,
    candidate: Option<Case>,
}

impl Walk {
    /// Begins at a case that fails.
    pub(super) fn new(case: Case) -> Walk {
        let mut memo = Memo::for_items(case.item_count());
        memo.is_new(&case);
        Walk { smallest: case, memo, pass: 0, tries: None, changed: false, candidate: None }
    }

    /// The smallest case so far that was said to fail.
    pub(super) fn smallest(&self) -> &Case {
        &self.smallest
    }

    /// As [`smallest`](Self::smallest).
    pub(super) fn into_smallest(self) -> Case {
        self.smallest
    }

    /// The case that waits for an answer.
    pub(super) fn candidate(&self) -> Option<&Case> {
        self.candidate.as_ref()
    }

    /// What is to be done next. A candidate that was not answered is dropped.
    pub(super) fn next(&mut self) -> Next<'_> {
        self.candidate = None;
        let Some(tries) = &mut self.tries else {
            return self.next_pass();
        };
        match tries.next(&self.smallest) {
            Trial::None => {
                self.tries = None;
                self.pass += 1;
                Next::Passed
            }
            Trial::Nothing => {
                tries.answer(false);
                Next::Passed
            }
            Trial::Case(case) if self.memo.is_new(&case) => Next::Try(self.candidate.insert(case)),
            Trial::Case(_) => {
                tries.answer(false);
                Next::Passed
            }
        }
    }

    fn next_pass(&mut self) -> Next<'_> {
        if let Some(plan) = PASSES.get(self.pass) {
            self.tries = Some(Tries::new(&self.smallest, plan(&self.smallest)));
        } else if std::mem::take(&mut self.changed) {
            self.pass = 0;
        } else {
            return Next::End;
        }
        Next::Passed
    }

    /// Says whether the proposed case fails.
    pub(super) fn answer(&mut self, fails: bool) {
        let (Some(candidate), Some(tries)) = (self.candidate.take(), &mut self.tries) else { return };
        let plan_again = tries.answer(fails);
        if fails {
            self.smallest = candidate;
            self.changed = true;
            if plan_again {
                self.tries = None;
            }
        }
    }
}

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Walk { pass, smallest, .. } = self;
        f.debug_struct("Walk").field("pass", pass).field("smallest", smallest).finish_non_exhaustive()
    }
}

/// A plan under way.
enum Tries {
    Shed(Shed),
    Choices { places: VecDeque<VecDeque<Rewrite>>, again: bool },
}

enum Trial {
    /// The plan is through.
    None,
    /// There is nothing to try here.
    Nothing,
    Case(Case),
}

impl Tries {
    fn new(case: &Case, plan: Plan) -> Tries {
        let queue = |places: Vec<Choices>| places.into_iter().map(VecDeque::from).collect();
        match plan {
            Plan::Together(units) => Tries::Shed(Shed::new(case.clone(), units)),
            Plan::Choices(places) => Tries::Choices { places: queue(places), again: false },
            Plan::Again(places) => Tries::Choices { places: queue(places), again: true },
        }
    }

    fn next(&mut self, smallest: &Case) -> Trial {
        match self {
            Tries::Shed(shed) => shed.next(),
            Tries::Choices { places, .. } => loop {
                let Some(place) = places.front() else { return Trial::None };
                match place.front() {
                    None => places.pop_front(),
                    Some(rewrite) => match rewrite(smallest) {
                        None => return Trial::Nothing,
                        Some(same) if same == *smallest => places.pop_front(),
                        Some(case) => return Trial::Case(case),
                    },
                };
            },
        }
    }

    /// Says whether the last candidate fails. Returns whether the pass is to plan again if so.
    fn answer(&mut self, fails: bool) -> bool {
        match self {
            Tries::Shed(shed) => {
                shed.answer(fails);
                false
            }
            Tries::Choices { places, again } => {
                if fails {
                    places.pop_front();
                } else if let Some(place) = places.front_mut() {
                    place.pop_front();
                }
                *again
            }
        }
    }
}

/// Changes that are tried all at once, and by halves where that goes too far. Of n changes of which k must not be made it
/// takes about 2 k log(n / k) runs.
struct Shed {
    base: Case,
    units: Vec<Unit>,
    /// Which changes have been made.
    made: Vec<bool>,
    /// Ranges of units still to be tried; the last first, since later items depend on earlier ones.
    ranges: Vec<(usize, usize)>,
}

impl Shed {
    fn new(base: Case, units: Vec<Unit>) -> Shed {
        let ranges = if units.is_empty() { Vec::new() } else { vec![(0, units.len())] };
        Shed { base, made: vec![false; units.len()], units, ranges }
    }

    fn next(&self) -> Trial {
        let Some(&(from, to)) = self.ranges.last() else { return Trial::None };
        let units = self.units.iter().zip(&self.made).enumerate();
        let wanted = units.filter(|(at, (_, made))| **made || (from..to).contains(at));
        apply(&self.base, wanted.flat_map(|(_, (unit, _))| unit)).map_or(Trial::Nothing, Trial::Case)
    }

    fn answer(&mut self, fails: bool) {
        let Some((from, to)) = self.ranges.pop() else { return };
        if fails {
            self.made.iter_mut().take(to).skip(from).for_each(|made| *made = true);
        } else if to - from > 1 {
            let middle = from + (to - from) / 2;
            self.ranges.extend([(from, middle), (middle, to)]);
        }
    }
}
