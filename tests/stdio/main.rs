//! A subject over stdio may do what it likes: it is named, ended, started anew, and nothing is left running.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod ends;
#[cfg(feature = "cli")]
mod faults;
mod helpers;
mod signals;
mod support;
