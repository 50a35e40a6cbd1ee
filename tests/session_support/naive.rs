//! A second reader of a session's rollout, as plain as can be: it keeps a stack of tasks from the first line to the last,
//! and knows only files that a session wrote. The library's reader walks back; where both are right they agree.

use super::model::LIMIT;
use callpair::item::{ContentPart, ResponseItem};
use callpair::json::Json;
use callpair::world_state::{WorldStateSnapshot, apply};
use std::sync::Arc;

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Naive {
    pub(crate) history: Vec<Arc<ResponseItem>>,
    /// What the model was told, where it counts for comparison.
    pub(crate) told: Option<WorldStateSnapshot>,
    pub(crate) context: Option<Json>,
    pub(crate) last_context: Option<Json>,
    /// Whether a task has begun and not ended.
    pub(crate) open: bool,
    /// How many tasks began, taken back or not.
    pub(crate) begun_tasks: usize,
    /// Whether the file holds a head.
    pub(crate) begun: bool,
}

/// A task: the lines from its start to the next one's. Places are places among the lines.
#[derive(Debug, Clone, Default)]
struct Task {
    from: usize,
    is_turn: bool,
    compaction: Option<usize>,
    /// World state payloads behind the compaction.
    states: Vec<Json>,
    /// The turn context behind the compaction.
    context: Option<Json>,
    last_context: Option<Json>,
}

/// Reads as much as is whole.
pub(crate) fn read(bytes: &[u8]) -> Naive {
    let text = std::str::from_utf8(bytes).expect("a session writes text that no cut can spoil");
    let lines: Vec<Json> = text.lines().filter_map(|line| Json::parse(line).ok()).collect();
    let (kept, dropped) = tasks(&lines);
    let newest = kept.iter().rev().find_map(|task| task.compaction);
    let lost = dropped.iter().filter_map(|task| task.compaction).min().filter(|_| newest.is_none());
    let mut naive = Naive { history: history(&lines, newest, lost), ..Naive::default() };
    naive.know(&kept, lost);
    naive.begun_tasks = lines.iter().filter(|line| event(line) == "task_started").count();
    naive.begun = lines.iter().any(|line| kind(line) == "session_meta");
    let ends = ["task_started", "task_complete", "turn_aborted"];
    let last = lines.iter().rev().map(event).find(|event| ends.contains(event));
    naive.open = last == Some("task_started");
    naive
}

fn kind(line: &Json) -> &str {
    line.get("type").and_then(Json::as_str).expect("a line has a type")
}

fn payload(line: &Json) -> &Json {
    line.get("payload").expect("a line has a payload")
}

fn event(line: &Json) -> &str {
    match kind(line) {
        "event_msg" => payload(line).get("type").and_then(Json::as_str).expect("an event has a type"),
        _ => "",
    }
}

fn item(payload: &Json) -> ResponseItem {
    ResponseItem::load(payload.clone()).expect("an item loads")
}

/// The tasks that are left, and those that rollbacks took.
fn tasks(lines: &[Json]) -> (Vec<Task>, Vec<Task>) {
    let (mut kept, mut dropped) = (vec![Task::default()], Vec::new());
    for (at, line) in lines.iter().enumerate() {
        if kept.is_empty() || event(line) == "task_started" {
            kept.push(Task { from: at, ..Task::default() });
        }
        let task = kept.last_mut().expect("one was put there");
        match (kind(line), event(line)) {
            ("response_item", _) => task.is_turn |= is_user(&item(payload(line))),
            (_, "user_message") => task.is_turn = true,
            ("compacted", _) => {
                task.compaction = Some(at);
                task.states.clear();
                task.context = None;
            }
            ("world_state", _) => task.states.push(payload(line).clone()),
            ("turn_context", _) => {
                task.context = Some(payload(line).clone());
                task.last_context.clone_from(&task.context);
            }
            (_, "thread_rolled_back") => {
                let mut left = payload(line).get("num_turns").and_then(Json::as_u64).expect("a number");
                while left > 0
                    && let Some(task) = kept.pop()
                {
                    left -= u64::from(task.is_turn);
                    dropped.push(task);
                }
            }
            _ => {}
        }
    }
    (kept, dropped)
}

