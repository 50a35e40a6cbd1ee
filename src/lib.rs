//! Verifies the projection from an agent's history to its next model request.
//!
//! An agent runtime keeps a conversation's history and projects it to a prompt before every model request. Histories break:
//! a call whose output never came, an output whose call is gone, pictures that the next model cannot read. The API refuses such
//! input. So runtimes repair a detached copy on the way out. This crate verifies that they do it right, by generated
//! histories, by invariants that were seen to fail, and by recorded sessions; and it carries a reference that equals release
//! rust-v0.144.6 of Codex.
//!
//! Rooms, in order; each uses only those above it:
//!
//! - [`json`]: a JSON value that loses nothing.
//! - [`item`]: what a history is made of, in the wire form and in the lossless form.
//! - [`pairing`]: which call needs which output; from roles to a plan of repairs. Knows no item type.
//! - [`projection`]: applies a plan to shared items; synthetic ids; stripping of pictures.
//! - [`contract`]: what an API accepts of an input: rules with evidence, and the check of each.
//! - [`history`]: `ContextManager`, the live history.
//! - [`rollout`]: the durable record: reading, reconstruction, writing.
//! - [`source`]: what a file is, and where each item stands in it.
//! - [`check`]: what is wrong with a recorded history, and what the next request will hold in its place.
//! - `world_state` and `session` (feature `session`): the session layer around the projection.
//! - [`case`]: a script of steps on a subject, and the trace that running it leaves.
//! - [`minimize`]: the smallest case that fails the same way.
//! - `server` (feature `server`): a model server on loopback, for subjects that are whole programs.
//! - [`subject`]: the trait that a thing under test implements, and the reference.
//! - [`fault`]: the bank of planted faults: a second, plain implementation that can slip.
//! - [`generate`]: drawing of cases: one generator over a trait of choices.
//! - [`invariant`]: what must hold, as pure functions over traces.
//! - [`verify`]: the runner.
//! - [`fuzzing`]: what the fuzz targets do.
//! - `report` and `cli` (feature `cli`): results shown in several ways, and the command.

pub mod case;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod contract;
pub mod fault;
pub mod fuzzing;
pub mod generate;
pub mod history;
pub mod invariant;
pub mod item;
pub mod json;
pub mod minimize;
pub mod pairing;
pub mod projection;
#[cfg(feature = "cli")]
pub mod report;
pub mod rollout;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "session")]
pub mod session;
pub mod source;
pub mod subject;
pub mod verify;
#[cfg(feature = "session")]
pub mod world_state;

/// The Rust of the README is run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
