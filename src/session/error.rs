//! Why something could not be done to a session.

use crate::rollout::{LinesError, Refusal, WriteError};
use std::io;
use std::path::PathBuf;

/// Why something could not be done to a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A new session would go on behind another one.
    #[error("{0} holds something already: resume it, or start the session in a file that is not there")]
    NotEmpty(PathBuf),
    /// The rollout cannot be opened.
    #[error("{path}: {error}")]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The rollout cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: LinesError,
    },
    /// The rollout is none that the program resumes.
    #[error("{path}: {refusal}")]
    Refused {
        /// Which.
        path: PathBuf,
        /// Why.
        refusal: Refusal,
    },
    /// The rollout is compressed, and lines cannot be appended to it.
    #[error("{0} is compressed: unpack it (zstd -d) and resume what comes out")]
    Compressed(PathBuf),
    /// What happened could not be made durable; it is not in the live history either.
    #[error("{path}: {error}")]
    Write {
        /// The rollout.
        path: PathBuf,
        /// Why.
        error: WriteError,
    },
    /// A turn runs.
    #[error("a turn is in progress: wait for its end, or interrupt it")]
    TurnInProgress,
    /// No turn runs.
    #[error("no active turn to steer")]
    NoActiveTurn,
    /// A fork at a turn that the rollout does not have.
    #[error("no turn {0} in the rollout")]
    NoSuchTurn(String),
}
