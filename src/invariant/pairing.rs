//! Every call gets paired.

use super::{BOTH, Check, Invariant, Needs, Sighting, Verdict};
use crate::pairing::CallKind;

pub(super) const FUNCTION_CALL: Invariant = Invariant {
    id: "pairing/function-call",
    statement: "Every function_call of a request has a function_call_output with its call id in that request.",
    law: "∀ function_call c ∈ P(H): ∃ function_call_output o ∈ P(H): o.call_id = c.call_id",
    why: "The API refuses the request with a 400 \"No tool output found for function call\", and the session is stuck.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &["openai/codex#93", "openai/codex#620", "smallmain/vscode-unify-chat-provider#152"],
    check: Check::Projection(|sighting| paired(sighting, CallKind::Function)),
};

pub(super) const LOCAL_SHELL_CALL: Invariant = Invariant {
    id: "pairing/local-shell-call",
    statement: "Every local_shell_call of a request that has a call id has a function_call_output with it in that request.",
    law: "∀ local_shell_call c ∈ P(H), c.call_id ≠ ⊥: ∃ function_call_output o ∈ P(H): o.call_id = c.call_id",
    why: "Its output is a function_call_output and no kind of its own; a table keyed by kind forgets it.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(|sighting| paired(sighting, CallKind::LocalShell)),
};

pub(super) const CUSTOM_TOOL_CALL: Invariant = Invariant {
    id: "pairing/custom-tool-call",
    statement: "Every custom_tool_call of a request has a custom_tool_call_output with its call id in that request.",
    law: "∀ custom_tool_call c ∈ P(H): ∃ custom_tool_call_output o ∈ P(H): o.call_id = c.call_id",
    why: "The API refuses the request with a 400 \"No tool output found for custom tool call\".",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &["diegosouzapw/OmniRoute#8946", "Wei-Shaw/sub2api#5150", "Soju06/codex-lb#1168"],
    check: Check::Projection(|sighting| paired(sighting, CallKind::CustomTool)),
};

pub(super) const TOOL_SEARCH_CALL: Invariant = Invariant {
    id: "pairing/tool-search-call",
    statement: "Every tool_search_call of a request that has a call id has a tool_search_output with it in that request.",
    law: "∀ tool_search_call c ∈ P(H), c.call_id ≠ ⊥: ∃ tool_search_output o ∈ P(H): o.call_id = c.call_id",
    why: "A newer kind of call, which older repair code does not know.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(|sighting| paired(sighting, CallKind::ToolSearch)),
};

fn paired(sighting: &Sighting<'_>, kind: CallKind) -> Verdict {
    let mut checked = 0;
    for (at, _, call_id) in sighting.request.calls().filter(|(_, found, _)| *found == kind) {
        checked += 1;
        if !sighting.request.has_output(kind.output(), call_id) {
            let output = kind.output().type_name();
            return Verdict::broken(format!("{} has no {output} in the request", sighting.in_request(at)));
        }
    }
    Verdict::holds_if_any(checked)
}
