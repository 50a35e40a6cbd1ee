//! A list of shared items that is cheap to clone, however long it is.

use super::ResponseItem;
use std::sync::Arc;

/// Items a chunk holds. Recording into a list of which a clone lives copies at most one chunk of pointers and one
/// pointer a chunk: a hundred thousand items cost as much as a few hundred.
const CHUNK: usize = 256;

/// Items that a chunk has room for when the first comes: most histories that are generated are no longer.
const FIRST_ROOM: usize = 16;

type Chunk = Arc<Vec<Arc<ResponseItem>>>;

/// A list of shared items, oldest first. A clone shares everything and costs the same for any length.
///
/// All chunks but the last are full, so that a place is found by division.
#[derive(Debug, Clone, Default)]
pub struct ItemList {
    chunks: Arc<Vec<Chunk>>,
    len: usize,
}

impl ItemList {
    /// An empty list.
    pub fn new() -> ItemList {
        ItemList::default()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The item at `index`, counted from 0.
    pub fn get(&self, index: usize) -> Option<&Arc<ResponseItem>> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// The items, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<ResponseItem>> + Clone {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The items by the chunk, oldest first. How long the chunks are is the list's own business.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[Arc<ResponseItem>]> {
        self.chunks.iter().map(|chunk| chunk.as_slice())
    }

    /// Appends an item. Clones of the list do not see it.
    pub fn push(&mut self, item: Arc<ResponseItem>) {
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut() {
            Some(last) if last.len() < CHUNK => Arc::make_mut(last).push(item),
            _ => {
                let mut chunk = Vec::with_capacity(FIRST_ROOM);
                chunk.push(item);
                chunks.push(Arc::new(chunk));
            }
        }
        self.len += 1;
    }

    /// Keeps the first `len` items.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        let chunks = Arc::make_mut(&mut self.chunks);
        chunks.truncate(len.div_ceil(CHUNK));
        let rest = len % CHUNK;
        if rest > 0
            && let Some(last) = chunks.last_mut()
        {
            Arc::make_mut(last).truncate(rest);
        }
        self.len = len;
    }

    /// Whether both lists hold the very same items, shared and not only equal.
    pub fn shares_items_with(&self, other: &ItemList) -> bool {
        self.len == other.len && self.iter().zip(other.iter()).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

impl FromIterator<Arc<ResponseItem>> for ItemList {
    fn from_iter<I: IntoIterator<Item = Arc<ResponseItem>>>(items: I) -> ItemList {
        let mut items = items.into_iter();
        let (mut chunks, mut len) = (Vec::new(), 0);
        loop {
            let chunk: Vec<_> = items.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return ItemList { chunks: Arc::new(chunks), len };
            }
            len += chunk.len();
            chunks.push(Arc::new(chunk));
        }
    }
}

impl FromIterator<ResponseItem> for ItemList {
    fn from_iter<I: IntoIterator<Item = ResponseItem>>(items: I) -> ItemList {
        items.into_iter().map(Arc::new).collect()
    }
}

impl PartialEq for ItemList {
    fn eq(&self, other: &ItemList) -> bool {
        self.len == other.len && (Arc::ptr_eq(&self.chunks, &other.chunks) || self.iter().eq(other.iter()))
    }
}

impl Eq for ItemList {}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(n: usize) -> Arc<ResponseItem> {
        Arc::new(ResponseItem::Other(n.to_string()))
    }

    #[test]
    fn a_list_holds_what_was_pushed_whatever_its_length() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let mut pushed = ItemList::new();
            (0..len).for_each(|n| pushed.push(numbered(n)));
            let collected: ItemList = (0..len).map(numbered).collect();
            assert_eq!(pushed, collected);
            assert_eq!(pushed.iter().count(), len);
            assert!((0..len).all(|n| pushed.get(n) == Some(&numbered(n))));
            assert_eq!(pushed.get(len), None);
        }
    }

    #[test]
    fn a_clone_does_not_see_what_is_pushed_or_cut_afterwards() {
        let mut list: ItemList = (0..2 * CHUNK + 5).map(numbered).collect();
        let clone = list.clone();
        list.push(numbered(9));
        assert_eq!((list.len(), clone.len()), (2 * CHUNK + 6, 2 * CHUNK + 5));
        list.truncate(3);
        assert_eq!(clone.iter().count(), 2 * CHUNK + 5);
        assert_eq!(list, (0..3).map(numbered).collect());
    }

    #[test]
    fn truncating_at_every_length_keeps_the_first_items() {
        let whole: ItemList = (0..2 * CHUNK + 2).map(numbered).collect();
        for len in 0..=whole.len() + 1 {
            let mut list = whole.clone();
            list.truncate(len);
            assert_eq!(list, (0..len.min(whole.len())).map(numbered).collect());
            list.push(numbered(0));
            assert_eq!(list.iter().count(), list.len());
        }
    }
}
