//! The rules of the Responses API, one constant each, and what each looks at.

use super::{Confidence, ContractRule, How, Reading};
use crate::item::{ContentPart, ResponseItem};
use crate::pairing::{OutputKind, Role};
use crate::projection::role;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The longest item id that the API takes, in characters.
const LONGEST_ID: usize = 64;

impl ContractRule {
    /// Item ids are unique.
    pub const DUPLICATE_ITEM_ID: ContractRule = ContractRule {
        id: "responses/duplicate-item-id",
        statement: "No two items of a request share an item id.",
        why: "The API refuses the request: \"Duplicate item found with id\".",
        confidence: Confidence::ReportedBySeveral,
        evidence: &[
            "OpenRouterTeam/ai-sdk-provider#254",
            "openai/openai-agents-js#425",
            "openai/openai-agents-python#1789",
            "cloudflare/agents#728",
        ],
        read: duplicate_item_id,
    };

    /// One output for a call.
    pub const DUPLICATE_OUTPUT: ContractRule = ContractRule {
        id: "responses/duplicate-output-for-call",
        statement: "A request has no more outputs with a call id than calls with it that they can answer.",
        why: "Strict servers refuse a second output for a call; elsewhere the model takes one of them for the truth.",
        confidence: Confidence::OneReport,
        evidence: &["NousResearch/hermes-agent#111443"],
        read: duplicate_output,
    };

    /// What follows a reasoning item.
    pub const REASONING_FOLLOWED: ContractRule = ContractRule {
        id: "responses/reasoning-without-following-item",
        statement: "Right after a reasoning item of a request stands what the model did next: a message of its own, a call, more reasoning.",
        why: "The API refuses the request: \"of type 'reasoning' was provided without its required following item\".",
        confidence: Confidence::ReportedBySeveral,
        evidence: &[
            "continuedev/continue#8933",
            "mastra-ai/mastra#14048",
            "vercel/ai#7099",
            "openai/openai-node#1567",
            "openai/openai-agents-python#1611",
        ],
        read: reasoning_followed,
    };

    /// What the id of an output begins with.
    pub const OUTPUT_ID_PREFIX: ContractRule = ContractRule {
        id: "responses/id-prefix-tool-output",
        statement: "The item id of an output, where it has one, begins as ids of its kind do: fc, ctc, ts.",
        why: "The API refuses an id of another kind: \"Expected an ID that begins with 'fc'\".",
        confidence: Confidence::OneReport,
        evidence: &["duolahypercho/codex-router#780"],
        read: output_id_prefix,
    };

    /// What item ids are made of.
    pub const ID_CHARSET: ContractRule = ContractRule {
        id: "responses/id-charset",
        statement: "An item id holds letters, digits, underscores and dashes, and is not empty.",
        why: "The API refuses the request: \"Expected an ID that contains letters, numbers, underscores, or dashes\".",
        confidence: Confidence::OneReport,
        evidence: &["langchain-ai/langchainjs#11044"],
        read: id_charset,
    };

    /// How long item ids are.
    pub const ID_LENGTH: ContractRule = ContractRule {
        id: "responses/id-too-long",
        statement: "An item id has at most 64 characters.",
        why: "The API refuses the request: \"Expected a string with maximum length 64\".",
        confidence: Confidence::ReportedBySeveral,
        evidence: &["can1357/oh-my-pi#284", "github/app#499"],
        read: id_length,
    };

    /// The parts of a message that is none of the assistant's.
    pub const USER_PARTS: ContractRule = ContractRule {
        id: "responses/user-output-text",
        statement: "The parts of a user's, system or developer message are input, no output_text.",
        why: "The published schema of the API has no output_text in such a message.",
        confidence: Confidence::Documented,
        evidence: &["openai-openapi spec: InputContent"],
        read: user_parts,
    };

    /// The values of a status.
    pub const STATUS: ContractRule = ContractRule {
        id: "responses/status-value",
        statement: "The status of a call, or of a tool_search_output, is in_progress, completed or incomplete.",
        why: "The published schema of the API has no other status; a runtime's own states do not belong into a request.",
        confidence: Confidence::Documented,
        evidence: &["openai-openapi spec: ToolSearchOutputItemParam"],
        read: status,
    };
}

