//! What has been tried already, so that no run is wasted and no walk goes in circles.

use crate::case::{Case, Step};
use crate::item::ResponseItem;
use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// Fingerprints of cases. Two cases of one fingerprint are taken for one: the chance is about 2^-40 in a walk, and the
/// harm is a candidate that is not tried.
#[derive(Debug)]
pub(super) struct Memo {
    cases: HashSet<u64>,
    /// By address: an item's fingerprint. The item is kept, so that no other can come to stand at its address.
    items: HashMap<usize, (Arc<ResponseItem>, u64)>,
    item_limit: usize,
}

impl Memo {
    /// A memo for cases of about this many items.
    pub(super) fn for_items(items: usize) -> Memo {
        Memo { cases: HashSet::new(), items: HashMap::new(), item_limit: 4 * items + 65_536 }
    }

    /// Whether a case comes for the first time.
    pub(super) fn is_new(&mut self, case: &Case) -> bool {
        if self.items.len() > self.item_limit {
            self.items.clear();
        }
        let mut hasher = FixedState::default().build_hasher();
        for step in &case.steps {
            step.name().hash(&mut hasher);
            match step {
                Step::Record(items) | Step::Replace(items) => {
                    hasher.write_usize(items.len());
                    items.iter().for_each(|item| hasher.write_u64(self.item(item)));
                }
                Step::Project(modalities) => modalities.hash(&mut hasher),
                Step::Rollback(turns) => turns.hash(&mut hasher),
                Step::Snapshot | Step::Resume | Step::Fork => {}
            }
        }
        self.cases.insert(hasher.finish())
    }

    fn item(&mut self, item: &Arc<ResponseItem>) -> u64 {
        let entry = self.items.entry(Arc::as_ptr(item).addr());
        let (_, fingerprint) = entry.or_insert_with(|| {
            let mut json = Vec::new();
            item.write_recorded(&mut json);
            (Arc::clone(item), FixedState::default().hash_one(json))
        });
        *fingerprint
    }
}
