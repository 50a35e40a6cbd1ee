//! Recorded scenarios: their steps, translated to what is done to a session, and what is compared.
//!
//! From the record are taken the facts that a session is given: the settings of a turn (`turn_context`), the texts of the
//! vendor, what the model answers, what tools answer, what the filesystem looks like. Everything else is the session's own
//! doing, and compared. A text that the record does not have at a place where it could stand is given as [`POISON`]: were
//! it sent, it would show.

use super::{Answer, Rig, Step, ToolPlan, config, json, object, text_part};
use callpair::item::{ContentPart, Modalities, ResponseItem};
use callpair::json::{Json, Object};
use callpair::session::{
    AdditionalContext, ContextKind, ForkPoint, ModelSettings, RetryLimits, SendError, Session, SettingsTexts,
    StreamEvent, ToolOutcome, TurnEnd, TurnSettings, UserTurn,
};
use callpair::world_state::{AgentsMd, Environment, EnvironmentSnapshot, SkillsSection, apply};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const POISON: &str = "A TEXT THAT MUST NOT BE SENT";
const RULES: [&str; 3] = ["Rule one: be brief.\n", "Rule two: be exact.\n", "Rule three: be kind.\n"];

/// Events that say nothing to a reader of the file, and that a session does not write.
const OTHER_EVENTS: [&str; 5] =
    ["token_count", "agent_message", "agent_reasoning", "mcp_tool_call_end", "patch_apply_end"];

/// A recorded step.
struct Recorded {
    did: String,
    requests: Vec<Json>,
    lines: Vec<Json>,
}

impl Recorded {
    fn items(&self) -> impl DoubleEndedIterator<Item = &Json> {
        self.lines.iter().filter(|line| has_type(line, "response_item")).map(payload)
    }

    fn turn_context(&self) -> Option<&Json> {
        self.lines.iter().find(|line| has_type(line, "turn_context")).map(payload)
    }

    fn events(&self, name: &str) -> impl Iterator<Item = &Json> {
        let events = self.lines.iter().filter(|line| has_type(line, "event_msg")).map(payload);
        events.filter(move |event| has_type(event, name))
    }
}

fn has_type(json: &Json, name: &str) -> bool {
    json.get("type").and_then(Json::as_str) == Some(name)
}

fn payload(line: &Json) -> &Json {
    line.get("payload").expect("a line has a payload")
}

fn load(item: &Json) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(item.clone()).expect("a recorded item loads"))
}

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

/// A fresh projection as a request shows it: without ids, and with the prompt of a compaction.
fn wire(fresh: &[Arc<ResponseItem>], recorded: &Json) -> Vec<String> {
    let strip = |item: &Arc<ResponseItem>| {
        let mut item = (**item).clone();
        if let Some(id) = item.id_mut() {
            *id = None;
        }
        same_form(&json(&item.to_wire()))
    };
    let mut items: Vec<String> = fresh.iter().map(strip).collect();
    let recorded = recorded.get("request_input").and_then(Json::as_array).expect("items");
    let last = recorded.last().map(same_form).filter(|last| last.contains("{compaction prompt}"));
    items.extend(last);
    items
}

/// One text for equal items.
fn same_form(item: &Json) -> String {
    without_times(&load(item).to_wire())
}

/// What is compared of a line; `None` where it does not count.
fn comparable(line: &Json) -> Option<String> {
    let payload = payload(line);
    let name = line.get("type").and_then(Json::as_str).expect("a line has a type");
    let member = |key: &str| payload.get(key).map(Json::to_string).unwrap_or_default();
    Some(match name {
        "session_meta" => format!("session_meta, a fork: {}", payload.get("forked_from_id").is_some()),
        "response_item" => {
            let of_a_turn = payload.get("internal_chat_message_metadata_passthrough").is_some();
            format!("item {} of a turn: {of_a_turn}", same_form(payload))
        }
        "turn_context" => {
            let members = object(payload.clone());
            let members = members.iter().filter(|(key, _)| *key != "turn_id");
            let texts: Vec<String> = members.map(|(key, value)| format!("{key}: {value}")).collect();
            format!("turn_context {}", texts.join(", "))
        }
        // As text, key order included.
        "world_state" => format!("world_state {payload}"),
        "compacted" => {
            let items = payload.get("replacement_history").and_then(Json::as_array).expect("a history");
            let items: Vec<String> = items.iter().map(same_form).collect();
            format!("compacted {} {items:#?}", member("message"))
        }
        "event_msg" => {
            let event = payload.get("type").and_then(Json::as_str).expect("an event has a type");
            match event {
                event if OTHER_EVENTS.contains(&event) => return None,
                "task_started" | "context_compacted" => event.to_owned(),
                "task_complete" => format!("{event} {}", member("last_agent_message")),
                "turn_aborted" => format!("{event} {}", member("reason")),
                "thread_rolled_back" | "user_message" | "thread_settings_applied" => payload.to_string(),
                other => panic!("an event that nobody thought of: {other}"),
            }
        }
        other => panic!("a line that nobody thought of: {other}"),
    })
}

