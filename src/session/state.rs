//! [`Session`] itself: what it is made of, how it begins, and its lock.

use super::context::AdditionalContext;
use super::error::SessionError;
use super::fault::{Slip, Slips};
use super::host::Host;
use super::interrupt::Interrupt;
use super::observed::{Counters, Observed};
use super::record::Record;
use super::settings::TurnSettings;
use super::step::{McpRuntime, SectionContributor, StepContext, TurnContext, Workspace};
use super::tools::Tools;
use super::transport::{RetryLimits, Transport};
use crate::history::{AnomalyPolicy, ContextManager, ToolOutputLimit};
use crate::item::{ContentPart, ResponseItem};
use crate::json::{Json, Object};
use crate::rollout::PictureCache;
use crate::world_state::{AgentsMd, AgentsMdNotices};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What does not change while a session lives.
#[derive(Debug, Clone)]
pub struct SessionConfig {
    /// The instructions of a new thread. A resumed or forked one keeps those in its file.
    pub base_instructions: String,
    /// The settings that the session begins with, in this process.
    pub settings: TurnSettings,
    /// The sentences that are the vendor's.
    pub texts: SessionTexts,
    /// How often is tried again.
    pub retries: RetryLimits,
    /// From how many tokens on the history is compacted; `None`: only when the server says that the window is full.
    pub auto_compact_limit: Option<u64>,
    /// Where tool outputs are cut while they are recorded.
    pub tool_output_limit: Option<ToolOutputLimit>,
    /// Whether items are sent with their ids.
    pub item_ids: bool,
    /// What an anomaly of the projection does.
    pub anomaly_policy: AnomalyPolicy,
    /// A slip to make, for those who check the checks.
    pub slip: Option<Slip>,
}

/// The sentences of a session that are the vendor's; here they are the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTexts {
    /// What asks for a summary.
    pub compaction_prompt: String,
    /// What stands before a summary.
    pub summary_prefix: String,
    /// The message that a turn was interrupted, markers included.
    pub turn_aborted: String,
    /// What is said when AGENTS.md changed.
    pub agents_md: AgentsMdNotices,
}

/// What a session calls.
#[derive(Clone)]
pub struct SessionServices {
    /// Time and ids.
    pub host: Arc<dyn Host>,
    /// Where requests go.
    pub transport: Arc<dyn Transport>,
    /// What calls start.
    pub tools: Arc<dyn Tools>,
    /// The servers of tools.
    pub mcp: Arc<dyn McpRuntime>,
    /// AGENTS.md and capabilities.
    pub workspace: Arc<dyn Workspace>,
}

/// A session. A clone is the same session, for another thread.
#[derive(Clone)]
pub struct Session {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) config: SessionConfig,
    pub(super) services: SessionServices,
    pub(super) thread_id: String,
    pub(super) base_instructions: Arc<str>,
    /// AGENTS.md, observed once.
    pub(super) agents_md: Option<AgentsMd>,
    pub(super) slips: Slips,
    pub(super) counters: Counters,
    state: Mutex<State>,
    turn_ended: Condvar,
}

/// What the lock guards.
pub(super) struct State {
    pub(super) history: ContextManager,
    pub(super) record: Record,
    pub(super) settings: Arc<TurnSettings>,
    pub(super) contributors: Vec<Arc<dyn SectionContributor>>,
    /// The settings of the last turn, also where a compaction took their text away.
    pub(super) last_turn_context: Option<Arc<Json>>,
    /// The server said that the window is full.
    pub(super) window_is_full: bool,
    /// What the server last said of tokens.
    pub(super) total_tokens: Option<u64>,
    /// How often the history was compacted.
    pub(super) window_number: u64,
    /// Attempts so far; see `sampling`.
    pub(super) attempts: usize,
    /// The values of additional context that the model was told.
    pub(super) additional_context: BTreeMap<String, AdditionalContext>,
    pub(super) running: Option<Running>,
    pub(super) pictures: PictureCache,
}

/// A turn that runs.
pub(super) struct Running {
    pub(super) interrupt: Interrupt,
    /// What came meanwhile and waits for the next request.
    pub(super) waiting: Vec<Waiting>,
}

/// What waits for the next request of a running turn.
pub(super) enum Waiting {
    /// The user said something more.
    Steer(Vec<ContentPart>),
    /// Items were put in.
    Items(Vec<Arc<ResponseItem>>),
}

