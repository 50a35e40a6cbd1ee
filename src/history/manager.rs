//! `ContextManager`: the history that a session uses now.

use super::cut::ToolOutputLimit;
use super::turns::rollback_cut;
use crate::item::{ItemList, Modalities, ResponseItem};
use crate::json::Json;
use crate::pairing::{Level, Notice};
use crate::projection::{Projection, project};
use std::sync::Arc;

/// What happens when a projection meets an anomaly: a hole that the runtime's own recording should have ruled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnomalyPolicy {
    /// Panic at the first one, as a debug build of the program does.
    Panic,
    /// Write it to the log at level error and go on, as a release build does. Missing outputs that are no anomaly are
    /// written at level info.
    Log,
    /// Only keep it in [`Projection::notices`].
    Collect,
}

impl AnomalyPolicy {
    /// What the program does in a build like this one.
    pub const fn of_build() -> AnomalyPolicy {
        if cfg!(debug_assertions) { AnomalyPolicy::Panic } else { AnomalyPolicy::Log }
    }

    #[expect(
        clippy::panic,
        reason = "this panic is what the policy is for, and nothing else in the crate panics"
    )]
    fn apply(self, notices: &[Notice]) {
        for notice in notices {
            match (self, notice.level()) {
                (AnomalyPolicy::Panic, Level::Error) => panic!("{notice}"),
                (AnomalyPolicy::Log, Level::Error) => log::error!("{notice}"),
                (AnomalyPolicy::Log | AnomalyPolicy::Panic, Level::Info) => log::info!("{notice}"),
                (AnomalyPolicy::Collect, _) => {}
            }
        }
    }
}

/// How many tokens a session has used, as the model server told it. Carried, never reckoned with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsageInfo {
    /// Over the whole session.
    pub total_tokens: u64,
    /// In the last response.
    pub last_tokens: u64,
    /// What the model can take, where it is known.
    pub model_context_window: Option<u64>,
}

/// The history that a session uses now: not the durable record, and not what is sent.
///
/// A session keeps one behind a lock. To sample, it takes a [`clone_history`](Self::clone_history) and calls
/// [`for_prompt`](Self::for_prompt) on the clone. It is this chain, and nothing in the projection, that keeps repairs
/// out of the live history; [`normalize`](Self::normalize) on a live manager does change it.
///
/// ```
/// # use callpair::{history::{AnomalyPolicy, ContextManager}, item::{Modalities, ResponseItem}, json::Json};
/// let call = r#"{"type":"function_call","name":"ls","arguments":"{}","call_id":"a"}"#;
/// let mut live = ContextManager::new();
/// live.record_items([ResponseItem::load(Json::parse(call)?).unwrap().into()]);
/// let prompt = live.clone_history().for_prompt(Modalities::TextAndImage);
/// assert_eq!((prompt.len(), live.raw_items().len()), (2, 1));
/// # Ok::<(), callpair::json::JsonError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ContextManager {
    items: ItemList,
    history_version: u64,
    token_info: Option<TokenUsageInfo>,
    reference_context_item: Option<Arc<Json>>,
    world_state_baseline: Option<Arc<Json>>,
    tool_output_limit: Option<ToolOutputLimit>,
    anomaly_policy: AnomalyPolicy,
}

impl Default for ContextManager {
    fn default() -> ContextManager {
        ContextManager::new()
    }
}

impl ContextManager {
    /// An empty history with the program's defaults: the default limit on tool outputs, anomalies by the build.
    pub fn new() -> ContextManager {
        ContextManager {
            items: ItemList::new(),
            history_version: 0,
            token_info: None,
            reference_context_item: None,
            world_state_baseline: None,
            tool_output_limit: Some(ToolOutputLimit::default()),
            anomaly_policy: AnomalyPolicy::of_build(),
        }
    }

    /// Sets the limit at which [`record_items`](Self::record_items) cuts tool outputs; `None` cuts nothing.
    #[must_use]
    pub fn with_tool_output_limit(mut self, limit: Option<ToolOutputLimit>) -> ContextManager {
        self.tool_output_limit = limit;
        self
    }

    /// Sets what happens on an anomaly.
    #[must_use]
    pub fn with_anomaly_policy(mut self, policy: AnomalyPolicy) -> ContextManager {
        self.anomaly_policy = policy;
        self
    }

    /// Appends items as a running turn does: what is no message for the API is left out, long function and custom tool
    /// outputs are cut. Recorded items are never changed in place afterwards.
    pub fn record_items(&mut self, items: impl IntoIterator<Item = Arc<ResponseItem>>) {
        for item in items {
            if is_api_message(&item) {
                let item = self.process_item(item);
                self.items.push(item);
            }
        }
    }

