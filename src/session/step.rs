//! The request-scoped working set: what is needed to build one request. None of it is model input.

use super::fault::{Slip, Slips};
use super::settings::TurnSettings;
use crate::json::{Json, Object};
use crate::world_state::{
    AgentsMd, AgentsMdNotices, AgentsMdSection, EnvironmentSnapshot, SwitchSection, WorldState,
};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A turn: its id and the settings that it began with.
#[derive(Debug, Clone)]
pub struct TurnContext {
    /// The turn.
    pub turn_id: String,
    /// Its settings. Those that change meanwhile wait for the next turn.
    pub settings: Arc<TurnSettings>,
    /// What the answer must look like, in this turn only.
    pub output_schema: Option<Json>,
}

impl TurnContext {
    /// The payload of its `turn_context` line.
    pub(super) fn payload(&self) -> Json {
        let mut payload = Object::new();
        payload.set("turn_id", Json::from(self.turn_id.as_str()));
        for (key, value) in self.settings.context.iter() {
            payload.set(key, value.clone());
        }
        Json::Object(payload)
    }
}

/// The servers of tools, as they stand.
pub trait McpRuntime: Send + Sync {
    /// Their tools, each as the API describes it. How long a list lives is the runtime's business; a step asks once.
    fn list_tools(&self) -> Vec<Json>;
}

/// What is ready outside the session.
pub trait Workspace: Send + Sync {
    /// AGENTS.md. Looked at once when a session starts, resumes or forks.
    fn agents_md(&self) -> Option<AgentsMd>;

    /// The roots of capabilities that are ready.
    fn ready_capability_roots(&self) -> Vec<String>;
}

/// Adds sections to the world state, for a thread or a turn.
pub trait SectionContributor: Send + Sync {
    /// Adds what it has.
    fn contribute(&self, thread_id: &str, turn: &TurnContext, world: &mut WorldState);
}

/// The working set of one sampling step, shared by its attempts.
pub struct StepContext {
    /// The turn that the step is of.
    pub turn: Arc<TurnContext>,
    /// Where commands run.
    pub environments: Option<EnvironmentSnapshot>,
    /// The roots of capabilities that are ready.
    pub ready_capability_roots: Vec<String>,
    /// The servers of tools.
    pub mcp: Arc<dyn McpRuntime>,
    /// AGENTS.md as the session observed it.
    pub agents_md: Option<AgentsMd>,
    mcp_tools: OnceLock<Vec<Json>>,
    slips: Slips,
}

impl StepContext {
    /// Gathers a working set. Tools are not listed before somebody asks.
    pub fn new(
        turn: Arc<TurnContext>,
        ready_capability_roots: Vec<String>,
        mcp: Arc<dyn McpRuntime>,
        agents_md: Option<AgentsMd>,
    ) -> StepContext {
        StepContext {
            environments: turn.settings.environments.clone(),
            turn,
            ready_capability_roots,
            mcp,
            agents_md,
            mcp_tools: OnceLock::new(),
            slips: Slips::default(),
        }
    }

    pub(super) fn with_slips(mut self, slips: Slips) -> StepContext {
        self.slips = slips;
        self
    }

    /// The servers' tools: listed once however many ask, also at the same time.
    pub fn mcp_tools(&self) -> &[Json] {
        if self.slips.has(Slip::ToolsListedTwice) {
            self.mcp.list_tools();
        }
        self.mcp_tools.get_or_init(|| self.mcp.list_tools())
    }

    /// All tools of the step's requests: the runtime's own, then the servers'.
    pub(super) fn tools(&self) -> Vec<Json> {
        self.turn.settings.tools.iter().chain(self.mcp_tools()).cloned().collect()
    }

    /// The world state that holds in this step.
    pub(super) fn world_state(
        &self,
        thread_id: &str,
        notices: &AgentsMdNotices,
        contributors: &[Arc<dyn SectionContributor>],
    ) -> WorldState {
        let settings = &self.turn.settings;
        let mut world = WorldState::new();
        world.set(AgentsMdSection { observed: self.agents_md.clone(), notices: notices.clone() });
        world.set(SwitchSection::apps(settings.apps.clone()));
        if let Some(environments) = &self.environments {
            world.set(environments.clone());
        }
        world.set(SwitchSection::plugins(settings.plugins.clone()));
        if let Some(skills) = &settings.skills {
            world.set(skills.clone());
        }
        for contributor in contributors {
            contributor.contribute(thread_id, &self.turn, &mut world);
        }
        world
    }
}

impl fmt::Debug for StepContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepContext").field("turn_id", &self.turn.turn_id).finish_non_exhaustive()
    }
}
