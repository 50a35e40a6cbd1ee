//! The live history of a session: [`ContextManager`], what it records, what it cuts, what a rollback takes off.
//!
//! Not here: the durable record (`rollout/`), and the projection itself (`projection/`), which a manager only calls.

mod cut;
mod manager;
mod turns;

pub use cut::{CutItem, LimitError, ToolOutputLimit, cut_text_to_tokens};
pub use manager::{AnomalyPolicy, ContextManager, TokenUsageInfo, is_api_message};
pub use turns::{is_context_message, is_turn_start, rollback_cut};
