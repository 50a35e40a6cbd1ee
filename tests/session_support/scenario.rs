//! Recorded scenarios: their steps, translated to what is done to a session, and what is compared.
//!
//! From the record are taken the facts that a session is given: the settings of a turn (`turn_context`), the texts of the
//! vendor, what the model answers, what tools answer, what the filesystem looks like. Everything else is the session's own
//! doing, and compared. A text that the record does not have at a place where it could stand is given as [`POISON`]: were
//! it sent, it would show.

use super::recorded::{
    Recorded, Texts, additional_context, answers, comparable, folded, is_output, load, number_after, quoted,
    same_form, turn_text, user_content, wire,
};
use super::{Rig, ToolPlan, config, json, object, text_part};
use callpair::item::{Modalities, ResponseItem};
use callpair::json::{Json, Object};
use callpair::session::{
    ForkPoint, ModelSettings, RetryLimits, Session, SettingsTexts, ToolOutcome, TurnEnd, TurnSettings,
    UserTurn,
};
use callpair::world_state::{AgentsMd, Environment, EnvironmentSnapshot, SkillsSection};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const POISON: &str = "A TEXT THAT MUST NOT BE SENT";
const RULES: [&str; 3] = ["Rule one: be brief.\n", "Rule two: be exact.\n", "Rule three: be kind.\n"];

/// Replays a scenario and panics where the session differs.
pub(crate) fn replay(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let list = |json: Option<&Json>| json.and_then(Json::as_array).unwrap_or_default().to_vec();
    let recorded = json(&text);
    let steps = recorded.as_array().expect("a list of steps").iter().map(|step| Recorded {
        did: step.get("do").and_then(Json::as_str).expect("what was done").to_owned(),
        requests: list(step.get("requests")),
        lines: list(step.get("rollout_lines_appended")),
    });
    let steps: Vec<Recorded> = steps.collect();
    let mut replay = Replay::new(&steps);
    for (at, step) in steps.iter().enumerate() {
        replay.at = at;
        replay.step(step);
    }
}

/// A thread of a scenario.
struct Thread {
    session: Option<Session>,
    path: PathBuf,
    /// The key that its requests carry in the record.
    key: Option<String>,
    /// The lines of its file that are compared already.
    compared: usize,
    last_body: Vec<u8>,
}

struct Replay<'a> {
    steps: &'a [Recorded],
    at: usize,
    rig: Rig,
    folder: tempfile::TempDir,
    threads: Vec<Thread>,
    /// The thread that the present step is about.
    current: usize,
    rule: usize,
    rules_there: bool,
    plugin: bool,
    local_environment: bool,
    /// The recorded world states of the current thread, all patches applied: what the world looks like, not what the
    /// model was told.
    world: HashMap<usize, Json>,
    settings: Option<TurnSettings>,
}