    fn process_item(&self, item: Arc<ResponseItem>) -> Arc<ResponseItem> {
        match self.tool_output_limit {
            Some(limit) => limit.cut(item).into_item(),
            None => item,
        }
    }

    /// Makes the history exactly these items, neither filtered nor cut, and raises the version: what a compaction and a
    /// resume do. So raw items need not have gone through [`record_items`](Self::record_items).
    pub fn replace(&mut self, items: ItemList) {
        self.items = items;
        self.history_version += 1;
    }

    /// The items as they stand, before any projection.
    pub fn raw_items(&self) -> &ItemList {
        &self.items
    }

    /// How often the history was replaced or cut. Recording does not count. (That a rollback counts is ours: it could not
    /// be seen from outside.)
    pub fn history_version(&self) -> u64 {
        self.history_version
    }

    /// Takes off the last `turns` user turns; see [`rollback_cut`]. Says whether anything went.
    pub fn rollback(&mut self, turns: u64) -> bool {
        let Some(len) = rollback_cut(self.items.iter().map(|item| &**item), turns) else { return false };
        self.items.truncate(len);
        self.history_version += 1;
        true
    }

    /// A detached manager with the same history. Costs the same for any number of items.
    #[must_use]
    pub fn clone_history(&self) -> ContextManager {
        self.clone()
    }

    /// The request input that this history becomes. Consumes the manager: call it on a
    /// [`clone_history`](Self::clone_history).
    ///
    /// # Panics
    /// On an anomaly, where the policy is [`AnomalyPolicy::Panic`].
    #[must_use]
    pub fn for_prompt(self, modalities: Modalities) -> Vec<Arc<ResponseItem>> {
        self.projection(modalities).to_items()
    }

    /// Repairs this very manager in place, and says what was done: outputs for calls that lack one, then orphans out, then
    /// pictures, where the model takes none.
    ///
    /// **It changes what it is called on.** On a live manager the repairs become part of the history, as if they had
    /// happened. Only `clone_history` and the ownership that `for_prompt` takes keep them out of it. The version does
    /// not change (ours: it could not be seen from outside).
    ///
    /// # Panics
    /// On an anomaly, where the policy is [`AnomalyPolicy::Panic`]; nothing is changed then.
    pub fn normalize(&mut self, modalities: Modalities) -> Projection {
        let projection = self.projection(modalities);
        if !projection.plan().is_empty() {
            self.items = projection.to_items().into_iter().collect();
        }
        projection
    }

    fn projection(&self, modalities: Modalities) -> Projection {
        let projection = project(&self.items, modalities);
        if self.anomaly_policy != AnomalyPolicy::Collect {
            self.anomaly_policy.apply(&projection.notices());
        }
        projection
    }

    /// What the server told of tokens.
    pub fn token_info(&self) -> Option<TokenUsageInfo> {
        self.token_info
    }

    /// Keeps what the server told of tokens.
    pub fn set_token_info(&mut self, info: Option<TokenUsageInfo>) {
        self.token_info = info;
    }

    /// The turn context that the next turn's settings are compared with; opaque here.
    pub fn reference_context_item(&self) -> Option<&Arc<Json>> {
        self.reference_context_item.as_ref()
    }

    /// Sets the turn context that later settings are compared with.
    pub fn set_reference_context_item(&mut self, item: Option<Arc<Json>>) {
        self.reference_context_item = item;
    }

    /// The world state that the model was last told of; opaque here, and never sent.
    pub fn world_state_baseline(&self) -> Option<&Arc<Json>> {
        self.world_state_baseline.as_ref()
    }

    /// Sets the world state that later ones are compared with.
    pub fn set_world_state_baseline(&mut self, baseline: Option<Arc<Json>>) {
        self.world_state_baseline = baseline;
    }
}

/// Whether an item is for the model at all: everything but system messages, compaction triggers and unknown kinds.
pub fn is_api_message(item: &ResponseItem) -> bool {
    match item {
        ResponseItem::Message(message) => message.role != "system",
        ResponseItem::CompactionTrigger | ResponseItem::Other(_) => false,
        ResponseItem::AgentMessage(_)
        | ResponseItem::Reasoning(_)
        | ResponseItem::LocalShellCall(_)
        | ResponseItem::FunctionCall(_)
        | ResponseItem::ToolSearchCall(_)
        | ResponseItem::FunctionCallOutput(_)
        | ResponseItem::CustomToolCall(_)
        | ResponseItem::CustomToolCallOutput(_)
        | ResponseItem::ToolSearchOutput(_)
        | ResponseItem::WebSearchCall(_)
        | ResponseItem::ImageGenerationCall(_)
        | ResponseItem::Compaction(_)
        | ResponseItem::ContextCompaction(_)
        | ResponseItem::AdditionalTools(_) => true,
    }
}
