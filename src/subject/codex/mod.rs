//! The real program: a published Codex binary, driven from outside as a black box.
//!
//! A rollout is written into a private folder, `codex app-server` is told to resume it as a thread (or to fork it, or to roll
//! turns back) and to start one turn; the request that then comes to the server on loopback is the projection, once the new
//! turn is taken off its end. So what is seen is what the program really sends, and what it really writes.
//!
//! Seen to work with releases 0.144.6 and 0.171.0; no login is needed, as the provider is our own. The program is never
//! changed, its files stay in the private folder, only loopback is spoken to, and all ends when [`CodexProcess`] is dropped.
//! How the methods are called stands in `open.rs` (threads) and `run.rs` (turns).

#[cfg(not(unix))]
compile_error!("the feature `codex` ends programs by their process group, which only Unix has");

mod error;
mod home;
mod kill;
mod new_turn;
mod open;
mod options;
mod process;
mod rpc;
mod run;
mod session;

pub use error::{CodexError, StderrTail};
pub use kill::CodexKilled;
pub use options::CodexOptions;
pub use process::CodexProcess;

use crate::item::Modalities;
use crate::json::Json;

/// What is done with a rollout before the turn that shows its projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodexStep {
    /// `thread/resume`: the file is read, nothing else.
    #[default]
    Resume,
    /// `thread/fork`: the turn runs in a copy of the thread.
    Fork,
    /// `thread/resume`, then `thread/rollback` of so many turns, at least 1. Release 0.171.0 has no such method and refuses.
    Rollback(u32),
}

/// One case for the program.
#[derive(Debug, Clone, Copy)]
pub struct CodexCase<'a> {
    /// The rollout file.
    pub rollout: &'a [u8],
    /// What the model of the turn accepts.
    pub modalities: Modalities,
    /// What happens before the turn.
    pub step: CodexStep,
}

/// What the program sent and wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct CodexProjection {
    /// The items of the request, without what the program added for the new turn.
    pub input: Vec<Json>,
    /// The rollout as it was written: the one that was given, but for the session's id, which every case has its own of.
    pub rollout_before: Vec<u8>,
    /// The same file after the turn. It only ever grows; after a fork it is as before.
    pub rollout_after: Vec<u8>,
    /// The file of the fork, where the step was one.
    pub fork: Option<CodexFork>,
}

/// The file that a fork made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexFork {
    /// As the fork left it.
    pub rollout_before: Vec<u8>,
    /// After the turn in the fork.
    pub rollout_after: Vec<u8>,
}