impl<'a> Replay<'a> {
    fn new(steps: &'a [Recorded]) -> Replay<'a> {
        Replay {
            steps,
            at: 0,
            rig: Rig::new(),
            folder: tempfile::tempdir().unwrap(),
            threads: Vec::new(),
            current: 0,
            rule: 0,
            rules_there: false,
            plugin: false,
            local_environment: true,
            world: HashMap::new(),
            settings: None,
        }
    }

    fn step(&mut self, step: &Recorded) {
        self.change_surroundings(&step.did);
        let did = step.did.as_str();
        self.choose_thread(did);
        if did.contains("deleted") {
            self.delete_world_state();
        }
        if did.contains("thread/resume") || did.contains("exec resume") {
            self.resume();
        }
        if did.contains("thread/fork") {
            self.fork();
        } else if did.contains("thread/compact/start") {
            self.learn_answers(step);
            self.session().compact().expect("a compaction");
        } else if let Some((_, turns)) = did.split_once("numTurns ") {
            let turns = turns.split(' ').next().and_then(|turns| turns.parse().ok()).expect("a number");
            self.session().rollback(turns).expect("a rollback");
        } else if let Some(text) = turn_text(did) {
            self.turn(step, text);
        }
        self.compare(step);
    }

    /// What happens outside the session.
    fn change_surroundings(&mut self, did: &str) {
        let first = self.threads.is_empty();
        if (first && (did.contains("AGENTS.md is there") || did.contains("AGENTS.md, a plugin")))
            || did.contains("AGENTS.md created")
            || did.contains("AGENTS.md again")
            || did.contains("AGENTS.md back")
        {
            self.rules_there = true;
        }
        if did.contains("AGENTS.md changed") {
            self.rule += 1;
        }
        if did.contains("AGENTS.md removed") {
            self.rules_there = false;
        }
        if did.contains("plugin is installed")
            || did.contains("plugin is enabled")
            || did.contains("AGENTS.md, a plugin")
        {
            self.plugin = true;
        }
        if did.contains("plugin disabled") {
            self.plugin = false;
        }
        if did.contains("environments []") {
            self.local_environment = false;
        }
        if did.contains("environments [local") {
            self.local_environment = true;
        }
        if did.contains("one MCP server") {
            let tool = |n| json(&format!(r#"{{"type":"function","name":"mcp_{n}"}}"#));
            *self.rig.mcp.tools.lock().unwrap() = (0..3).map(tool).collect();
        }
        let text = RULES.get(self.rule).expect("a rule");
        let agents_md = AgentsMd { directory: "/srv/demo".to_owned(), text: (*text).to_owned() };
        *self.rig.folder.agents_md.lock().unwrap() = self.rules_there.then_some(agents_md);
    }

    fn choose_thread(&mut self, did: &str) {
        let begins = did.contains("thread/start") || (did.contains("codex exec") && !did.contains("resume"));
        if begins || self.threads.is_empty() {
            self.start(did);
        } else if did.contains("in the parent") || did.contains("first thread") {
            self.current = 0;
        }
    }

    fn start(&mut self, did: &str) {
        let path = self.folder.path().join(format!("{}.jsonl", self.threads.len()));
        self.current = self.threads.len();
        let mut config = config(self.settings_of(self.next_turn()));
        let scenario: Vec<&str> = self.steps.iter().map(|step| step.did.as_str()).collect();
        let scenario = scenario.join("\n");
        config.auto_compact_limit = number_after(did, "model_auto_compact_token_limit = ");
        if scenario.contains("stream_max_retries 2") {
            config.retries = RetryLimits { attempts: 2, ..RetryLimits::default() };
        }
        let session = Session::start(&path, config, self.rig.services()).expect("a session");
        self.threads.push(Thread {
            session: Some(session),
            path,
            key: None,
            compared: 0,
            last_body: Vec::new(),
        });
    }

    fn resume(&mut self) {
        let config = config(self.settings_of(self.next_turn()));
        let services = self.rig.services();
        let thread = &mut self.threads[self.current];
        thread.session = None;
        let before = std::fs::read(&thread.path).unwrap();
        thread.session = Some(Session::resume(&thread.path, config, services).expect("it resumes"));
        assert_eq!(std::fs::read(&thread.path).unwrap(), before, "resuming alone writes nothing");
    }

    fn fork(&mut self) {
        let path = self.folder.path().join("fork.jsonl");
        let config = config(self.settings_of(self.next_turn()));
        let fork = self.session().fork(&path, &ForkPoint::Now, config, self.rig.services()).expect("a fork");
        let world = self.world.get(&self.current).cloned();
        self.current = self.threads.len();
        self.world.extend(world.map(|world| (self.current, world)));
        let thread = Thread { session: Some(fork), path, key: None, compared: 0, last_body: Vec::new() };
        self.threads.push(thread);
    }

    fn session(&self) -> Session {
        let session = self.threads[self.current].session.clone().expect("a session");
        self.rig.server.serve(&session);
        session
    }

    fn delete_world_state(&self) {
        let path = &self.threads[self.current].path;
        let text = std::fs::read_to_string(path).unwrap();
        let kept: String =
            text.split_inclusive('\n').filter(|line| !line.contains("\"type\":\"world_state\"")).collect();
        assert_ne!(kept, text);
        std::fs::write(path, kept).unwrap();
    }

    /// The present step, or the next one that runs a turn.
    fn next_turn(&self) -> &'a Recorded {
        let steps = &self.steps[self.at..];
        steps.iter().find(|step| step.turn_context().is_some()).expect("a turn follows")
    }

    fn turn(&mut self, step: &Recorded, text: &str) {
        self.learn_answers(step);
        let settings = self.settings_of(step);
        let applied = step
            .events("thread_settings_applied")
            .next()
            .map(|event| event.get("thread_settings").expect("settings").clone());
        // One that comes within the turn is done by a tool.
        let within = step.did.contains("while its tool runs: turn/start");
        let applied = applied.filter(|_| !within);
        *self.rig.server.text_only.lock().unwrap() = settings.model.modalities == Modalities::Text;
        let session = self.session();
        session.apply_settings(settings.clone(), applied).expect("settings");
        self.settings = Some(settings);
        let turn = UserTurn {
            content: user_content(step, text),
            additional_context: additional_context(step),
            output_schema: None,
        };
        let report = session.run_turn(turn).expect("a turn");
        let aborted = step.events("turn_aborted").next().is_some();
        assert_eq!(matches!(report.end, TurnEnd::Aborted(_)), aborted, "{:?}", report.end);
    }

    /// The settings that the record has for a step.
    fn settings_of(&self, step: &Recorded) -> TurnSettings {
        let context = step.turn_context().expect("a turn has a context");
        let mut fields = Object::new();
        for (key, value) in object(context.clone()).iter().filter(|(key, _)| *key != "turn_id") {
            fields.set(key, value.clone());
        }
        let name = context.get("model").and_then(Json::as_str).expect("a model").to_owned();
        let modalities = if name == "m-text" { Modalities::Text } else { Modalities::TextAndImage };
        let texts = Texts::of(step);
        // In a full injection a text that is not there does not exist; in a steady one it must not be used.
        let whole = texts.permissions.is_some() && texts.skills.is_some() && !step.did.contains("deleted");
        let or_poison = |text: Option<String>| text.or_else(|| (!whole).then(|| POISON.to_owned()));
        let tool_count = step.requests.iter().filter_map(|request| request.get("tools")?.as_u64()).max();
        let mcp_tools = self.rig.mcp.tools.lock().unwrap().len() as u64;
        let tool = |n| json(&format!(r#"{{"type":"function","name":"tool_{n}"}}"#));
        TurnSettings {
            model: ModelSettings { name, modalities, ..ModelSettings::default() },
            context: fields,
            texts: SettingsTexts {
                model_switch: texts.model_switch.or_else(|| Some(POISON.to_owned())),
                permissions: or_poison(texts.permissions),
                developer_instructions: texts.other.or_else(|| (!whole).then(|| POISON.to_owned())),
                collaboration_mode: or_poison(texts.collaboration_mode),
                personality_spec: or_poison(texts.personality_spec),
            },
            environments: Some(self.environments(step, context)),
            apps: None,
            plugins: self.plugin.then(|| texts.plugins.unwrap_or_else(|| POISON.to_owned())),
            skills: Some(SkillsSection {
                instructions: Some(texts.skills.unwrap_or_else(|| POISON.to_owned())),
            }),
            tools: (0..tool_count.unwrap_or_default() - mcp_tools).map(tool).collect(),
            client_metadata: Vec::new(),
        }
    }

    fn environments(&self, step: &Recorded, context: &Json) -> EnvironmentSnapshot {
        let text = |key: &str| context.get(key).and_then(Json::as_str).map(str::to_owned);
        let world = folded(self.world.get(&self.current), step);
        let filesystem = world
            .get("environments")
            .and_then(|environments| environments.get("filesystem")?.as_str().map(str::to_owned));
        let local = Environment {
            cwd: text("cwd").expect("a folder"),
            status: "available".to_owned(),
            shell: Some("bash".to_owned()),
        };
        EnvironmentSnapshot {
            environments: self.local_environment.then(|| ("local".to_owned(), local)).into_iter().collect(),
            current_date: text("current_date"),
            timezone: text("timezone"),
            filesystem,
        }
    }

    /// Makes the server and the tools answer as in the record.
    fn learn_answers(&mut self, step: &Recorded) {
        let own = self.own_requests(step);
        self.rig.server.answers.lock().unwrap().clear();
        self.rig.server.expect(answers(step, &own));
        for output in step.items().filter(|item| is_output(item)).map(load) {
            let call_id = output.call_id().expect("an output names its call").as_str().to_owned();
            let plan = self.tool_plan(step, &output);
            self.rig.server.plan(&call_id, plan);
        }
    }

    fn tool_plan(&self, step: &Recorded, output: &ResponseItem) -> ToolPlan {
        let output = match output {
            ResponseItem::FunctionCallOutput(output) => output.output.clone(),
            ResponseItem::CustomToolCallOutput(output) => output.output.clone(),
            other => panic!("no output: {other:?}"),
        };
        if matches!(&output, callpair::item::ToolOutput::Text(text) if text.starts_with("aborted by user")) {
            return ToolPlan::InterruptedBy;
        }
        let outcome = ToolOutcome::Answered(output);
        let (_, meanwhile) = step.did.split_once("while ").unwrap_or_default();
        if meanwhile.contains("turn/steer") {
            let steers: Vec<String> =
                meanwhile.split("turn/steer \"").skip(1).map(|rest| quoted(rest).to_owned()).collect();
            let act = move |session: &Session| {
                // Both tools of the step say it; it is done once.
                for steer in &steers {
                    let said = session.snapshot().iter().any(|item| item.to_wire().contains(steer));
                    if !said {
                        session.steer(vec![text_part(steer)]).expect("a turn runs");
                    }
                }
            };
            let first = step.items().find(|item| is_output(item)).map(load);
            let is_first = first.is_some_and(|first| match (&*first, &outcome) {
                (ResponseItem::FunctionCallOutput(first), ToolOutcome::Answered(output)) => {
                    first.output == *output
                }
                _ => false,
            });
            return if is_first { ToolPlan::While(Box::new(act), outcome) } else { ToolPlan::Ends(outcome) };
        }
        if let Some((_, rest)) = meanwhile.split_once("turn/start \"") {
            let text = quoted(rest).to_owned();
            let event = step.events("thread_settings_applied").next().expect("settings");
            let applied = event.get("thread_settings").expect("settings").clone();
            let next = self.steps[self.at + 1..].iter().find(|step| step.turn_context().is_some());
            let settings = self.settings_of(next.expect("a turn follows"));
            let act = move |session: &Session| {
                session.apply_settings(settings, Some(applied)).expect("settings");
                let turn = UserTurn { content: vec![text_part(&text)], ..UserTurn::default() };
                let report = session.run_turn(turn).expect("it becomes a steer");
                assert_eq!(report.end, TurnEnd::Steered);
            };
            return ToolPlan::While(Box::new(act), outcome);
        }
        ToolPlan::Ends(outcome)
    }

    /// The requests of the present thread; a step may hold one of another.
    fn own_requests<'r>(&mut self, step: &'r Recorded) -> Vec<&'r Json> {
        let thread = &mut self.threads[self.current];
        let key_of =
            |request: &Json| request.get("prompt_cache_key").and_then(Json::as_str).map(str::to_owned);
        if thread.key.is_none() {
            thread.key = step.requests.first().and_then(key_of);
        }
        step.requests.iter().filter(|request| key_of(request) == thread.key).collect()
    }

    fn compare(&mut self, step: &Recorded) {
        let own = self.own_requests(step);
        let sent = self.rig.server.take_sent();
        let place = format!("step {} ({})", self.at, step.did);
        assert_eq!(sent.len(), own.len(), "{place}: number of requests");
        let thread_id =
            self.threads[self.current].session.as_ref().map(|session| session.thread_id().to_owned());
        for (n, (sent, recorded)) in sent.iter().zip(&own).enumerate() {
            let body = sent.json();
            let place = format!("{place}, request {n}");
            let inputs = |json: &Json, key: &str| -> Vec<String> {
                json.get(key).and_then(Json::as_array).expect("items").iter().map(same_form).collect()
            };
            assert_eq!(inputs(&body, "input"), inputs(recorded, "request_input"), "{place}: input");
            assert_eq!(body.get("model"), recorded.get("model"), "{place}: model");
            let tools = body.get("tools").and_then(Json::as_array).map(|tools| tools.len() as u64);
            assert_eq!(tools, recorded.get("tools").and_then(Json::as_u64), "{place}: tools");
            assert_eq!(body.get("prompt_cache_key").and_then(Json::as_str), thread_id.as_deref(), "{place}");
            let thread = &mut self.threads[self.current];
            if let Some(Json::Bool(same)) = recorded.get("bytes_same_as_previous") {
                assert_eq!(thread.last_body == sent.body, *same, "{place}: the bytes of the request before");
            }
            thread.last_body.clone_from(&sent.body);
            assert_eq!(
                wire(&sent.fresh, recorded),
                inputs(recorded, "request_input"),
                "{place}: a fresh projection"
            );
        }
        self.compare_lines(step, &place);
        let folded = folded(self.world.get(&self.current), step);
        self.world.insert(self.current, folded);
    }

    fn compare_lines(&mut self, step: &Recorded, place: &str) {
        let thread = &mut self.threads[self.current];
        let text = std::fs::read_to_string(&thread.path).unwrap_or_default();
        let written: Vec<Json> = text.lines().map(json).collect();
        // A deletion by hand moves what was compared.
        if step.did.contains("deleted") {
            thread.compared = written.len();
        }
        let ours = written[thread.compared..].iter().filter_map(comparable);
        let theirs = step.lines.iter().filter_map(comparable);
        let (ours, theirs): (Vec<_>, Vec<_>) = (ours.collect(), theirs.collect());
        for (n, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{place}: line {n}");
        }
        assert_eq!(ours.len(), theirs.len(), "{place}: lines\n{ours:#?}\n{theirs:#?}");
        thread.compared = written.len();
    }
}
