//! Passes that put the plainest item of a kind, or of a plainer kind, in an item's place.

use super::edits::{Edit, Place, Unit, placed};
use super::plain::{PLAINEST_FIRST, carried, message_of, message_with_image, plain, rank};
use super::walk::{Choices, Plan, rewrite};
use crate::case::Case;
use crate::item::{ItemId, ItemKind, ResponseItem};
use crate::pairing::{CallKind, OutputKind, Role};
use crate::projection::{image_count, role};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// How many of them are tried in a history of many items; all of them only in one of few.
const FEW_KINDS: usize = 3;

/// Up to how many items all kinds are tried.
const FEW_ITEMS: usize = 4;

/// Up to how many groups of items are changed together.
const GROUP_LIMIT: usize = 64;

fn set(place: Place, item: ResponseItem) -> Edit {
    Edit::SetItem(place, Arc::new(item))
}

/// Each item the plainest of its kind, without an id.
pub(super) fn plain_items(case: &Case) -> Plan {
    plain_of_own_kind(case, |_| None)
}

/// The same, but the id stays.
pub(super) fn plain_items_with_ids(case: &Case) -> Plan {
    plain_of_own_kind(case, |item| item.id().cloned())
}

fn plain_of_own_kind(case: &Case, id: impl Fn(&ResponseItem) -> Option<ItemId>) -> Plan {
    let plainer = placed(case).filter_map(|(place, item)| {
        let plain = plain(item.kind(), id(item), item.call_id().cloned());
        (recorded(&plain) != recorded(item)).then(|| vec![set(place, plain)])
    });
    Plan::Together(plainer.collect())
}

/// The item as it is written: what is not sent counts as equal, but is still there.
fn recorded(item: &ResponseItem) -> Vec<u8> {
    let mut json = Vec::new();
    item.write_recorded(&mut json);
    json
}

/// Several items of another kind at once: those of all calls, so that ids that only nearly agree go along; those of a call
/// id, so that pairs stay pairs; those of one kind.
pub(super) fn plainer_kinds_together(case: &Case) -> Plan {
    let few = case.item_count() <= FEW_ITEMS;
    let all: Vec<Placed> = placed(case).map(|(place, item)| (place, &**item)).collect();
    let by_call_id = grouped(&all, |item| item.call_id());
    let mut places: Vec<Choices> = Vec::new();
    for items in std::iter::once(all.clone()).chain(by_call_id) {
        let swaps = FAMILIES.iter().flat_map(|a| FAMILIES.iter().map(move |b| (*a, *b)));
        let families: Vec<Units> = FAMILIES.iter().map(|call| of_family(&items, few, |_| *call)).collect();
        let swapped: Vec<Units> = swaps
            .map(|(a, b)| {
                of_family(&items, few, |own| {
                    if own == a {
                        b
                    } else if own == b {
                        a
                    } else {
                        own
                    }
                })
            })
            .collect();
        places.push(families.into_iter().chain(swapped).flatten().map(rewrite).collect());
    }
    for items in grouped(&all, |item| Some(item.kind())) {
        let units =
            PLAINEST_FIRST.iter().take(FEW_KINDS).flat_map(|kind| as_kinds(&items, few, |_| Some(*kind)));
        places.push(units.map(rewrite).collect());
    }
    Plan::Choices(places)
}

/// The kinds of calls, with their outputs, the plainest first.
const FAMILIES: [CallKind; 4] =
    [CallKind::Function, CallKind::CustomTool, CallKind::LocalShell, CallKind::ToolSearch];

type Placed<'a> = (Place, &'a ResponseItem);

/// The same change in several forms: without what the items hold, with what they hold.
type Units = Vec<Unit>;

