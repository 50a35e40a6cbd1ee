//! What must hold after every step of the state machine, each under a name.

use super::machine::Machine;
use super::model::{Expected, wire_without_id};
use super::naive::{self, is_context};
use super::{CAPABILITY_ROOT, Sent};
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::session::Session;
use std::collections::HashSet;
use std::sync::Arc;

/// Something that does not hold.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    pub(crate) invariant: &'static str,
    pub(crate) message: String,
}

pub(crate) const PAIRED: &str = "session/every-call-has-its-output";
pub(crate) const NO_ORPHANS: &str = "session/every-output-has-its-call";
pub(crate) const LIVE_UNCHANGED: &str = "session/projecting-changes-nothing";
pub(crate) const REPEATABLE: &str = "session/projecting-twice-gives-the-same";
pub(crate) const NOTHING_LEAKED: &str = "session/no-snapshot-step-or-patch-in-a-body";
pub(crate) const PATCH_CHAIN: &str = "session/patches-give-the-last-state";
pub(crate) const BASELINE: &str = "session/the-baseline-is-what-the-model-was-told";
pub(crate) const SECTIONS: &str = "session/a-section-is-sent-exactly-when-rendered";
pub(crate) const DURABLE: &str = "session/durable-is-what-happened";
pub(crate) const EXTENDS: &str = "session/an-input-extends-the-last";
pub(crate) const RESUMES_AGREE: &str = "session/two-resumes-agree";
pub(crate) const SAME_BYTES: &str = "session/a-transport-retry-sends-the-same-bytes";
pub(crate) const FRESH: &str = "session/an-attempt-equals-a-fresh-projection";
pub(crate) const TOOLS_ONCE: &str = "session/a-step-lists-tools-once";
pub(crate) const LOCK_FREE: &str = "session/the-lock-is-free-while-projecting";
pub(crate) const COUNTS: &str = "session/each-attempt-clones-and-projects-once";
pub(crate) const CRASH_PREFIX: &str = "session/a-crash-leaves-a-prefix";
pub(crate) const MODEL: &str = "session/as-the-plain-model";

/// Gathers violations.
#[derive(Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<Violation>);

impl Findings {
    pub(crate) fn check(&mut self, invariant: &'static str, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.0.push(Violation { invariant, message: message() });
        }
    }
}

/// After every step: the requests that went out, the live history, the file.
pub(crate) fn after_step(machine: &mut Machine) -> Vec<Violation> {
    let mut findings = Findings::default();
    let sent = machine.rig.server.take_sent();
    let expected = std::mem::take(&mut machine.model.expected);
    labels(machine, &expected);
    counts(machine, &expected, &mut findings);
    requests(machine, &sent, &expected, &mut findings);
    live(machine, &mut findings);
    file(machine, &mut findings);
    // The checks project as well.
    machine.observed = machine.session().observed();
    findings.0
}

