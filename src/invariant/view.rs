//! What invariants look at: a trace taken apart into projections, each with the history before and after it.

use crate::case::{Items, Outcome, Projected, Step, Trace};
use crate::item::{ContentPart, ItemId, Modalities, OutputPart, ResponseItem, ToolOutput};
use crate::pairing::{CallKind, OutputKind, Role};
use crate::projection::{image_count, role, summary};
use crate::subject::{Capabilities, Profile};
use std::collections::HashMap;
use std::sync::Arc;

/// The case's own trace, taken apart.
#[derive(Debug)]
pub struct Observed<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its projections, in order.
    pub sightings: Vec<Sighting<'a>>,
    changes: Vec<(&'a Step, &'a Items, &'a Items)>,
    /// The profile by which it is judged.
    pub profile: Profile,
    /// The subject.
    pub capabilities: &'a Capabilities,
}

impl<'a> Observed<'a> {
    /// Takes a trace apart. Projections without a snapshot before them are left out.
    pub fn new(trace: &'a Trace, profile: Profile, capabilities: &'a Capabilities) -> Observed<'a> {
        let steps: Vec<(&Step, &Outcome)> = trace.iter().collect();
        let projections = steps.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Projected(_)));
        // A sighting is large: a list that grows would move each several times.
        let mut sightings = Vec::with_capacity(projections.count());
        let mut before: Option<&Items> = None;
        let mut at = 0;
        while let Some((step, outcome)) = steps.get(at) {
            match (step, outcome) {
                (_, Outcome::Snapshot(items)) => before = Some(items),
                (Step::Project(modalities), Outcome::Projected(projected)) => {
                    let again = match steps.get(at + 1) {
                        Some((Step::Project(same), Outcome::Projected(again))) if same == modalities => {
                            Some(again)
                        }
                        _ => None,
                    };
                    at += usize::from(again.is_some());
                    let after = match steps.get(at + 1) {
                        Some((_, Outcome::Snapshot(items))) => Some(items),
                        _ => None,
                    };
                    if let Some(before) = before {
                        sightings.push(Sighting::new(before, projected, again, after, *modalities, profile));
                    }
                }
                _ => before = None,
            }
            at += 1;
        }
        let changes = changes(&steps);
        Observed { trace, sightings, changes, profile, capabilities }
    }

    /// The last projection: the one that laws start from.
    pub fn last(&self) -> Option<&Sighting<'a>> {
        self.sightings.last()
    }

    /// Each step that changes the history, with the history before and after it.
    pub fn changes(&self) -> impl Iterator<Item = (&'a Step, &'a Items, &'a Items)> {
        self.changes.iter().copied()
    }
}

/// The steps that stand between two snapshots.
fn changes<'a>(steps: &[(&'a Step, &'a Outcome)]) -> Vec<(&'a Step, &'a Items, &'a Items)> {
    let change = |window: &[(&'a Step, &'a Outcome)]| match window {
        [(_, Outcome::Snapshot(before)), (step, Outcome::Done), (_, Outcome::Snapshot(after))] => {
            Some((*step, before, after))
        }
        _ => None,
    };
    steps.windows(3).filter_map(change).collect()
}

/// One projection: what it was given, what it gave, what it left behind.
#[derive(Debug)]
pub struct Sighting<'a> {
    /// The live history before.
    pub before: &'a [Arc<ResponseItem>],
    /// The answer.
    pub projected: &'a Projected,
    /// The answer to the same question asked again at once.
    pub again: Option<&'a Projected>,
    /// The live history afterwards.
    pub after: Option<&'a [Arc<ResponseItem>]>,
    /// What the model accepts.
    pub modalities: Modalities,
    /// The profile by which it is judged.
    pub profile: Profile,
    /// What calls and outputs stand in the history.
    pub history: Standing<'a>,
    /// What calls and outputs stand in the request.
    pub request: Standing<'a>,
    /// Which item of the request is which item of the history.
    pub alignment: Alignment,
    /// See [`synthetic`](Sighting::synthetic); a third of the laws begin with them.
    synthetic: Vec<(usize, OutputKind, &'a str)>,
}

