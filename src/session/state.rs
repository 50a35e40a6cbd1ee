//! [`Session`] itself: what it is made of, its lock, and what can be done to it between turns.

use super::context::AdditionalContext;
use super::error::SessionError;
use super::fault::{Slip, Slips};
use super::host::Host;
use super::interrupt::{AbortReason, Interrupt};
use super::observed::{Counters, Observed};
use super::record::Record;
use super::settings::TurnSettings;
use super::step::{McpRuntime, SectionContributor, StepContext, TurnContext, Workspace};
use super::tools::Tools;
use super::transport::{RetryLimits, Transport};
use crate::history::{AnomalyPolicy, ContextManager, ToolOutputLimit, is_turn_start};
use crate::item::{ContentPart, ItemList, Modalities, ResponseItem};
use crate::json::{Json, Object};
use crate::projection::image_count;
use crate::rollout::{PictureCache, Refusal, Rollout, RolloutLine, WriteError, baseline, prepare, resume};
use crate::world_state::{AgentsMd, AgentsMdNotices, WorldStateSnapshot};
use std::collections::BTreeMap;
use std::fs::File;
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
    pictures: PictureCache,
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

/// What a file gives back.
struct Rebuilt {
    history: ItemList,
    turn_context: Option<Arc<Json>>,
    last_turn_context: Option<Arc<Json>>,
    world_state: Option<WorldStateSnapshot>,
    window_number: u64,
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

    fn begin(path: &Path, config: SessionConfig, services: SessionServices) -> Session {
        let thread_id = services.host.new_id();
        let head =
            session_meta(&*services.host, &thread_id, None, &config.base_instructions, &config.settings);
        let record = Record::new(path, Arc::clone(&services.host), head);
        let base_instructions = config.base_instructions.as_str().into();
        Session::assemble(config, services, thread_id, base_instructions, record)
    }

