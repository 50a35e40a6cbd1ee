//! The runner: draws cases, drives a subject through them, judges the traces.
//!
//! [`Judge`] judges one case. [`run`] judges many, on several threads, and gives the same report whatever their number is:
//! a case is drawn from the run's seed and its own number, and of each invariant the failing case of the lowest number
//! counts.

mod judge;
mod matrix;
mod outcome;
mod runner;
mod seed;
mod suite;

pub use judge::{Judge, Judgement};
pub use matrix::{Caught, Children, IMPLIED, LATER, Matrix, MatrixOptions, MatrixProgress, matrix};
pub use outcome::{FLOORS_FROM, InvariantCount, LabelCount, Outcome, Verdict, Violation};
pub use runner::{Amount, Factory, JudgedCase, Options, Progress, Shard, ShardError, run};
pub use seed::{Seed, SeedError};
pub use suite::Suite;
