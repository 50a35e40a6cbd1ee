//! What a projection, a detached copy and a recording beside one allocate: they grow with the repairs, not with the
//! history.
//!
//! One test alone in its binary, since the counter counts every thread.

use callpair::history::{AnomalyPolicy, ContextManager};
use callpair::item::{
    CallId, FunctionCall, FunctionCallOutput, ItemList, Modalities, ResponseItem, ToolOutput,
};
use callpair::pairing::Ledger;
use callpair::projection::{project_with_ledger, role};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};
use std::alloc::System;
use std::hint::black_box;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocated<T>(act: impl FnOnce() -> T) -> (Stats, T) {
    let region = Region::new(ALLOCATOR);
    let result = black_box(act());
    (region.change(), result)
}

fn call(number: usize) -> ResponseItem {
    ResponseItem::FunctionCall(FunctionCall {
        id: None,
        name: "shell".to_owned(),
        namespace: None,
        arguments: "{}".to_owned(),
        call_id: CallId::from(number.to_string()),
    })
}

fn output(number: usize) -> ResponseItem {
    let output = ToolOutput::Text("done".to_owned());
    ResponseItem::FunctionCallOutput(FunctionCallOutput {
        id: None,
        call_id: CallId::from(number.to_string()),
        output,
    })
}

/// `pairs` calls with their outputs, then `open` calls without.
fn history(pairs: usize, open: usize) -> ItemList {
    let pairs = (0..pairs).flat_map(|number| [call(number), output(number)]);
    pairs.chain((0..open).map(|number| call(1_000_000 + number))).collect()
}

#[test]
fn allocations_grow_with_the_repairs_and_not_with_the_history() {
    a_projection_over_a_kept_ledger_allocates_for_its_repairs_alone();
    a_detached_copy_allocates_nothing();
    recording_beside_a_clone_copies_a_chunk_and_not_the_list();
}

fn a_projection_over_a_kept_ledger_allocates_for_its_repairs_alone() {
    let blocks = |pairs: usize, open: usize| {
        let history = history(pairs, open);
        let kept: Ledger<_> = history.iter().map(|item| role(item)).collect();
        let (stats, projection) =
            allocated(|| project_with_ledger(&history, &kept, Modalities::TextAndImage));
        assert_eq!(projection.len(), 2 * pairs + 2 * open);
        stats.allocations + stats.reallocations
    };
    assert_eq!(blocks(50_000, 0), 0, "a history without a defect costs no allocation");
    for open in [1, 10, 1_000] {
        assert_eq!(
            blocks(50_000, open),
            blocks(5, open),
            "{open} repairs in a long history and in a short one"
        );
    }
    // A repair makes an item and its text; the lists of repairs grow in doubling steps.
    assert!((2_000..2_100).contains(&blocks(5, 1_000)), "{}", blocks(5, 1_000));
}

fn a_detached_copy_allocates_nothing() {
    let mut live = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect);
    live.replace(history(50_000, 0));
    let (stats, clone) = allocated(|| live.clone_history());
    assert_eq!((stats.allocations, stats.bytes_allocated), (0, 0));
    assert!(clone.raw_items().shares_items_with(live.raw_items()));
}

fn recording_beside_a_clone_copies_a_chunk_and_not_the_list() {
    let mut live = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect);
    live.replace(history(50_000, 0));
    let all_pointers = live.raw_items().len() * size_of::<Arc<ResponseItem>>();
    let clone = live.clone_history();
    let item = Arc::new(call(0));
    let (first, ()) = allocated(|| live.record_items([Arc::clone(&item)]));
    assert!(first.bytes_allocated * 50 < all_pointers, "{first:?} against {all_pointers} bytes");
    // From then on nothing is shared that would have to be copied.
    let (second, ()) = allocated(|| live.record_items([item]));
    assert!(second.bytes_allocated < 4_096, "{second:?}");
    assert_eq!((clone.raw_items().len(), live.raw_items().len()), (100_000, 100_002));
}
