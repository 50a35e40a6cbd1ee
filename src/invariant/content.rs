//! What synthetic outputs say.

use super::{CODEX, Check, Invariant, Needs, Sighting, Verdict};
use crate::item::{ResponseItem, ToolOutput};
use crate::pairing::OutputKind;

/// What the output of a call says that never came to its end. Stated here a second time on purpose: an invariant must not
/// read the constant that it guards.
const ABORTED: &str = "aborted";

pub(super) const FUNCTION_OUTPUT: Invariant = Invariant {
    id: "content/function-call-output",
    statement: "A synthetic function_call_output is the text \"aborted\".",
    law: "o ∈ P(H) a synthetic function_call_output ⇒ o.output = \"aborted\"",
    why: "Models are used to this word; another text is another prompt.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(|sighting| says(sighting, OutputKind::Function)),
};

pub(super) const CUSTOM_OUTPUT: Invariant = Invariant {
    id: "content/custom-tool-call-output",
    statement: "A synthetic custom_tool_call_output is the text \"aborted\", and has no name.",
    law: "o ∈ P(H) a synthetic custom_tool_call_output ⇒ o.output = \"aborted\" ∧ o.name = ⊥",
    why: "As for functions.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(|sighting| says(sighting, OutputKind::CustomTool)),
};

pub(super) const TOOL_SEARCH_OUTPUT: Invariant = Invariant {
    id: "content/tool-search-output",
    statement: "A synthetic tool_search_output is completed, by the client, and empty, whoever executed the call.",
    law: "o ∈ P(H) a synthetic tool_search_output ⇒ o.status = completed ∧ o.execution = client ∧ o.tools = []",
    why: "Anything else promises tools that are not there, or an answer that is still to come.",
    needs: Needs::Nothing,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(|sighting| says(sighting, OutputKind::ToolSearch)),
};

fn says(sighting: &Sighting<'_>, kind: OutputKind) -> Verdict {
    let mut checked = 0;
    for (at, found, _) in sighting.synthetic() {
        if found != kind {
            continue;
        }
        checked += 1;
        let right = sighting.items().get(at).is_some_and(|item| match &**item {
            ResponseItem::FunctionCallOutput(item) => is_aborted(&item.output),
            ResponseItem::CustomToolCallOutput(item) => is_aborted(&item.output) && item.name.is_none(),
            ResponseItem::ToolSearchOutput(item) => {
                item.status == "completed" && item.execution == "client" && item.tools.is_empty()
            }
            _ => false,
        });
        if !right {
            return Verdict::broken(format!(
                "{} does not say what a synthetic output says",
                sighting.in_request(at)
            ));
        }
    }
    Verdict::holds_if_any(checked)
}

fn is_aborted(output: &ToolOutput) -> bool {
    matches!(output, ToolOutput::Text(text) if text == ABORTED)
}
