//! What a recorded scenario holds: its steps, the vendor's texts in them, the answers of the server, and what of a line is
//! compared.

use super::{Answer, Step, json, object, text_part};
use callpair::item::{ContentPart, ResponseItem};
use callpair::json::Json;
use callpair::session::{AdditionalContext, ContextKind, SendError, StreamEvent};
use callpair::world_state::apply;
use std::sync::Arc;

/// Events that say nothing to a reader of the file, and that a session does not write.
const OTHER_EVENTS: [&str; 5] =
    ["token_count", "agent_message", "agent_reasoning", "mcp_tool_call_end", "patch_apply_end"];

/// A recorded step.
pub(crate) struct Recorded {
    pub(crate) did: String,
    pub(crate) requests: Vec<Json>,
    pub(crate) lines: Vec<Json>,
}

impl Recorded {
    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = &Json> {
        self.lines.iter().filter(|line| has_type(line, "response_item")).map(payload)
    }

    pub(crate) fn turn_context(&self) -> Option<&Json> {
        self.lines.iter().find(|line| has_type(line, "turn_context")).map(payload)
    }

    pub(crate) fn events(&self, name: &str) -> impl Iterator<Item = &Json> {
        let events = self.lines.iter().filter(|line| has_type(line, "event_msg")).map(payload);
        events.filter(move |event| has_type(event, name))
    }
}

pub(crate) fn has_type(json: &Json, name: &str) -> bool {
    json.get("type").and_then(Json::as_str) == Some(name)
}

pub(crate) fn payload(line: &Json) -> &Json {
    line.get("payload").expect("a line has a payload")
}

pub(crate) fn load(item: &Json) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(item.clone()).expect("a recorded item loads"))
}

/// A fresh projection as a request shows it: without ids, and with the prompt of a compaction.
pub(crate) fn wire(fresh: &[Arc<ResponseItem>], recorded: &Json) -> Vec<String> {
    let strip = |item: &Arc<ResponseItem>| {
        let mut item = (**item).clone();
        if let Some(id) = item.id_mut() {
            *id = None;
        }
        same_form(&json(&item.to_wire()))
    };
    let mut items: Vec<String> = fresh.iter().map(strip).collect();
    let recorded = recorded.get("request_input").and_then(Json::as_array).expect("items");
    let last = recorded.last().map(same_form).filter(|last| last.contains("{compaction prompt}"));
    items.extend(last);
    items
}

/// One text for equal items.
pub(crate) fn same_form(item: &Json) -> String {
    without_times(&load(item).to_wire())
}

/// What is compared of a line; `None` where it does not count.
pub(crate) fn comparable(line: &Json) -> Option<String> {
    let payload = payload(line);
    let name = line.get("type").and_then(Json::as_str).expect("a line has a type");
    let member = |key: &str| payload.get(key).map(Json::to_string).unwrap_or_default();
    Some(match name {
        "session_meta" => format!("session_meta, a fork: {}", payload.get("forked_from_id").is_some()),
        "response_item" => {
            let of_a_turn = payload.get("internal_chat_message_metadata_passthrough").is_some();
            format!("item {} of a turn: {of_a_turn}", same_form(payload))
        }
        "turn_context" => {
            let members = object(payload.clone());
            let members = members.iter().filter(|(key, _)| *key != "turn_id");
            let texts: Vec<String> = members.map(|(key, value)| format!("{key}: {value}")).collect();
            format!("turn_context {}", texts.join(", "))
        }
        // As text, key order included.
        "world_state" => format!("world_state {payload}"),
        "compacted" => {
            let items = payload.get("replacement_history").and_then(Json::as_array).expect("a history");
            let items: Vec<String> = items.iter().map(same_form).collect();
            format!("compacted {} {items:#?}", member("message"))
        }
        "event_msg" => {
            let event = payload.get("type").and_then(Json::as_str).expect("an event has a type");
            match event {
                event if OTHER_EVENTS.contains(&event) => return None,
                "task_started" | "context_compacted" => event.to_owned(),
                "task_complete" => format!("{event} {}", member("last_agent_message")),
                "turn_aborted" => format!("{event} {}", member("reason")),
                "thread_rolled_back" | "user_message" | "thread_settings_applied" => payload.to_string(),
                other => panic!("an event that nobody thought of: {other}"),
            }
        }
        other => panic!("a line that nobody thought of: {other}"),
    })
}

