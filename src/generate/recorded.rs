//! Drawing of cases from recorded sessions: a window of a session, with a few wounds.

use super::Draw;
use super::script::Options;
use crate::case::{Case, Items, Step};
use crate::item::{ItemKind, Modalities, ResponseItem};
use std::sync::Arc;

/// The longest window of a session, in items.
const LONGEST: usize = 200;

/// Draws a case from one of these sessions. The items are the session's own; what is drawn is which of them, in which
/// order, and where the history is projected.
pub(super) fn case(draw: &mut impl Draw, options: &Options, sessions: &[Items]) -> Option<Case> {
    let session = draw.pick(sessions);
    let known = |item: &&Arc<ResponseItem>| options.capabilities.knows(item.kind());
    let mut items: Items = session.iter().filter(known).cloned().collect();
    if items.is_empty() {
        return None;
    }
    let from = draw.below(items.len());
    items.drain(..from);
    items.truncate(1 + draw.below(LONGEST));
    for _ in 0..draw.below(4) {
        wound(draw, &mut items);
    }
    let modalities = &options.capabilities.modalities;
    let modalities = if modalities.is_empty() { Modalities::Text } else { *draw.pick(modalities) };
    let mut steps = vec![Step::Replace(items)];
    if options.capabilities.resume && draw.chance(1, 4) {
        steps.push(Step::Resume);
    }
    steps.push(Step::Project(modalities));
    Some(Case { steps })
}

/// What a crash, a compaction, a rollback or a retry does to a history.
fn wound(draw: &mut impl Draw, items: &mut Items) {
    let len = items.len();
    if len == 0 {
        return;
    }
    let at = draw.below(len);
    match draw.below(6) {
        0 => drop(items.remove(at)),
        1 => items.truncate(at),
        2 => drop(items.drain(..at)),
        3 => items.insert(draw.below(len), Arc::clone(&items[at])),
        4 => items.swap(at, draw.below(len)),
        _ => {
            // One side of a pair goes.
            let has_call_id =
                |item: &Arc<ResponseItem>| item.call_id().is_some() && item.kind() != ItemKind::Message;
            let near = items.iter().skip(at).position(has_call_id);
            near.into_iter().for_each(|near| drop(items.remove(at + near)));
        }
    }
}
