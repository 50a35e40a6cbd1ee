//! A plan of repairs: what is inserted, removed and replaced, and why.

use super::{CallKind, OutputKind};
use std::fmt;

/// Why an item of a history cannot be sent as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A call has no output of the right kind anywhere.
    CallWithoutOutput(CallKind),
    /// An output has no call of a matching kind anywhere, and is not exempt.
    OutputWithoutCall(OutputKind),
    /// An item holds this many pictures, and the model takes none.
    ImagesUnsupported(usize),
}

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A synthetic output of this kind is put right after the item.
    InsertAfter(OutputKind),
    /// The item goes.
    Remove,
    /// Another item takes its place.
    Replace,
}

/// One repair of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The item's place in the history, counted from 0.
    pub index: usize,
    /// Why.
    pub reason: Reason,
}

impl Edit {
    /// What is done; it follows from the reason.
    pub fn action(&self) -> Action {
        match self.reason {
            Reason::CallWithoutOutput(kind) => Action::InsertAfter(kind.output()),
            Reason::OutputWithoutCall(_) => Action::Remove,
            Reason::ImagesUnsupported(_) => Action::Replace,
        }
    }
}

/// `no output of kind function_call_output answers this function_call`
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::CallWithoutOutput(kind) => {
                write!(f, "no {} answers this {}", kind.output().type_name(), kind.type_name())
            }
            Reason::OutputWithoutCall(kind) => write!(f, "no call of this {}", kind.type_name()),
            Reason::ImagesUnsupported(1) => f.write_str("the model takes no images, and here is 1"),
            Reason::ImagesUnsupported(count) => write!(f, "the model takes no images, and here are {count}"),
        }
    }
}

/// The repairs of a history, in the order of its items, at most one an item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepairPlan {
    edits: Vec<Edit>,
}

impl RepairPlan {
    /// The caller vouches for the order and for one edit an item.
    pub(crate) fn from_sorted(edits: Vec<Edit>) -> RepairPlan {
        debug_assert!(edits.windows(2).all(|pair| pair[0].index < pair[1].index));
        RepairPlan { edits }
    }

    /// The repairs.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether nothing needs repair.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

/// A line a repair: `+ after 3: no function_call_output answers this function_call`.
impl fmt::Display for RepairPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for edit in &self.edits {
            let Edit { index, reason } = edit;
            match edit.action() {
                Action::InsertAfter(_) => writeln!(f, "+ after {index}: {reason}")?,
                Action::Remove => writeln!(f, "- {index}: {reason}")?,
                Action::Replace => writeln!(f, "~ {index}: {reason}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairing::{CallKind, OutputKind};

    #[test]
    fn a_plan_is_shown_a_line_an_edit() {
        let reasons = [
            Reason::CallWithoutOutput(CallKind::LocalShell),
            Reason::OutputWithoutCall(OutputKind::ToolSearch),
            Reason::ImagesUnsupported(2),
        ];
        let edits = reasons.into_iter().enumerate().map(|(index, reason)| Edit { index, reason }).collect();
        let shown = RepairPlan::from_sorted(edits).to_string();
        let starts: Vec<&str> =
            shown.lines().filter_map(|line| line.split_once(':').map(|(at, _)| at)).collect();
        assert_eq!(starts, ["+ after 0", "- 1", "~ 2"]);
        assert!(
            shown.lines().zip(reasons).all(|(line, reason)| line.ends_with(&reason.to_string())),
            "{shown}"
        );
    }
}
