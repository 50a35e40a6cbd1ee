//! The steps of the state machine, as values: what proptest draws, shrinks and prints.

use super::{Answer, Step, ToolPlan, item, text_part};
use callpair::item::{ContentPart, ImageDetail, InputImage, Message, ResponseItem, ToolOutput};
use callpair::session::{SendError, StreamEvent, ToolOutcome};
use proptest::prelude::*;
use std::sync::Arc;

/// A step.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// The user says something; the server answers by the script, and well once the script is at its end.
    Turn { picture: bool, script: Vec<Reply> },
    /// The user asks for a compaction.
    Compact { script: Vec<Reply> },
    /// Turns are taken back.
    Rollback(u8),
    /// The session goes on in a fork.
    Fork,
    /// The process ends and another one goes on.
    Resume,
    /// The process dies, and of the file only this share of what was written since the last step (in 65536ths), or
    /// of all, is on the disk.
    Crash { of_all: bool, share: u16 },
    /// Another model, with or without eyes.
    Model { second: bool, text_only: bool },
    /// Another approval policy.
    Policy(u8),
    /// The world changes.
    World(WorldChange),
    /// An extension adds, changes or takes back its section.
    Extension { n: u8, revision: Option<u8> },
    /// Somebody else records items.
    Record(Vec<Made>),
    /// A call, then a message of the user, then the output; and the turn is taken back that the message began.
    SplitPair { call: u8 },
    /// Somebody else replaces the history.
    Replace(Vec<Made>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum WorldChange {
    Cwd(u8),
    Date(u8),
    Plugin(bool),
    /// AGENTS.md on the disk.
    Rules(Option<u8>),
    /// Whether commands can run at all.
    Local(bool),
    /// Whether the model is told of environments.
    Told(bool),
}

/// What the server does with one sending.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Unavailable,
    Stream { items: Vec<Made>, tools: Vec<ToolScript>, end: End },
}

/// An item that somebody made. Call ids are from a small pool, so that they collide.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Made {
    Said(u8),
    Thought,
    Function {
        call: u8,
        id: bool,
    },
    Custom {
        call: u8,
    },
    Shell {
        call: u8,
    },
    Search {
        call: u8,
    },
    Drawn,
    /// In records and replacements alone.
    Output {
        call: u8,
    },
    CustomOutput {
        call: u8,
    },
    User(u8),
    System,
}

/// What the tool of a call does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ToolScript {
    Answers,
    AnswersAtLength,
    Fails,
    /// The user interrupts while it runs; it never answers.
    Interrupted,
    /// It answers, but meanwhile the user says more,
    Steered,
    /// ... or somebody puts in an open call,
    Injected,
    /// ... or somebody forks.
    Forked,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    Completed,
    /// Complete, and the window is over the limit of automatic compaction.
    CompletedFull,
    /// The connection breaks.
    Broken,
    /// The connection ends well, but the answer is not complete.
    Ended,
    Incomplete,
    /// A failure after which is tried again.
    ServerError,
    /// The window is full: nothing is tried again, and the next turn compacts first.
    WindowFull,
    /// The user interrupts.
    Interrupted,
}

