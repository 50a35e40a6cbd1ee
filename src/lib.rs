//! Verifies the projection from an agent's history to its next model request.
//!
//! Rooms, in order; each uses only those above it:
//!
//! - [`json`]: a JSON value that loses nothing.
//! - [`item`]: what a history is made of, in the wire form and in the lossless form.
//! - [`pairing`]: which call needs which output; from roles to a plan of repairs. Knows no item type.
//! - [`projection`]: applies a plan to shared items; synthetic ids; stripping of pictures.
//! - [`history`]: `ContextManager`, the live history.
//! - [`rollout`]: the durable record: reading, reconstruction, writing.
//! - `subject`: the things under test; `subject::codex` is the real program (feature `codex`).
//!
//! A leaf beside them: `server`, the model server on loopback (feature `server`).

pub mod history;
pub mod item;
pub mod json;
pub mod pairing;
pub mod projection;
pub mod rollout;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "codex")]
pub mod subject;
