//! What the program says in its log about a repair.

use super::{CallKind, OutputKind, Reason};
use std::fmt;

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// A missing output that a crash or an interrupt explains.
    Info,
    /// An anomaly: the runtime's own recording should have ruled it out. A debug build of the program panics on it.
    Error,
}

/// A notice about a repair, in the program's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Why the repair is needed; never [`Reason::ImagesUnsupported`], of which the program says nothing.
    pub reason: Reason,
    /// The call id it is about. It may hold anything, control characters too.
    pub call_id: String,
}

impl Notice {
    /// How loud the notice is.
    pub fn level(&self) -> Level {
        match self.reason {
            Reason::CallWithoutOutput(kind) if !kind.row().missing_is_anomaly => Level::Info,
            Reason::CallWithoutOutput(_) | Reason::OutputWithoutCall(_) => Level::Error,
            Reason::ImagesUnsupported(_) => Level::Info,
        }
    }
}

/// The program's line: `Function call output is missing for call id: a`.
impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.reason {
            Reason::CallWithoutOutput(CallKind::Function) => "Function call output is missing",
            Reason::CallWithoutOutput(CallKind::LocalShell) => "Local shell call output is missing",
            Reason::CallWithoutOutput(CallKind::CustomTool) => "Custom tool call output is missing",
            Reason::CallWithoutOutput(CallKind::ToolSearch) => "Tool search output is missing",
            Reason::OutputWithoutCall(OutputKind::Function) => "Orphan function call output",
            Reason::OutputWithoutCall(OutputKind::CustomTool) => "Orphan custom tool call output",
            Reason::OutputWithoutCall(OutputKind::ToolSearch) => "Orphan tool search output",
            Reason::ImagesUnsupported(_) => "Images are left out",
        };
        write!(f, "{what} for call id: {}", self.call_id)
    }
}
