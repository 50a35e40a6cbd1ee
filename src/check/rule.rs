//! The rules of `check`: their names, how much they weigh, what they say.

use crate::pairing::{CallKind, OutputKind, Reason};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The API or the program refuses this, or a repair has to hide it. It fails a check.
    Error,
    /// Something is lost in silence.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// `error`, `warning` or `note`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

macro_rules! rules {
    ($($(#[$meta:meta])* $rule:ident = $id:literal, $severity:ident, $statement:literal;)*) => {
        /// A rule that a history or its file can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[$meta])* $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Rule] = &[$(Rule::$rule,)*];

            /// The stable name: it stands in reports, baselines and people's CI.
            pub fn id(self) -> &'static str {
                match self {
                    $(Rule::$rule => $id,)*
                }
            }

            /// How much it weighs.
            pub fn severity(self) -> Severity {
                match self {
                    $(Rule::$rule => Severity::$severity,)*
                }
            }

            /// The rule in a sentence.
            pub fn statement(self) -> &'static str {
                match self {
                    $(Rule::$rule => $statement,)*
                }
            }
        }
    };
}

rules! {
    /// A `function_call` without output.
    CallWithoutOutput = "responses/call-without-output", Error,
        "A function_call needs a function_call_output with its call_id somewhere in the same input.";
    /// A `local_shell_call` without output.
    LocalShellCallWithoutOutput = "responses/local-shell-call-without-output", Error,
        "A local_shell_call that has a call_id needs a function_call_output with it somewhere in the same input.";
    /// A `custom_tool_call` without output.
    CustomCallWithoutOutput = "responses/custom-call-without-output", Error,
        "A custom_tool_call needs a custom_tool_call_output with its call_id somewhere in the same input.";
    /// A `tool_search_call` without output.
    ToolSearchCallWithoutOutput = "responses/tool-search-call-without-output", Error,
        "A tool_search_call that has a call_id needs a tool_search_output with it somewhere in the same input.";
    /// A `function_call_output` without call.
    OutputWithoutCall = "responses/output-without-call", Error,
        "A function_call_output needs a function_call or local_shell_call with its call_id in the same input.";
    /// A `custom_tool_call_output` without call.
    CustomOutputWithoutCall = "responses/custom-output-without-call", Error,
        "A custom_tool_call_output needs a custom_tool_call with its call_id in the same input.";
    /// A `tool_search_output` without call.
    ToolSearchOutputWithoutCall = "responses/tool-search-output-without-call", Error,
        "A tool_search_output that has a call_id, and that no server made, needs a tool_search_call with it in the same input.";
    /// An item that does not fit its shape.
    ItemDoesNotLoad = "responses/item-does-not-load", Warning,
        "Each item has the shape that release 0.144.6 reads; it skips any other in silence.";
    /// Pictures for a model that takes none.
    ImageUnsupported = "responses/image-unsupported", Note,
        "A model that takes text only gets a text in place of each picture.";
    /// A rollout with bytes that are no text.
    NotUtf8 = "codex/not-utf8", Error,
        "A rollout is UTF-8 throughout; the program does not resume a file with one byte that is not.";
    /// A rollout without its head.
    NoSessionMeta = "codex/no-session-meta", Error,
        "A session_meta line that loads stands before the first item of a rollout; the program does not resume a file without.";
    /// A rollout of which no line loads.
    Empty = "codex/empty", Error,
        "A line of a rollout loads; the program takes a file without any for empty and does not resume it.";
    /// A line that does not load.
    LineSkipped = "codex/line-skipped", Warning,
        "Each line of a rollout is a record that release 0.144.6 reads; it skips any other in silence.";
    /// A last line without a line end.
    UnfinishedLine = "codex/unfinished-line", Note,
        "A rollout ends with a line end; the program writes its next line straight behind the last one.";
}

impl Rule {
    /// The rule that makes this repair necessary.
    pub fn of(reason: Reason) -> Rule {
        match reason {
            Reason::CallWithoutOutput(CallKind::Function) => Rule::CallWithoutOutput,
            Reason::CallWithoutOutput(CallKind::LocalShell) => Rule::LocalShellCallWithoutOutput,
            Reason::CallWithoutOutput(CallKind::CustomTool) => Rule::CustomCallWithoutOutput,
            Reason::CallWithoutOutput(CallKind::ToolSearch) => Rule::ToolSearchCallWithoutOutput,
            Reason::OutputWithoutCall(OutputKind::Function) => Rule::OutputWithoutCall,
            Reason::OutputWithoutCall(OutputKind::CustomTool) => Rule::CustomOutputWithoutCall,
            Reason::OutputWithoutCall(OutputKind::ToolSearch) => Rule::ToolSearchOutputWithoutCall,
            Reason::ImagesUnsupported(_) => Rule::ImageUnsupported,
        }
    }

    /// Whether it is about Codex rollouts only.
    pub fn is_of_rollouts(self) -> bool {
        self.id().starts_with("codex/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_and_only_errors_fail_a_check() {
        let ids: std::collections::BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        let errors = Rule::ALL.iter().filter(|rule| rule.severity() == Severity::Error).count();
        assert_eq!(errors, CallKind::ALL.len() + OutputKind::ALL.len() + 3);
    }
}