    /// Goes on with a session from its rollout. Writes nothing. Where a crash cut the file within its very head, nothing
    /// had happened, and the session begins anew behind what is left of it.
    ///
    /// # Errors
    /// Where the file cannot be read, or is none that the program resumes.
    pub fn resume(
        path: &Path,
        config: SessionConfig,
        services: SessionServices,
    ) -> Result<Session, SessionError> {
        let rollout = read(path)?;
        match rollout.refusal() {
            Some(Refusal::Empty) if rollout.unfinished || rollout.physical_lines == 0 => {
                return Ok(Session::begin(path, config, services));
            }
            Some(refusal) => return Err(SessionError::Refused { path: path.to_owned(), refusal }),
            None => {}
        }
        let meta = rollout.session_meta();
        let thread_id = meta.map(|meta| meta.id.to_string()).unwrap_or_default();
        let of_file = meta.and_then(|meta| meta.base_instructions.as_deref());
        let base_instructions = of_file.unwrap_or(&config.base_instructions).into();
        let record = Record::resumed(path, Arc::clone(&services.host));
        let session = Session::assemble(config, services, thread_id, base_instructions, record);
        let mut state = session.lock();
        session.install(&mut state, &rollout);
        if session.shared.slips.has(Slip::HalfLineTakenForWhole) {
            durable(&mut state, Record::take_end_for_whole)?;
        }
        drop(state);
        Ok(session)
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

    /// A detached manager with the live history: takes the lock, clones, lets go.
    pub fn clone_history(&self) -> ContextManager {
        Counters::add(&self.shared.counters.history_clones);
        self.lock().history.clone_history()
    }

    /// The live history as it stands, before any projection.
    pub fn snapshot(&self) -> ItemList {
        self.lock().history.raw_items().clone()
    }

    /// The world state that the model was last told of, where it is known.
    pub fn world_state_baseline(&self) -> Option<WorldStateSnapshot> {
        WorldStateSnapshot::from_json(self.lock().history.world_state_baseline()?)
    }

    /// The request input that the history becomes: a fresh clone, projected.
    pub fn project(&self, modalities: Modalities) -> Vec<Arc<ResponseItem>> {
        let guard = self.shared.slips.has(Slip::LockHeldWhileProjecting).then(|| self.lock());
        let clone = match &guard {
            Some(state) => state.history.clone_history(),
            None => self.clone_history(),
        };
        Counters::add(&self.shared.counters.projections);
        if !self.lock_is_free() {
            Counters::add(&self.shared.counters.projections_under_lock);
        }
        clone.for_prompt(modalities)
    }

    /// Changes the settings, from the next turn on. `applied` is what the rollout says of it; a caller that only renders a
    /// text anew says nothing.
    ///
    /// # Errors
    /// Where it cannot be written; the settings are the old ones then.
    pub fn apply_settings(&self, settings: TurnSettings, applied: Option<Json>) -> Result<(), SessionError> {
        let mut state = self.lock();
        // Before the first turn there is no file, and the first turn says it all.
        if let Some(applied) = applied.filter(|_| state.record.exists()) {
            let members = vec![("thread_settings", applied)];
            durable(&mut state, |record| record.event("thread_settings_applied", members))?;
        }
        state.settings = Arc::new(settings);
        Ok(())
    }

    /// Who adds sections to the world state, from the next turn on.
    pub fn set_contributors(&self, contributors: Vec<Arc<dyn SectionContributor>>) {
        self.lock().contributors = contributors;
    }

    /// Puts items in. While a turn runs they wait for its next request.
    ///
    /// # Errors
    /// Where one cannot be written; those before it are recorded.
    pub fn inject(&self, items: Vec<Arc<ResponseItem>>) -> Result<(), SessionError> {
        let mut state = self.lock();
        match &mut state.running {
            Some(running) => {
                running.waiting.push(Waiting::Items(items));
                Ok(())
            }
            None => items.into_iter().try_for_each(|item| record_item(&mut state, item, None)),
        }
    }

    /// Records items that somebody else made, as if turns ran: each message of a user begins one, so that a rollback takes
    /// off what it should. While a turn does run, the same as [`inject`](Self::inject).
    ///
    /// # Errors
    /// Where one cannot be written; those before it are recorded.
    pub fn record(&self, items: Vec<Arc<ResponseItem>>) -> Result<(), SessionError> {
        let mut state = self.lock();
        if state.running.is_some() {
            drop(state);
            return self.inject(items);
        }
        let mut turn_id = None;
        for item in items {
            if is_turn_start(&item) {
                end_outside_turn(&mut state, turn_id.take())?;
                let id = self.shared.services.host.new_id();
                let members = vec![("turn_id", Json::from(id.as_str()))];
                durable(&mut state, |record| record.event("task_started", members))?;
                turn_id = Some(id);
            }
            record_item(&mut state, item, turn_id.as_deref())?;
        }
        end_outside_turn(&mut state, turn_id)
    }

    /// Makes the history exactly these items, as a compaction does that the server made.
    ///
    /// # Errors
    /// While a turn runs, or where it cannot be written.
    pub fn replace(&self, items: Vec<Arc<ResponseItem>>) -> Result<(), SessionError> {
        let mut state = self.lock();
        if state.running.is_some() {
            return Err(SessionError::TurnInProgress);
        }
        let turn_id = self.shared.services.host.new_id();
        let members = || vec![("turn_id", Json::from(turn_id.as_str()))];
        durable(&mut state, |record| record.event("task_started", members()))?;
        self.install_compaction(&mut state, "", items)?;
        durable(&mut state, |record| record.event("task_complete", members()))
    }

    /// Takes the last `turns` turns back, and with them what their successors would be compared with.
    ///
    /// # Errors
    /// While a turn runs, or where the rollout cannot be written or read.
    pub fn rollback(&self, turns: u64) -> Result<(), SessionError> {
        let mut state = self.lock();
        if state.running.is_some() {
            return Err(SessionError::TurnInProgress);
        }
        if turns == 0 || !state.record.exists() {
            return Ok(());
        }
        let turns = turns.min(u64::from(u32::MAX));
        let members = vec![("num_turns", Json::from(turns))];
        durable(&mut state, |record| record.event("thread_rolled_back", members))?;
        // What remains is read from the file, so that a rollback and a resume can never differ.
        let rollout = read(state.record.path())?;
        self.install(&mut state, &rollout);
        Ok(())
    }

    /// Ends the turn that runs, if any.
    pub fn interrupt(&self) {
        if let Some(running) = &self.lock().running {
            running.interrupt.trigger(AbortReason::Interrupted);
        }
    }

    /// Says something more to a turn that runs. It waits until an answer is complete.
    ///
    /// # Errors
    /// Where no turn runs.
    pub fn steer(&self, content: Vec<ContentPart>) -> Result<(), SessionError> {
        let mut state = self.lock();
        let running = state.running.as_mut().ok_or(SessionError::NoActiveTurn)?;
        running.waiting.push(Waiting::Steer(content));
        Ok(())
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

    /// Puts what a file gives in the place of what was in memory.
    fn install(&self, state: &mut State, rollout: &Rollout) {
        let rebuilt = rebuild(rollout, self.shared.config.tool_output_limit, &mut state.pictures);
        state.history.replace(rebuilt.history);
        state.history.set_reference_context_item(rebuilt.turn_context);
        let world_state = rebuilt.world_state.map(|snapshot| Arc::new(snapshot.to_json()));
        state.history.set_world_state_baseline(world_state);
        state.last_turn_context = rebuilt.last_turn_context;
        state.window_number = rebuilt.window_number;
    }

    /// Makes the history what a compaction leaves. What was known of settings and world state goes with the text of it.
    pub(super) fn install_compaction(
        &self,
        state: &mut State,
        message: &str,
        items: Vec<Arc<ResponseItem>>,
    ) -> Result<(), SessionError> {
        durable(state, |record| record.compacted(message, &items))?;
        let stays = |item: &Arc<ResponseItem>| !matches!(&**item, ResponseItem::Other(name) if name == "ghost_snapshot");
        let items: ItemList = items.into_iter().filter(stays).collect();
        let (items, _) = prepare(&items, &mut state.pictures);
        state.history.replace(items);
        if !self.shared.slips.has(Slip::BaselineKeptOverCompaction) {
            state.history.set_reference_context_item(None);
            state.history.set_world_state_baseline(None);
        }
        state.window_is_full = false;
        state.total_tokens = None;
        state.window_number += 1;
        Ok(())
    }
}

fn end_outside_turn(state: &mut State, turn_id: Option<String>) -> Result<(), SessionError> {
    let Some(turn_id) = turn_id else { return Ok(()) };
    let members = vec![("turn_id", Json::from(turn_id)), ("last_agent_message", Json::Null)];
    durable(state, |record| record.event("task_complete", members))
}

/// Writes, and says in an error which file it was.
pub(super) fn durable(
    state: &mut State,
    write: impl FnOnce(&mut Record) -> Result<(), WriteError>,
) -> Result<(), SessionError> {
    write(&mut state.record)
        .map_err(|error| SessionError::Write { path: state.record.path().to_owned(), error })
}

/// Records an item: first in the file, whole, then in the live history, as a resume would have it: filtered, cut, its
/// pictures prepared.
pub(super) fn record_item(
    state: &mut State,
    item: Arc<ResponseItem>,
    turn_id: Option<&str>,
) -> Result<(), SessionError> {
    durable(state, |record| record.item(&item, turn_id))?;
    if image_count(&item) == 0 {
        state.history.record_items([item]);
    } else {
        let (prepared, _) = prepare(&[item].into_iter().collect(), &mut state.pictures);
        state.history.record_items(prepared.iter().cloned());
    }
    Ok(())
}

/// A session never goes on behind another one.
pub(super) fn must_be_empty(path: &Path) -> Result<(), SessionError> {
    match path.metadata() {
        Ok(file) if file.len() > 0 => Err(SessionError::NotEmpty(path.to_owned())),
        _ => Ok(()),
    }
}

pub(super) fn read(path: &Path) -> Result<Rollout, SessionError> {
    let file = File::open(path).map_err(|error| SessionError::Open { path: path.to_owned(), error })?;
    Rollout::read(file, crate::rollout::Caps::default())
        .map_err(|error| SessionError::Read { path: path.to_owned(), error })
}

fn rebuild(rollout: &Rollout, limit: Option<ToolOutputLimit>, pictures: &mut PictureCache) -> Rebuilt {
    let known = baseline(&rollout.lines);
    let owned = |payload: &Json| Arc::new(payload.clone());
    let is_compaction = |line: &RolloutLine| matches!(line, RolloutLine::Compacted(_));
    Rebuilt {
        history: resume(&rollout.lines, limit, pictures).history,
        turn_context: known.turn_context.map(owned),
        last_turn_context: known.last_turn_context.map(owned),
        world_state: fold_world_state(&known.world_state),
        window_number: rollout.lines.iter().filter(|line| is_compaction(&line.value)).count() as u64,
    }
}

/// The state that a whole one and the patches behind it give.
fn fold_world_state(payloads: &[&Json]) -> Option<WorldStateSnapshot> {
    payloads.iter().fold(None, |state: Option<WorldStateSnapshot>, payload| {
        let told = payload.get("state")?;
        match payload.get("full") {
            Some(Json::Bool(true)) => WorldStateSnapshot::from_json(told),
            _ => state?.patched(told),
        }
    })
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
