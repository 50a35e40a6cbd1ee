//! Laws between several projections. They need no model: they hold of any projector that does its work.

use super::durable::RollbackReach;
use super::live::first_difference;
use super::view::{Standing, call_of, output_of, same_but_pictures, without_id};
use super::{BOTH, CODEX, Check, Invariant, Needs, Observed, Sighting, Verdict};
use crate::case::{Items, Step, Trace};
use crate::item::{
    CallId, ContentPart, CustomToolCallOutput, FunctionCall, FunctionCallOutput, Message, Modalities,
    ResponseItem, Text, ToolOutput, ToolSearchOutput,
};
use crate::pairing::OutputKind;
use std::collections;
use std::sync::Arc;

/// Seeded per process and fast on short keys.
type HashMap<K, V> = collections::HashMap<K, V, foldhash::fast::RandomState>;
type HashSet<K> = collections::HashSet<K, foldhash::fast::RandomState>;

pub(super) const REPEAT: Invariant = Invariant {
    id: "metamorphic/repeat",
    statement: "The same history projected twice gives the same request, ids and bytes included.",
    law: "P(H) = P(H)",
    why: "Every changed byte loses the prompt cache from there on.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(repeat),
};

pub(super) const IDEMPOTENCE: Invariant = Invariant {
    id: "metamorphic/idempotence",
    statement: "A request projected again stays as it is.",
    law: "P(P(H)) = P(H)",
    why: "A repair that needs repair was none.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Law {
        scripts: |observed| again(observed, |sighting| Some(sighting.items().to_vec())),
        judge: idempotence,
    },
};

pub(super) const EQUIVARIANCE: Invariant = Invariant {
    id: "metamorphic/equivariance",
    statement: "Renaming call ids one to one renames them in the request, and changes nothing else.",
    law: "P(ρH) = ρP(H) for every bijection ρ of call ids",
    why: "Call ids mean nothing; code that trims, folds or cuts them, or looks for a prefix, mistakes one call for another.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Law {
        scripts: |observed| again(observed, |sighting| Some(renamed(sighting.before))),
        judge: equivariance,
    },
};

pub(super) const PIECES: Invariant = Invariant {
    id: "metamorphic/pieces",
    statement: "Histories that share no call id are projected each for itself.",
    law: "ids(A) ∩ ids(B) = ∅ ⇒ P(A ++ B) = P(A) ++ P(B)",
    why: "A repair that depends on what else is there is found by nobody's tests.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Law { scripts: pieces_scripts, judge: pieces },
};

pub(super) const PREFIX: Invariant = Invariant {
    id: "metamorphic/prefix",
    statement: "When only new calls are added, the request begins with the earlier request.",
    law: "ids(B) ∩ ids(H) = ∅ ⇒ P(H) is a prefix of P(H ++ B)",
    why: "This is what a prompt cache lives on.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Law {
        scripts: |observed| again(observed, |sighting| Some([sighting.before, &fresh_tail()].concat())),
        judge: prefix,
    },
};

pub(super) const LATE: Invariant = Invariant {
    id: "metamorphic/late",
    statement: "When a late output arrives, it stands at its own place, and the synthetic ones that it answers are gone.",
    law: "late answers open calls of H ⇒ P(H ++ late) = P(H) without the synthetics of these calls, then late",
    why: "A repair that outlives what it stood in for tells the model two stories.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Law { scripts: late_scripts, judge: late },
};

pub(super) const RESUME: Invariant = Invariant {
    id: "metamorphic/resume",
    statement: "After a resume the request is what it was before.",
    law: "P(resume(R)) = P(H)",
    why: "A resumed session must go on where it was, with its prompt cache.",
    needs: Needs::Resume,
    profiles: CODEX,
    reports: &[],
    check: Check::Law { scripts: |observed| then(observed, Step::Resume), judge: resume },
};

pub(super) const FORK: Invariant = Invariant {
    id: "metamorphic/fork",
    statement: "In a fork the request is what it was in the source, ids apart.",
    law: "erase(P(fork(H))) = erase(P(H))",
    why: "A fork that begins with another prompt is no fork.",
    needs: Needs::Fork,
    profiles: CODEX,
    reports: &[],
    check: Check::Law { scripts: |observed| then(observed, Step::Fork), judge: fork },
};

pub(super) const MODALITY: Invariant = Invariant {
    id: "metamorphic/modality",
    statement: "The requests to a text-only model and to one that takes pictures differ in pictures alone.",
    law: "P(H, text) = P(H, text + image), pictures apart",
    why: "What a model can see must not change what happened.",
    needs: Needs::BothModels,
    profiles: CODEX,
    reports: &[],
    check: Check::Law { scripts: modality_scripts, judge: modality },
};

