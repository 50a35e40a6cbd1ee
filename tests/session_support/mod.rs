//! What tests of the session layer share: a scripted transport, scripted tools, servers and a workspace that are values.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must stop"
)]

pub(crate) mod checks;
pub(crate) mod machine;
pub(crate) mod model;
pub(crate) mod naive;
pub(crate) mod ops;
pub(crate) mod recorded;
pub(crate) mod scenario;

use callpair::item::{ContentPart, Modalities, ResponseItem, Text};
use callpair::json::{Json, Object};
use callpair::session::{
    Authorisation, CountingHost, EncodedRequest, EventStream, Interrupt, McpRuntime, SendError, Session,
    SessionConfig, SessionServices, SessionTexts, StreamBroken, StreamEvent, ToolOutcome, ToolRun, Tools,
    Transport, TurnSettings, Workspace,
};
use callpair::world_state::{AgentsMd, AgentsMdNotices};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn item(text: &str) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(json(text)).expect("an item"))
}

pub(crate) fn text_part(text: &str) -> ContentPart {
    ContentPart::InputText(Text { text: text.to_owned() })
}

pub(crate) fn object(json: Json) -> Object {
    match json {
        Json::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

/// What the server does with one sending.
pub(crate) enum Answer {
    Refuse(SendError),
    Stream(Vec<Step>),
    /// The same, and what the tools of its calls do. What was planned for calls before is forgotten.
    Planned(Vec<Step>, Vec<(String, ToolPlan)>),
}

/// A piece of a stream, in order. Where the steps end, the stream ends.
pub(crate) enum Step {
    Event(StreamEvent),
    Break,
    /// The user interrupts while the stream hangs.
    Interrupt,
    /// Something else happens while the stream is on its way.
    Meanwhile(Box<dyn FnOnce(&Session) + Send>),
}

impl Step {
    pub(crate) fn item(item: &Arc<ResponseItem>) -> Step {
        Step::Event(StreamEvent::ItemDone(Arc::clone(item)))
    }

    pub(crate) fn completed() -> Step {
        Step::Event(StreamEvent::Completed { total_tokens: None })
    }
}

/// The bytes that went out, and what had been observed of the session then.
pub(crate) struct Sent {
    pub(crate) body: Vec<u8>,
    /// What a fresh projection gives at that moment.
    pub(crate) fresh: Vec<Arc<ResponseItem>>,
    pub(crate) authorisation: Authorisation,
    /// How long had been waited by then, in all.
    pub(crate) paused_ms: u64,
}

impl Sent {
    pub(crate) fn json(&self) -> Json {
        let text = std::str::from_utf8(&self.body).expect("a body is text");
        Json::parse_wrapped(text, 2).expect("a body is JSON")
    }

    pub(crate) fn input(&self) -> Vec<Json> {
        self.json().get("input").and_then(Json::as_array).expect("an input").to_vec()
    }
}

/// A server that is a list of answers.
#[derive(Default)]
pub(crate) struct Server {
    pub(crate) answers: Mutex<VecDeque<Answer>>,
    pub(crate) sent: Mutex<Vec<Sent>>,
    plans: Mutex<HashMap<String, VecDeque<ToolPlan>>>,
    authorisations: AtomicU64,
    session: Mutex<Option<Session>>,
    host: OnceLock<Arc<CountingHost>>,
    /// What is answered once the script is at its end; without it such a request is a mistake.
    pub(crate) afterwards: Mutex<Option<fn() -> Answer>>,
    /// Whether the model of the next requests reads texts only.
    pub(crate) text_only: Mutex<bool>,
}

impl Server {
    pub(crate) fn serve(&self, session: &Session) {
        *self.session.lock().unwrap() = Some(session.clone());
    }

    pub(crate) fn expect(&self, answers: impl IntoIterator<Item = Answer>) {
        self.answers.lock().unwrap().extend(answers);
    }

    pub(crate) fn plan(&self, call_id: &str, plan: ToolPlan) {
        self.plans.lock().unwrap().entry(call_id.to_owned()).or_default().push_back(plan);
    }

    pub(crate) fn session(&self) -> Session {
        self.session.lock().unwrap().clone().expect("a session is served")
    }

    pub(crate) fn take_sent(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

impl Transport for Server {
    fn authorise(&self) -> Authorisation {
        Authorisation(format!("token {}", self.authorisations.fetch_add(1, Ordering::Relaxed)))
    }

    fn send(
        &self,
        request: &EncodedRequest,
        authorisation: Authorisation,
        interrupt: &Interrupt,
    ) -> Result<EventStream, SendError> {
        let text_only = *self.text_only.lock().unwrap();
        let modalities = if text_only { Modalities::Text } else { Modalities::TextAndImage };
        let fresh = self.session().snapshot();
        let fresh = callpair::projection::project(&fresh, modalities).to_items();
        let paused_ms = self.host.get().map_or(0, |host| host.paused_ms());
        let sent = Sent { body: request.body().to_vec(), fresh, authorisation, paused_ms };
        self.sent.lock().unwrap().push(sent);
        let scripted = self.answers.lock().unwrap().pop_front();
        let afterwards = *self.afterwards.lock().unwrap();
        let steps = match scripted.or_else(|| afterwards.map(|answer| answer())) {
            None => panic!("the script has no answer"),
            Some(Answer::Refuse(error)) => return Err(error),
            Some(Answer::Stream(steps)) => steps,
            Some(Answer::Planned(steps, plans)) => {
                self.plans.lock().unwrap().clear();
                plans.into_iter().for_each(|(call_id, plan)| self.plan(&call_id, plan));
                steps
            }
        };
        let (interrupt, session) = (interrupt.clone(), self.session());
        let play = move |step| match step {
            Step::Event(event) => Some(Ok(event)),
            Step::Break => Some(Err(StreamBroken("scripted".to_owned()))),
            Step::Interrupt => {
                session.interrupt();
                interrupt.wait();
                None
            }
            Step::Meanwhile(act) => {
                act(&session);
                Some(Ok(StreamEvent::Delta))
            }
        };
        Ok(Box::new(steps.into_iter().map_while(play)))
    }
}

/// What a tool does once it is waited for.
pub(crate) enum ToolPlan {
    Ends(ToolOutcome),
    /// Ends when the turn is interrupted, and not before.
    Never,
    /// The user interrupts while it runs.
    InterruptedBy,
    /// Something else happens while it runs.
    While(Box<dyn FnOnce(&Session) + Send>, ToolOutcome),
}

/// Tools that follow the server's plan, by call id.
pub(crate) struct ScriptedTools {
    server: Arc<Server>,
}

impl Tools for ScriptedTools {
    fn start(&self, call: &Arc<ResponseItem>) -> Box<dyn ToolRun> {
        let call_id = call.call_id().expect("a call has an id").as_str().to_owned();
        let plan = self.server.plans.lock().unwrap().get_mut(&call_id).and_then(VecDeque::pop_front);
        let session = self.server.session();
        Box::new(move |interrupt: &Interrupt| match plan.unwrap_or(ToolPlan::Never) {
            ToolPlan::Ends(outcome) => outcome,
            ToolPlan::Never => {
                interrupt.wait();
                ToolOutcome::Interrupted
            }
            ToolPlan::InterruptedBy => {
                session.interrupt();
                interrupt.wait();
                ToolOutcome::Interrupted
            }
            ToolPlan::While(act, outcome) => {
                act(&session);
                outcome
            }
        })
    }
}

/// Servers with a fixed list of tools that count how often it is asked for.
#[derive(Default)]
pub(crate) struct CountedServers {
    pub(crate) tools: Mutex<Vec<Json>>,
    pub(crate) listed: AtomicU64,
}

impl McpRuntime for CountedServers {
    fn list_tools(&self) -> Vec<Json> {
        self.listed.fetch_add(1, Ordering::SeqCst);
        self.tools.lock().unwrap().clone()
    }
}

/// A folder that is a value.
#[derive(Default)]
pub(crate) struct Folder {
    pub(crate) agents_md: Mutex<Option<AgentsMd>>,
    pub(crate) observed: AtomicU64,
}

/// Stands in every working set, and may stand in no body.
pub(crate) const CAPABILITY_ROOT: &str = "capability-root-that-is-never-sent";

impl Workspace for Folder {
    fn agents_md(&self) -> Option<AgentsMd> {
        self.observed.fetch_add(1, Ordering::SeqCst);
        self.agents_md.lock().unwrap().clone()
    }

    fn ready_capability_roots(&self) -> Vec<String> {
        vec![CAPABILITY_ROOT.to_owned()]
    }
}

/// Everything that a session calls, scripted.
pub(crate) struct Rig {
    pub(crate) host: Arc<CountingHost>,
    pub(crate) server: Arc<Server>,
    pub(crate) tools: Arc<ScriptedTools>,
    pub(crate) mcp: Arc<CountedServers>,
    pub(crate) folder: Arc<Folder>,
}

impl Rig {
    pub(crate) fn new() -> Rig {
        let server = Arc::new(Server::default());
        let tools = Arc::new(ScriptedTools { server: Arc::clone(&server) });
        let host = Arc::<CountingHost>::default();
        assert!(server.host.set(Arc::clone(&host)).is_ok());
        Rig { host, server, tools, mcp: Arc::default(), folder: Arc::default() }
    }

    pub(crate) fn services(&self) -> SessionServices {
        SessionServices {
            host: Arc::<CountingHost>::clone(&self.host),
            transport: Arc::<Server>::clone(&self.server),
            tools: Arc::<ScriptedTools>::clone(&self.tools),
            mcp: Arc::<CountedServers>::clone(&self.mcp),
            workspace: Arc::<Folder>::clone(&self.folder),
        }
    }
}

/// The server holds the session that holds the server.
impl Drop for Rig {
    fn drop(&mut self) {
        *self.server.session.lock().unwrap() = None;
    }
}

pub(crate) fn texts() -> SessionTexts {
    SessionTexts {
        compaction_prompt: "{compaction prompt}".to_owned(),
        summary_prefix: "{summary prefix}".to_owned(),
        turn_aborted: "<turn_aborted>\nstopped\n</turn_aborted>".to_owned(),
        agents_md: AgentsMdNotices {
            replaced: "{note: these replace all earlier ones}".to_owned(),
            removed: "{note: the earlier ones no longer apply}".to_owned(),
        },
    }
}

pub(crate) fn config(settings: TurnSettings) -> SessionConfig {
    SessionConfig {
        base_instructions: "{base instructions #478e}".to_owned(),
        settings,
        texts: texts(),
        retries: callpair::session::RetryLimits::default(),
        auto_compact_limit: None,
        tool_output_limit: Some(callpair::history::ToolOutputLimit::default()),
        item_ids: false,
        anomaly_policy: callpair::history::AnomalyPolicy::Collect,
        slip: None,
    }
}