impl<'a> Sighting<'a> {
    fn new(
        before: &'a Items,
        projected: &'a Projected,
        again: Option<&'a Projected>,
        after: Option<&'a Items>,
        modalities: Modalities,
        profile: Profile,
    ) -> Sighting<'a> {
        let history = Standing::of(before);
        let request = Standing::of(&projected.items);
        let alignment = Alignment::of(before, &history, &projected.items, profile);
        let after = after.map(Vec::as_slice);
        let made = |&at: &usize| {
            let (kind, call_id) = output_of(projected.items.get(at)?)?;
            let open = history.has_call_for(kind, call_id) && !history.has_output(kind, call_id);
            open.then_some((at, kind, call_id))
        };
        let synthetic = alignment.extra.iter().filter_map(made).collect();
        Sighting {
            before,
            projected,
            again,
            after,
            modalities,
            profile,
            history,
            request,
            alignment,
            synthetic,
        }
    }

    /// The items of the request.
    pub fn items(&self) -> &'a [Arc<ResponseItem>] {
        &self.projected.items
    }

    /// The outputs of the request that stand for none of the history and answer a call that had none: place in the
    /// request, kind.
    pub fn synthetic(&self) -> impl Iterator<Item = (usize, OutputKind, &'a str)> {
        self.synthetic.iter().copied()
    }

    /// An item of the request as a person finds it: place, kind, ids.
    pub fn in_request(&self, at: usize) -> String {
        place("the request", self.items(), at)
    }

    /// An item of the history as a person finds it.
    pub fn in_history(&self, at: usize) -> String {
        place("the history", self.before, at)
    }
}

fn place(what: &str, items: &[Arc<ResponseItem>], at: usize) -> String {
    match items.get(at) {
        Some(item) => format!("item {at} of {what} ({})", summary(item)),
        None => format!("item {at} of {what}"),
    }
}

/// Kind and call id of an output that has one.
pub(super) fn output_of(item: &ResponseItem) -> Option<(OutputKind, &str)> {
    match role(item) {
        Role::Output { kind, call_id, .. } => Some((kind, call_id.as_str())),
        _ => None,
    }
}

/// Kind and call id of a call that has one.
pub(super) fn call_of(item: &ResponseItem) -> Option<(CallKind, &str)> {
    match role(item) {
        Role::Call { kind, call_id } => Some((kind, call_id.as_str())),
        _ => None,
    }
}

