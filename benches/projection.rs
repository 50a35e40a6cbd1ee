//! How long a projection takes beside the textbook version, and what a detached copy of a history costs.
//!
//! `cargo bench --bench projection` prints the tables below in one run (some minutes, 4 GiB of memory). Without `--bench`,
//! as in `cargo test --all-targets`, only the short rows are run, so that it keeps working; its figures mean nothing then.
//!
//! What is compared: *textbook* deep clones a `Vec<ResponseItem>`, gathers ids in sets, inserts in reverse order and
//! retains. *Whole* is `project` made whole with `to_items`. *Plan* is the plan alone, over a ledger that was kept beside
//! the items. Ids are shared here (`Arc<str>`), which spares the textbook version an allocation or two an item that it would
//! have with strings. Dropping results is not timed, for any of them. Allocations are counted by `tests/allocations.rs`,
//! since counting here would slow the textbook version down.

#![allow(missing_docs, reason = "a bench has no public items; the macros of none are used")]

mod clock;

use callpair::history::{AnomalyPolicy, ContextManager};
use callpair::item::{
    CallId, ContentPart, CustomToolCall, CustomToolCallOutput, FunctionCall, FunctionCallOutput, ItemId,
    ItemList, Message, Modalities, Reasoning, ReasoningContent, ResponseItem, SummaryPart, Text, ToolOutput,
};
use callpair::pairing::{Ledger, OutputKind, Role};
use callpair::projection::{project, role, synthetic_output};
use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const SIZES: [usize; 5] = [12, 1_000, 10_000, 100_000, 1_000_000];
const DEFECT_PERCENTS: [usize; 3] = [0, 1, 50];

/// The textbook version moves the rest of the vector at every insertion. Over this many bytes it would run for longer than
/// about 20 seconds (10 GB are moved in a second here), and is skipped.
const MOST_BYTES_MOVED: u128 = 200_000_000_000;

fn main() {
    let whole_run = std::env::args().any(|argument| argument == "--bench");
    let largest = if whole_run { usize::MAX } else { 1_000 };
    println!("medians of repetitions, in time on the processor; x: how many times as fast as textbook");
    println!(
        "{:>9} {:>8} {:>14} {:>14} {:>14} {:>9} {:>9} {:>10} {:>10}",
        "items", "defects", "textbook", "whole", "plan", "whole x", "plan x", "whole/item", "plan/item"
    );
    let mut rows = Vec::new();
    for items in SIZES.into_iter().filter(|&items| items <= largest) {
        for percent in DEFECT_PERCENTS {
            let row = Row::measure(items, percent);
            println!("{row}");
            rows.push(row);
        }
    }
    print_criteria(&rows);
    print_cold(largest);
    print_clones(largest);
}

/// What was measured of one history.
struct Row {
    items: usize,
    percent: usize,
    textbook: Option<Duration>,
    whole: Duration,
    plan: Duration,
}

impl Row {
    fn measure(items: usize, percent: usize) -> Row {
        let history = history(items, percent);
        let shared: ItemList = history.iter().cloned().collect();
        let kept = kept_ledger(&shared);
        let project_whole = || project(&shared, Modalities::TextAndImage).to_items();
        let textbook = (bytes_moved(&history) <= MOST_BYTES_MOVED).then(|| {
            assert!(project_whole().iter().map(|item| &**item).eq(&textbook(&history)), "both do the same");
            median(|| textbook(&history))
        });
        Row { items, percent, textbook, whole: median(project_whole), plan: median(|| kept.plan()) }
    }

    fn times(&self, ours: Duration) -> Option<f64> {
        self.textbook.map(|textbook| textbook.as_secs_f64() / ours.as_secs_f64())
    }

    fn nanos_per_item(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e9 / self.items as f64
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let times = |ours| self.times(ours).map_or("-".to_owned(), |times| format!("{times:.1}"));
        write!(
            f,
            "{:>9} {:>7}% {:>14} {:>14} {:>14} {:>9} {:>9} {:>7.1} ns {:>7.2} ns",
            self.items,
            self.percent,
            self.textbook.map_or("skipped".to_owned(), shown),
            shown(self.whole),
            shown(self.plan),
            times(self.whole),
            times(self.plan),
            self.nanos_per_item(self.whole),
            self.nanos_per_item(self.plan),
        )
    }
}

fn shown(time: Duration) -> String {
    let nanos = time.as_secs_f64() * 1e9;
    match nanos {
        _ if nanos < 1e4 => format!("{nanos:.0} ns"),
        _ if nanos < 1e7 => format!("{:.1} us", nanos / 1e3),
        _ => format!("{:.1} ms", nanos / 1e6),
    }
}

