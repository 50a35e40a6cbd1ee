//! The session layer: from the working set to the request, around the projection.
//!
//! A [`Session`] keeps the live history behind a lock. A turn records what is new, and before every request takes a clone
//! of the history, lets go of the lock, and projects the clone: [`Session::clone_history`], then `for_prompt`. What the
//! projection repairs never comes back. Everything that happens goes to the rollout as it happens; from the rollout a
//! session is resumed, rolled back and forked.
//!
//! Two loops of retries lie one inside the other: a transport retry sends the bytes that are there, an attempt clones,
//! projects and encodes anew. No HTTP, no async runtime, no approvals: a [`Transport`] takes bytes and gives events, a tool
//! is a callback that answers, fails or never answers.
//!
//! Built after release rust-v0.144.6 as it is seen from outside.
//!
//! ```
//! # use callpair::{item::{Modalities, ResponseItem}, json::Json, session::{Session, SessionConfig, SessionServices}};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("rollout.jsonl");
//! let services = SessionServices::bare();
//! let session = Session::start(&path, SessionConfig::default(), services.clone())?;
//! let call = r#"{"type":"function_call","name":"ls","arguments":"{}","call_id":"a"}"#;
//! session.record(vec![ResponseItem::load(Json::parse(call)?).unwrap().into()])?;
//! // The request says that the call was aborted; history and file do not.
//! assert_eq!((session.project(Modalities::Text).len(), session.snapshot().len()), (2, 1));
//! let resumed = Session::resume(&path, SessionConfig::default(), services)?;
//! assert_eq!(resumed.project(Modalities::Text), session.project(Modalities::Text));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bare;
mod compact;
mod context;
mod error;
pub mod fault;
mod fork;
mod host;
mod interrupt;
mod live;
mod observed;
mod record;
mod request;
mod resume;
mod sampling;
mod settings;
mod state;
mod step;
mod tools;
mod transport;
mod turn;

pub use context::{AdditionalContext, ContextKind};
pub use error::SessionError;
pub use fork::ForkPoint;
pub use host::{CountingHost, Host};
pub use interrupt::{AbortReason, Interrupt};
pub use observed::Observed;
pub use request::{EncodedRequest, Prompt, RequestControls, RequestForm, encode};
pub use settings::{ModelSettings, SettingsTexts, TurnSettings};
pub use state::{Session, SessionConfig, SessionServices, SessionTexts};
pub use step::{McpRuntime, SectionContributor, StepContext, TurnContext, Workspace};
pub use tools::{ToolOutcome, ToolRun, Tools};
pub use transport::{
    Authorisation, EventStream, Failure, Retry, RetryLimits, SendError, StreamBroken, StreamEvent, Transport,
    backoff,
};
pub use turn::{TurnEnd, TurnReport, UserTurn};