/// "aborted by user after 0.6s": how long is a matter of the day. So is what the model reads of an interrupt.
fn without_times(text: &str) -> String {
    if let Some((before, rest)) = text.split_once("aborted by user after ") {
        let (_, after) = rest.split_once('s').unwrap_or_default();
        return format!("{before}aborted by user after Ns{after}");
    }
    match (text.find("<turn_aborted>"), text.find("</turn_aborted>")) {
        (Some(start), Some(end)) => format!("{}<turn_aborted>…{}", &text[..start], &text[end..]),
        _ => text.to_owned(),
    }
}

/// The vendor's texts in the context messages of a step.
#[derive(Default)]
struct Texts {
    model_switch: Option<String>,
    permissions: Option<String>,
    collaboration_mode: Option<String>,
    personality_spec: Option<String>,
    skills: Option<String>,
    plugins: Option<String>,
    other: Option<String>,
}

impl Texts {
    fn of(step: &Recorded) -> Texts {
        let mut texts = Texts::default();
        let injected = step.lines.iter().flat_map(|line| match line.get("type").and_then(Json::as_str) {
            Some("response_item") => vec![payload(line).clone()],
            Some("compacted") => {
                payload(line).get("replacement_history").and_then(Json::as_array).unwrap_or_default().to_vec()
            }
            _ => Vec::new(),
        });
        for message in injected.filter(|item| item.get("role").and_then(Json::as_str) == Some("developer")) {
            let parts = message.get("content").and_then(Json::as_array).unwrap_or_default().to_vec();
            for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                texts.take(text);
            }
        }
        texts
    }

    fn take(&mut self, text: &str) {
        let body = |tag: &str| {
            let rest = text.strip_prefix(&format!("<{tag}>"))?;
            rest.strip_suffix(&format!("</{tag}>")).map(str::to_owned)
        };
        if text.starts_with("<model_switch>") {
            self.model_switch = Some(text.to_owned());
        } else if text.starts_with("<permissions instructions>") {
            self.permissions = Some(text.to_owned());
        } else if text.starts_with("<collaboration_mode>") {
            self.collaboration_mode = Some(text.to_owned());
        } else if text.starts_with("<personality_spec>") {
            self.personality_spec = Some(text.to_owned());
        } else if let Some(body) = body("skills_instructions") {
            self.skills = Some(body);
        } else if let Some(body) = body("plugins_instructions") {
            self.plugins = Some(body);
        } else if !text.starts_with('<') {
            self.other = Some(text.to_owned());
        }
    }
}

/// The world as the record has it after a step.
fn folded(before: Option<&Json>, step: &Recorded) -> Json {
    let states = step.lines.iter().filter(|line| has_type(line, "world_state")).map(payload);
    states.fold(before.cloned().unwrap_or_default(), |world, line| {
        let state = line.get("state").expect("a state");
        match line.get("full") {
            Some(Json::Bool(true)) => state.clone(),
            _ => apply(&world, state),
        }
    })
}

/// What the user says in a step that runs a turn.
fn turn_text(did: &str) -> Option<&str> {
    let (_, rest) = did
        .split_once("turn/start \"")
        .or_else(|| did.split_once("codex exec \""))
        .or_else(|| did.split_once("exec resume ID \""))?;
    Some(quoted(rest))
}

fn quoted(rest: &str) -> &str {
    rest.split('"').next().unwrap_or_default()
}