/// Groups of at least two items, by a key.
fn grouped<'a, K: Hash + Eq>(
    items: &[Placed<'a>],
    key: impl Fn(&'a ResponseItem) -> Option<K>,
) -> Vec<Vec<Placed<'a>>> {
    let mut groups: Vec<Vec<Placed<'a>>> = Vec::new();
    let mut known: HashMap<K, usize> = HashMap::new();
    for &(place, item) in items {
        let Some(key) = key(item) else { continue };
        let at = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push((place, item)),
            None => groups.push(vec![(place, item)]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups.truncate(GROUP_LIMIT);
    groups
}

/// Calls and outputs as those of another kind of call.
fn of_family(items: &[Placed<'_>], few: bool, family: impl Fn(CallKind) -> CallKind) -> Units {
    let kind = |item: &ResponseItem| match role(item) {
        Role::Call { kind, .. } => Some(call_item(family(kind))),
        Role::Output { kind, .. } => {
            let own = FAMILIES.into_iter().find(|call| call.output() == kind)?;
            Some(output_item(family(own).output()))
        }
        Role::Bystander => None,
    };
    as_kinds(items, few, kind)
}

/// Items as others of these kinds, where those are plainer taken together.
fn as_kinds(items: &[Placed<'_>], few: bool, kind: impl Fn(&ResponseItem) -> Option<ItemKind>) -> Units {
    let changed: Vec<(Place, &ResponseItem, ItemKind)> = items
        .iter()
        .filter_map(|&(place, item)| kind(item).map(|kind| (place, item, kind)))
        .filter(|(_, item, kind)| item.kind() != *kind)
        .collect();
    let ranks = |rank: &dyn Fn(&(Place, &ResponseItem, ItemKind)) -> usize| {
        let mut ranks: Vec<usize> = changed.iter().map(rank).collect();
        ranks.sort_unstable();
        ranks
    };
    if ranks(&|(_, _, kind)| rank(*kind)) >= ranks(&|(_, item, _)| rank(item.kind())) {
        return Units::new();
    }
    let without = changed
        .iter()
        .map(|(place, item, kind)| set(*place, plain(*kind, item.id().cloned(), item.call_id().cloned())));
    let with = changed.iter().map(|(place, item, kind)| set(*place, carried(*kind, item)));
    if few { vec![without.collect(), with.collect()] } else { vec![without.collect()] }
}

fn call_item(kind: CallKind) -> ItemKind {
    match kind {
        CallKind::Function => ItemKind::FunctionCall,
        CallKind::LocalShell => ItemKind::LocalShellCall,
        CallKind::CustomTool => ItemKind::CustomToolCall,
        CallKind::ToolSearch => ItemKind::ToolSearchCall,
    }
}

fn output_item(kind: OutputKind) -> ItemKind {
    match kind {
        OutputKind::Function => ItemKind::FunctionCallOutput,
        OutputKind::CustomTool => ItemKind::CustomToolCallOutput,
        OutputKind::ToolSearch => ItemKind::ToolSearchOutput,
    }
}

/// Each item of a plainer kind, alone.
pub(super) fn plainer_kinds(case: &Case) -> Plan {
    let few = case.item_count() <= FEW_ITEMS;
    let places = placed(case).map(|(place, item)| {
        let forms = if few { all_plainer(item) } else { few_plainer(item) };
        forms.into_iter().map(|form| rewrite(vec![set(place, form)])).collect::<Choices>()
    });
    Plan::Choices(places.collect())
}

fn plainer_kinds_of(item: &ResponseItem) -> impl Iterator<Item = ItemKind> {
    PLAINEST_FIRST.into_iter().take(rank(item.kind()))
}

/// The plainest items of the plainest kinds that may take an item's place.
pub(super) fn few_plainer(item: &ResponseItem) -> Vec<ResponseItem> {
    plainer_kinds_of(item).take(FEW_KINDS).map(|kind| plain(kind, None, item.call_id().cloned())).collect()
}

/// All items that may take an item's place: without an id and with it, and with what the item holds.
fn all_plainer(item: &ResponseItem) -> Vec<ResponseItem> {
    let of_kind = |kind| {
        let mut forms = vec![plain(kind, None, item.call_id().cloned())];
        if item.id().is_some() {
            forms.push(plain(kind, item.id().cloned(), item.call_id().cloned()));
        }
        if kind == ItemKind::Message {
            forms.extend(["assistant", "system"].map(|role| message_of(role, Vec::new())));
            forms.extend((image_count(item) > 0).then(message_with_image));
        }
        forms.push(carried(kind, item));
        forms
    };
    plainer_kinds_of(item).flat_map(of_kind).collect()
}
