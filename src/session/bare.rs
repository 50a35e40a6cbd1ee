//! A session with nothing around it: no server, no tools, no folder. For those who drive its history alone.

use super::host::CountingHost;
use super::interrupt::Interrupt;
use super::request::EncodedRequest;
use super::settings::TurnSettings;
use super::state::{SessionConfig, SessionServices, SessionTexts};
use super::step::{McpRuntime, Workspace};
use super::tools::{ToolOutcome, ToolRun, Tools};
use super::transport::{Authorisation, EventStream, RetryLimits, SendError, Transport};
use crate::history::{AnomalyPolicy, ToolOutputLimit};
use crate::item::ResponseItem;
use crate::json::Json;
use crate::world_state::{AgentsMd, AgentsMdNotices};
use std::sync::Arc;

/// Plain sentences of our own; the program's are its vendor's.
impl Default for SessionTexts {
    fn default() -> SessionTexts {
        SessionTexts {
            compaction_prompt: "Summarise what happened so far, for one who must go on from here.".to_owned(),
            summary_prefix: "What happened so far, in short:".to_owned(),
            turn_aborted: "<turn_aborted>\nThe user stopped the last turn.\n</turn_aborted>".to_owned(),
            agents_md: AgentsMdNotices {
                replaced: "These instructions replace all earlier ones from AGENTS.md.".to_owned(),
                removed: "The earlier instructions from AGENTS.md no longer apply.".to_owned(),
            },
        }
    }
}

/// The program's limits, no settings, anomalies collected.
impl Default for SessionConfig {
    fn default() -> SessionConfig {
        SessionConfig {
            base_instructions: String::new(),
            settings: TurnSettings::default(),
            texts: SessionTexts::default(),
            retries: RetryLimits::default(),
            auto_compact_limit: None,
            tool_output_limit: Some(ToolOutputLimit::default()),
            item_ids: false,
            anomaly_policy: AnomalyPolicy::Collect,
            slip: None,
        }
    }
}

impl SessionServices {
    /// Services for a session whose history is driven from outside. Clone them for its resumes and forks: the ids that they
    /// count out must not come twice.
    pub fn bare() -> SessionServices {
        let nothing = Arc::new(Nothing);
        SessionServices {
            host: Arc::new(CountingHost::default()),
            transport: Arc::<Nothing>::clone(&nothing),
            tools: Arc::<Nothing>::clone(&nothing),
            mcp: Arc::<Nothing>::clone(&nothing),
            workspace: nothing,
        }
    }
}

/// No server, no tools, no folder.
struct Nothing;

impl Transport for Nothing {
    fn authorise(&self) -> Authorisation {
        Authorisation(String::new())
    }

    fn send(&self, _: &EncodedRequest, _: Authorisation, _: &Interrupt) -> Result<EventStream, SendError> {
        Err(SendError::Unreachable("this session has no server".to_owned()))
    }
}

impl Tools for Nothing {
    fn start(&self, _: &Arc<ResponseItem>) -> Box<dyn ToolRun> {
        Box::new(|_: &Interrupt| ToolOutcome::Failed("this session has no tools".to_owned()))
    }
}

impl McpRuntime for Nothing {
    fn list_tools(&self) -> Vec<Json> {
        Vec::new()
    }
}

impl Workspace for Nothing {
    fn agents_md(&self) -> Option<AgentsMd> {
        None
    }

    fn ready_capability_roots(&self) -> Vec<String> {
        Vec::new()
    }
}