impl Made {
    pub(crate) fn item(self) -> Arc<ResponseItem> {
        let shell = r#""status":"completed","action":{"type":"exec","command":["ls"],"timeout_ms":null,"working_directory":null,"env":null,"user":null}"#;
        item(&match self {
            Made::Said(n) => format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"said {n} ü"}}]}}"#
            ),
            Made::Thought => r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#.to_owned(),
            Made::Function { call, id } => {
                let id = if id { format!(r#""id":"fc_{call}","#) } else { String::new() };
                format!(
                    r#"{{"type":"function_call",{id}"name":"run","arguments":"{{}}","call_id":"c{call}"}}"#
                )
            }
            Made::Custom { call } => {
                format!(r#"{{"type":"custom_tool_call","name":"patch","input":"","call_id":"c{call}"}}"#)
            }
            Made::Shell { call } => format!(r#"{{"type":"local_shell_call","call_id":"c{call}",{shell}}}"#),
            Made::Search { call } => format!(
                r#"{{"type":"tool_search_call","call_id":"c{call}","execution":"client","arguments":{{}}}}"#
            ),
            Made::Drawn => {
                r#"{"type":"image_generation_call","status":"completed","result":"iVBORw0KGgo="}"#.to_owned()
            }
            Made::Output { call } => {
                format!(r#"{{"type":"function_call_output","call_id":"c{call}","output":"put in"}}"#)
            }
            Made::CustomOutput { call } => {
                format!(r#"{{"type":"custom_tool_call_output","call_id":"c{call}","output":"put in"}}"#)
            }
            Made::User(n) => format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"user {n}"}}]}}"#
            ),
            Made::System => {
                r#"{"type":"message","role":"system","content":[{"type":"input_text","text":"s"}]}"#
                    .to_owned()
            }
        })
    }

    /// Whether the client must answer it.
    pub(crate) fn is_call(self) -> bool {
        matches!(self, Made::Function { .. } | Made::Custom { .. } | Made::Shell { .. } | Made::Search { .. })
    }

    pub(crate) fn call_id(self) -> Option<String> {
        match self {
            Made::Function { call, .. }
            | Made::Custom { call }
            | Made::Shell { call }
            | Made::Search { call } => Some(format!("c{call}")),
            _ => None,
        }
    }
}

impl ToolScript {
    pub(crate) fn outcome(self) -> ToolOutcome {
        match self {
            ToolScript::AnswersAtLength => ToolOutcome::Answered(ToolOutput::Text("long ".repeat(50))),
            ToolScript::Fails => ToolOutcome::Failed("it failed".to_owned()),
            ToolScript::Interrupted => ToolOutcome::Interrupted,
            ToolScript::Answers | ToolScript::Steered | ToolScript::Injected | ToolScript::Forked => {
                ToolOutcome::Answered(ToolOutput::Text("answered".to_owned()))
            }
        }
    }
}

/// From so many tokens on is compacted.
pub(crate) const COMPACT_LIMIT: u64 = 1000;

impl Reply {
    /// `plan` says what a tool does by its script.
    pub(crate) fn answer(&self, plan: impl Fn(ToolScript) -> ToolPlan) -> Answer {
        let (items, tools, end) = match self {
            Reply::Unavailable => {
                return Answer::Refuse(SendError::Status { code: 500, message: "scripted".to_owned() });
            }
            Reply::Stream { items, tools, end } => (items, tools, end),
        };
        let mut steps = vec![Step::Event(StreamEvent::Delta)];
        steps.extend(items.iter().map(|made| Step::item(&made.item())));
        steps.extend(match end {
            End::Completed => Some(Step::Event(StreamEvent::Completed { total_tokens: Some(10) })),
            End::CompletedFull => {
                Some(Step::Event(StreamEvent::Completed { total_tokens: Some(COMPACT_LIMIT) }))
            }
            End::Broken => Some(Step::Break),
            End::Ended => None,
            End::Incomplete => Some(Step::Event(StreamEvent::Incomplete { reason: "cut".to_owned() })),
            End::ServerError => Some(failed("server_error")),
            End::WindowFull => Some(failed("context_length_exceeded")),
            End::Interrupted => Some(Step::Interrupt),
        });
        let calls = items.iter().filter_map(|made| made.call_id());
        let plans = calls.zip(tools).map(|(call_id, tool)| (call_id, plan(*tool)));
        Answer::Planned(steps, plans.collect())
    }
}

fn failed(code: &str) -> Step {
    Step::Event(StreamEvent::Failed { code: code.to_owned(), message: String::new() })
}

/// What the server answers once a script is at its end.
pub(crate) fn well() -> Reply {
    Reply::Stream { items: vec![Made::Said(0)], tools: Vec::new(), end: End::Completed }
}

/// What a user says.
pub(crate) fn user_content(n: u64, picture: bool) -> Vec<ContentPart> {
    const DOT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAEElEQVR4nGPgPMEJRwzEcQBigw2hSTNffwAAAABJRU5ErkJggg==";
    let image = InputImage { image_url: DOT.to_owned(), detail: Some(ImageDetail::High) };
    let picture = picture.then_some(ContentPart::InputImage(image));
    [text_part(&format!("says {n} — über"))].into_iter().chain(picture).collect()
}