fn keeps(keeps: bool, how: How<'_>) -> Option<Result<(), How<'_>>> {
    Some(if keeps { Ok(()) } else { Err(how) })
}

/// Item ids.
type Ids<'a> = HashSet<&'a str, foldhash::fast::RandomState>;

fn duplicate_item_id(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    let mut seen = Ids::with_capacity_and_hasher(items.len(), Default::default());
    Reading::of(items, |_, item| {
        let id = item.id()?.as_str();
        keeps(seen.insert(id), How::SharesItemId(id))
    })
}

fn duplicate_output(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    let mut outputs = Counts::with_capacity_and_hasher(items.len() / 2, Default::default());
    let mut calls = None;
    Reading::of(items, |_, item| {
        let Role::Output { kind, call_id, .. } = role(item) else { return None };
        let key = (kind, call_id.as_str());
        let count = outputs.entry(key).or_default();
        *count += 1;
        // Calls are only counted where there is a second output. An output that no call has asked for is an orphan, and
        // another rule's.
        let fits = *count == 1 || {
            let calls = calls.get_or_insert_with(|| calls_by_output(items));
            calls.get(&key).is_none_or(|calls| *count <= *calls)
        };
        keeps(fits, How::OneTooMany(call_id.as_str()))
    })
}

/// How many there are of each kind of output, or of the calls for it, by call id.
type Counts<'a> = HashMap<(OutputKind, &'a str), usize, foldhash::fast::RandomState>;

fn calls_by_output(items: &[Arc<ResponseItem>]) -> Counts<'_> {
    let mut calls = Counts::default();
    for item in items {
        if let Role::Call { kind, call_id } = role(item) {
            *calls.entry((kind.output(), call_id.as_str())).or_default() += 1;
        }
    }
    calls
}

fn reasoning_followed(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    Reading::of(items, |at, item| {
        let ResponseItem::Reasoning(_) = item else { return None };
        let next = items.get(at + 1).map(Arc::as_ref);
        keeps(next.is_some_and(is_by_the_model), How::FollowedBy(next.map(ResponseItem::kind)))
    })
}

/// Whether the model put it out.
pub(crate) fn is_by_the_model(item: &ResponseItem) -> bool {
    match item {
        ResponseItem::Message(message) => message.role == "assistant",
        ResponseItem::Reasoning(_)
        | ResponseItem::FunctionCall(_)
        | ResponseItem::LocalShellCall(_)
        | ResponseItem::CustomToolCall(_)
        | ResponseItem::ToolSearchCall(_)
        | ResponseItem::WebSearchCall(_)
        | ResponseItem::ImageGenerationCall(_) => true,
        _ => false,
    }
}

fn output_id_prefix(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    Reading::of(items, |_, item| {
        let Role::Output { kind, .. } = role(item) else { return None };
        let id = item.id()?.as_str();
        let prefix = match kind {
            OutputKind::Function => "fc",
            OutputKind::CustomTool => "ctc",
            OutputKind::ToolSearch => "ts",
        };
        keeps(id.starts_with(prefix), How::Prefix { id, prefix })
    })
}

fn id_charset(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    Reading::of(items, |_, item| {
        let id = item.id()?.as_str();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        keeps(!id.is_empty() && id.bytes().all(plain), How::Charset(id))
    })
}

fn id_length(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    Reading::of(items, |_, item| {
        let id = item.id()?.as_str();
        // What has so few bytes has no more characters.
        keeps(id.len() <= LONGEST_ID || id.chars().count() <= LONGEST_ID, How::TooLong(id))
    })
}

fn user_parts(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    let is_output = |part: &ContentPart| matches!(part, ContentPart::OutputText(_));
    Reading::of(items, |_, item| {
        let ResponseItem::Message(message) = item else { return None };
        if !matches!(message.role.as_str(), "user" | "system" | "developer") {
            return None;
        }
        let breach = message.content.iter().position(is_output);
        keeps(breach.is_none(), How::OutputText(breach.unwrap_or_default()))
    })
}

fn status(items: &[Arc<ResponseItem>]) -> Reading<'_> {
    Reading::of(items, |_, item| {
        let status = match item {
            ResponseItem::CustomToolCall(call) => call.status.as_deref()?,
            ResponseItem::ToolSearchCall(call) => call.status.as_deref()?,
            ResponseItem::ToolSearchOutput(output) => output.status.as_str(),
            _ => return None,
        };
        keeps(matches!(status, "in_progress" | "completed" | "incomplete"), How::Status(status))
    })
}
