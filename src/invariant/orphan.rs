//! No output stands alone, but for those that may.

use super::{BOTH, CODEX, Check, Fate, Invariant, Needs, Sighting, Verdict};
use crate::item::ResponseItem;
use crate::pairing::{OutputKind, Role};
use crate::projection::role;

pub(super) const FUNCTION_CALL_OUTPUT: Invariant = Invariant {
    id: "orphan/function-call-output",
    statement: "Every function_call_output of a request answers a function_call or local_shell_call of that request.",
    law: "∀ function_call_output o ∈ P(H): ∃ c ∈ P(H), c a function_call or local_shell_call: c.call_id = o.call_id",
    why: "The API refuses the request with a 400 \"No tool call found for function call output\".",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &["continuedev/continue#10092", "openai/codex#17630", "microsoft/vscode#320060"],
    check: Check::Projection(|sighting| no_orphan(sighting, OutputKind::Function)),
};

pub(super) const CUSTOM_TOOL_CALL_OUTPUT: Invariant = Invariant {
    id: "orphan/custom-tool-call-output",
    statement: "Every custom_tool_call_output of a request answers a custom_tool_call of that request.",
    law: "∀ custom_tool_call_output o ∈ P(H): ∃ custom_tool_call c ∈ P(H): c.call_id = o.call_id",
    why: "As for functions; an output of this kind answers no other kind of call.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(|sighting| no_orphan(sighting, OutputKind::CustomTool)),
};

pub(super) const TOOL_SEARCH_OUTPUT: Invariant = Invariant {
    id: "orphan/tool-search-output",
    statement: "Every tool_search_output of a request with a call id that no server executed answers a tool_search_call of it.",
    law: "∀ tool_search_output o ∈ P(H), o.call_id ≠ ⊥, o.execution ≠ server: ∃ tool_search_call c ∈ P(H): c.call_id = o.call_id",
    why: "As for functions.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(|sighting| no_orphan(sighting, OutputKind::ToolSearch)),
};

pub(super) const SERVER_OUTPUT_STAYS: Invariant = Invariant {
    id: "orphan/server-output-stays",
    statement: "A tool_search_output that a server executed is sent even where no call has its id.",
    law: "∀ tool_search_output o ∈ H, o.call_id ≠ ⊥, o.execution = server: o ∈ P(H)",
    why: "The server made it without a call; taking it out hides tools that the model was given.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(|sighting| exempt_stays(sighting, true)),
};

pub(super) const OUTPUT_WITHOUT_CALL_ID_STAYS: Invariant = Invariant {
    id: "orphan/output-without-call-id-stays",
    statement: "A tool_search_output without a call id is sent.",
    law: "∀ tool_search_output o ∈ H, o.call_id = ⊥: o ∈ P(H)",
    why: "It names no call, so it cannot miss one.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(|sighting| exempt_stays(sighting, false)),
};

fn no_orphan(sighting: &Sighting<'_>, kind: OutputKind) -> Verdict {
    let mut checked = 0;
    for (at, _, call_id) in sighting.request.outputs().filter(|(_, found, _)| *found == kind) {
        if sighting.items().get(at).is_some_and(|item| is_exempt(item)) {
            continue;
        }
        checked += 1;
        if !sighting.request.has_call_for(kind, call_id) {
            return Verdict::broken(format!("{} answers no call of the request", sighting.in_request(at)));
        }
    }
    let of_kind = sighting.history.outputs().filter(|(_, found, _)| *found == kind);
    checked += of_kind.filter(|(at, ..)| sighting.alignment.fates.get(*at) == Some(&Fate::Goes)).count();
    Verdict::holds_if_any(checked)
}

fn is_exempt(output: &ResponseItem) -> bool {
    matches!(role(output), Role::Output { exempt: true, .. })
}

fn exempt_stays(sighting: &Sighting<'_>, with_call_id: bool) -> Verdict {
    let exempt = |at: &usize| {
        let item = sighting.before.get(*at);
        sighting.alignment.fates.get(*at) == Some(&Fate::Exempt)
            && item.is_some_and(|item| item.call_id().is_some() == with_call_id)
    };
    if let Some(&at) = sighting.alignment.missing.iter().find(|at| exempt(at)) {
        return Verdict::broken(format!("{} is not in the request", sighting.in_history(at)));
    }
    Verdict::holds_if_any((0..sighting.before.len()).filter(exempt).count())
}
