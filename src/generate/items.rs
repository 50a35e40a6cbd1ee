//! Drawing of one item, part by part.

use super::features::{Feature, Features};
use super::script::Options;
use super::{Draw, pools};
use crate::item::*;
use crate::json::Json;
use crate::pairing::{CallKind, OutputKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What drawing an item goes by.
pub(super) struct ItemDraw<'a, D> {
    pub(super) draw: &'a mut D,
    pub(super) features: Features,
    pub(super) options: &'a Options,
    /// How many items have been drawn: the number of the next one.
    pub(super) drawn: usize,
}

impl<D: Draw> ItemDraw<'_, D> {
    pub(super) fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    fn item_id(&mut self) -> Option<ItemId> {
        self.drawn += 1;
        if !self.has(Feature::ItemIds) {
            return None;
        }
        match self.draw.below(8) {
            0 => None,
            1 | 2 if self.has(Feature::SharedItemIds) => {
                Some(self.draw.pick(&pools::SHARED_ITEM_IDS).clone())
            }
            _ => pools::OWN_ITEM_IDS.get(self.drawn % pools::OWN_ITEM_IDS.len()).cloned(),
        }
    }

    fn text(&mut self) -> String {
        let odd = self.has(Feature::OddTexts) && self.draw.chance(1, 2);
        (*if odd { self.draw.pick(&pools::ODD_TEXTS) } else { self.draw.pick(&pools::TEXTS) }).to_owned()
    }

    fn maybe_text(&mut self) -> Option<String> {
        self.draw.chance(1, 3).then(|| self.text())
    }

    fn json(&mut self) -> Json {
        if self.options.capabilities.exact_numbers && self.draw.chance(1, 4) {
            return self.draw.pick(&pools::EXACT_JSON).clone();
        }
        self.draw.pick(&pools::PLAIN_JSON).clone()
    }

    fn json_list(&mut self) -> Vec<Json> {
        (0..self.draw.below(3)).map(|_| self.json()).collect()
    }

    fn image(&mut self) -> InputImage {
        if self.has(Feature::UnsendablePictures) && self.draw.chance(1, 4) {
            let url = *self.draw.pick(&pools::UNSENDABLE_PICTURES);
            return InputImage { image_url: url.to_owned(), detail: Some(ImageDetail::Low) };
        }
        let detail = [None, Some(ImageDetail::Auto), Some(ImageDetail::High), Some(ImageDetail::Original)];
        let url = *self.draw.pick(&pools::SENDABLE_PICTURES);
        InputImage { image_url: url.to_owned(), detail: *self.draw.pick(&detail) }
    }

    fn wants_image(&mut self) -> bool {
        self.has(Feature::Pictures) && self.draw.chance(1, 4)
    }

    fn message(&mut self, role: &str, output: bool, phase: Option<Phase>) -> ResponseItem {
        let count = match self.draw.below(8) {
            0 => 0,
            1 | 2 => 2,
            3 => 3,
            _ => 1,
        };
        let part = |this: &mut Self| match this.wants_image() {
            true => ContentPart::InputImage(this.image()),
            false if output => ContentPart::OutputText(Text { text: this.text() }),
            false => ContentPart::InputText(Text { text: this.text() }),
        };
        let content = (0..count).map(|_| part(self)).collect();
        ResponseItem::Message(Message { id: self.item_id(), role: role.to_owned(), content, phase })
    }

    pub(super) fn user_message(&mut self) -> ResponseItem {
        self.message("user", false, None)
    }

    /// A message of an assistant, or, now and then, of another role.
    pub(super) fn other_message(&mut self) -> ResponseItem {
        match self.draw.below(6) {
            0 => self.message("developer", false, None),
            1 if self.options.odd_roles() => self.message("tool", false, None),
            2 => self.message("assistant", true, Some(Phase::FinalAnswer)),
            3 => self.message("assistant", true, Some(Phase::Commentary)),
            _ => self.message("assistant", true, None),
        }
    }

    /// What the runtime says about its surroundings.
    pub(super) fn context_message(&mut self) -> ResponseItem {
        let (role, text) = *self.draw.pick(&[
            ("user", "<environment_context>x</environment_context>"),
            ("developer", "<permissions instructions>x</permissions instructions>"),
        ]);
        let content = vec![ContentPart::InputText(Text { text: text.to_owned() })];
        ResponseItem::Message(Message { id: self.item_id(), role: role.to_owned(), content, phase: None })
    }

    pub(super) fn reasoning(&mut self) -> ResponseItem {
        let summary = (0..self.draw.below(2)).map(|_| SummaryPart::SummaryText(Text { text: self.text() }));
        let summary = summary.collect();
        let content = match self.draw.below(5) {
            0 => Some(Vec::new()),
            1 => Some(vec![ReasoningPart::ReasoningText(Text { text: self.text() })]),
            2 => Some(vec![ReasoningPart::Text(Text { text: self.text() })]),
            _ => None,
        };
        ResponseItem::Reasoning(Reasoning {
            id: self.item_id(),
            summary,
            content: ReasoningContent(content),
            encrypted_content: self.maybe_text(),
        })
    }

    /// An item that takes no part in pairing, of a kind that the subject knows.
    pub(super) fn other_kind(&mut self) -> Option<ResponseItem> {
        let kind = *self.draw.pick(&[
            ItemKind::WebSearchCall,
            ItemKind::ImageGenerationCall,
            ItemKind::Compaction,
            ItemKind::ContextCompaction,
            ItemKind::AgentMessage,
            ItemKind::AdditionalTools,
        ]);
        if !self.options.capabilities.knows(kind) {
            return None;
        }
        Some(match kind {
            ItemKind::WebSearchCall => ResponseItem::WebSearchCall(WebSearchCall {
                id: self.item_id(),
                status: self.maybe_text(),
                action: self.web_action(),
            }),
            ItemKind::ImageGenerationCall => ResponseItem::ImageGenerationCall(ImageGenerationCall {
                id: self.item_id(),
                status: "completed".to_owned(),
                revised_prompt: self.maybe_text(),
                result: if self.has(Feature::Pictures) { "iVBORw0KGgo=".to_owned() } else { String::new() },
            }),
            ItemKind::Compaction => {
                ResponseItem::Compaction(Compaction { id: self.item_id(), encrypted_content: self.text() })
            }
            ItemKind::ContextCompaction => ResponseItem::ContextCompaction(ContextCompaction {
                id: self.item_id(),
                encrypted_content: self.maybe_text(),
            }),
            ItemKind::AdditionalTools => ResponseItem::AdditionalTools(AdditionalTools {
                id: self.item_id(),
                role: "developer".to_owned(),
                tools: self.json_list(),
            }),
            _ => ResponseItem::AgentMessage(AgentMessage {
                id: self.item_id(),
                author: "/root".to_owned(),
                recipient: "/root/a".to_owned(),
                content: vec![self.agent_part()],
            }),
        })
    }

    fn agent_part(&mut self) -> AgentPart {
        let text = self.text();
        if self.draw.chance(1, 4) {
            return AgentPart::EncryptedContent(EncryptedContent { encrypted_content: text });
        }
        AgentPart::InputText(Text { text })
    }

    fn web_action(&mut self) -> Option<WebSearchAction> {
        Some(match self.draw.below(5) {
            0 => return None,
            1 => WebSearchAction::Search(Search {
                query: self.maybe_text(),
                queries: self.maybe_text().map(|q| vec![q]),
            }),
            2 => WebSearchAction::OpenPage(OpenPage { url: self.maybe_text() }),
            3 => {
                WebSearchAction::FindInPage(FindInPage { url: self.maybe_text(), pattern: self.maybe_text() })
            }
            _ => WebSearchAction::Other,
        })
    }

    /// An item that recording leaves out.
    pub(super) fn not_for_the_model(&mut self) -> ResponseItem {
        match self.draw.below(4) {
            0 => self.message("system", false, None),
            1 => ResponseItem::CompactionTrigger,
            2 => ResponseItem::Other("ghost_snapshot".to_owned()),
            _ => ResponseItem::Other("hologram".to_owned()),
        }
    }

    /// A call. Without a call id only where the kind allows it.
    pub(super) fn call(&mut self, kind: CallKind, call_id: Option<CallId>) -> ResponseItem {
        let id = self.item_id();
        let required = |call_id: Option<CallId>| call_id.unwrap_or_else(|| CallId::from(""));
        match kind {
            CallKind::Function => ResponseItem::FunctionCall(FunctionCall {
                id,
                name: "f".to_owned(),
                namespace: self.draw.chance(1, 8).then(|| "mcp".to_owned()),
                arguments: self.text(),
                call_id: required(call_id),
            }),
            CallKind::LocalShell => ResponseItem::LocalShellCall(LocalShellCall {
                id,
                call_id,
                status: *self.draw.pick(LocalShellStatus::ALL),
                action: Box::new(LocalShellAction::Exec(self.exec())),
            }),
            CallKind::CustomTool => ResponseItem::CustomToolCall(CustomToolCall {
                id,
                status: self.status(),
                call_id: required(call_id),
                name: "apply_patch".to_owned(),
                namespace: None,
                input: self.text(),
            }),
            CallKind::ToolSearch => ResponseItem::ToolSearchCall(ToolSearchCall {
                id,
                call_id,
                status: self.status(),
                execution: self.execution(),
                arguments: self.json(),
            }),
        }
    }

    fn exec(&mut self) -> Exec {
        let plain = Exec {
            command: vec!["ls".to_owned()],
            timeout_ms: None,
            working_directory: None,
            env: None,
            user: None,
        };
        if !self.draw.chance(1, 4) {
            return plain;
        }
        let env = BTreeMap::from([("A".to_owned(), self.text())]);
        let timeout_ms = *self.draw.pick(&[Some(0), Some((1 << 53) - 1), None]);
        Exec { timeout_ms, env: Some(env), working_directory: self.maybe_text(), ..plain }
    }

    fn status(&mut self) -> Option<String> {
        let statuses = [None, Some("completed"), Some("in_progress"), Some("incomplete"), Some("failed")];
        self.draw.pick(&statuses).map(str::to_owned)
    }

    fn execution(&mut self) -> String {
        let of_server = self.has(Feature::ServerSearches) && self.draw.chance(3, 4);
        let executions: &[&str] =
            if of_server { &["server", "server", "server", "Server", "weird"] } else { &["client"] };
        (*self.draw.pick(executions)).to_owned()
    }

    /// An output. Without a call id only where the kind allows it.
    pub(super) fn output(&mut self, kind: OutputKind, call_id: Option<CallId>) -> ResponseItem {
        let id = self.item_id();
        let required = |call_id: Option<CallId>| call_id.unwrap_or_else(|| CallId::from(""));
        match kind {
            OutputKind::Function => ResponseItem::FunctionCallOutput(FunctionCallOutput {
                id,
                call_id: required(call_id),
                output: self.tool_output(),
            }),
            OutputKind::CustomTool => ResponseItem::CustomToolCallOutput(CustomToolCallOutput {
                id,
                call_id: required(call_id),
                name: self.draw.chance(1, 8).then(|| "apply_patch".to_owned()),
                output: self.tool_output(),
            }),
            OutputKind::ToolSearch => ResponseItem::ToolSearchOutput(ToolSearchOutput {
                id,
                call_id,
                status: (*self.draw.pick(&["completed", "failed", ""])).to_owned(),
                execution: self.execution(),
                tools: self.json_list(),
            }),
        }
    }

    fn tool_output(&mut self) -> ToolOutput {
        if self.has(Feature::PartLists) && self.draw.chance(1, 3) {
            return ToolOutput::Parts((0..self.draw.below(4)).map(|_| self.output_part()).collect());
        }
        ToolOutput::Text(self.output_text())
    }

    fn output_part(&mut self) -> OutputPart {
        if self.wants_image() {
            return OutputPart::InputImage(self.image());
        }
        if self.draw.chance(1, 8) {
            return OutputPart::EncryptedContent(EncryptedContent { encrypted_content: self.text() });
        }
        OutputPart::InputText(Text { text: self.output_text() })
    }

    /// A text, or one about as long as the subject's budget: just under it, just over it, far over it.
    fn output_text(&mut self) -> String {
        let budget = self.options.output_budget();
        if budget == 0 || !self.has(Feature::LongOutputs) || !self.draw.chance(1, 4) {
            return self.text();
        }
        let length = [budget - 1, budget, budget + 1, budget + 7, 2 * budget + 3];
        let letter = if self.draw.chance(1, 4) { "€" } else { "x" };
        letter.repeat(self.draw.pick(&length).div_ceil(letter.len()))
    }

    pub(super) fn shared(item: ResponseItem) -> Arc<ResponseItem> {
        Arc::new(item)
    }
}