/// Which calls and outputs stand in a list. (The reference's ledger is not used: a mistake in it must not hide here.)
#[derive(Debug, Default)]
pub struct Standing<'a> {
    ids: HashMap<&'a str, (u8, u8), foldhash::fast::RandomState>,
    calls: Vec<(usize, CallKind, &'a str)>,
    outputs: Vec<(usize, OutputKind, &'a str)>,
}

impl<'a> Standing<'a> {
    /// Looks a list through.
    pub fn of(items: &'a [Arc<ResponseItem>]) -> Standing<'a> {
        let mut standing = Standing {
            ids: HashMap::with_capacity_and_hasher(items.len() / 2, Default::default()),
            calls: Vec::with_capacity(items.len()),
            outputs: Vec::with_capacity(items.len()),
        };
        for (at, item) in items.iter().enumerate() {
            match role(item) {
                Role::Output { kind, call_id, .. } => {
                    standing.outputs.push((at, kind, call_id.as_str()));
                    standing.ids.entry(call_id.as_str()).or_default().0 |= 1 << kind as u8;
                }
                Role::Call { kind, call_id } => {
                    standing.calls.push((at, kind, call_id.as_str()));
                    standing.ids.entry(call_id.as_str()).or_default().1 |= 1 << kind as u8;
                }
                Role::Bystander => {}
            }
        }
        standing
    }

    /// The calls that have a call id: place, kind, call id.
    pub fn calls(&self) -> impl Iterator<Item = (usize, CallKind, &'a str)> {
        self.calls.iter().copied()
    }

    /// The outputs that have a call id: place, kind, call id.
    pub fn outputs(&self) -> impl Iterator<Item = (usize, OutputKind, &'a str)> {
        self.outputs.iter().copied()
    }

    /// Whether an output of this kind names this call id.
    pub fn has_output(&self, kind: OutputKind, call_id: &str) -> bool {
        self.ids.get(call_id).is_some_and(|(outputs, _)| outputs & (1 << kind as u8) != 0)
    }

    /// Whether a call of a kind that outputs of this kind answer has this call id.
    pub fn has_call_for(&self, kind: OutputKind, call_id: &str) -> bool {
        let calls = self.ids.get(call_id).map_or(0, |(_, calls)| *calls);
        CallKind::ALL.into_iter().any(|call| call.output() == kind && calls & (1 << call as u8) != 0)
    }
}

/// What must become of an item of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It must be sent.
    Stays,
    /// It is an orphan, and must not be sent.
    Goes,
    /// An output that no call wants and that is exempt.
    Exempt,
}

/// Which item of a request is which item of the history it was made of.
#[derive(Debug, Clone, Default)]
pub struct Alignment {
    /// By place in the history: what must become of it.
    pub fates: Vec<Fate>,
    /// Pairs of places (history, request), both rising, of items that are the same but for pictures.
    pub matched: Vec<(usize, usize)>,
    /// Places in the history of items that should be there and are not where they should be.
    pub missing: Vec<usize>,
    /// Places in the request of items that are none of the history's at this place.
    pub extra: Vec<usize>,
}

impl Alignment {
    fn of(
        before: &[Arc<ResponseItem>],
        history: &Standing<'_>,
        request: &[Arc<ResponseItem>],
        profile: Profile,
    ) -> Alignment {
        let fates: Vec<Fate> = before.iter().map(|item| fate(item, history)).collect();
        let mut expected = Vec::with_capacity(before.len());
        expected.extend((0..before.len()).filter(|&at| fates.get(at) != Some(&Fate::Goes)));
        let same = |at: &usize, item: &Arc<ResponseItem>| {
            before.get(*at).is_some_and(|own| same_item(own, item, profile))
        };
        let matched = Vec::with_capacity(request.len().min(before.len()));
        let mut alignment = Alignment { fates, matched, ..Alignment::default() };
        let mut next = 0;
        for (place, item) in request.iter().enumerate() {
            let rest = expected.get(next..).unwrap_or_default();
            match rest.iter().position(|at| same(at, item)) {
                Some(skipped) => {
                    alignment.missing.extend_from_slice(rest.get(..skipped).unwrap_or_default());
                    alignment.matched.extend(rest.get(skipped).map(|&at| (at, place)));
                    next += skipped + 1;
                }
                None => alignment.extra.push(place),
            }
        }
        alignment.missing.extend_from_slice(expected.get(next..).unwrap_or_default());
        alignment
    }
}

fn fate(item: &ResponseItem, history: &Standing<'_>) -> Fate {
    match role(item) {
        Role::Output { kind, call_id, exempt } if !history.has_call_for(kind, call_id.as_str()) => {
            if exempt {
                Fate::Exempt
            } else {
                Fate::Goes
            }
        }
        Role::Bystander if matches!(item, ResponseItem::ToolSearchOutput(_)) => Fate::Exempt,
        _ => Fate::Stays,
    }
}

/// Whether two items are the same but for their pictures, which are judged by a family of their own.
pub(super) fn same_item(a: &Arc<ResponseItem>, b: &Arc<ResponseItem>, profile: Profile) -> bool {
    if Arc::ptr_eq(a, b) {
        return true;
    }
    if a.kind() != b.kind() || a.call_id() != b.call_id() {
        return false;
    }
    match profile {
        Profile::Codex if image_count(a) == 0 => a == b,
        Profile::Codex => a.id() == b.id() && without_pictures(a, b),
        Profile::Responses => core(a) == core(b),
    }
}

/// Equal, parts that are a picture in `own` apart.
fn without_pictures(own: &ResponseItem, sent: &ResponseItem) -> bool {
    let mut own = own.clone();
    let mut sent = sent.clone();
    mask_pictures(&mut own, &mut sent);
    own == sent
}

/// What stands for a picture, and for what was put in its place, when pictures do not count.
const MASK: &str = "(picture)";

/// Masks every part that is a picture in `own`, and the part at the same place in `sent`.
fn mask_pictures(own: &mut ResponseItem, sent: &mut ResponseItem) {
    let mask = || crate::item::Text { text: MASK.to_owned() };
    match (own, sent) {
        (ResponseItem::Message(own), ResponseItem::Message(sent)) => {
            for (own, sent) in own.content.iter_mut().zip(&mut sent.content) {
                if matches!(own, ContentPart::InputImage(_)) {
                    *own = ContentPart::InputText(mask());
                    *sent = ContentPart::InputText(mask());
                }
            }
        }
        (ResponseItem::FunctionCallOutput(own), ResponseItem::FunctionCallOutput(sent)) => {
            mask_in_output(&mut own.output, &mut sent.output);
        }
        (ResponseItem::CustomToolCallOutput(own), ResponseItem::CustomToolCallOutput(sent)) => {
            mask_in_output(&mut own.output, &mut sent.output);
        }
        (ResponseItem::ImageGenerationCall(own), ResponseItem::ImageGenerationCall(sent)) => {
            own.result.clear();
            sent.result.clear();
        }
        _ => {}
    }
}

fn mask_in_output(own: &mut ToolOutput, sent: &mut ToolOutput) {
    let (ToolOutput::Parts(own), ToolOutput::Parts(sent)) = (own, sent) else { return };
    for (own, sent) in own.iter_mut().zip(sent) {
        if matches!(own, OutputPart::InputImage(_)) {
            let mask = || OutputPart::InputText(crate::item::Text { text: MASK.to_owned() });
            *own = mask();
            *sent = mask();
        }
    }
}

/// Equal, pictures apart; for whole lists.
pub(super) fn same_but_pictures(own: &[Arc<ResponseItem>], sent: &[Arc<ResponseItem>]) -> bool {
    own.len() == sent.len()
        && own
            .iter()
            .zip(sent)
            .all(|(own, sent)| Arc::ptr_eq(own, sent) || own == sent || without_pictures(own, sent))
}

/// What any projector for the Responses API must keep of an item: kind, call id, arguments, texts; not ids, statuses and
/// phases, and not pictures.
fn core(item: &ResponseItem) -> ResponseItem {
    let mut item = item.clone();
    if let Some(id) = item.id_mut() {
        *id = None;
    }
    match &mut item {
        ResponseItem::Message(message) => {
            message.phase = None;
            message.content.retain(|part| !is_picture_or_its_place(part));
        }
        ResponseItem::FunctionCallOutput(output) => keep_texts(&mut output.output),
        ResponseItem::CustomToolCallOutput(output) => {
            output.name = None;
            keep_texts(&mut output.output);
        }
        ResponseItem::CustomToolCall(call) => call.status = None,
        ResponseItem::LocalShellCall(call) => call.status = crate::item::LocalShellStatus::Completed,
        ResponseItem::ToolSearchCall(call) => call.status = None,
        ResponseItem::ToolSearchOutput(output) => output.status = String::new(),
        ResponseItem::WebSearchCall(call) => call.status = None,
        ResponseItem::ImageGenerationCall(call) => {
            call.status = String::new();
            call.result = String::new();
        }
        _ => {}
    }
    item
}

/// A picture, or a text that says that one was left out; runtimes word it differently.
fn is_picture_or_its_place(part: &ContentPart) -> bool {
    match part {
        ContentPart::InputImage(_) => true,
        ContentPart::InputText(text) | ContentPart::OutputText(text) => speaks_of_a_picture(&text.text),
    }
}

fn speaks_of_a_picture(text: &str) -> bool {
    text.len() < 200 && text.to_ascii_lowercase().contains("image") && !text.starts_with("data:")
}

fn keep_texts(output: &mut ToolOutput) {
    if let ToolOutput::Parts(parts) = output {
        parts.retain(|part| match part {
            OutputPart::InputImage(_) => false,
            OutputPart::InputText(text) => !speaks_of_a_picture(&text.text),
            OutputPart::EncryptedContent(_) => true,
        });
    }
}

/// The item with no id of its own.
pub(super) fn without_id(item: &Arc<ResponseItem>) -> Arc<ResponseItem> {
    if item.id().is_none() {
        return Arc::clone(item);
    }
    let mut item = ResponseItem::clone(item);
    if let Some(id) = item.id_mut() {
        *id = None::<ItemId>;
    }
    Arc::new(item)
}