/// "aborted by user after 0.6s": how long is a matter of the day. So is what the model reads of an interrupt.
pub(crate) fn without_times(text: &str) -> String {
    if let Some((before, rest)) = text.split_once("aborted by user after ") {
        let (_, after) = rest.split_once('s').unwrap_or_default();
        return format!("{before}aborted by user after Ns{after}");
    }
    match (text.find("<turn_aborted>"), text.find("</turn_aborted>")) {
        (Some(start), Some(end)) => format!("{}<turn_aborted>…{}", &text[..start], &text[end..]),
        _ => text.to_owned(),
    }
}

/// The vendor's texts in the context messages of a step.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) model_switch: Option<String>,
    pub(crate) permissions: Option<String>,
    pub(crate) collaboration_mode: Option<String>,
    pub(crate) personality_spec: Option<String>,
    pub(crate) skills: Option<String>,
    pub(crate) plugins: Option<String>,
    pub(crate) other: Option<String>,
}

impl Texts {
    pub(crate) fn of(step: &Recorded) -> Texts {
        let mut texts = Texts::default();
        let injected = step.lines.iter().flat_map(|line| match line.get("type").and_then(Json::as_str) {
            Some("response_item") => vec![payload(line).clone()],
            Some("compacted") => {
                payload(line).get("replacement_history").and_then(Json::as_array).unwrap_or_default().to_vec()
            }
            _ => Vec::new(),
        });
        for message in injected.filter(|item| item.get("role").and_then(Json::as_str) == Some("developer")) {
            let parts = message.get("content").and_then(Json::as_array).unwrap_or_default().to_vec();
            for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                texts.take(text);
            }
        }
        texts
    }

    fn take(&mut self, text: &str) {
        let body = |tag: &str| {
            let rest = text.strip_prefix(&format!("<{tag}>"))?;
            rest.strip_suffix(&format!("</{tag}>")).map(str::to_owned)
        };
        if text.starts_with("<model_switch>") {
            self.model_switch = Some(text.to_owned());
        } else if text.starts_with("<permissions instructions>") {
            self.permissions = Some(text.to_owned());
        } else if text.starts_with("<collaboration_mode>") {
            self.collaboration_mode = Some(text.to_owned());
        } else if text.starts_with("<personality_spec>") {
            self.personality_spec = Some(text.to_owned());
        } else if let Some(body) = body("skills_instructions") {
            self.skills = Some(body);
        } else if let Some(body) = body("plugins_instructions") {
            self.plugins = Some(body);
        } else if !text.starts_with('<') {
            self.other = Some(text.to_owned());
        }
    }
}

/// The world as the record has it after a step.
pub(crate) fn folded(before: Option<&Json>, step: &Recorded) -> Json {
    let states = step.lines.iter().filter(|line| has_type(line, "world_state")).map(payload);
    states.fold(before.cloned().unwrap_or_default(), |world, line| {
        let state = line.get("state").expect("a state");
        match line.get("full") {
            Some(Json::Bool(true)) => state.clone(),
            _ => apply(&world, state),
        }
    })
}

/// What the user says in a step that runs a turn.
pub(crate) fn turn_text(did: &str) -> Option<&str> {
    let (_, rest) = did
        .split_once("turn/start \"")
        .or_else(|| did.split_once("codex exec \""))
        .or_else(|| did.split_once("exec resume ID \""))?;
    Some(quoted(rest))
}

pub(crate) fn quoted(rest: &str) -> &str {
    rest.split('"').next().unwrap_or_default()
}

