//! From a history to the request input that it becomes: applies a repair plan to shared items.
//!
//! Release rust-v0.144.6 does, on a detached copy and in this order: outputs for calls that lack one; orphans out;
//! pictures, if the model takes none. [`project`] decides the first two by `pairing/`, which is one decision, since an
//! output that was just made is never an orphan; then it strips pictures. No I/O, no clock, no randomness. What happens
//! while a session is loaded (cutting, preparing pictures) is not here but in `history/` and `rollout/`.

mod images;
mod notation;
mod roles;
mod synthetic;

pub(crate) use images::replace_images;
pub use images::{IMAGES_UNSUPPORTED, image_count, strip_images};
pub(crate) use notation::shown;
#[cfg(feature = "cli")]
pub(crate) use notation::shown_up_to;
pub use notation::{NotationColumns, NotationRow, summary};
pub use roles::{ledger, role};
pub use synthetic::{synthetic_id, synthetic_output};

use crate::item::{ItemList, Modalities, ResponseItem};
use crate::pairing::{Action, Edit, Ledger, Notice, Reason, RepairPlan};
use std::sync::Arc;

/// What a history becomes in a request: the history, shared, and the repairs, made whole on demand.
///
/// ```
/// # use callpair::{item::{ItemList, Modalities, ResponseItem}, json::Json, projection::project};
/// let call = r#"{"type":"function_call","id":"fc_1","name":"ls","arguments":"{}","call_id":"a"}"#;
/// let history: ItemList = [ResponseItem::load(Json::parse(call)?).unwrap()].into_iter().collect();
/// let projection = project(&history, Modalities::TextAndImage);
/// let made = &projection.to_items()[1];
/// assert_eq!(made.to_wire(), r#"{"type":"function_call_output","id":"fco_d08ee114-ed5d-5706-8dbd-16ccacd40aa4","call_id":"a","output":"aborted"}"#);
/// # Ok::<(), callpair::json::JsonError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Projection {
    base: ItemList,
    repairs: Repairs,
}

/// The repairs of a history, with what they put in. The history itself is held by others.
#[derive(Debug, Clone)]
struct Repairs {
    plan: RepairPlan,
    /// What each edit of the plan puts in, in the plan's order; nothing for a removal.
    made: Vec<Option<Arc<ResponseItem>>>,
}

/// Projects a history for a model.
pub fn project(base: &ItemList, modalities: Modalities) -> Projection {
    Projection::by_plan(base, ledger(base).plan(), modalities)
}

/// Calls `take` with each item that a history becomes for a model, in order. As [`project`], for a history that is a slice, where
/// nothing is to be kept: not one item is shared.
pub(crate) fn project_slice(
    history: &[Arc<ResponseItem>],
    modalities: Modalities,
    take: impl FnMut(&Arc<ResponseItem>),
) {
    let plan = roles::ledger_of(std::iter::once(history), history.len()).plan();
    let repairs = Repairs::of(history.iter(), |index| history.get(index), plan, modalities);
    repairs.for_each(history.iter(), take);
}

/// Projects a history whose roles are kept beside it, without hashing a single call id.
///
/// `kept` must hold the roles of exactly these items.
pub fn project_with_ledger<I>(base: &ItemList, kept: &Ledger<I>, modalities: Modalities) -> Projection {
    debug_assert_eq!(base.len(), kept.len());
    Projection::by_plan(base, kept.plan(), modalities)
}

impl Projection {
    fn by_plan(base: &ItemList, pairing: RepairPlan, modalities: Modalities) -> Projection {
        let repairs = Repairs::of(base.iter(), |index| base.get(index), pairing, modalities);
        Projection { base: base.clone(), repairs }
    }

    /// The history that was projected.
    pub fn base(&self) -> &ItemList {
        &self.base
    }

    /// The repairs.
    pub fn plan(&self) -> &RepairPlan {
        &self.repairs.plan
    }

    /// The repairs, each with the item that it puts in, if any.
    pub fn edits(&self) -> impl Iterator<Item = (&Edit, Option<&Arc<ResponseItem>>)> {
        self.repairs.edits()
    }

    /// The number of items in the request input.
    pub fn len(&self) -> usize {
        let change = |action: Action| match action {
            Action::InsertAfter(_) => 1,
            Action::Remove => -1,
            Action::Replace => 0,
        };
        let change: isize = self.plan().edits().iter().map(|edit| change(edit.action())).sum();
        self.base.len().saturating_add_signed(change)
    }

