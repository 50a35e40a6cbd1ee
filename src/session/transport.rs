//! How a request leaves and how its answer comes: the trait that a caller implements, and what each failure leads to.
//!
//! No HTTP here. Two loops of retries lie one inside the other: the inner one sends the same bytes again, the outer one
//! projects and encodes anew. Which failure belongs to which was measured on release rust-v0.144.6.

use super::interrupt::Interrupt;
use super::request::EncodedRequest;
use crate::item::ResponseItem;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What proves to the server who asks. Asked for anew before each sending; never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Authorisation(pub String);

impl fmt::Debug for Authorisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorisation(…)")
    }
}

/// Sends encoded requests.
pub trait Transport: Send + Sync {
    /// A fresh authorisation.
    fn authorise(&self) -> Authorisation;

    /// Sends a body and gives the stream of its answer. May block; should give up once the interrupt is set.
    ///
    /// # Errors
    /// Where no answer comes, or one that is no stream.
    fn send(
        &self,
        request: &EncodedRequest,
        authorisation: Authorisation,
        interrupt: &Interrupt,
    ) -> Result<EventStream, SendError>;
}

/// The events of an answer, in order. An end without [`StreamEvent::Completed`] is a broken stream.
pub type EventStream = Box<dyn Iterator<Item = Result<StreamEvent, StreamBroken>> + Send>;

/// Something that a stream tells.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// A piece of an item that is not done. Nothing of it is kept.
    Delta,
    /// An item is done.
    ItemDone(Arc<ResponseItem>),
    /// The answer is whole.
    Completed {
        /// How many tokens the window holds now, where the server says.
        total_tokens: Option<u64>,
    },
    /// The server gave up.
    Failed {
        /// Why, as the API names it.
        code: String,
        /// Why, for people.
        message: String,
    },
    /// The answer is cut.
    Incomplete {
        /// Why.
        reason: String,
    },
}

/// The stream broke off.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stream disconnected before completion: {0}")]
pub struct StreamBroken(pub String);

/// Why no stream came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The connection failed before an answer.
    #[error("no answer: {0}")]
    Unreachable(String),
    /// The server answered with an error.
    #[error("unexpected status {code}: {message}")]
    Status {
        /// The HTTP status.
        code: u16,
        /// What the server says.
        message: String,
    },
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No stream came.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The stream broke off.
    #[error(transparent)]
    Broken(#[from] StreamBroken),
    /// The stream ended without saying that it was complete.
    #[error("stream closed before the answer was complete")]
    Unfinished,
    /// The server gave up.
    #[error("the answer failed ({code}): {message}")]
    Failed {
        /// Why, as the API names it.
        code: String,
        /// Why, for people.
        message: String,
    },
    /// The answer is cut.
    #[error("incomplete answer: {reason}")]
    Incomplete {
        /// Why.
        reason: String,
    },
}

/// What a failure leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same bytes are sent again; once that is used up, a new attempt.
    Request,
    /// A new attempt, after this time or by the formula.
    Attempt(Option<Duration>),
    /// Nothing; the turn has failed.
    Never,
}

/// The answer of the API that says that the window is full.
const WINDOW_FULL: &str = "context_length_exceeded";

/// The failures of an answer that no attempt can mend.
const FINAL_CODES: [&str; 4] = [WINDOW_FULL, "invalid_prompt", "insufficient_quota", "server_is_overloaded"];

impl Failure {
    /// What follows. Statuses that could not be tried (other than 400, 401, 404, 413, 429 and 5xx) are taken as 404.
    pub fn retry(&self) -> Retry {
        match self {
            Failure::Send(SendError::Unreachable(_)) => Retry::Request,
            Failure::Send(SendError::Status { code: 500..=599, .. }) => Retry::Request,
            Failure::Send(SendError::Status { code: 400 | 429, .. }) => Retry::Never,
            Failure::Failed { code, .. } if FINAL_CODES.contains(&code.as_str()) => Retry::Never,
            Failure::Failed { code, message } if code == "rate_limit_exceeded" => {
                Retry::Attempt(named_wait(message))
            }
            Failure::Send(SendError::Status { .. })
            | Failure::Broken(_)
            | Failure::Unfinished
            | Failure::Failed { .. }
            | Failure::Incomplete { .. } => Retry::Attempt(None),
        }
    }

    /// Whether the window counts as full from now on. An HTTP 400 of the same name does not say so.
    pub fn fills_window(&self) -> bool {
        matches!(self, Failure::Failed { code, .. } if code == WINDOW_FULL)
    }
}

/// The time in "try again in 1.3s" or "… 20ms".
fn named_wait(message: &str) -> Option<Duration> {
    let (_, rest) = message.split_once("try again in ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = rest.split_at_checked(digits)?;
    let number: f64 = number.parse().ok()?;
    let seconds = if unit.starts_with("ms") { number / 1000.0 } else { number };
    // Nobody waits for a day.
    Duration::try_from_secs_f64(seconds.min(86_400.0)).ok()
}

/// How often is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryLimits {
    /// The same bytes, within an attempt.
    pub requests: u32,
    /// New attempts, within a sampling step.
    pub attempts: u32,
}

/// The program's: 4 within each of 1 + 5.
impl Default for RetryLimits {
    fn default() -> RetryLimits {
        RetryLimits { requests: 4, attempts: 5 }
    }
}

/// How long to wait before the `n`th retry, `n` from 1: 200 ms, doubled each time. (The program strays from it by up to
/// a tenth; that is left to the host.)
pub fn backoff(n: u32) -> Duration {
    Duration::from_millis(200).saturating_mul(2_u32.saturating_pow(n.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limit_names_its_own_wait() {
        let failed =
            |code: &str, message: &str| Failure::Failed { code: code.into(), message: message.into() };
        let wait = |message| failed("rate_limit_exceeded", message).retry();
        assert_eq!(wait("try again in 1.3s"), Retry::Attempt(Some(Duration::from_millis(1300))));
        assert_eq!(wait("Please try again in 20ms."), Retry::Attempt(Some(Duration::from_millis(20))));
        assert_eq!(wait("try again in .s"), Retry::Attempt(None));
        assert_eq!(wait("later"), Retry::Attempt(None));
        assert_eq!(failed("server_error", "try again in 1s").retry(), Retry::Attempt(None));
    }

    #[test]
    fn waits_double_and_never_overflow() {
        assert_eq!([backoff(1), backoff(2), backoff(5)].map(|wait| wait.as_millis()), [200, 400, 3200]);
        assert!(backoff(u32::MAX) >= backoff(40));
    }
}
