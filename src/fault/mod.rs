//! The bank of faults: a second implementation of the projection and of a session around it, and a list of slips.
//!
//! Without a slip a [`Bank`] is an honest alternative to the reference, written as a textbook would: whole copies,
//! sets of ids, insertion from the end. Verification must pass it. With a [`Slip`] it is wrong in one way, and
//! verification must catch it; that is what proves that the checks can fail. The projection here shares no code with
//! `pairing/` and `projection/` but the names of the kinds, and nothing there knows of it.
//!
//! [`Trivial`] projectors obey many laws without doing anything; they must fail too.

mod bank;
mod ids;
mod images;
mod losses;
mod made_up;
mod matching;
mod normalise;
mod overlook;
mod record;
mod recording;
mod slip;
mod spoil;
mod trivial;

pub use bank::Bank;
pub use slip::Slip;
pub use trivial::{Trivial, TrivialProjector};

/// The hand that does the work, and may slip. Its methods stand in the files beside this one, a step a file.
#[derive(Debug, Clone, Default)]
struct Hand {
    slip: Option<Slip>,
    /// Projections in the life of this bank, over all cases.
    lifetime_projections: u64,
    /// Projections since the last reset.
    projections: u64,
    /// Projections of the history as it stands, before this one.
    retries: u64,
    /// Resumes since the last reset.
    resumes: u64,
}

impl Hand {
    fn slips(&self, slip: Slip) -> bool {
        self.slip == Some(slip)
    }
}

#[cfg(test)]
mod tests;