pub(super) const WELL_FORMED: Invariant = Invariant {
    id: "metamorphic/well-formed",
    statement: "A history in which every call has one output behind it gives a request in which that is so.",
    law: "H well-formed ⇒ P(H) well-formed",
    why: "A repair must not break what is whole.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(well_formed),
};

fn repeat(sighting: &Sighting<'_>) -> Verdict {
    let Some(again) = sighting.again else { return Verdict::NotApplicable };
    if let Some(difference) = first_difference(sighting.items(), &again.items) {
        return Verdict::broken(format!("projected again at once, the request differs: {difference}"));
    }
    let same_bytes = match (&sighting.projected.text, &again.text) {
        (Some(first), Some(second)) => first == second,
        // Equal values of ours can still be written differently: a list of JSON keys, say.
        _ => sighting
            .items()
            .iter()
            .zip(&again.items)
            .all(|(a, b)| Arc::ptr_eq(a, b) || a.to_wire() == b.to_wire()),
    };
    if same_bytes {
        Verdict::Holds
    } else {
        Verdict::broken("projected again at once, the request is written with other bytes")
    }
}

/// One script that installs what is made of the last history, and projects it.
fn again(observed: &Observed<'_>, make: impl Fn(&Sighting<'_>) -> Option<Items>) -> Vec<Vec<Step>> {
    let script = observed
        .last()
        .and_then(|sighting| Some(vec![Step::Replace(make(sighting)?), Step::Project(sighting.modalities)]));
    script.into_iter().collect()
}

/// What the script at this place answered, and the last projection of the case's own trace.
fn answer<'a>(
    observed: &'a Observed<'_>,
    traces: &'a [Trace],
    at: usize,
) -> Option<(&'a Sighting<'a>, &'a Items)> {
    Some((observed.last()?, &traces.get(at)?.last_projected()?.items))
}

fn compare(what: &str, expected: &[Arc<ResponseItem>], found: &[Arc<ResponseItem>]) -> Verdict {
    match first_difference(expected, found) {
        Some(difference) => Verdict::broken(format!("{what}: {difference}")),
        None => Verdict::Holds,
    }
}

fn idempotence(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    match answer(observed, traces, 0) {
        Some((sighting, found)) => compare("the request projected again differs", sighting.items(), found),
        None => Verdict::NotApplicable,
    }
}

/// Every call id under a name of its own that has nothing in common with the others.
fn new_names<'a>(items: &'a [Arc<ResponseItem>]) -> HashMap<&'a str, CallId> {
    let mut names: HashMap<&'a str, CallId> = HashMap::default();
    for item in items {
        if let Some(call_id) = item.call_id() {
            let number = names.len();
            names.entry(call_id.as_str()).or_insert_with(|| CallId::from(format!("{number}-renamed")));
        }
    }
    names
}

fn renamed(items: &[Arc<ResponseItem>]) -> Items {
    rename(items, &new_names(items))
}

fn rename(items: &[Arc<ResponseItem>], names: &HashMap<&str, CallId>) -> Items {
    let rename = |item: &Arc<ResponseItem>| {
        let Some(name) = item.call_id().and_then(|call_id| names.get(call_id.as_str())) else {
            return Arc::clone(item);
        };
        let mut item = ResponseItem::clone(item);
        set_call_id(&mut item, name);
        Arc::new(item)
    };
    items.iter().map(rename).collect()
}

fn set_call_id(item: &mut ResponseItem, name: &CallId) {
    match item {
        ResponseItem::FunctionCall(call) => call.call_id = name.clone(),
        ResponseItem::LocalShellCall(call) => call.call_id = Some(name.clone()),
        ResponseItem::CustomToolCall(call) => call.call_id = name.clone(),
        ResponseItem::ToolSearchCall(call) => call.call_id = Some(name.clone()),
        ResponseItem::FunctionCallOutput(output) => output.call_id = name.clone(),
        ResponseItem::CustomToolCallOutput(output) => output.call_id = name.clone(),
        ResponseItem::ToolSearchOutput(output) => output.call_id = Some(name.clone()),
        _ => {}
    }
}

fn equivariance(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    let Some((sighting, found)) = answer(observed, traces, 0) else { return Verdict::NotApplicable };
    let names = new_names(sighting.before);
    if names.is_empty() {
        return Verdict::NotApplicable;
    }
    compare("with renamed call ids the request differs", &rename(sighting.items(), &names), found)
}

