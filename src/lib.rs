//! Verifies the projection from an agent's history to its next model request.
//!
//! Rooms, in order; each uses only those above it:
//!
//! - [`json`]: a JSON value that loses nothing.
//! - [`item`]: what a history is made of, in the wire form and in the lossless form.
//! - [`pairing`]: which call needs which output; from roles to a plan of repairs. Knows no item type.
//! - [`projection`]: applies a plan to shared items; synthetic ids; stripping of pictures.
//! - `world_state`, behind the feature `session`: what the model is told of its surroundings; snapshots and patches.
//! - [`history`]: `ContextManager`, the live history.
//! - [`rollout`]: the durable record: reading, reconstruction, writing.
//! - `session`, behind the feature of that name: from the working set to the request, around the projection.

pub mod history;
pub mod item;
pub mod json;
pub mod pairing;
pub mod projection;
pub mod rollout;
#[cfg(feature = "session")]
pub mod session;
#[cfg(feature = "session")]
pub mod world_state;
