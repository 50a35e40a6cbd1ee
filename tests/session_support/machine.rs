//! The state machine: does arbitrary steps to a session and to the plain model, and checks after each.

use super::checks::{self, CRASH_PREFIX, DURABLE, MODEL, Violation};
use super::model::{ATTEMPT_RETRIES, Ends, Expected, LIMIT, Model, REQUEST_RETRIES, TurnInHand};
use super::ops::{COMPACT_LIMIT, Made, Op, Reply, ToolScript, WorldChange, user_content, well};
use super::{Rig, ToolPlan, config, json, texts};
use callpair::item::{Modalities, ResponseItem};
use callpair::json::{Json, Object};
use callpair::session::fault::Slip;
use callpair::session::{
    ForkPoint, ModelSettings, Observed, RetryLimits, SectionContributor, Session, SessionConfig,
    SettingsTexts, TurnContext, TurnEnd, TurnSettings, UserTurn,
};
use callpair::world_state::{
    AgentsMd, AgentsMdSection, Environment, EnvironmentSnapshot, Fragment, FragmentRole, Markers, Previous,
    Section, SectionSnapshot, SkillsSection, SwitchSection, WorldState,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A section of an extension. Half of its snapshot is for comparison alone and may never be sent.
#[derive(Debug, Clone)]
struct ExtensionSection {
    id: String,
    n: u8,
    revision: u8,
}

#[derive(Debug, Clone, PartialEq)]
struct ExtensionSnapshot {
    revision: u8,
    odd: bool,
}

impl SectionSnapshot for ExtensionSnapshot {
    fn to_json(&self) -> Json {
        let mut members = Object::new();
        members.set("fingerprint", Json::from(format!("snapshot-only-{}", self.revision)));
        members.set("nothing", Json::Null);
        // There for some revisions only: what comes and goes within a section.
        if self.odd {
            members.set("odd", Json::Bool(true));
        }
        Json::Object(members)
    }

    fn from_json(json: &Json) -> Option<ExtensionSnapshot> {
        let fingerprint = json.get("fingerprint")?.as_str()?;
        let revision = fingerprint.strip_prefix("snapshot-only-")?.parse().ok()?;
        Some(ExtensionSnapshot { revision, odd: json.get("odd").is_some() })
    }
}

impl Section for ExtensionSection {
    type Snapshot = ExtensionSnapshot;

    fn id(&self) -> &str {
        &self.id
    }

    fn snapshot(&self) -> ExtensionSnapshot {
        ExtensionSnapshot { revision: self.revision, odd: self.revision % 2 == 1 }
    }

    fn render(&self, previous: Previous<'_, ExtensionSnapshot>) -> Option<Fragment> {
        if matches!(previous, Previous::Known(known) if *known == self.snapshot()) {
            return None;
        }
        let role = if self.n == 0 { FragmentRole::Developer } else { FragmentRole::User };
        let (start, end) = (format!("<ext_{}>", self.n), format!("</ext_{}>", self.n));
        let markers = Markers { start: start.into(), end: end.into() };
        Some(Fragment { role, markers, body: format!("revision {}", self.revision) })
    }

    fn rendered(&self, _role: FragmentRole, text: &str) -> bool {
        text.starts_with(&format!("<ext_{}>", self.n))
    }
}

/// The extensions that are there.
struct Extensions(BTreeMap<u8, u8>);

impl SectionContributor for Extensions {
    fn contribute(&self, _thread: &str, _turn: &TurnContext, world: &mut WorldState) {
        for (&n, &revision) in &self.0 {
            world.set(ExtensionSection { id: format!("ext_{n}"), n, revision });
        }
    }
}

/// What is around the session.
#[derive(Debug, Clone, Default)]
struct Surroundings {
    second_model: bool,
    text_only: bool,
    policy: u8,
    cwd: u8,
    date: u8,
    plugin: bool,
    rules: Option<u8>,
    no_local: bool,
    not_told: bool,
    extensions: BTreeMap<u8, u8>,
}

impl Surroundings {
    fn settings(&self) -> TurnSettings {
        let model = if self.second_model { "m-two" } else { "m-one" };
        let context = json(&format!(
            r#"{{"cwd":"/w/{}","approval_policy":"p{}","sandbox_policy":{{"type":"read-only"}},"model":"{model}"}}"#,
            self.cwd, self.policy
        ));
        let modalities = if self.text_only { Modalities::Text } else { Modalities::TextAndImage };
        let local = Environment {
            cwd: format!("/w/{}", self.cwd),
            status: "available".to_owned(),
            shell: (self.cwd != 2).then(|| "bash".to_owned()),
        };
        let environments = EnvironmentSnapshot {
            environments: (!self.no_local).then(|| ("local".to_owned(), local)).into_iter().collect(),
            current_date: Some(format!("2026-01-0{}", self.date + 1)),
            timezone: (self.date == 0).then(|| "Etc/UTC".to_owned()),
            filesystem: None,
        };
        TurnSettings {
            model: ModelSettings { name: model.to_owned(), modalities, ..ModelSettings::default() },
            context: super::object(context),
            texts: SettingsTexts {
                model_switch: Some(format!("<model_switch>{model}</model_switch>")),
                permissions: Some(format!("<permissions instructions>{}", self.policy)),
                ..SettingsTexts::default()
            },
            environments: (!self.not_told).then_some(environments),
            apps: None,
            plugins: self.plugin.then(|| "plugins".to_owned()),
            skills: Some(SkillsSection { instructions: Some("skills".to_owned()) }),
            tools: vec![json(r#"{"type":"function","name":"run"}"#)],
            client_metadata: Vec::new(),
        }
    }

    fn agents_md(&self) -> Option<AgentsMd> {
        let text = self.rules.map(|n| format!("Rule {n}.\n"));
        text.map(|text| AgentsMd { directory: "/w".to_owned(), text })
    }
}

pub(crate) struct Machine {
    pub(crate) rig: Rig,
    pub(crate) model: Model,
    pub(crate) observed: Observed,
    /// How often what happened that a run must reach to be worth something.
    pub(crate) labels: BTreeMap<&'static str, usize>,
    /// The last request: its bytes, what was due, and its input.
    pub(crate) last_request: Option<(Vec<u8>, Expected, Vec<String>)>,
    folder: tempfile::TempDir,
    session: Option<Session>,
    around: Surroundings,
    /// AGENTS.md as the session observed it.
    observed_rules: Option<AgentsMd>,
    slip: Option<Slip>,
    files: usize,
    said: u64,
    /// How long the file was before the last step that was no crash.
    len_before: usize,
    /// Forks that were made while a turn ran, and what each must hold.
    forks: Arc<Mutex<Vec<PathBuf>>>,
}

impl Machine {
    pub(crate) fn new(slip: Option<Slip>) -> Machine {
        let mut machine = Machine {
            rig: Rig::new(),
            model: Model::default(),
            observed: Observed::default(),
            labels: BTreeMap::new(),
            last_request: None,
            folder: tempfile::tempdir().unwrap(),
            session: None,
            around: Surroundings::default(),
            observed_rules: None,
            slip,
            files: 0,
            said: 0,
            len_before: 0,
            forks: Arc::default(),
        };
        *machine.rig.server.afterwards.lock().unwrap() = Some(|| well().answer(|_| ToolPlan::Never));
        let path = machine.new_path();
        let session = Session::start(&path, machine.config(), machine.rig.services()).unwrap();
        machine.go_on_in(session);
        machine
    }

    pub(crate) fn label(&mut self, label: &'static str, reached: bool) {
        *self.labels.entry(label).or_default() += usize::from(reached);
    }

    pub(crate) fn session(&self) -> Session {
        self.session.clone().unwrap()
    }

    fn new_path(&mut self) -> PathBuf {
        self.files += 1;
        self.folder.path().join(format!("{}.jsonl", self.files))
    }

    pub(crate) fn config(&self) -> SessionConfig {
        SessionConfig {
            retries: RetryLimits { requests: REQUEST_RETRIES, attempts: ATTEMPT_RETRIES },
            auto_compact_limit: Some(COMPACT_LIMIT),
            tool_output_limit: Some(LIMIT),
            slip: self.slip,
            ..config(self.around.settings())
        }
    }

    /// A session of a new process, or of a fork.
    fn go_on_in(&mut self, session: Session) {
        self.rig.server.serve(&session);
        self.observed = Observed::default();
        self.observed_rules = self.around.agents_md();
        self.model.full_window = false;
        self.model.tokens = None;
        self.session = Some(session);
        self.set_extensions();
    }

    fn set_extensions(&self) {
        let extensions = Arc::new(Extensions(self.around.extensions.clone()));
        self.session().set_contributors(vec![extensions]);
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.session().path()).unwrap_or_default()
    }

    /// The world as it is for the next turn.
    fn world(&self, settings: &TurnSettings) -> WorldState {
        let mut world = WorldState::new();
        let notices = texts().agents_md;
        world.set(AgentsMdSection { observed: self.observed_rules.clone(), notices });
        world.set(SwitchSection::apps(None));
        if let Some(environments) = &settings.environments {
            world.set(environments.clone());
        }
        world.set(SwitchSection::plugins(settings.plugins.clone()));
        if let Some(skills) = &settings.skills {
            world.set(skills.clone());
        }
        for (&n, &revision) in &self.around.extensions {
            world.set(ExtensionSection { id: format!("ext_{n}"), n, revision });
        }
        world
    }

    /// Does a step, and says what does not hold after it.
    pub(crate) fn step(&mut self, op: &Op) -> Vec<Violation> {
        if !matches!(op, Op::Crash { .. }) {
            self.len_before = self.bytes().len();
        }
        let mut violations = match op {
            Op::Turn { picture, script } => self.turn(*picture, script),
            Op::Compact { script } => self.compact(script),
            Op::Rollback(turns) => self.rollback(u64::from(*turns)),
            Op::Fork => self.fork(),
            Op::Resume => self.resume(),
            Op::Crash { of_all, share } => self.crash(*of_all, *share),
            Op::Model { second, text_only } => {
                (self.around.second_model, self.around.text_only) = (*second, *text_only);
                self.settings_changed()
            }
            Op::Policy(policy) => {
                self.around.policy = *policy;
                self.settings_changed()
            }
            Op::World(change) => self.change_world(*change),
            Op::Extension { n, revision } => {
                match revision {
                    Some(revision) => self.around.extensions.insert(*n, *revision),
                    None => self.around.extensions.remove(n),
                };
                self.set_extensions();
                Vec::new()
            }
            Op::Record(made) => self.record(made),
            Op::SplitPair { call } => {
                let call = *call;
                self.record(&[Made::Function { call, id: true }, Made::User(0), Made::Output { call }]);
                self.rollback(1)
            }
            Op::Replace(made) => {
                let items: Vec<_> = made.iter().map(|made| made.item()).collect();
                self.session().replace(items.clone()).unwrap();
                self.model.begun_tasks += 1;
                self.model.replace(items);
                Vec::new()
            }
        };
        violations.extend(checks::after_step(self));
        violations
    }

    fn record(&mut self, made: &[Made]) -> Vec<Violation> {
        let items: Vec<_> = made.iter().map(|made| made.item()).collect();
        self.session().record(items.clone()).unwrap();
        self.model.record(&items);
        Vec::new()
    }

    fn settings_changed(&mut self) -> Vec<Violation> {
        self.session().apply_settings(self.around.settings(), Some(json(r#"{"changed":true}"#))).unwrap();
        Vec::new()
    }

    fn change_world(&mut self, change: WorldChange) -> Vec<Violation> {
        match change {
            WorldChange::Cwd(cwd) => self.around.cwd = cwd,
            WorldChange::Date(date) => self.around.date = date,
            WorldChange::Plugin(on) => self.around.plugin = on,
            WorldChange::Rules(rules) => self.around.rules = rules,
            WorldChange::Local(there) => self.around.no_local = !there,
            WorldChange::Told(told) => self.around.not_told = !told,
        }
        *self.rig.folder.agents_md.lock().unwrap() = self.around.agents_md();
        self.settings_changed()
    }

    /// Gives the script to the server and the tools, and to the model.
    fn learn(&mut self, script: &[Reply]) {
        self.rig.server.answers.lock().unwrap().clear();
        self.rig.server.expect(script.iter().map(|reply| reply.answer(|tool| self.plan(tool))));
        self.model.script = script.iter().cloned().collect();
        *self.rig.server.text_only.lock().unwrap() = self.around.text_only;
    }

    fn plan(&self, tool: ToolScript) -> ToolPlan {
        let outcome = tool.outcome();
        match tool {
            ToolScript::Interrupted => ToolPlan::InterruptedBy,
            ToolScript::Steered => {
                let act = |session: &Session| {
                    session.steer(vec![super::text_part("steered")]).unwrap();
                };
                ToolPlan::While(Box::new(act), outcome)
            }
            ToolScript::Injected => {
                let act = |session: &Session| {
                    session.record(vec![Made::Function { call: 3, id: true }.item()]).unwrap();
                };
                ToolPlan::While(Box::new(act), outcome)
            }
            ToolScript::Forked => {
                let (forks, folder) = (Arc::clone(&self.forks), self.folder.path().to_owned());
                let (config, services) = (self.config(), self.rig.services());
                let act = move |session: &Session| {
                    let mut forks = forks.lock().unwrap();
                    let path = folder.join(format!("fork-{}.jsonl", forks.len()));
                    session.fork(&path, &ForkPoint::Now, config, services).unwrap();
                    forks.push(path);
                };
                ToolPlan::While(Box::new(act), outcome)
            }
            ToolScript::Answers | ToolScript::AnswersAtLength | ToolScript::Fails => ToolPlan::Ends(outcome),
        }
    }

    fn turn(&mut self, picture: bool, script: &[Reply]) -> Vec<Violation> {
        self.learn(script);
        self.said += 1;
        let settings = self.around.settings();
        let world = self.world(&settings);
        let due = self.model.turn(self.said, picture, &TurnInHand { settings: &settings, world: &world });
        let content = user_content(self.said, picture);
        let report = self.session().run_turn(UserTurn { content, ..UserTurn::default() }).unwrap();
        let mut findings = checks::Findings::default();
        let is = ends(&report.end);
        findings.check(MODEL, is == due, || format!("the turn ended {is:?} and should have ended {due:?}"));
        self.label("a turn interrupted", due == Ends::Interrupted);
        self.label("a turn failed", due == Ends::Failed);
        self.label("a fork of a running turn", self.model.forks > 0);
        self.check_forks(&mut findings);
        findings.0
    }

    /// A fork of a running turn: a call that was open stays open, and the fork's requests say that it was aborted.
    fn check_forks(&mut self, findings: &mut checks::Findings) {
        let forks = std::mem::take(&mut *self.forks.lock().unwrap());
        let due = std::mem::take(&mut self.model.forks);
        findings.check(MODEL, forks.len() == due, || format!("{} forks of {due}", forks.len()));
        for path in forks {
            let fork = Session::resume(&path, self.config(), self.rig.services()).unwrap();
            let on_disk = super::naive::read(&std::fs::read(&path).unwrap());
            let live: Vec<Arc<ResponseItem>> = fork.snapshot().iter().cloned().collect();
            findings.check(DURABLE, on_disk.history == live, || "a fork differs from its file".to_owned());
            findings.check(DURABLE, !on_disk.open, || "a fork's turn was not ended".to_owned());
            let live_wire = live.iter().map(|item| item.to_wire()).collect::<Vec<_>>();
            let aborted = live_wire.last().is_some_and(|item| item.contains("<turn_aborted>"));
            findings.check(DURABLE, aborted, || "a fork's model is not told that the turn ended".to_owned());
            std::fs::remove_file(&path).unwrap();
        }
    }

    fn compact(&mut self, script: &[Reply]) -> Vec<Violation> {
        self.learn(script);
        let settings = self.around.settings();
        let world = self.world(&settings);
        let turn = TurnInHand { settings: &settings, world: &world };
        self.model.begun_tasks += 1;
        let due = match self.model.compact(&turn, false) {
            Ok(()) => Ends::Completed,
            Err(ends) => self.model.end(ends),
        };
        let report = self.session().compact().unwrap();
        let mut findings = checks::Findings::default();
        let is = ends(&report.end);
        findings.check(MODEL, is == due, || format!("the compaction ended {is:?}, not {due:?}"));
        findings.0
    }

    fn rollback(&mut self, turns: u64) -> Vec<Violation> {
        let before = super::naive::read(&self.bytes());
        self.session().rollback(turns).unwrap();
        let after = super::naive::read(&self.bytes());
        let summary = |history: &[Arc<ResponseItem>]| {
            history.iter().any(|item| item.to_wire().contains("{summary prefix}"))
        };
        self.label("a rollback took a turn", before.history.len() > after.history.len());
        let unpaired = |history: &[Arc<ResponseItem>]| {
            let items: callpair::item::ItemList = history.iter().cloned().collect();
            callpair::projection::project(&items, Modalities::TextAndImage).plan().edits().len()
        };
        self.label("a rollback split a pair", unpaired(&after.history) > unpaired(&before.history));
        self.label("a rollback took a compaction", summary(&before.history) && !summary(&after.history));
        self.label("a rollback took the initial context", before.told.is_some() && after.told.is_none());
        if turns > 0 && self.session().path().exists() {
            self.learn_from_file();
            self.last_request = None;
        }
        Vec::new()
    }

    /// What the model knows after something that the file alone decides.
    fn learn_from_file(&mut self) {
        let on_disk = super::naive::read(&self.bytes());
        self.model.history = on_disk.history;
        self.model.told = on_disk.told;
        self.model.begun_tasks = on_disk.begun_tasks;
        let without_turn = |context: Option<Json>| {
            let members = super::object(context?);
            let rest = members.iter().filter(|(key, _)| *key != "turn_id");
            Some(Json::Object(rest.map(|(key, value)| (key.into(), value.clone())).collect()))
        };
        self.model.context = without_turn(on_disk.context);
        self.model.last_context = without_turn(on_disk.last_context);
    }

    fn fork(&mut self) -> Vec<Violation> {
        let path = self.new_path();
        let open = super::naive::read(&self.bytes()).open;
        let (config, services) = (self.config(), self.rig.services());
        let fork = self.session().fork(&path, &ForkPoint::Now, config, services).unwrap();
        if open {
            self.model.end(Ends::Interrupted);
        }
        self.go_on_in(fork);
        self.model.steps = 0;
        Vec::new()
    }

    fn resume(&mut self) -> Vec<Violation> {
        let path = self.session().path();
        self.session = None;
        let resumed = match path.exists() {
            true => Session::resume(&path, self.config(), self.rig.services()),
            false => Session::start(&path, self.config(), self.rig.services()),
        };
        self.go_on_in(resumed.unwrap());
        Vec::new()
    }

    fn crash(&mut self, of_all: bool, share: u16) -> Vec<Violation> {
        let path = self.session().path();
        let bytes = self.bytes();
        let from = if of_all { 0 } else { self.len_before.min(bytes.len()) };
        let kept = from + (bytes.len() - from) * usize::from(share) / usize::from(u16::MAX);
        if path.exists() {
            std::fs::write(&path, &bytes[..kept]).unwrap();
        }
        let before = super::naive::read(&bytes);
        let after = super::naive::read(&bytes[..kept]);
        self.label("a crash tore a line", bytes[..kept].last().is_some_and(|&byte| byte != b'\n'));
        self.label("a crash tore a turn", after.open);
        self.session = None;
        let mut findings = checks::Findings::default();
        let line = bytes[..kept].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let rest = String::from_utf8_lossy(&bytes[line..]).into_owned();
        // Nothing but items in what is lost: then what is left is the beginning of it.
        if !rest.contains("thread_rolled_back") && !rest.contains("\"compacted\"") {
            findings.check(CRASH_PREFIX, before.history.starts_with(&after.history), || {
                "what is left is no beginning of what happened".to_owned()
            });
        }
        let resumed = match path.exists() {
            true => Session::resume(&path, self.config(), self.rig.services()),
            false => Session::start(&path, self.config(), self.rig.services()),
        };
        let resumed = resumed.unwrap_or_else(|error| panic!("after a crash at byte {kept}: {error}"));
        let live: Vec<Arc<ResponseItem>> = resumed.snapshot().iter().cloned().collect();
        findings.check(CRASH_PREFIX, live == after.history, || {
            format!("cut at byte {kept} the file gives\n{live:#?}\nand should give\n{:#?}", after.history)
        });
        self.go_on_in(resumed);
        self.learn_from_file();
        self.last_request = None;
        findings.0
    }
}

fn ends(end: &TurnEnd) -> Ends {
    match end {
        TurnEnd::Completed { .. } => Ends::Completed,
        TurnEnd::Failed(_) => Ends::Failed,
        TurnEnd::Aborted(_) => Ends::Interrupted,
        TurnEnd::Steered => panic!("no other turn runs"),
    }
}
