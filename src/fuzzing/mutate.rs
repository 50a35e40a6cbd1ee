//! Changing inputs as histories: beside a fuzzer's own mutator, which changes bytes.
//!
//! One byte of a stream of choices shifts all that follow, and one of a saved case mostly makes it none. So most changes of
//! a saved case are edits of its history, and a stream of choices is now and then written out as the case that it draws.

use super::Target;
use super::edits::{edit, joined};
use super::input::{SAVED, decode, encode};
use super::judged::drawn_for;
use crate::case::Case;
use crate::generate::{self, Draw, Seeded};

/// The longest stream of choices that is made anew, in bytes: enough for the longest cases.
const FRESH: usize = 1500;

/// An input changed by this seed, at most `most` bytes long; `None` where the engine's own mutator shall do it.
///
/// ```
/// # use callpair::fuzzing::{Target, decode, mutated};
/// let changed = (0..20).find_map(|seed| mutated(Target::Script, b"some choices", seed, 4096)).unwrap();
/// assert!(decode(Target::Script, &changed).is_ok());
/// ```
pub fn mutated(target: Target, input: &[u8], seed: u32, most: usize) -> Option<Vec<u8>> {
    let options = drawn_for(target).ok()?;
    let mut draw = Seeded::of_case(u64::from(seed), 0);
    match (input.first() == Some(&SAVED), draw.below(8)) {
        (_, 0) => return Some(choices(&mut draw, most)),
        (true, 1) | (false, 2..) => return None,
        (true, _) | (false, _) => {}
    }
    let mut case = decode(target, input).ok()?;
    let other = || generate::case(&mut Seeded::of_case(u64::from(seed), 1), options);
    for _ in 0..=draw.below(3) {
        edit(&mut case, other, &mut draw);
    }
    fitting(target, &case, most)
}

/// Two inputs made one by this seed, at most `most` bytes long; `None` where no bytes come of it.
pub fn spliced(target: Target, front: &[u8], back: &[u8], seed: u32, most: usize) -> Option<Vec<u8>> {
    let mut draw = Seeded::of_case(u64::from(seed), 0);
    let is_saved = |input: &[u8]| input.first() == Some(&SAVED);
    if is_saved(front) || is_saved(back) {
        let joined = joined(&decode(target, front).ok()?, &decode(target, back).ok()?, &mut draw);
        return fitting(target, &joined, most);
    }
    let until = draw.below(front.len() + 1);
    let from = draw.below(back.len() + 1);
    let bytes = front.iter().take(until).chain(back.iter().skip(from));
    Some(bytes.take(most).copied().collect())
}

/// New choices: a part of all inputs owes nothing to those that went before, so that a run cannot get stuck.
fn choices(draw: &mut Seeded, most: usize) -> Vec<u8> {
    let length = draw.below(FRESH.min(most) + 1);
    let mut bytes: Vec<u8> = (0..length).map(|_| draw.below(256) as u8).collect();
    if bytes.first() == Some(&SAVED) {
        bytes.remove(0);
    }
    bytes
}

fn fitting(target: Target, case: &Case, most: usize) -> Option<Vec<u8>> {
    encode(target, case).ok().filter(|bytes| bytes.len() <= most)
}