fn number_after(text: &str, lead: &str) -> Option<u64> {
    let (_, rest) = text.split_once(lead)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The content of the user message, with its pictures.
fn user_content(step: &Recorded, text: &str) -> Vec<ContentPart> {
    let messages = step.items().map(load).filter_map(|item| match &*item {
        ResponseItem::Message(message) if message.role == "user" => Some(message.content.clone()),
        _ => None,
    });
    let says = |content: &Vec<ContentPart>| content.first() == Some(&text_part(text));
    messages.into_iter().find(says).expect("the user's message is in the record")
}

/// What stands between the turn context and the user's message.
fn additional_context(step: &Recorded) -> Vec<(String, AdditionalContext)> {
    let from = step.lines.iter().position(|line| has_type(line, "turn_context"));
    let lines = step.lines.iter().skip(from.map_or(0, |from| from + 1));
    let items = lines.take_while(|line| has_type(line, "response_item")).map(payload);
    let values = items.filter_map(|item| {
        let text = item.get("content")?.as_array()?.first()?.get("text")?.as_str()?;
        let (tag, _) = text.strip_prefix('<')?.split_once('>')?;
        let value = text.strip_prefix(&format!("<{tag}>"))?.strip_suffix(&format!("</{tag}>"))?;
        let (kind, key) = match tag.strip_prefix("external_") {
            Some(key) => (ContextKind::Untrusted, key),
            None => (ContextKind::Application, tag),
        };
        Some((key.to_owned(), AdditionalContext { kind, value: value.to_owned() }))
    });
    values.collect()
}

fn is_output(item: &Json) -> bool {
    item.get("type").and_then(Json::as_str).is_some_and(|name| name.ends_with("_output"))
}

/// Whether an item comes from the server.
fn is_answer(item: &Json) -> bool {
    let name = item.get("type").and_then(Json::as_str).expect("an item has a type");
    let role = item.get("role").and_then(Json::as_str);
    match name {
        "message" => role == Some("assistant"),
        _ => !name.ends_with("_output"),
    }
}

fn is_compaction(request: &Json) -> bool {
    let items = request.get("request_input").and_then(Json::as_array).expect("items");
    items.last().is_some_and(|item| item.to_string().contains("{compaction prompt}"))
}

/// What the server answers to each request of a step: the items that stand in the next request and not in this one.
fn answers(step: &Recorded, requests: &[&Json]) -> Vec<Answer> {
    let items: Vec<Arc<ResponseItem>> = step.items().filter(|item| is_answer(item)).map(load).collect();
    let answers_in = |request: &Json| {
        let items = request.get("request_input").and_then(Json::as_array).expect("items");
        items.iter().filter(|item| is_answer(item)).count()
    };
    let mut from = 0;
    let mut answers = Vec::new();
    for (n, request) in requests.iter().enumerate() {
        let count = match requests.get(n + 1) {
            _ if is_compaction(request) => 1,
            Some(next) => answers_in(next) - answers_in(request),
            None => items.len() - from,
        };
        let brought = &items[from..from + count];
        from += count;
        answers.push(answer(step, n, requests.len(), brought));
    }
    assert_eq!(from, items.len(), "every answer has its request");
    answers
}

fn answer(step: &Recorded, n: usize, of: usize, items: &[Arc<ResponseItem>]) -> Answer {
    let did = step.did.as_str();
    let last = n + 1 == of;
    let mut stream: Vec<Step> = items.iter().map(Step::item).collect();
    let tokens = |count| StreamEvent::Completed { total_tokens: count };
    if did.contains("HTTP 500") && !last {
        return Answer::Refuse(SendError::Status { code: 500, message: "scripted".to_owned() });
    }
    let end = if did.contains("every stream breaks") || (did.contains("stream breaks") && !last) {
        stream.insert(0, Step::Event(StreamEvent::Delta));
        Step::Break
    } else if did.contains("response.incomplete") && !last {
        Step::Event(StreamEvent::Incomplete { reason: "max_output_tokens".to_owned() })
    } else if did.contains("response.failed context_length_exceeded") {
        Step::Event(StreamEvent::Failed {
            code: "context_length_exceeded".to_owned(),
            message: String::new(),
        })
    } else if did.contains("while the stream hangs") {
        Step::Interrupt
    } else if number_after(did, "the answer of step ") == Some(n as u64 + 1) {
        Step::Event(tokens(number_after(did, "reports ")))
    } else {
        Step::Event(tokens(Some(1240)))
    };
    stream.push(end);
    Answer::Stream(stream)
}
