//! Which call needs which output, and what must be done to a history so that every call has one and no output stands
//! alone.
//!
//! This room knows no item type and changes nothing: it goes from [`Role`]s to a [`RepairPlan`]. Other APIs'
//! histories map to the same roles. What is done by a plan is `projection/`'s business.

mod ledger;
mod notice;
mod plan;
mod table;

pub use ledger::{Ledger, Role};
pub use notice::{Level, Notice};
pub use plan::{Action, Edit, Reason, RepairPlan};
pub use table::{CallKind, OutputKind, PAIRING_TABLE, Row};