/// The place nearest the middle at which a history falls into two pieces that share no call id.
fn cut_place(items: &[Arc<ResponseItem>]) -> Option<usize> {
    let mut last_use: HashMap<&str, usize> = HashMap::default();
    for (at, item) in items.iter().enumerate() {
        if let Some(id) = item.call_id() {
            last_use.insert(id.as_str(), at);
        }
    }
    let mut reach = 0;
    let cuts = items.iter().enumerate().filter_map(|(at, item)| {
        reach = reach.max(item.call_id().and_then(|id| last_use.get(id.as_str())).copied().unwrap_or(at));
        (reach == at && at + 1 < items.len()).then_some(at + 1)
    });
    cuts.min_by_key(|cut| cut.abs_diff(items.len() / 2))
}

fn pieces_scripts(observed: &Observed<'_>) -> Vec<Vec<Step>> {
    let Some(sighting) = observed.last() else { return Vec::new() };
    let Some(cut) = cut_place(sighting.before) else { return Vec::new() };
    let (a, b) = sighting.before.split_at(cut);
    [a, b].map(|piece| vec![Step::Replace(piece.to_vec()), Step::Project(sighting.modalities)]).to_vec()
}

fn pieces(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    let (Some((sighting, a)), Some((_, b))) = (answer(observed, traces, 0), answer(observed, traces, 1))
    else {
        return Verdict::NotApplicable;
    };
    compare("the request differs from those of its two pieces", &[a.as_slice(), b].concat(), sighting.items())
}

/// A call id that no generator draws.
const FRESH_ID: &str = "callpair/fresh";

/// What is added for the law of the prefix: a message, a call with its output, a call without.
fn fresh_tail() -> Items {
    let text = |text: &str| Text { text: text.to_owned() };
    let call = |call_id: &str| {
        ResponseItem::FunctionCall(FunctionCall {
            id: None,
            name: "f".to_owned(),
            namespace: None,
            arguments: String::new(),
            call_id: CallId::from(call_id),
        })
    };
    let content = vec![ContentPart::InputText(text("next"))];
    let message = ResponseItem::Message(Message { id: None, role: "user".to_owned(), content, phase: None });
    let output = late_output(OutputKind::Function, FRESH_ID);
    [message, call(FRESH_ID), output, call("callpair/open")].map(Arc::new).to_vec()
}

fn prefix(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    let Some((sighting, found)) = answer(observed, traces, 0) else { return Verdict::NotApplicable };
    let begin = found.get(..sighting.items().len()).unwrap_or(found);
    compare("the earlier request is no prefix of the later one", sighting.items(), begin)
}

/// The open calls of a history, each once: the kind of output that they want, and the call id.
fn open_calls<'a>(sighting: &Sighting<'a>) -> Vec<(OutputKind, &'a str)> {
    let mut seen = HashSet::default();
    let open = |item: &'a Arc<ResponseItem>| {
        let (kind, call_id) = call_of(item).map(|(kind, id)| (kind.output(), id))?;
        (!sighting.history.has_output(kind, call_id)).then_some((kind, call_id))
    };
    sighting.before.iter().filter_map(open).filter(|call| seen.insert(*call)).collect()
}

fn late_output(kind: OutputKind, call_id: &str) -> ResponseItem {
    let call_id = CallId::from(call_id);
    let output = ToolOutput::Text("late".to_owned());
    match kind {
        OutputKind::Function => {
            ResponseItem::FunctionCallOutput(FunctionCallOutput { id: None, call_id, output })
        }
        OutputKind::CustomTool => {
            ResponseItem::CustomToolCallOutput(CustomToolCallOutput { id: None, call_id, name: None, output })
        }
        OutputKind::ToolSearch => ResponseItem::ToolSearchOutput(ToolSearchOutput {
            id: None,
            call_id: Some(call_id),
            status: "completed".to_owned(),
            execution: "client".to_owned(),
            tools: vec![crate::json::Json::from("late")],
        }),
    }
}

fn late_outputs(sighting: &Sighting<'_>) -> Items {
    open_calls(sighting).into_iter().map(|(kind, id)| Arc::new(late_output(kind, id))).collect()
}

/// The history is projected before the outputs come, so that what was made up then could live on.
fn late_scripts(observed: &Observed<'_>) -> Vec<Vec<Step>> {
    let Some(sighting) = observed.last() else { return Vec::new() };
    let late = late_outputs(sighting);
    if late.is_empty() {
        return Vec::new();
    }
    let project = Step::Project(sighting.modalities);
    vec![vec![Step::Replace(sighting.before.to_vec()), project.clone(), Step::Record(late), project]]
}