    /// Whether the request input is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The request input, made whole: the history's own items are shared, not copied.
    pub fn to_items(&self) -> Vec<Arc<ResponseItem>> {
        let mut items = Vec::with_capacity(self.len());
        self.for_each(|item| items.push(Arc::clone(item)));
        items
    }

    /// Calls `take` with each item of the request input, in order.
    pub fn for_each<'a>(&'a self, take: impl FnMut(&'a Arc<ResponseItem>)) {
        self.repairs.for_each(self.base.iter(), take);
    }

    /// The input array as the program sends it, compact.
    pub fn to_wire(&self) -> String {
        let mut out = vec![b'['];
        self.for_each(|item| {
            if out.len() > 1 {
                out.push(b',');
            }
            item.write_wire(&mut out);
        });
        out.push(b']');
        // Everything written is text.
        String::from_utf8(out).unwrap_or_default()
    }

    /// What the program says in its log: the missing outputs in the order of the calls, then the orphans in the order
    /// of the outputs.
    pub fn notices(&self) -> Vec<Notice> {
        let notice = |edit: &Edit| {
            let call_id = self.base.get(edit.index)?.call_id()?.as_str().to_owned();
            Some(Notice { reason: edit.reason, call_id })
        };
        let of = |wanted: fn(&Reason) -> bool| {
            self.plan().edits().iter().filter(move |edit| wanted(&edit.reason)).filter_map(notice)
        };
        let missing = of(|reason| matches!(reason, Reason::CallWithoutOutput(_)));
        missing.chain(of(|reason| matches!(reason, Reason::OutputWithoutCall(_)))).collect()
    }
}

impl Repairs {
    /// The repairs of the history that `items` goes through and `get` finds an item of.
    fn of<'a>(
        items: impl Iterator<Item = &'a Arc<ResponseItem>>,
        get: impl Fn(usize) -> Option<&'a Arc<ResponseItem>>,
        pairing: RepairPlan,
        modalities: Modalities,
    ) -> Repairs {
        let plan =
            if modalities.accepts_images() { pairing } else { with_image_edits(items, pairing.edits()) };
        let made = plan.edits().iter().map(|edit| made_by(get(edit.index)?, edit.action())).collect();
        Repairs { plan, made }
    }

    fn edits(&self) -> impl Iterator<Item = (&Edit, Option<&Arc<ResponseItem>>)> {
        self.plan.edits().iter().zip(&self.made).map(|(edit, made)| (edit, made.as_ref()))
    }

    /// Calls `take` with each item of the history, repaired.
    fn for_each<'a>(
        &'a self,
        history: impl Iterator<Item = &'a Arc<ResponseItem>>,
        mut take: impl FnMut(&'a Arc<ResponseItem>),
    ) {
        let mut edits = self.edits().peekable();
        for (index, item) in history.enumerate() {
            let Some((edit, made)) = edits.next_if(|(edit, _)| edit.index == index) else {
                take(item);
                continue;
            };
            match edit.action() {
                Action::Remove => {}
                Action::Replace => take(made.unwrap_or(item)),
                Action::InsertAfter(_) => {
                    take(item);
                    made.into_iter().for_each(&mut take);
                }
            }
        }
    }
}

/// The item that is put in for this one, or behind it.
fn made_by(item: &ResponseItem, action: Action) -> Option<Arc<ResponseItem>> {
    match action {
        Action::InsertAfter(kind) => Some(Arc::new(synthetic_output(kind, item.call_id()?, item.id()))),
        Action::Remove => None,
        Action::Replace => Some(Arc::new(strip_images(item))),
    }
}

/// Adds a replacement for each item that holds pictures and stays. (A call holds none, so an item has one edit at most.)
fn with_image_edits<'a>(items: impl Iterator<Item = &'a Arc<ResponseItem>>, pairing: &[Edit]) -> RepairPlan {
    let mut pairing = pairing.iter().copied().peekable();
    let edits = items.enumerate().filter_map(|(index, item)| {
        pairing.next_if(|edit| edit.index == index).or_else(|| {
            let images = image_count(item);
            (images > 0).then_some(Edit { index, reason: Reason::ImagesUnsupported(images) })
        })
    });
    RepairPlan::from_sorted(edits.collect())
}
