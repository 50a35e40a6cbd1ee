//! The types of lines in a rollout, and how one line loads.

use crate::item::shape::{self, object, optional, required};
use crate::item::{InterAgentCommunication, ResponseItem, Shape, ShapeError};
use crate::json::{Json, JsonError, Object};
use std::sync::Arc;
use uuid::Uuid;

/// A line that loads.
#[derive(Debug, Clone, PartialEq)]
pub enum RolloutLine {
    /// Says whose session this is; must stand before the first item.
    SessionMeta(SessionMeta),
    /// An item of the history.
    ResponseItem(Arc<ResponseItem>),
    /// A compaction.
    Compacted(Compacted),
    /// What one agent said to another; becomes an item.
    InterAgent(InterAgentCommunication),
    /// Something that happened.
    Event(Event),
    /// The settings of a turn; `turn_id` where it has one.
    TurnContext {
        /// The turn.
        turn_id: Option<String>,
        /// The whole payload.
        payload: Json,
    },
    /// What the model was told of its surroundings: comparison state, never sent.
    WorldState(Json),
    /// Means nothing for the history.
    InterAgentMetadata,
}

/// The first line of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMeta {
    /// The session.
    pub id: Uuid,
    /// The version of the program that wrote the file.
    pub cli_version: String,
    /// The session that this one is a fork of, as it is written.
    pub forked_from_id: Option<String>,
    /// The instructions of the thread, where the file has them.
    pub base_instructions: Option<String>,
}

/// A compaction: what came before it is replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// The summary as text.
    pub message: String,
    /// The new history. Without one it is made of the user messages before and the message.
    pub replacement_history: Option<Vec<Arc<ResponseItem>>>,
}

/// An event. Only some mean anything for the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The last turns were taken back.
    ThreadRolledBack {
        /// How many.
        num_turns: u32,
    },
    /// A turn began.
    TaskStarted {
        /// Which.
        turn_id: String,
    },
    /// A turn ended.
    TaskComplete {
        /// Which.
        turn_id: String,
    },
    /// A turn was broken off.
    TurnAborted {
        /// Which, where it is known.
        turn_id: Option<String>,
    },
    /// The user said something.
    UserMessage,
    /// Any other, by its name.
    Other(String),
}

/// Why a line does not load. The program skips it in silence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// The bytes are no text. The program refuses the whole file.
    #[error("not UTF-8 at byte {0} of the line")]
    NotUtf8(usize),
    /// The text is no JSON: torn, glued to another, or foreign.
    #[error("{0}")]
    NotJson(JsonError),
    /// The line is a list or a scalar.
    #[error("the line is {0}, not an object")]
    NotAnObject(&'static str),
    /// The program does not know such a line.
    #[error("unknown line type {0:?}")]
    UnknownType(String),
    /// The line, or what is in it, does not fit its shape.
    #[error("{0}")]
    Shape(ShapeError),
}

impl From<ShapeError> for LineProblem {
    fn from(error: ShapeError) -> LineProblem {
        LineProblem::Shape(error)
    }
}

/// How much of a foreign name is kept for a report, in characters.
const NAME_CHARS: usize = 60;

impl RolloutLine {
    /// Loads a line as the program does. Blank lines are the caller's business.
    ///
    /// # Errors
    /// Says why the program skips the line.
    pub fn load(text: &str) -> Result<RolloutLine, LineProblem> {
        let json = Json::parse(text).map_err(LineProblem::NotJson)?;
        if let Some(number) = json.oversized_integer() {
            let problem = shape::ShapeProblem::OversizedInteger(number.text().into_owned());
            return Err(ShapeError::new(problem).into());
        }
        let mut line = match json {
            Json::Object(object) => object,
            other => return Err(LineProblem::NotAnObject(other.describe())),
        };
        let _timestamp: String = required(&mut line, "timestamp")?;
        let name = shape::take_type(&mut line)?;
        let payload = line.take("payload").unwrap_or_default();
        RolloutLine::load_payload(&name, payload)
    }

    fn load_payload(name: &str, payload: Json) -> Result<RolloutLine, LineProblem> {
        let under = |error: ShapeError| LineProblem::Shape(error.under("payload"));
        Ok(match name {
            "session_meta" => RolloutLine::SessionMeta(SessionMeta::load(payload).map_err(under)?),
            "response_item" => {
                RolloutLine::ResponseItem(Arc::new(ResponseItem::load(payload).map_err(under)?))
            }
            "compacted" => RolloutLine::Compacted(Compacted::load(payload).map_err(under)?),
            "inter_agent_communication" => {
                RolloutLine::InterAgent(InterAgentCommunication::load(payload).map_err(under)?)
            }
            "event_msg" => RolloutLine::Event(Event::load(payload).map_err(under)?),
            "turn_context" => {
                let mut fields = object(payload.clone()).map_err(under)?;
                RolloutLine::TurnContext {
                    turn_id: optional(&mut fields, "turn_id").map_err(under)?,
                    payload,
                }
            }
            "world_state" => {
                object(payload.clone()).map_err(under)?;
                RolloutLine::WorldState(payload)
            }
            "inter_agent_communication_metadata" => RolloutLine::InterAgentMetadata,
            other => return Err(LineProblem::UnknownType(other.chars().take(NAME_CHARS).collect())),
        })
    }
}