fn late(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    let Some((sighting, found)) = answer(observed, traces, 0) else { return Verdict::NotApplicable };
    let synthetic: HashSet<usize> = sighting.synthetic().map(|(at, ..)| at).collect();
    let own = sighting
        .items()
        .iter()
        .enumerate()
        .filter(|(at, _)| !synthetic.contains(at))
        .map(|(_, item)| item.clone());
    let expected: Items = own.chain(late_outputs(sighting)).collect();
    compare("after late outputs the request differs", &expected, found)
}

/// The steps of the case up to its last projection, then this one, then the projection.
fn then(observed: &Observed<'_>, step: Step) -> Vec<Vec<Step>> {
    let Some(sighting) = observed.last() else { return Vec::new() };
    let mut reach = RollbackReach::default();
    observed.changes().for_each(|(step, before, _)| reach.see(step, before));
    if reach.behind_a_replacement {
        return Vec::new();
    }
    let changes =
        observed.trace.script.iter().filter(|step| !matches!(step, Step::Snapshot | Step::Project(_)));
    let script = changes.cloned().chain([step, Step::Snapshot, Step::Project(sighting.modalities)]);
    vec![script.collect()]
}

fn resume(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    compare_loaded(observed, traces, "after a resume the request differs", Arc::clone)
}

fn fork(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    compare_loaded(observed, traces, "in a fork the request differs", without_id)
}

/// Compares the request of a loaded history with that of the live one, each item seen through `erase`. Where loading gave
/// another history (it may prepare pictures), the durable family judges that, and there is nothing to compare.
fn compare_loaded(
    observed: &Observed<'_>,
    traces: &[Trace],
    what: &str,
    erase: fn(&Arc<ResponseItem>) -> Arc<ResponseItem>,
) -> Verdict {
    let erased = |items: &[Arc<ResponseItem>]| items.iter().map(erase).collect::<Items>();
    match (answer(observed, traces, 0), traces.first().and_then(Trace::last_snapshot)) {
        // A case's script ends with a projection, so the last one came after every change.
        (Some((sighting, found)), Some(loaded)) if erased(loaded) == erased(sighting.before) => {
            compare(what, &erased(sighting.items()), &erased(found))
        }
        _ => Verdict::NotApplicable,
    }
}

fn modality_scripts(observed: &Observed<'_>) -> Vec<Vec<Step>> {
    let Some(sighting) = observed.last() else { return Vec::new() };
    let other = match sighting.modalities {
        Modalities::Text => Modalities::TextAndImage,
        Modalities::TextAndImage => Modalities::Text,
    };
    vec![vec![Step::Replace(sighting.before.to_vec()), Step::Project(other)]]
}

fn modality(observed: &Observed<'_>, traces: &[Trace]) -> Verdict {
    let Some((sighting, found)) = answer(observed, traces, 0) else { return Verdict::NotApplicable };
    let (with_pictures, without) = match sighting.modalities {
        Modalities::TextAndImage => (sighting.items(), found.as_slice()),
        Modalities::Text => (found.as_slice(), sighting.items()),
    };
    if same_but_pictures(with_pictures, without) {
        return Verdict::Holds;
    }
    let (many, few) = (with_pictures.len(), without.len());
    Verdict::broken(format!(
        "the requests for a model that takes pictures ({many} items) and for a text-only one ({few}) differ in more than pictures"
    ))
}

fn well_formed(sighting: &Sighting<'_>) -> Verdict {
    if ill_formed(sighting.before, &sighting.history).is_some() {
        return Verdict::NotApplicable;
    }
    match ill_formed(sighting.items(), &sighting.request) {
        Some(at) => Verdict::broken(format!(
            "the history is whole, and {} is not as it should be",
            sighting.in_request(at)
        )),
        None => Verdict::Holds,
    }
}

/// The first place where a list is not well-formed: a call without exactly one output behind it, or an output alone.
fn ill_formed(items: &[Arc<ResponseItem>], standing: &Standing<'_>) -> Option<usize> {
    let mut called = HashSet::default();
    let mut answered = HashSet::default();
    items.iter().position(|item| {
        if let Some((kind, id)) = call_of(item) {
            return !called.insert((kind.output(), id)) || !standing.has_output(kind.output(), id);
        }
        output_of(item).is_some_and(|call| !called.contains(&call) || !answered.insert(call))
    })
}