/// What the requests and the file say of where the steps went.
fn labels(machine: &mut Machine, expected: &[Expected]) {
    let has_picture = |item: &Arc<ResponseItem>| callpair::projection::image_count(item) > 0;
    for (n, now) in expected.iter().enumerate() {
        machine.label("a request with repaired pairs", now.repaired);
        machine.label("a transport retry", now.again);
        machine.label("a compaction", now.compaction);
        machine.label("a compaction with unpaired items", now.compaction && now.repaired);
        machine.label("a compaction within a turn", now.compaction && n > 0 && !expected[n - 1].compaction);
        let blind = now.modalities == Modalities::Text && now.history.iter().any(has_picture);
        machine.label("pictures stripped", blind);
        let attempt = n > 0 && !now.again && !now.compaction;
        machine.label("a further attempt or step", attempt);
    }
    let bytes = std::fs::read(machine.session().path()).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let patches: Vec<&str> = text.lines().filter(|line| line.contains(r#""full":false"#)).collect();
    machine.label("a patch in the file", !patches.is_empty());
    machine.label("a removal in a patch", patches.iter().any(|patch| patch.contains("null")));
}

fn requests(machine: &mut Machine, sent: &[Sent], expected: &[Expected], findings: &mut Findings) {
    findings.check(MODEL, sent.len() == expected.len(), || {
        format!("{} requests went out, {} were due", sent.len(), expected.len())
    });
    let mut before = machine.last_request.take();
    for (n, (sent, expected)) in sent.iter().zip(expected).enumerate() {
        let input: Vec<String> = sent.input().iter().map(Json::to_string).collect();
        laws(&input, findings);
        leaks(machine, sent, findings);
        if expected.again {
            let same = before.as_ref().is_some_and(|(body, ..)| *body == sent.body);
            findings.check(SAME_BYTES, same, || format!("request {n} was a retry of the one before"));
        }
        fresh(sent, expected, &input, findings);
        sections(&input, expected, findings);
        findings.check(MODEL, input == expected.input, || {
            format!("request {n} is\n{input:#?}\nand should be\n{:#?}", expected.input)
        });
        if let Some((_, earlier, earlier_input)) = &before {
            extends(earlier, earlier_input, expected, &input, findings);
        }
        before = Some((sent.body.clone(), expected.clone(), input));
    }
    machine.last_request = before;
}

/// The laws of the projection, read off the request alone.
fn laws(input: &[String], findings: &mut Findings) {
    let items: Vec<ResponseItem> =
        input.iter().map(|item| ResponseItem::load(super::json(item)).expect("an item")).collect();
    let calls = |wanted: fn(&ResponseItem) -> Option<&'static str>| -> HashSet<(&'static str, String)> {
        let of = |item: &ResponseItem| Some((wanted(item)?, item.call_id()?.as_str().to_owned()));
        items.iter().filter_map(of).collect()
    };
    let needs = calls(|item| match item {
        ResponseItem::FunctionCall(_) | ResponseItem::LocalShellCall(_) => Some("function"),
        ResponseItem::CustomToolCall(_) => Some("custom"),
        ResponseItem::ToolSearchCall(_) => Some("search"),
        _ => None,
    });
    let has = calls(|item| match item {
        ResponseItem::FunctionCallOutput(_) => Some("function"),
        ResponseItem::CustomToolCallOutput(_) => Some("custom"),
        ResponseItem::ToolSearchOutput(_) => Some("search"),
        _ => None,
    });
    findings.check(PAIRED, needs.is_subset(&has), || format!("without output: {:?}", needs.difference(&has)));
    findings
        .check(NO_ORPHANS, has.is_subset(&needs), || format!("without call: {:?}", has.difference(&needs)));
}

fn leaks(machine: &Machine, sent: &Sent, findings: &mut Findings) {
    let body = String::from_utf8_lossy(&sent.body);
    let mut secrets = vec![CAPABILITY_ROOT, "snapshot-only", "includeInstructions", "\"full\""];
    secrets.extend(machine.model.told.as_ref().map(|_| "apps_instructions"));
    for secret in secrets {
        findings.check(NOTHING_LEAKED, !body.contains(secret), || format!("{secret} is in a body"));
    }
}

fn fresh(sent: &Sent, expected: &Expected, input: &[String], findings: &mut Findings) {
    let mut fresh: Vec<String> = sent.fresh.iter().map(|item| wire_without_id(item)).collect();
    if expected.compaction {
        fresh.extend(expected.input.last().cloned());
    }
    // A transport retry may be older than what was recorded meanwhile; nothing is, as tools have ended by then.
    findings.check(FRESH, input == fresh, || format!("sent\n{input:#?}\na fresh projection is\n{fresh:#?}"));
}

fn sections(input: &[String], expected: &Expected, findings: &mut Findings) {
    let context = |items: &[String]| -> Vec<String> {
        let told = |item: &&String| {
            let item = ResponseItem::load(super::json(item)).expect("an item");
            is_context(&item) || item.to_wire().contains("<ext_")
        };
        items.iter().filter(told).cloned().collect()
    };
    let (is, due) = (context(input), context(&expected.input));
    findings.check(SECTIONS, is == due, || format!("the model is told\n{is:#?}\nand was due\n{due:#?}"));
}

fn extends(
    earlier: &Expected,
    earlier_input: &[String],
    now: &Expected,
    input: &[String],
    findings: &mut Findings,
) {
    // But for compaction, rollback and pictures; and a made-up output goes when the real one comes.
    let grew = now.history.starts_with(&earlier.history);
    let comparable = grew && !earlier.repaired && !earlier.compaction && earlier.modalities == now.modalities;
    if comparable {
        findings.check(EXTENDS, input.starts_with(earlier_input), || {
            format!("\n{input:#?}\ndoes not extend\n{earlier_input:#?}")
        });
    }
}

fn live(machine: &Machine, findings: &mut Findings) {
    let session = machine.session();
    let before = session.snapshot();
    for modalities in Modalities::ALL {
        let (first, second) = (session.project(modalities), session.project(modalities));
        let wire = |items: &[Arc<ResponseItem>]| items.iter().map(|item| item.to_wire()).collect::<Vec<_>>();
        findings.check(REPEATABLE, wire(&first) == wire(&second), || "two projections differ".to_owned());
    }
    let untouched = before.shares_items_with(&session.snapshot());
    findings.check(LIVE_UNCHANGED, untouched, || "the live history is not what it was".to_owned());
    let live: Vec<Arc<ResponseItem>> = before.iter().cloned().collect();
    findings.check(MODEL, live == machine.model.history, || {
        format!("the history is\n{live:#?}\nand should be\n{:#?}", machine.model.history)
    });
    findings.check(BASELINE, session.world_state_baseline() == machine.model.told, || {
        format!("told is {:?}, and should be {:?}", session.world_state_baseline(), machine.model.told)
    });
}

/// What is on the disk is what happened and nothing else; and a resume gives it back, each time the same.
fn file(machine: &Machine, findings: &mut Findings) {
    let session = machine.session();
    let bytes = std::fs::read(session.path()).unwrap_or_default();
    let on_disk = naive::read(&bytes);
    let live: Vec<Arc<ResponseItem>> = session.snapshot().iter().cloned().collect();
    findings.check(DURABLE, on_disk.history == live, || {
        format!("on the disk is\n{:#?}\nand live is\n{live:#?}", on_disk.history)
    });
    let (begun, due) = (on_disk.begun_tasks, machine.model.begun_tasks);
    findings.check(DURABLE, begun == due, || format!("{begun} tasks are on the disk, {due} began"));
    findings.check(PATCH_CHAIN, on_disk.told == machine.model.told, || {
        format!("the file gives {:?}, the state is {:?}", on_disk.told, machine.model.told)
    });
    if !on_disk.begun {
        return;
    }
    let resume = || Session::resume(&session.path(), machine.config(), machine.rig.services());
    let plain = |mut session: Result<Session, _>| -> Result<Vec<String>, callpair::session::SessionError> {
        let session: Session =
            std::mem::replace(&mut session, Err(callpair::session::SessionError::NoActiveTurn))?;
        let inputs = Modalities::ALL.iter().flat_map(|modalities| session.project(*modalities));
        Ok(inputs.map(|item| item.to_wire()).collect())
    };
    let (first, second) = (plain(resume()), plain(resume()));
    let live: Vec<String> = Modalities::ALL
        .iter()
        .flat_map(|modalities| session.project(*modalities))
        .map(|item| item.to_wire())
        .collect();
    match (first, second) {
        (Ok(first), Ok(second)) => {
            findings.check(RESUMES_AGREE, first == second, || "two resumes give two inputs".to_owned());
            findings.check(DURABLE, first == live, || format!("resumed\n{first:#?}\nlive\n{live:#?}"));
        }
        (Err(error), _) | (_, Err(error)) => findings.check(DURABLE, false, || error.to_string()),
    }
    let after = std::fs::read(session.path()).unwrap_or_default();
    findings.check(DURABLE, after == bytes, || "resuming wrote something".to_owned());
}

fn counts(machine: &mut Machine, expected: &[Expected], findings: &mut Findings) {
    let observed = machine.session().observed();
    let done =
        |counter: fn(&callpair::session::Observed) -> u64| counter(&observed) - counter(&machine.observed);
    let attempts = expected.iter().filter(|expected| !expected.again).count() as u64;
    for (what, count) in [
        ("clones", done(|observed| observed.history_clones)),
        ("projections", done(|observed| observed.projections)),
    ] {
        findings.check(COUNTS, count == attempts, || format!("{count} {what} for {attempts} attempts"));
    }
    let encodings = done(|observed| observed.encodings);
    findings
        .check(COUNTS, encodings == attempts, || format!("{encodings} encodings for {attempts} attempts"));
    let sends = done(|observed| observed.sends);
    findings.check(COUNTS, sends == expected.len() as u64, || format!("{sends} sendings"));
    let locked = done(|observed| observed.projections_under_lock);
    findings.check(LOCK_FREE, locked == 0, || format!("{locked} projections with the lock held"));
    let listed = machine.rig.mcp.listed.swap(0, std::sync::atomic::Ordering::SeqCst);
    let steps = std::mem::take(&mut machine.model.steps);
    findings
        .check(TOOLS_ONCE, listed == steps, || format!("tools were listed {listed} times in {steps} steps"));
}