impl Naive {
    fn know(&mut self, kept: &[Task], lost: Option<usize>) {
        for task in kept {
            if task.compaction.is_some() {
                (self.told, self.context) = (None, None);
            }
            if !task.is_turn {
                continue;
            }
            self.last_context = task.last_context.clone().or(self.last_context.take());
            if lost.is_some_and(|lost| task.from < lost) {
                continue;
            }
            self.context = task.context.clone().or(self.context.take());
            for payload in &task.states {
                let state = payload.get("state").expect("a state");
                let before = self.told.take().map(|told| told.to_json());
                let state = match payload.get("full") {
                    Some(Json::Bool(true)) => Some(state.clone()),
                    _ => before.map(|before| apply(&before, state)),
                };
                self.told = state.and_then(|state| WorldStateSnapshot::from_json(&state));
            }
        }
    }
}

/// The history: from the newest compaction that is left, or from behind the oldest that was lost.
fn history(lines: &[Json], newest: Option<usize>, lost: Option<usize>) -> Vec<Arc<ResponseItem>> {
    let from = newest.or(lost.map(|lost| lost + 1)).unwrap_or(0);
    let mut history = Vec::new();
    for line in lines.iter().skip(from) {
        match (kind(line), event(line)) {
            ("response_item", _) => {
                let item = item(payload(line));
                if !matches!(&item, ResponseItem::Message(message) if message.role == "system") {
                    history.push(LIMIT.cut(Arc::new(item)).into_item());
                }
            }
            ("compacted", _) => {
                let items = payload(line).get("replacement_history").and_then(Json::as_array);
                history = items.expect("a history").iter().map(|payload| Arc::new(item(payload))).collect();
            }
            (_, "thread_rolled_back") => {
                let turns = payload(line).get("num_turns").and_then(Json::as_u64).expect("a number");
                roll_back(&mut history, usize::try_from(turns).expect("a small number"));
            }
            _ => {}
        }
    }
    history
}

fn roll_back(history: &mut Vec<Arc<ResponseItem>>, turns: usize) {
    let starts: Vec<usize> =
        history.iter().enumerate().filter(|(_, item)| is_user(item)).map(|(at, _)| at).collect();
    if turns == 0 || starts.is_empty() {
        return;
    }
    if turns >= starts.len() {
        history.truncate(starts[0]);
        return;
    }
    let mut cut = starts[starts.len() - turns];
    while cut > 0 && is_context(&history[cut - 1]) {
        cut -= 1;
    }
    history.truncate(cut);
}

fn texts(item: &ResponseItem) -> (&str, Vec<&str>) {
    let ResponseItem::Message(message) = item else { return ("", Vec::new()) };
    let texts = message.content.iter().filter_map(|part| match part {
        ContentPart::InputText(text) | ContentPart::OutputText(text) => Some(text.text.as_str()),
        ContentPart::InputImage(_) => None,
    });
    (&message.role, texts.collect())
}

/// What the runtime told the model, as far as the machine's runtime tells anything that a rollback takes along.
pub(crate) fn is_context(item: &ResponseItem) -> bool {
    let leads: &[&str] = match texts(item).0 {
        "user" => &["<environment_context>", "# AGENTS.md", "<turn_aborted>"],
        "developer" => &["<permissions", "<model_switch>", "<plugins_instructions>", "<skills_instructions>"],
        _ => return false,
    };
    texts(item).1.iter().any(|text| leads.iter().any(|lead| text.starts_with(lead)))
}

/// What a person said.
pub(crate) fn is_user(item: &ResponseItem) -> bool {
    texts(item).0 == "user" && !is_context(item)
}