pub(crate) fn user_message(content: Vec<ContentPart>) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::Message(Message { id: None, role: "user".to_owned(), content, phase: None }))
}

fn made_by_model() -> impl Strategy<Value = Made> {
    prop_oneof![
        3 => (0..3_u8).prop_map(Made::Said),
        1 => Just(Made::Thought),
        1 => Just(Made::Drawn),
        4 => (0..4_u8, any::<bool>()).prop_map(|(call, id)| Made::Function { call, id }),
        2 => (0..4_u8).prop_map(|call| Made::Custom { call }),
        1 => (0..4_u8).prop_map(|call| Made::Shell { call }),
        1 => (0..4_u8).prop_map(|call| Made::Search { call }),
    ]
}

fn made_by_anybody() -> impl Strategy<Value = Made> {
    prop_oneof![
        4 => made_by_model(),
        1 => (0..4_u8).prop_map(|call| Made::Output { call }),
        1 => (0..4_u8).prop_map(|call| Made::CustomOutput { call }),
        2 => (0..3_u8).prop_map(Made::User),
        1 => Just(Made::System),
    ]
}

fn tool() -> impl Strategy<Value = ToolScript> {
    prop_oneof![
        6 => Just(ToolScript::Answers),
        1 => Just(ToolScript::AnswersAtLength),
        2 => Just(ToolScript::Fails),
        1 => Just(ToolScript::Interrupted),
        1 => Just(ToolScript::Steered),
        1 => Just(ToolScript::Injected),
        1 => Just(ToolScript::Forked),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        8 => Just(End::Completed),
        1 => Just(End::CompletedFull),
        3 => Just(End::Broken),
        1 => Just(End::Ended),
        1 => Just(End::Incomplete),
        1 => Just(End::ServerError),
        1 => Just(End::WindowFull),
        1 => Just(End::Interrupted),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let stream =
        (proptest::collection::vec(made_by_model(), 0..4), proptest::collection::vec(tool(), 4), end());
    prop_oneof![
        1 => Just(Reply::Unavailable),
        5 => stream.prop_map(|(items, tools, end)| Reply::Stream { items, tools, end }),
    ]
}

fn script(longest: usize) -> impl Strategy<Value = Vec<Reply>> {
    proptest::collection::vec(reply(), 0..=longest)
}

fn world() -> impl Strategy<Value = WorldChange> {
    prop_oneof![
        2 => (0..3_u8).prop_map(WorldChange::Cwd),
        1 => (0..2_u8).prop_map(WorldChange::Date),
        2 => any::<bool>().prop_map(WorldChange::Plugin),
        2 => proptest::option::of(0..3_u8).prop_map(WorldChange::Rules),
        1 => any::<bool>().prop_map(WorldChange::Local),
        1 => any::<bool>().prop_map(WorldChange::Told),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => (proptest::bool::weighted(0.2), script(6)).prop_map(|(picture, script)| Op::Turn { picture, script }),
        2 => script(2).prop_map(|script| Op::Compact { script }),
        3 => (0..4_u8).prop_map(Op::Rollback),
        1 => Just(Op::Fork),
        2 => Just(Op::Resume),
        2 => (proptest::bool::weighted(0.2), any::<u16>()).prop_map(|(of_all, share)| Op::Crash { of_all, share }),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(second, text_only)| Op::Model { second, text_only }),
        1 => (0..2_u8).prop_map(Op::Policy),
        3 => world().prop_map(Op::World),
        3 => (0..2_u8, proptest::option::of(0..3_u8)).prop_map(|(n, revision)| Op::Extension { n, revision }),
        1 => proptest::collection::vec(made_by_anybody(), 0..4).prop_map(Op::Record),
        1 => (0..4_u8).prop_map(|call| Op::SplitPair { call }),
        1 => proptest::collection::vec(made_by_anybody(), 0..5).prop_map(Op::Replace),
    ]
}

/// Up to so many steps.
pub(crate) fn steps(longest: usize) -> impl Strategy<Value = Vec<Op>> {
    proptest::collection::vec(op(), 1..=longest)
}
