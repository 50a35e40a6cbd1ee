//! One thing that is wrong, and what is done about it.

use super::rule::Rule;
use crate::item::{CallId, ResponseItem};
use crate::pairing::{Action, Edit, OutputKind, PAIRING_TABLE, Reason};
use crate::projection::{shown, summary};
use crate::source::{Place, Unloaded};
use std::sync::Arc;

/// One thing that is wrong. Its texts hold kinds, ids and sizes, nothing that a user wrote, and no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule is broken.
    pub rule: Rule,
    /// Where, in the file.
    pub place: Place,
    /// Where, in the history; counted from 0.
    pub index: Option<usize>,
    /// The call that it is about, exactly; it may hold anything.
    pub call_id: Option<CallId>,
    /// What is wrong.
    pub message: String,
    /// What the next request, or the next resume, will make of it.
    pub next: String,
    /// What the projection does about it.
    pub repair: Option<Repair>,
    /// The item that it is about: the user's content.
    pub item: Option<Arc<ResponseItem>>,
}

/// What the projection does about a finding. Places are of the history, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// An output is made up.
    Insert {
        /// The place of the call.
        after: usize,
        /// The output. It holds nothing that a user wrote.
        item: Arc<ResponseItem>,
    },
    /// The item is left out.
    Remove {
        /// Its place.
        index: usize,
    },
    /// The item is sent without its pictures.
    Replace {
        /// Its place.
        index: usize,
        /// What is sent: the user's content.
        item: Arc<ResponseItem>,
    },
}

impl Finding {
    /// A finding about the file or a line of it.
    pub(super) fn of_file(rule: Rule, place: Place, message: String, next: &str) -> Finding {
        Finding {
            rule,
            place,
            index: None,
            call_id: None,
            message,
            next: next.to_owned(),
            repair: None,
            item: None,
        }
    }

    pub(super) fn unloaded(unloaded: Unloaded) -> Finding {
        let Unloaded { line, pointer, problem } = unloaded;
        let place = Place { line: Some(line), pointer };
        let message = format!("the item does not load: {problem}");
        Finding::of_file(
            Rule::ItemDoesNotLoad,
            place,
            message,
            "the program skips it in silence, so it is not sent",
        )
    }

    pub(super) fn of_item(
        edit: &Edit,
        item: &Arc<ResponseItem>,
        made: Option<&Arc<ResponseItem>>,
        place: Place,
    ) -> Finding {
        let index = edit.index;
        let repair = match (edit.action(), made) {
            (Action::InsertAfter(_), Some(made)) => {
                Some(Repair::Insert { after: index, item: Arc::clone(made) })
            }
            (Action::Replace, Some(made)) => Some(Repair::Replace { index, item: Arc::clone(made) }),
            (Action::Remove, _) => Some(Repair::Remove { index }),
            (Action::InsertAfter(_) | Action::Replace, None) => None,
        };
        Finding {
            rule: Rule::of(edit.reason),
            place,
            index: Some(index),
            call_id: item.call_id().cloned(),
            message: message(edit.reason, item),
            next: next(edit.reason, made),
            repair,
            item: Some(Arc::clone(item)),
        }
    }
}

fn message(reason: Reason, item: &ResponseItem) -> String {
    let item = summary(item);
    match reason {
        Reason::CallWithoutOutput(kind) => {
            let output = kind.output().type_name();
            format!("{item} has no output: no {output} with its call_id stands anywhere")
        }
        Reason::OutputWithoutCall(kind) => {
            let calls = calls_answered_by(kind).join(" or ");
            format!("{item} answers no call: no {calls} with its call_id stands anywhere")
        }
        Reason::ImagesUnsupported(1) => format!("{item} holds a picture, and the model takes none"),
        Reason::ImagesUnsupported(count) => {
            format!("{item} holds {count} pictures, and the model takes none")
        }
    }
}

fn calls_answered_by(kind: OutputKind) -> Vec<&'static str> {
    PAIRING_TABLE.iter().filter(|row| row.output == kind).map(|row| row.call_type).collect()
}

fn next(reason: Reason, made: Option<&Arc<ResponseItem>>) -> String {
    match reason {
        Reason::CallWithoutOutput(kind) => {
            let says = match kind.output() {
                OutputKind::Function | OutputKind::CustomTool => "\"aborted\"",
                OutputKind::ToolSearch => "\"completed\" without tools",
            };
            let id = made.and_then(|made| made.id()).map(|id| format!(", id {}", shown(id.as_str())));
            let (output, id) = (kind.output().type_name(), id.unwrap_or_default());
            format!("the next request holds, right after it, a made-up {output}: {says}{id}")
        }
        Reason::OutputWithoutCall(_) => "the next request leaves it out".to_owned(),
        Reason::ImagesUnsupported(_) => "the next request holds a text in place of each picture".to_owned(),
    }
}