/// What the project promises of its speed, and whether it held in this run.
fn print_criteria(rows: &[Row]) {
    println!();
    let row = |items, percent| rows.iter().find(|row| row.items == items && row.percent == percent);
    let judge = |what: String, met: bool| println!("{}: {what}", if met { "met" } else { "NOT MET" });
    if let Some(row) = row(10_000, 1)
        && let (Some(whole), Some(plan)) = (row.times(row.whole), row.times(row.plan))
    {
        judge(format!("10000 items, 1%: whole {whole:.1} times as fast, promised 5"), whole >= 5.0);
        judge(format!("10000 items, 1%: plan {plan:.1} times as fast, promised 25"), plan >= 25.0);
    }
    for percent in DEFECT_PERCENTS {
        let (Some(small), Some(large)) = (row(1_000, percent), row(1_000_000, percent)) else { continue };
        let of = |name: &str, time: fn(&Row) -> Duration| {
            let growth = large.nanos_per_item(time(large)) / small.nanos_per_item(time(small));
            let what =
                format!("{percent}%: {name} costs {growth:.1} times as much an item at 1000000 as at 1000");
            judge(format!("{what}, promised at most 8"), growth <= 8.0);
        };
        of("whole", |row| row.whole);
        of("plan", |row| row.plan);
    }
}

/// A session that waited for a model for a while finds none of its history in the caches: then all versions wait for memory.
fn print_cold(largest: usize) {
    println!();
    println!("nothing in the caches, 1% defects:");
    println!(
        "{:>9} {:>14} {:>14} {:>14} {:>9} {:>9}",
        "items", "textbook", "whole", "plan", "whole x", "plan x"
    );
    for items in [1_000, 10_000, 100_000].into_iter().filter(|&items| items <= largest) {
        let history = history(items, 1);
        let shared: ItemList = history.iter().cloned().collect();
        let kept = kept_ledger(&shared);
        let by_textbook = median_cold(|| textbook(&history));
        let whole = median_cold(|| project(&shared, Modalities::TextAndImage).to_items());
        let plan = median_cold(|| kept.plan());
        let times = |ours: Duration| by_textbook.as_secs_f64() / ours.as_secs_f64();
        println!(
            "{items:>9} {:>14} {:>14} {:>14} {:>9.1} {:>9.1}",
            shown(by_textbook),
            shown(whole),
            shown(plan),
            times(whole),
            times(plan)
        );
    }
}

/// A detached copy costs the same for any length, and recording beside one copies no list.
fn print_clones(largest: usize) {
    println!();
    println!(
        "{:>9} {:>14} {:>26} {:>26}",
        "items", "clone_history", "record beside a clone", "copy of all pointers"
    );
    for items in [10, 1_000, 100_000].into_iter().filter(|&items| items <= largest) {
        let mut live = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect);
        live.record_items(history(items, 0).into_iter().map(Arc::new));
        let one = Arc::new(message(0));
        let pointers: Vec<Arc<ResponseItem>> = live.raw_items().iter().cloned().collect();
        let clone = median(|| live.clone_history());
        let copy = median(|| pointers.clone());
        // Each time on a new copy, whose chunks the live history shares.
        let record = median(|| {
            let mut detached = live.clone_history();
            detached.record_items([Arc::clone(&one)]);
            detached
        });
        println!("{items:>9} {:>14} {:>26} {:>26}", shown(clone), shown(record), shown(copy));
    }
}

/// The median time of one call: after a warm-up, over samples of at least 50 microseconds, for about a second.
fn median<T>(mut call: impl FnMut() -> T) -> Duration {
    let begun = clock::now();
    drop(black_box(call()));
    let once = (clock::now() - begun).as_nanos().max(1);
    let calls = (50_000 / once).clamp(1, 10_000) as usize;
    let mut results = Vec::with_capacity(calls);
    let mut samples: Vec<Duration> = Vec::new();
    while samples.len() < 5 || (samples.len() < 501 && clock::now() - begun < Duration::from_secs(1)) {
        let sample = clock::now();
        for _ in 0..calls {
            results.push(black_box(call()));
        }
        samples.push((clock::now() - sample) / calls as u32);
        results.clear();
    }
    middle(samples)
}

/// The median time of one call that finds nothing in the caches: before each, other memory is walked through.
fn median_cold<T>(mut call: impl FnMut() -> T) -> Duration {
    let mut other = vec![1_u8; 64 << 20];
    let samples = (0..15).map(|_| {
        other.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(3));
        black_box(&other);
        let sample = clock::now();
        let result = black_box(call());
        let time = clock::now() - sample;
        drop(result);
        time
    });
    middle(samples.collect())
}