impl SessionMeta {
    fn load(payload: Json) -> Result<SessionMeta, ShapeError> {
        let mut payload = object(payload)?;
        let id: String = required(&mut payload, "id")?;
        let id = Uuid::try_parse(&id)
            .map_err(|_| ShapeError::wrong_type("a UUID", &Json::String(id)).under("id"))?;
        for name in ["timestamp", "cwd", "originator"] {
            let _: String = required(&mut payload, name)?;
        }
        let _: Option<String> = optional(&mut payload, "model_provider")?;
        // All that is known of these two.
        for name in ["source", "base_instructions"] {
            if let Some(value @ (Json::Number(_) | Json::Bool(_))) = payload.get(name) {
                return Err(ShapeError::wrong_type("a string or an object", value).under(name));
            }
        }
        let forked_from_id = payload.take("forked_from_id").and_then(|id| id.as_str().map(str::to_owned));
        let base_instructions = payload.take("base_instructions");
        let base_instructions =
            base_instructions.and_then(|value| Some(value.get("text")?.as_str()?.to_owned()));
        let cli_version = required(&mut payload, "cli_version")?;
        Ok(SessionMeta { id, cli_version, forked_from_id, base_instructions })
    }
}

impl Compacted {
    fn load(payload: Json) -> Result<Compacted, ShapeError> {
        let mut payload = object(payload)?;
        let message = required(&mut payload, "message")?;
        let replacement: Option<Vec<ResponseItem>> = optional(&mut payload, "replacement_history")?;
        let _: Option<Integer> = optional(&mut payload, "window_number")?;
        for id in ["window_id", "first_window_id", "previous_window_id"] {
            let _: Option<String> = optional(&mut payload, id)?;
        }
        let replacement_history = replacement.map(|items| {
            let stays =
                |item: &ResponseItem| !matches!(item, ResponseItem::Other(name) if name == "ghost_snapshot");
            items.into_iter().filter(stays).map(Arc::new).collect()
        });
        Ok(Compacted { message, replacement_history })
    }
}

/// Any integer, of either sign.
struct Integer;

impl Shape for Integer {
    fn load(json: Json) -> Result<Integer, ShapeError> {
        match &json {
            Json::Number(number) if !number.text().contains(['.', 'e', 'E']) => Ok(Integer),
            _ => Err(ShapeError::wrong_type("an integer", &json)),
        }
    }

    fn write(&self, _out: &mut Vec<u8>) {}
}

/// The reasons for which a turn can be broken off.
const ABORT_REASONS: &[&str] = &["interrupted", "replaced", "review_ended", "budget_limited"];

impl Event {
    fn load(payload: Json) -> Result<Event, ShapeError> {
        let mut payload = object(payload)?;
        let name = shape::take_type(&mut payload)?;
        Ok(match name.as_str() {
            "thread_rolled_back" => Event::ThreadRolledBack { num_turns: Event::load_turns(&mut payload)? },
            "task_started" | "turn_started" => {
                let _: Option<Integer> = optional(&mut payload, "model_context_window")?;
                let _: Option<Integer> = optional(&mut payload, "started_at")?;
                // The names of the modes are not known, so any string passes here.
                let _: Option<String> = optional(&mut payload, "collaboration_mode_kind")?;
                Event::TaskStarted { turn_id: required(&mut payload, "turn_id")? }
            }
            "task_complete" | "turn_complete" => {
                let _: Option<String> = optional(&mut payload, "last_agent_message")?;
                Event::TaskComplete { turn_id: required(&mut payload, "turn_id")? }
            }
            "turn_aborted" => {
                let reason: String = required(&mut payload, "reason")?;
                if !ABORT_REASONS.contains(&reason.as_str()) {
                    return Err(shape::unknown_name(reason, ABORT_REASONS).under("reason"));
                }
                Event::TurnAborted { turn_id: optional(&mut payload, "turn_id")? }
            }
            "user_message" => {
                let _: String = required(&mut payload, "message")?;
                let _: Option<Vec<String>> = optional(&mut payload, "images")?;
                Event::UserMessage
            }
            _ => Event::Other(name),
        })
    }

    fn load_turns(payload: &mut Object) -> Result<u32, ShapeError> {
        let turns: u64 = required(payload, "num_turns")?;
        u32::try_from(turns).map_err(|_| {
            ShapeError::wrong_type("an integer from 0 to 4294967295", &Json::from(turns)).under("num_turns")
        })
    }
}
