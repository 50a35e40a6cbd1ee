//! What is wrong with a rollout as a file: what the program refuses, skips, and will glue together.

use super::finding::Finding;
use super::note::{Note, NoteKind, bounded, unknown_kinds};
use super::rule::Rule;
use crate::item::{CallId, ResponseItem};
use crate::json::{JsonError, JsonProblem};
use crate::pairing::{Action, Ledger};
use crate::projection::{role, summary};
use crate::rollout::{LineProblem, Located, Refusal, Rollout, RolloutLine};
use crate::source::{Loaded, MOST_UNLOADED, Place};
use std::collections::HashSet;

/// What [`examine`] finds.
pub(super) struct RolloutFindings {
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<Note>,
}

pub(super) fn examine(rollout: &Rollout, loaded: &Loaded) -> RolloutFindings {
    let mut findings: Vec<Finding> = refusal(rollout).into_iter().collect();
    let no_text = |skipped: &&Located<LineProblem>| matches!(skipped.value, LineProblem::NotUtf8(_));
    // The first line that is no text is the refusal above; a further one is skipped by whoever reads on.
    let known = rollout.skipped.iter().find(no_text).map(|skipped| skipped.line);
    let skipped = rollout.skipped.iter().filter(|skipped| Some(skipped.line) != known);
    findings.extend(skipped.clone().take(MOST_UNLOADED).map(line_skipped));
    findings.extend(unfinished(rollout));
    let mut notes = taken_away(rollout, loaded);
    let more = skipped.count().saturating_sub(MOST_UNLOADED);
    if more > 0 {
        notes.push(Note::new(NoteKind::File, Place::default(), format!("{more} more lines are skipped")));
    }
    notes.extend(unknown_kinds(items(rollout).map(|(_, item)| item), "they are not sent"));
    RolloutFindings { findings, notes }
}

/// The items that have a line of their own, each with it.
fn items(rollout: &Rollout) -> impl Iterator<Item = (usize, &ResponseItem)> {
    rollout.lines.iter().filter_map(|line| match &line.value {
        RolloutLine::ResponseItem(item) => Some((line.line, &**item)),
        _ => None,
    })
}

fn refusal(rollout: &Rollout) -> Option<Finding> {
    let next = "0.144.6 does not resume this file; what follows is what its other lines would give";
    let of = |rule, place, message: String| Some(Finding::of_file(rule, place, message, next));
    match rollout.refusal()? {
        Refusal::NotUtf8 { line } => {
            let byte = rollout.skipped.iter().find(|skipped| skipped.line == line);
            let byte = byte.map(|skipped| skipped.value.to_string()).unwrap_or_default();
            of(Rule::NotUtf8, Place::line(line), byte)
        }
        refusal @ Refusal::Empty => of(Rule::Empty, Place::default(), refusal.to_string()),
        refusal @ Refusal::NoSessionMeta { first_item } => {
            let place = first_item.map(Place::line).unwrap_or_default();
            of(Rule::NoSessionMeta, place, refusal.to_string())
        }
    }
}

fn line_skipped(skipped: &Located<LineProblem>) -> Finding {
    let glued =
        matches!(skipped.value, LineProblem::NotJson(JsonError { problem: JsonProblem::Trailing, .. }));
    let hint =
        if glued { " (two records on one line: the first was written without a line end)" } else { "" };
    let message = format!("the line does not load: {}{hint}", skipped.value);
    let next = "the program skips it in silence";
    Finding::of_file(Rule::LineSkipped, Place::line(skipped.line), message, next)
}

/// A last line without a line end, and what 0.144.6 will do to it.
fn unfinished(rollout: &Rollout) -> Option<Finding> {
    if !rollout.unfinished {
        return None;
    }
    let last = rollout.physical_lines;
    let is_last = |line: usize| line == last;
    let (message, next) = if rollout.lines.last().is_some_and(|line| is_last(line.line)) {
        (
            "the last line is whole but has no line end",
            "the next resume reads it, then writes its own first line straight behind it; from the resume after that on both are lost",
        )
    } else if rollout.skipped.last().is_some_and(|line| is_last(line.line)) {
        (
            "the file ends in the middle of a line",
            "the next resume writes its own first line straight behind it, and that line is lost too",
        )
    } else {
        // Blanks before a record do no harm.
        return None;
    };
    Some(Finding::of_file(Rule::UnfinishedLine, Place::line(last), message.to_owned(), next))
}

/// Calls that have no output in the whole file and are no longer in the history.
fn taken_away(rollout: &Rollout, loaded: &Loaded) -> Vec<Note> {
    let ledger: Ledger<_> = items(rollout).map(|(_, item)| role(item)).collect();
    let plan = ledger.plan();
    let mut open =
        plan.edits().iter().filter(|edit| matches!(edit.action(), Action::InsertAfter(_))).peekable();
    if open.peek().is_none() {
        return Vec::new();
    }
    // A compaction can hold the call again, and then it is in the history all the same.
    let alive: HashSet<&CallId> = loaded.items.iter().filter_map(|item| item.call_id()).collect();
    let calls = items(rollout).enumerate().filter(|(place, (_, item))| {
        let is_open = open.next_if(|edit| edit.index == *place).is_some();
        is_open && item.call_id().is_some_and(|call_id| !alive.contains(call_id))
    });
    bounded(calls.map(|(_, (line, item))| {
        let message = format!(
            "{} has no output, but a compaction or a rollback took it away: no request holds it",
            summary(item)
        );
        Note::new(NoteKind::CallTakenAway, Place::line(line), message)
    }))
}