pub(crate) fn number_after(text: &str, lead: &str) -> Option<u64> {
    let (_, rest) = text.split_once(lead)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The content of the user message, with its pictures.
pub(crate) fn user_content(step: &Recorded, text: &str) -> Vec<ContentPart> {
    let messages = step.items().map(load).filter_map(|item| match &*item {
        ResponseItem::Message(message) if message.role == "user" => Some(message.content.clone()),
        _ => None,
    });
    let says = |content: &Vec<ContentPart>| content.first() == Some(&text_part(text));
    messages.into_iter().find(says).expect("the user's message is in the record")
}

/// What stands between the turn context and the user's message.
pub(crate) fn additional_context(step: &Recorded) -> Vec<(String, AdditionalContext)> {
    let from = step.lines.iter().position(|line| has_type(line, "turn_context"));
    let lines = step.lines.iter().skip(from.map_or(0, |from| from + 1));
    let items = lines.take_while(|line| has_type(line, "response_item")).map(payload);
    let values = items.filter_map(|item| {
        let text = item.get("content")?.as_array()?.first()?.get("text")?.as_str()?;
        let (tag, _) = text.strip_prefix('<')?.split_once('>')?;
        let value = text.strip_prefix(&format!("<{tag}>"))?.strip_suffix(&format!("</{tag}>"))?;
        let (kind, key) = match tag.strip_prefix("external_") {
            Some(key) => (ContextKind::Untrusted, key),
            None => (ContextKind::Application, tag),
        };
        Some((key.to_owned(), AdditionalContext { kind, value: value.to_owned() }))
    });
    values.collect()
}

pub(crate) fn is_output(item: &Json) -> bool {
    item.get("type").and_then(Json::as_str).is_some_and(|name| name.ends_with("_output"))
}

/// Whether an item comes from the server.
pub(crate) fn is_answer(item: &Json) -> bool {
    let name = item.get("type").and_then(Json::as_str).expect("an item has a type");
    let role = item.get("role").and_then(Json::as_str);
    match name {
        "message" => role == Some("assistant"),
        _ => !name.ends_with("_output"),
    }
}

pub(crate) fn is_compaction(request: &Json) -> bool {
    let items = request.get("request_input").and_then(Json::as_array).expect("items");
    items.last().is_some_and(|item| item.to_string().contains("{compaction prompt}"))
}

/// What the server answers to each request of a step: the items that stand in the next request and not in this one.
pub(crate) fn answers(step: &Recorded, requests: &[&Json]) -> Vec<Answer> {
    let items: Vec<Arc<ResponseItem>> = step.items().filter(|item| is_answer(item)).map(load).collect();
    let answers_in = |request: &Json| {
        let items = request.get("request_input").and_then(Json::as_array).expect("items");
        items.iter().filter(|item| is_answer(item)).count()
    };
    let mut from = 0;
    let mut answers = Vec::new();
    for (n, request) in requests.iter().enumerate() {
        let count = match requests.get(n + 1) {
            _ if is_compaction(request) => 1,
            Some(next) => answers_in(next) - answers_in(request),
            None => items.len() - from,
        };
        let brought = &items[from..from + count];
        from += count;
        answers.push(answer(step, n, requests.len(), brought));
    }
    assert_eq!(from, items.len(), "every answer has its request");
    answers
}

pub(crate) fn answer(step: &Recorded, n: usize, of: usize, items: &[Arc<ResponseItem>]) -> Answer {
    let did = step.did.as_str();
    let last = n + 1 == of;
    let mut stream: Vec<Step> = items.iter().map(Step::item).collect();
    let tokens = |count| StreamEvent::Completed { total_tokens: count };
    if did.contains("HTTP 500") && !last {
        return Answer::Refuse(SendError::Status { code: 500, message: "scripted".to_owned() });
    }
    let end = if did.contains("every stream breaks") || (did.contains("stream breaks") && !last) {
        stream.insert(0, Step::Event(StreamEvent::Delta));
        Step::Break
    } else if did.contains("response.incomplete") && !last {
        Step::Event(StreamEvent::Incomplete { reason: "max_output_tokens".to_owned() })
    } else if did.contains("response.failed context_length_exceeded") {
        Step::Event(StreamEvent::Failed {
            code: "context_length_exceeded".to_owned(),
            message: String::new(),
        })
    } else if did.contains("while the stream hangs") {
        Step::Interrupt
    } else if number_after(did, "the answer of step ") == Some(n as u64 + 1) {
        Step::Event(tokens(number_after(did, "reports ")))
    } else {
        Step::Event(tokens(Some(1240)))
    };
    stream.push(end);
    Answer::Stream(stream)
}
