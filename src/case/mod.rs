//! A case: a script of steps on a subject, and the trace that running it leaves.
//!
//! Not here: how cases are drawn (`generate/`), how they are run (`verify/`), what is wrong with a trace (`invariant/`).

mod saved;
mod script;
mod store;
mod trace;

pub use saved::{CaseError, SCHEMA, SavedCase};
pub use script::{Case, Items, Step};
pub use store::{Store, StoreError};
pub use trace::{Failure, FailureKind, Outcome, Projected, Trace};
