//! Drawing of cases: one generator over a trait of choices.
//!
//! [`Draw`] is implemented for a seeded random number generator and for the bytes of a fuzzer; the proptest strategy and
//! `Arbitrary` are adapters of the same generator, so that all of them draw the same distribution. Nothing here knows a
//! subject: what may be drawn for one is in its capabilities.
//!
//! Generators are written by hand, since derived ones reach nothing here: of 5,000 derived lists not one held a pair.
//! What they reach is counted by [`labels`], and a share below its floor fails a run.

mod adapters;
mod draw;
mod features;
mod history;
mod items;
pub mod labels;
mod pools;
mod recorded;
mod script;

pub use adapters::{any_case, arbitrary_case};
pub use draw::{Draw, Seeded};
pub use features::{Feature, Features};
pub use script::{Histories, Options, OwnCases, case};

/// The version of the generator: part of every seed token, since another generator draws other cases by the same number.
pub const GENERATOR_VERSION: u32 = 1;
