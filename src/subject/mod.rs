//! The things under test.

#[cfg(feature = "codex")]
pub mod codex;
