//! The pairing table, stated once. Planner, generators, invariants and documents read it here.

/// A kind of call that an output must answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallKind {
    /// `function_call`
    Function,
    /// `local_shell_call`; needs an output where it has a call id.
    LocalShell,
    /// `custom_tool_call`
    CustomTool,
    /// `tool_search_call`; needs an output where it has a call id.
    ToolSearch,
}

/// A kind of output that answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutputKind {
    /// `function_call_output`
    Function,
    /// `custom_tool_call_output`
    CustomTool,
    /// `tool_search_output`; may stand alone where a server made it, or where it has no call id.
    ToolSearch,
}

/// What the table says of one kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The call.
    pub call: CallKind,
    /// Its `type` in JSON.
    pub call_type: &'static str,
    /// What answers it.
    pub output: OutputKind,
    /// Whether a missing output is an anomaly: something that the runtime's own recording should have ruled out.
    pub missing_is_anomaly: bool,
}

/// The pairing table of release rust-v0.144.6.
pub const PAIRING_TABLE: [Row; 4] = [
    Row {
        call: CallKind::Function,
        call_type: "function_call",
        output: OutputKind::Function,
        missing_is_anomaly: false,
    },
    Row {
        call: CallKind::LocalShell,
        call_type: "local_shell_call",
        output: OutputKind::Function,
        missing_is_anomaly: true,
    },
    Row {
        call: CallKind::CustomTool,
        call_type: "custom_tool_call",
        output: OutputKind::CustomTool,
        missing_is_anomaly: true,
    },
    Row {
        call: CallKind::ToolSearch,
        call_type: "tool_search_call",
        output: OutputKind::ToolSearch,
        missing_is_anomaly: false,
    },
];

impl CallKind {
    /// All kinds, in the order of the table.
    pub const ALL: [CallKind; 4] =
        [CallKind::Function, CallKind::LocalShell, CallKind::CustomTool, CallKind::ToolSearch];

    /// This kind's row of the table.
    pub const fn row(self) -> &'static Row {
        match self {
            CallKind::Function => &PAIRING_TABLE[0],
            CallKind::LocalShell => &PAIRING_TABLE[1],
            CallKind::CustomTool => &PAIRING_TABLE[2],
            CallKind::ToolSearch => &PAIRING_TABLE[3],
        }
    }

    /// The `type` in JSON.
    pub const fn type_name(self) -> &'static str {
        self.row().call_type
    }

    /// The kind of output that answers it.
    pub const fn output(self) -> OutputKind {
        self.row().output
    }
}

impl OutputKind {
    /// All kinds.
    pub const ALL: [OutputKind; 3] = [OutputKind::Function, OutputKind::CustomTool, OutputKind::ToolSearch];

    /// The `type` in JSON.
    pub const fn type_name(self) -> &'static str {
        match self {
            OutputKind::Function => "function_call_output",
            OutputKind::CustomTool => "custom_tool_call_output",
            OutputKind::ToolSearch => "tool_search_output",
        }
    }

    /// What the id of a synthetic output of this kind begins with, before an underscore.
    pub const fn id_prefix(self) -> &'static str {
        match self {
            OutputKind::Function => "fco",
            OutputKind::CustomTool => "ctco",
            OutputKind::ToolSearch => "tso",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_finds_its_own_row() {
        for kind in CallKind::ALL {
            assert_eq!(kind.row().call, kind);
        }
    }

    #[test]
    fn every_kind_of_output_answers_some_call() {
        for output in OutputKind::ALL {
            assert!(PAIRING_TABLE.iter().any(|row| row.output == output));
        }
    }
}
