//! An `ItemList` is a vector of shared items, and a clone of it is another one, whatever is done to either.

use callpair::item::{ItemList, ResponseItem};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::sync::Arc;

/// What can be done to a list.
#[derive(Debug, Clone)]
enum Act {
    Push(usize),
    Truncate(usize),
    /// The list is cloned, and the clone kept beside it.
    Clone,
    /// The last clone takes the place of the list.
    TurnToClone,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        // Past several chunks.
        4 => (1..600_usize).prop_map(Act::Push),
        3 => (0..1_200_usize).prop_map(Act::Truncate),
        2 => Just(Act::Clone),
        1 => Just(Act::TurnToClone),
    ]
}

type Model = Vec<Arc<ResponseItem>>;

fn assert_same(list: &ItemList, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!((list.len(), list.is_empty()), (model.len(), model.is_empty()));
    prop_assert!(list.iter().zip(model).all(|(a, b)| Arc::ptr_eq(a, b)));
    prop_assert_eq!(list.iter().count(), model.len());
    prop_assert!(list.iter().rev().zip(model.iter().rev()).all(|(a, b)| Arc::ptr_eq(a, b)));
    for index in [0, model.len() / 2, model.len().saturating_sub(1), model.len(), model.len() + 300] {
        prop_assert_eq!(list.get(index), model.get(index));
    }
    let collected: ItemList = model.iter().cloned().collect();
    prop_assert!(list.shares_items_with(&collected));
    prop_assert_eq!(list, &collected);
    Ok(())
}

fn config() -> ProptestConfig {
    let file = FileFailurePersistence::Direct("proptest-regressions/item_list.txt");
    ProptestConfig { failure_persistence: Some(Box::new(file)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_list_is_a_vector_and_its_clones_are_others(acts in prop::collection::vec(act(), 0..12)) {
        let (mut list, mut model): (ItemList, Model) = Default::default();
        let mut clones: Vec<(ItemList, Model)> = Vec::new();
        let mut next = 0;
        for act in acts {
            match act {
                Act::Push(count) => for _ in 0..count {
                    let item = Arc::new(ResponseItem::Other(next.to_string()));
                    next += 1;
                    list.push(Arc::clone(&item));
                    model.push(item);
                },
                Act::Truncate(len) => {
                    list.truncate(len);
                    model.truncate(len);
                }
                Act::Clone => clones.push((list.clone(), model.clone())),
                Act::TurnToClone => if let Some(clone) = clones.pop() {
                    (list, model) = clone;
                },
            }
            assert_same(&list, &model)?;
        }
        for (list, model) in &clones {
            assert_same(list, model)?;
        }
    }

    #[test]
    fn lists_that_differ_in_one_item_are_not_equal(len in 1..700_usize, at in any::<prop::sample::Index>()) {
        let numbered = |n: usize| Arc::new(ResponseItem::Other(n.to_string()));
        let list: ItemList = (0..len).map(numbered).collect();
        let at = at.index(len);
        let other: ItemList = (0..len).map(|n| numbered(if n == at { len } else { n })).collect();
        let again: ItemList = (0..len).map(numbered).collect();
        prop_assert_ne!(&list, &other);
        prop_assert_eq!(&list, &again);
        prop_assert!(!list.shares_items_with(&again), "equal, and yet not the same items");
    }
}