impl Session {
    /// Begins a session. Its rollout begins to exist with its first turn.
    ///
    /// # Errors
    /// Where the file holds something already.
    pub fn start(
        path: &Path,
        config: SessionConfig,
        services: SessionServices,
    ) -> Result<Session, SessionError> {
        must_be_empty(path)?;
        Ok(Session::begin(path, config, services))
    }

    pub(super) fn begin(path: &Path, config: SessionConfig, services: SessionServices) -> Session {
        let thread_id = services.host.new_id();
        let head =
            session_meta(&*services.host, &thread_id, None, &config.base_instructions, &config.settings);
        let record = Record::new(path, Arc::clone(&services.host), head);
        let base_instructions = config.base_instructions.as_str().into();
        Session::assemble(config, services, thread_id, base_instructions, record)
    }

    pub(super) fn assemble(
        config: SessionConfig,
        services: SessionServices,
        thread_id: String,
        base_instructions: Arc<str>,
        record: Record,
    ) -> Session {
        let history = ContextManager::new()
            .with_tool_output_limit(config.tool_output_limit)
            .with_anomaly_policy(config.anomaly_policy);
        let state = State {
            history,
            record,
            settings: Arc::new(config.settings.clone()),
            contributors: Vec::new(),
            last_turn_context: None,
            window_is_full: false,
            total_tokens: None,
            window_number: 0,
            attempts: 0,
            additional_context: BTreeMap::new(),
            running: None,
            pictures: PictureCache::new(),
        };
        let shared = Shared {
            slips: Slips(config.slip),
            agents_md: services.workspace.agents_md(),
            config,
            services,
            thread_id,
            base_instructions,
            counters: Counters::default(),
            state: Mutex::new(state),
            turn_ended: Condvar::new(),
        };
        Session { shared: Arc::new(shared) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Each change of the state is made whole before the next call that could panic.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_is_free(&self) -> bool {
        self.shared.state.try_lock().is_ok()
    }

    /// The thread: also its `prompt_cache_key`, over processes and compactions. A fork has its own.
    pub fn thread_id(&self) -> &str {
        &self.shared.thread_id
    }

    /// Where the session is kept.
    pub fn path(&self) -> PathBuf {
        self.lock().record.path().to_owned()
    }

    /// What was done so far.
    pub fn observed(&self) -> Observed {
        self.shared.counters.read()
    }

    /// Blocks until no turn runs.
    pub(super) fn wait_for_turn_end<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        while state.running.is_some() {
            state = self.shared.turn_ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    pub(super) fn turn_is_over(&self) {
        self.lock().running = None;
        self.shared.turn_ended.notify_all();
    }

    pub(super) fn step_context(&self, turn: &Arc<TurnContext>) -> StepContext {
        let Shared { services, agents_md, slips, .. } = &*self.shared;
        let roots = services.workspace.ready_capability_roots();
        StepContext::new(Arc::clone(turn), roots, Arc::clone(&services.mcp), agents_md.clone())
            .with_slips(*slips)
    }
}

/// A session never goes on behind another one.
pub(super) fn must_be_empty(path: &Path) -> Result<(), SessionError> {
    match path.metadata() {
        Ok(file) if file.len() > 0 => Err(SessionError::NotEmpty(path.to_owned())),
        _ => Ok(()),
    }
}

pub(super) fn session_meta(
    host: &dyn Host,
    thread_id: &str,
    forked_from: Option<&str>,
    base_instructions: &str,
    settings: &TurnSettings,
) -> Json {
    let mut meta = Object::new();
    meta.set("id", Json::from(thread_id));
    if let Some(parent) = forked_from {
        meta.set("forked_from_id", Json::from(parent));
    }
    meta.set("timestamp", Json::from(host.timestamp()));
    let cwd = settings.context.get("cwd").filter(|cwd| cwd.as_str().is_some()).cloned();
    meta.set("cwd", cwd.unwrap_or_else(|| Json::from("")));
    meta.set("originator", Json::from(env!("CARGO_PKG_NAME")));
    meta.set("cli_version", Json::from(env!("CARGO_PKG_VERSION")));
    let mut instructions = Object::new();
    instructions.set("text", Json::from(base_instructions));
    meta.set("base_instructions", Json::Object(instructions));
    Json::Object(meta)
}