fn middle(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn kept_ledger(items: &ItemList) -> Ledger<CallId> {
    let owned = |item: &ResponseItem| match role(item) {
        Role::Call { kind, call_id } => Role::Call { kind, call_id: call_id.clone() },
        Role::Output { kind, call_id, exempt } => Role::Output { kind, call_id: call_id.clone(), exempt },
        Role::Bystander => Role::Bystander,
    };
    items.iter().map(|item| owned(item)).collect()
}

// The textbook version, written as one would write it down, for the kinds that the histories here hold.

fn textbook(history: &[ResponseItem]) -> Vec<ResponseItem> {
    let mut items = history.to_vec();
    ensure_call_outputs_present(&mut items);
    remove_orphan_outputs(&mut items);
    items
}

fn ensure_call_outputs_present(items: &mut Vec<ResponseItem>) {
    let insertions = missing_outputs(items);
    for (index, output) in insertions.into_iter().rev() {
        items.insert(index + 1, output);
    }
}

fn missing_outputs(items: &[ResponseItem]) -> Vec<(usize, ResponseItem)> {
    let (mut function_outputs, mut custom_outputs) = (HashSet::new(), HashSet::new());
    for item in items {
        match item {
            ResponseItem::FunctionCallOutput(output) => function_outputs.insert(&output.call_id),
            ResponseItem::CustomToolCallOutput(output) => custom_outputs.insert(&output.call_id),
            _ => false,
        };
    }
    let mut insertions = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match item {
            ResponseItem::FunctionCall(call) if !function_outputs.contains(&call.call_id) => {
                let output = synthetic_output(OutputKind::Function, &call.call_id, call.id.as_ref());
                insertions.push((index, output));
            }
            ResponseItem::CustomToolCall(call) if !custom_outputs.contains(&call.call_id) => {
                let output = synthetic_output(OutputKind::CustomTool, &call.call_id, call.id.as_ref());
                insertions.push((index, output));
            }
            _ => {}
        }
    }
    insertions
}

fn remove_orphan_outputs(items: &mut Vec<ResponseItem>) {
    let (mut function_calls, mut custom_calls) = (HashSet::new(), HashSet::new());
    for item in items.iter() {
        match item {
            ResponseItem::FunctionCall(call) => function_calls.insert(call.call_id.clone()),
            ResponseItem::CustomToolCall(call) => custom_calls.insert(call.call_id.clone()),
            _ => false,
        };
    }
    items.retain(|item| match item {
        ResponseItem::FunctionCallOutput(output) => function_calls.contains(&output.call_id),
        ResponseItem::CustomToolCallOutput(output) => custom_calls.contains(&output.call_id),
        _ => true,
    });
}

/// How many bytes the insertions of the textbook version move.
fn bytes_moved(history: &[ResponseItem]) -> u128 {
    let behind = |(index, _): &(usize, ResponseItem)| (history.len() - index) as u128;
    missing_outputs(history).iter().map(behind).sum::<u128>() * size_of::<ResponseItem>() as u128
}

// The histories: turns of a message, some thoughts and calls with their outputs, one call in five custom.

/// `percent` of the calls lack their output, or are themselves lacking, by turns.
fn history(len: usize, percent: usize) -> Vec<ResponseItem> {
    let mut items = Vec::with_capacity(len + 2);
    let mut calls = 0;
    while items.len() < len {
        match items.len() % 8 {
            0 => items.push(message(items.len())),
            1 => items.push(reasoning(items.len())),
            _ => {
                let (call, output) = pair(calls);
                let defect = calls * percent % 100 < percent;
                // Every other defect is an orphan.
                let orphan = calls * percent / 100 % 2 == 1;
                calls += 1;
                if !defect || !orphan {
                    items.push(call);
                }
                if !defect || orphan {
                    items.push(output);
                }
            }
        }
    }
    items.truncate(len);
    items
}

fn message(number: usize) -> ResponseItem {
    let text = format!("{number}: please look at the failing test and say what is wrong with it. ").repeat(4);
    ResponseItem::Message(Message {
        id: Some(ItemId::from(format!("msg_{number:032x}"))),
        role: "user".to_owned(),
        content: vec![ContentPart::InputText(Text { text })],
        phase: None,
    })
}

fn reasoning(number: usize) -> ResponseItem {
    let text = format!("**Looking at step {number}**");
    ResponseItem::Reasoning(Reasoning {
        id: Some(ItemId::from(format!("rs_{number:032x}"))),
        summary: vec![SummaryPart::SummaryText(Text { text })],
        content: ReasoningContent(None),
        encrypted_content: Some("gAAAA".repeat(60)),
    })
}

fn pair(number: usize) -> (ResponseItem, ResponseItem) {
    // Loaded from a file, a call and its output share no memory.
    let call_id = || CallId::from(format!("call_{number:024x}"));
    let output =
        ToolOutput::Text(format!("Exit code: 0\nOutput:\nsrc/lib.rs:{number}: fn main()\n").repeat(4));
    if number % 5 == 4 {
        let call = CustomToolCall {
            id: Some(ItemId::from(format!("ctc_{number:032x}"))),
            status: Some("completed".to_owned()),
            call_id: call_id(),
            name: "apply_patch".to_owned(),
            namespace: None,
            input: format!("*** Begin Patch\n*** Update File: src/{number}.rs\n*** End Patch"),
        };
        let output = CustomToolCallOutput { id: None, call_id: call_id(), name: None, output };
        return (ResponseItem::CustomToolCall(call), ResponseItem::CustomToolCallOutput(output));
    }
    let call = FunctionCall {
        id: Some(ItemId::from(format!("fc_{number:032x}"))),
        name: "shell".to_owned(),
        namespace: None,
        arguments: format!("{{\"command\":[\"rg\",\"-n\",\"main\",\"src/{number}\"]}}"),
        call_id: call_id(),
    };
    let output = FunctionCallOutput { id: None, call_id: call_id(), output };
    (ResponseItem::FunctionCall(call), ResponseItem::FunctionCallOutput(output))
}
