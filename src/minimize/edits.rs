//! Small changes of a case, as data: so that many can be made at once, whatever their order.

use super::fields::{self, Change, Path};
use crate::case::{Case, Items, Step};
use crate::item::ResponseItem;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Where an item stands: by step, then by item, both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) step: usize,
    pub(super) item: usize,
}

/// One change.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    /// A step goes.
    DropStep(usize),
    /// An item goes.
    DropItem(Place),
    /// Another item takes its place.
    SetItem(Place, Arc<ResponseItem>),
    /// A value within an item changes.
    Inside(Place, Path, Change),
}

/// Changes that are made together or not at all.
pub(super) type Unit = Vec<Edit>;

/// All items of a case with their places.
pub(super) fn placed(case: &Case) -> impl Iterator<Item = (Place, &Arc<ResponseItem>)> {
    case.steps.iter().enumerate().flat_map(|(step, content)| {
        content.items().iter().enumerate().map(move |(item, content)| (Place { step, item }, content))
    })
}

/// The case with these changes; `None` where an item comes out that does not load.
pub(super) fn apply<'a>(case: &Case, edits: impl IntoIterator<Item = &'a Edit>) -> Option<Case> {
    let mut dropped = HashSet::new();
    let mut by_place: HashMap<Place, Vec<&Edit>, foldhash::fast::RandomState> = HashMap::default();
    for edit in edits {
        match edit {
            Edit::DropStep(step) => {
                dropped.insert(*step);
            }
            Edit::DropItem(place) | Edit::SetItem(place, _) | Edit::Inside(place, ..) => {
                by_place.entry(*place).or_default().push(edit);
            }
        }
    }
    let kept = case.steps.iter().enumerate().filter(|(at, _)| !dropped.contains(at));
    let edited = kept.map(|(step, content)| {
        let items = |items: &Items| {
            let items = items.iter().enumerate();
            let edited = items.map(|(item, content)| match by_place.get(&Place { step, item }) {
                None => Some(Ok(Arc::clone(content))),
                Some(edits) => edit_item(content, edits).transpose(),
            });
            edited.flatten().collect::<Result<Items, DoesNotLoad>>().ok()
        };
        Some(match content {
            Step::Record(content) => Step::Record(items(content)?),
            Step::Replace(content) => Step::Replace(items(content)?),
            other => other.clone(),
        })
    });
    Some(Case { steps: edited.collect::<Option<_>>()? })
}

/// What comes out of changes is no item.
struct DoesNotLoad;

/// The item with these changes; `None` where it goes.
fn edit_item(item: &Arc<ResponseItem>, edits: &[&Edit]) -> Result<Option<Arc<ResponseItem>>, DoesNotLoad> {
    let mut item = Arc::clone(item);
    let mut inside = Vec::new();
    for edit in edits {
        match edit {
            Edit::DropItem(_) => return Ok(None),
            Edit::SetItem(_, other) => item = Arc::clone(other),
            Edit::Inside(_, path, change) => inside.push((path, change)),
            Edit::DropStep(_) => {}
        }
    }
    if !inside.is_empty() {
        item = Arc::new(fields::edited(&item, inside).ok_or(DoesNotLoad)?);
    }
    Ok(Some(item))
}
