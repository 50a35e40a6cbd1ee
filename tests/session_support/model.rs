//! The plain model of a session: a list of what happened, what the model was told, and what a turn must do to both. No
//! lock, no file, no retries but two loops; projections are the library's.

use super::naive::is_user;
use super::ops::{End, Made, Reply, ToolScript, user_content, user_message, well};
use super::{json, texts};
use callpair::history::ToolOutputLimit;
use callpair::item::{CustomToolCallOutput, FunctionCallOutput, ItemList, Modalities, ResponseItem};
use callpair::item::{ToolOutput, ToolSearchOutput};
use callpair::json::Json;
use callpair::projection::project;
use callpair::session::{ToolOutcome, TurnSettings};
use callpair::world_state::{Fragment, FragmentRole, WorldState, WorldStateSnapshot};
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) const LIMIT: ToolOutputLimit = ToolOutputLimit::Bytes(100);
pub(crate) const REQUEST_RETRIES: u32 = 1;
pub(crate) const ATTEMPT_RETRIES: u32 = 2;

/// A request that must go out.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// The live history at that moment.
    pub(crate) history: Vec<Arc<ResponseItem>>,
    /// The input, item ids left out.
    pub(crate) input: Vec<String>,
    /// Whether its bytes are those of the one before.
    pub(crate) again: bool,
    /// Whether it asks for a summary.
    pub(crate) compaction: bool,
    /// Whether the projection had to repair pairs.
    pub(crate) repaired: bool,
    pub(crate) modalities: Modalities,
}

/// How a turn must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Completed,
    Failed,
    Interrupted,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) history: Vec<Arc<ResponseItem>>,
    pub(crate) told: Option<WorldStateSnapshot>,
    pub(crate) context: Option<Json>,
    pub(crate) last_context: Option<Json>,
    pub(crate) full_window: bool,
    pub(crate) tokens: Option<u64>,
    /// What the step in hand must lead to.
    pub(crate) expected: Vec<Expected>,
    /// Working sets that built a request for the model to go on.
    pub(crate) steps: u64,
    pub(crate) script: VecDeque<Reply>,
    /// How many tasks began.
    pub(crate) begun_tasks: usize,
    /// How often somebody forks meanwhile.
    pub(crate) forks: usize,
}

/// A turn in hand.
pub(crate) struct TurnInHand<'a> {
    pub(crate) settings: &'a TurnSettings,
    pub(crate) world: &'a WorldState,
}

enum Sampled {
    Complete { calls: usize, waiting: Vec<Arc<ResponseItem>>, summary: String },
    Failed,
    Interrupted,
}

pub(crate) fn wire_without_id(item: &ResponseItem) -> String {
    let mut item = item.clone();
    if let Some(id) = item.id_mut() {
        *id = None;
    }
    item.to_wire()
}

fn message(role: &str, texts: &[String]) -> Arc<ResponseItem> {
    let parts: Vec<String> = texts
        .iter()
        .map(|text| format!(r#"{{"type":"input_text","text":{}}}"#, Json::from(text.as_str())))
        .collect();
    super::item(&format!(r#"{{"type":"message","role":"{role}","content":[{}]}}"#, parts.join(",")))
}

impl Model {
    /// The user says something, and the turn runs to its end.
    pub(crate) fn turn(&mut self, n: u64, picture: bool, turn: &TurnInHand<'_>) -> Ends {
        self.begun_tasks += 1;
        if self.must_compact()
            && let Err(ends) = self.compact(turn, false)
        {
            return self.end(ends);
        }
        self.tell(turn);
        self.history.push(user_message(user_content(n, picture)));
        loop {
            self.steps += 1;
            let (calls, waiting) = match self.sample(turn, false) {
                Sampled::Complete { calls, waiting, .. } => (calls, waiting),
                Sampled::Failed => return self.end(Ends::Failed),
                Sampled::Interrupted => return self.end(Ends::Interrupted),
            };
            let goes_on = calls > 0 || !waiting.is_empty();
            self.history.extend(waiting);
            if !goes_on {
                return Ends::Completed;
            }
            if self.must_compact()
                && let Err(ends) = self.compact(turn, true)
            {
                return self.end(ends);
            }
        }
    }

    pub(crate) fn end(&mut self, ends: Ends) -> Ends {
        if ends == Ends::Interrupted {
            self.history.push(message("user", &[texts().turn_aborted]));
        }
        ends
    }

    fn must_compact(&self) -> bool {
        self.full_window || self.tokens.is_some_and(|tokens| tokens >= super::ops::COMPACT_LIMIT)
    }

    pub(crate) fn turn_context(settings: &TurnSettings) -> Json {
        Json::Object(settings.context.clone())
    }

    /// What a turn begins with: everything, or what changed.
    fn tell(&mut self, turn: &TurnInHand<'_>) {
        let now = Model::turn_context(turn.settings);
        let member = |context: &Json, key: &str| context.get(key).map(Json::to_string);
        let texts = &turn.settings.texts;
        let (switch, permissions) = (texts.model_switch.clone().unwrap(), texts.permissions.clone().unwrap());
        match &self.context {
            None => {
                let injected = self.injection(turn);
                self.history.extend(injected);
            }
            Some(before) => {
                let mut settings = Vec::new();
                if member(before, "model") != member(&now, "model") {
                    settings.extend([switch, permissions]);
                } else if member(before, "approval_policy") != member(&now, "approval_policy") {
                    settings.push(permissions);
                }
                if !settings.is_empty() {
                    self.history.push(message("developer", &settings));
                }
                let retained: ItemList = self.history.iter().cloned().collect();
                let mut last: Option<FragmentRole> = None;
                let mut runs: Vec<(FragmentRole, Vec<String>)> = Vec::new();
                for fragment in turn.world.render_history_diff(self.told.as_ref(), &retained) {
                    if last == Some(fragment.role) {
                        runs.last_mut().unwrap().1.push(fragment.text());
                    } else {
                        runs.push((fragment.role, vec![fragment.text()]));
                    }
                    last = Some(fragment.role);
                }
                self.history.extend(runs.iter().map(|(role, texts)| message(role.as_str(), texts)));
            }
        }
        self.know(turn);
    }

    fn know(&mut self, turn: &TurnInHand<'_>) {
        self.told = Some(turn.world.snapshot());
        self.context = Some(Model::turn_context(turn.settings));
        self.last_context.clone_from(&self.context);
    }

    /// Everything, by role.
    fn injection(&self, turn: &TurnInHand<'_>) -> Vec<Arc<ResponseItem>> {
        let texts = &turn.settings.texts;
        let model = |context: &Json| context.get("model").map(Json::to_string);
        let switched = self
            .last_context
            .as_ref()
            .is_some_and(|last| model(last) != model(&Model::turn_context(turn.settings)));
        let mut developer = Vec::new();
        if switched {
            developer.extend(texts.model_switch.clone());
        }
        developer.extend(texts.permissions.clone());
        let mut user = Vec::new();
        for fragment in turn.world.render_full() {
            match fragment.role {
                FragmentRole::Developer => developer.push(Fragment::text(&fragment)),
                FragmentRole::User => user.push(fragment.text()),
            }
        }
        let messages = [("developer", developer), ("user", user)];
        messages
            .iter()
            .filter(|(_, texts)| !texts.is_empty())
            .map(|(role, texts)| message(role, texts))
            .collect()
    }

    /// Asks for a summary and keeps what the user said.
    pub(crate) fn compact(&mut self, turn: &TurnInHand<'_>, within_turn: bool) -> Result<(), Ends> {
        let summary = match self.sample(turn, true) {
            Sampled::Complete { summary, .. } => summary,
            Sampled::Failed => return Err(Ends::Failed),
            Sampled::Interrupted => return Err(Ends::Interrupted),
        };
        let prefix = texts().summary_prefix;
        let text_of = |item: &Arc<ResponseItem>| {
            let json = json(&item.to_wire());
            let parts = json.get("content").and_then(Json::as_array).unwrap().to_vec();
            parts.iter().filter_map(|part| part.get("text")?.as_str().map(str::to_owned)).collect::<String>()
        };
        let said: Vec<String> = self.history.iter().filter(|item| is_user(item)).map(text_of).collect();
        let said = said.into_iter().filter(|text| !text.starts_with(&format!("{prefix}\n")));
        let mut kept: Vec<_> = said.map(|text| message("user", &[text])).collect();
        if within_turn {
            let last = kept.pop();
            kept.extend(self.injection(turn));
            kept.extend(last);
        }
        kept.push(message("user", &[format!("{prefix}\n{summary}")]));
        self.replace(kept);
        if within_turn {
            self.know(turn);
        }
        Ok(())
    }

    pub(crate) fn replace(&mut self, items: Vec<Arc<ResponseItem>>) {
        self.history = items;
        (self.told, self.context) = (None, None);
        (self.full_window, self.tokens) = (false, None);
    }

    pub(crate) fn record(&mut self, items: &[Arc<ResponseItem>]) {
        let system =
            |item: &ResponseItem| matches!(item, ResponseItem::Message(message) if message.role == "system");
        self.begun_tasks += items.iter().filter(|item| is_user(item)).count();
        let items = items.iter().filter(|item| !system(item));
        self.history.extend(items.map(|item| LIMIT.cut(Arc::clone(item)).into_item()));
    }

    /// Attempts around sendings.
    fn sample(&mut self, turn: &TurnInHand<'_>, compaction: bool) -> Sampled {
        let mut waiting = Vec::new();
        for _ in 0..=ATTEMPT_RETRIES {
            let Some((items, tools, end)) = self.send(turn, compaction) else { continue };
            self.history.extend(items.iter().map(|made| made.item()));
            let mut interrupted = matches!(end, End::Interrupted);
            let calls: Vec<Made> =
                items.iter().copied().filter(|made| made.is_call() && !compaction).collect();
            for (call, tool) in
                calls.iter().zip(tools.iter().copied().chain(std::iter::repeat(ToolScript::Answers)))
            {
                // A tool that had ended gives its answer, interrupted or not.
                interrupted |= matches!(tool, ToolScript::Interrupted);
                match tool {
                    ToolScript::Steered => waiting.push(user_message(vec![super::text_part("steered")])),
                    ToolScript::Injected => waiting.push(Made::Function { call: 3, id: true }.item()),
                    ToolScript::Forked => self.forks += 1,
                    _ => {}
                }
                self.history.push(LIMIT.cut(output(*call, tool.outcome())).into_item());
            }
            match end {
                End::Completed => self.tokens = Some(10),
                End::CompletedFull => self.tokens = Some(super::ops::COMPACT_LIMIT),
                _ => {}
            }
            if interrupted {
                return Sampled::Interrupted;
            }
            match end {
                End::Completed | End::CompletedFull => {
                    let said = items.iter().rev().find(|made| matches!(made, Made::Said(_)));
                    let summary = match said {
                        Some(Made::Said(n)) => format!("said {n} ü"),
                        _ => "(no summary available)".to_owned(),
                    };
                    return Sampled::Complete {
                        calls: calls.len(),
                        waiting: std::mem::take(&mut waiting),
                        summary,
                    };
                }
                End::WindowFull => {
                    self.full_window = true;
                    return Sampled::Failed;
                }
                End::Broken | End::Ended | End::Incomplete | End::ServerError | End::Interrupted => {}
            }
        }
        Sampled::Failed
    }

    /// Sends the same bytes until a stream comes.
    fn send(&mut self, turn: &TurnInHand<'_>, compaction: bool) -> Option<(Vec<Made>, Vec<ToolScript>, End)> {
        let modalities = turn.settings.model.modalities;
        let base: ItemList = self.history.iter().cloned().collect();
        let projection = project(&base, modalities);
        let mut input: Vec<String> = projection.to_items().iter().map(|item| wire_without_id(item)).collect();
        if compaction {
            input.push(message("user", &[texts().compaction_prompt]).to_wire());
        }
        let repaired = !project(&base, Modalities::TextAndImage).plan().is_empty();
        for sending in 0..=REQUEST_RETRIES {
            self.expected.push(Expected {
                history: self.history.clone(),
                input: input.clone(),
                again: sending > 0,
                compaction,
                repaired,
                modalities,
            });
            if let Reply::Stream { items, tools, end } = self.script.pop_front().unwrap_or_else(well) {
                return Some((items, tools, end));
            }
        }
        None
    }
}

/// What records how a tool ended. How long it ran is a matter of the day.
fn output(call: Made, outcome: ToolOutcome) -> Arc<ResponseItem> {
    let call_id = call.call_id().unwrap().as_str().into();
    let output = match &outcome {
        ToolOutcome::Answered(output) => output.clone(),
        ToolOutcome::Failed(why) => ToolOutput::Text(why.clone()),
        ToolOutcome::Interrupted => ToolOutput::Text("aborted by user after 0.0s".to_owned()),
        ToolOutcome::Found(_) => ToolOutput::Text(String::new()),
    };
    Arc::new(match call {
        Made::Custom { .. } => {
            ResponseItem::CustomToolCallOutput(CustomToolCallOutput { id: None, call_id, name: None, output })
        }
        Made::Search { .. } => ResponseItem::ToolSearchOutput(ToolSearchOutput {
            id: None,
            call_id: Some(call_id),
            status: "completed".to_owned(),
            execution: "client".to_owned(),
            tools: Vec::new(),
        }),
        _ => ResponseItem::FunctionCallOutput(FunctionCallOutput { id: None, call_id, output }),
    })
}
