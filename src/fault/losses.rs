//! Slips by which a projection does not hand over what it was given. The honest hand changes nothing here.

use super::{Hand, Slip};
use crate::item::{
    AgentPart, CallId, ContentPart, ItemId, LocalShellAction, Message, OutputPart, ResponseItem, Text,
    ToolOutput,
};
use crate::json::Json;
use crate::pairing::OutputKind;
use std::collections::HashSet;

impl Hand {
    /// Call ids as they are sent: as they are.
    pub(super) fn rewrite_call_ids(&self, items: &mut [ResponseItem]) {
        let rewrite = |call_id: &mut CallId| {
            let text: String = match self.slip {
                Some(Slip::ShortenCallIds) => call_id.as_str().chars().take(64).collect(),
                Some(Slip::SanitiseCallIds) => {
                    call_id.as_str().replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_")
                }
                _ => return,
            };
            *call_id = CallId::from(text);
        };
        items.iter_mut().filter_map(call_id_mut).for_each(rewrite);
    }

    /// The last step before the items are sent: nothing is left to do.
    pub(super) fn lose_on_the_way(&self, items: &mut Vec<ResponseItem>) {
        let Some(slip) = self.slip else { return };
        items.retain(|item| !drops(slip, item));
        items.iter_mut().for_each(|item| change_fields(slip, item));
        items.iter_mut().for_each(|item| change_parts(slip, item));
        self.drop_by_place(slip, items);
        self.drop_doubles(slip, items);
        self.reorder(slip, items);
        add(slip, items);
    }

    fn drop_by_place(&self, slip: Slip, items: &mut Vec<ResponseItem>) {
        let is_compaction = |item: &ResponseItem| matches!(item, ResponseItem::Compaction(_));
        match slip {
            Slip::DropBeforeCompaction => {
                items.iter().rposition(is_compaction).into_iter().for_each(|at| drop(items.drain(..at)));
            }
            Slip::DropAfterCompaction => {
                items.iter().position(is_compaction).into_iter().for_each(|at| items.truncate(at + 1));
            }
            Slip::DropOldest => drop(items.drain(..items.len().saturating_sub(24))),
            _ => {}
        }
    }

    fn drop_doubles(&self, slip: Slip, items: &mut Vec<ResponseItem>) {
        let mut seen = HashSet::new();
        match slip {
            Slip::DropDoubledOutputs => items.retain(|item| {
                self.output(item).is_none_or(|(kind, id)| seen.insert((kind as u8, id.to_owned())))
            }),
            Slip::DropDoubledFunctionOutputs => items.retain(|item| match item {
                ResponseItem::FunctionCallOutput(output) if !is_aborted(&output.output) => {
                    seen.insert((OutputKind::Function as u8, output.call_id.as_str().to_owned()))
                }
                _ => true,
            }),
            Slip::DropLastRepeat => {
                let repeats = |at: &usize| {
                    let output = |at: usize| items.get(at).and_then(|item| self.output(item));
                    output(*at).is_some_and(|own| (0..*at).any(|earlier| output(earlier) == Some(own)))
                };
                let last = (0..items.len()).rev().find(repeats);
                last.into_iter().for_each(|at| drop(items.remove(at)));
            }
            Slip::DropDoubledCalls => items.retain(|item| {
                self.call(item).is_none_or(|(kind, id)| seen.insert((kind as u8, id.to_owned())))
            }),
            Slip::DropEarlierOutputs => {
                items.reverse();
                items.retain(|item| {
                    self.output(item).is_none_or(|(kind, id)| seen.insert((kind as u8, id.to_owned())))
                });
                items.reverse();
            }
            Slip::DropRepeats => items.dedup(),
            _ => {}
        }
    }

    fn reorder(&self, slip: Slip, items: &mut Vec<ResponseItem>) {
        match slip {
            Slip::MoveOutputs => self.move_outputs(items),
            Slip::SortByKind => items.sort_by_key(|item| match self.output(item) {
                Some(_) => 2,
                None => u8::from(self.call(item).is_some()),
            }),
            Slip::DevelopersFirst => items.sort_by_key(|item| !has_role(item, "developer")),
            Slip::ReasoningLast => {
                for at in 1..items.len() {
                    if matches!(items.get(at - 1), Some(ResponseItem::Reasoning(_))) {
                        items.swap(at - 1, at);
                    }
                }
            }
            Slip::MergeMessages => items.dedup_by(merges),
            _ => {}
        }
    }

    fn move_outputs(&self, items: &mut Vec<ResponseItem>) {
        let (outputs, mut rest): (Vec<_>, Vec<_>) =
            std::mem::take(items).into_iter().partition(|item| self.output(item).is_some());
        for output in outputs.into_iter().rev() {
            let owner = |item: &ResponseItem| {
                self.call(item).is_some_and(|(call, id)| {
                    self.output(&output)
                        .is_some_and(|(kind, of)| self.owners(kind).contains(&call) && of == id)
                })
            };
            let at = rest.iter().position(owner).map_or(rest.len(), |at| at + 1);
            rest.insert(at, output);
        }
        *items = rest;
    }
}

fn has_role(item: &ResponseItem, role: &str) -> bool {
    matches!(item, ResponseItem::Message(message) if message.role == role)
}

/// Joins a message to the one before it, where both are of one role.
fn merges(later: &mut ResponseItem, earlier: &mut ResponseItem) -> bool {
    match (later, earlier) {
        (ResponseItem::Message(later), ResponseItem::Message(earlier)) if later.role == earlier.role => {
            earlier.content.append(&mut later.content);
            true
        }
        _ => false,
    }
}

/// Whether the slip drops the item.
fn drops(slip: Slip, item: &ResponseItem) -> bool {
    match item {
        ResponseItem::Message(message) => {
            (slip == Slip::DropEmptyMessages && message.content.is_empty())
                || (slip == Slip::DropSystemMessages && message.role == "system")
        }
        ResponseItem::FunctionCallOutput(output) => {
            slip == Slip::DropEmptyOutputs && is_empty(&output.output)
        }
        ResponseItem::CustomToolCallOutput(output) => {
            slip == Slip::DropEmptyOutputs && is_empty(&output.output)
        }
        ResponseItem::Reasoning(_) => slip == Slip::DropReasoning,
        ResponseItem::AgentMessage(_) => slip == Slip::DropAgentMessages,
        ResponseItem::WebSearchCall(_) => slip == Slip::DropWebSearches,
        ResponseItem::ImageGenerationCall(_) => slip == Slip::DropImageGenerations,
        ResponseItem::Compaction(_) => slip == Slip::DropCompactions,
        ResponseItem::ContextCompaction(_) => slip == Slip::DropContextCompactions,
        ResponseItem::AdditionalTools(_) => slip == Slip::DropAdditionalTools,
        ResponseItem::CompactionTrigger => slip == Slip::DropTriggers,
        ResponseItem::Other(_) => slip == Slip::DropUnknownKinds,
        _ => false,
    }
}

fn is_empty(output: &ToolOutput) -> bool {
    matches!(output, ToolOutput::Text(text) if text.is_empty())
}

/// Changes a field of the item.
fn change_fields(slip: Slip, item: &mut ResponseItem) {
    match (slip, item) {
        (Slip::LosePhase, ResponseItem::Message(message)) => message.phase = None,
        (Slip::LoseStatus, ResponseItem::CustomToolCall(call)) => call.status = None,
        (Slip::LoseStatus, ResponseItem::ToolSearchCall(call)) => call.status = None,
        (Slip::CompleteStatus, ResponseItem::CustomToolCall(call)) => {
            call.status = Some("completed".to_owned());
        }
        (Slip::LoseNamespace, ResponseItem::FunctionCall(call)) => call.namespace = None,
        (Slip::LoseOutputName, ResponseItem::CustomToolCallOutput(output)) => output.name = None,
        (Slip::LoseEncrypted, ResponseItem::Reasoning(reasoning)) => reasoning.encrypted_content = None,
        (Slip::LoseRevisedPrompt, ResponseItem::ImageGenerationCall(call)) => call.revised_prompt = None,
        (Slip::LoseShellEnv, ResponseItem::LocalShellCall(call)) => {
            let LocalShellAction::Exec(exec) = &mut *call.action;
            exec.env = None;
        }
        (Slip::NullArguments, ResponseItem::ToolSearchCall(call)) if call.arguments == Json::Null => {
            call.arguments = Json::Object(crate::json::Object::new());
        }
        (Slip::FloatNumbers, ResponseItem::ToolSearchCall(call)) => {
            call.arguments = through_floats(&call.arguments);
        }
        (Slip::FloatNumbers, ResponseItem::ToolSearchOutput(output)) => {
            output.tools = output.tools.iter().map(through_floats).collect();
        }
        (Slip::LoseItemIds, item) => item.id_mut().into_iter().for_each(|id| *id = None),
        (Slip::IdGivenToRealItems, item) => {
            let prefix = item.kind().as_str();
            let id = item.id_mut().filter(|id| id.is_none());
            id.into_iter().for_each(|id| *id = Some(ItemId::from(format!("{prefix}_new"))));
        }
        _ => {}
    }
}

/// As a parser with doubles reads it and writes it again; infinity becomes null.
fn through_floats(json: &Json) -> Json {
    match json {
        Json::Array(elements) => Json::Array(elements.iter().map(through_floats).collect()),
        Json::Object(object) => {
            Json::Object(object.iter().map(|(key, value)| (key.into(), through_floats(value))).collect())
        }
        Json::Number(number) => {
            let float = number.text().parse::<f64>().unwrap_or(f64::NAN);
            Json::parse(&format!("{float:?}")).unwrap_or_default()
        }
        Json::Null | Json::Bool(_) | Json::String(_) => json.clone(),
    }
}

/// Changes the parts and texts of the item.
fn change_parts(slip: Slip, item: &mut ResponseItem) {
    if let ResponseItem::Message(message) = item {
        change_content(slip, &mut message.content);
    }
    let change: fn(&str) -> String = match slip {
        Slip::TrimTexts => |text| text.trim().to_owned(),
        Slip::StripControls => |text| text.chars().filter(|c| !c.is_control()).collect(),
        Slip::Recompose => |text| text.replace("e\u{301}", "\u{e9}"),
        _ => return,
    };
    each_text(item, |text| *text = change(text));
}

fn change_content(slip: Slip, content: &mut Vec<ContentPart>) {
    match slip {
        Slip::DropEmptyParts => content.retain(|part| match part {
            ContentPart::InputText(text) | ContentPart::OutputText(text) => !text.text.is_empty(),
            ContentPart::InputImage(_) => true,
        }),
        Slip::MergeTexts => content.dedup_by(|later, earlier| match (later, earlier) {
            (ContentPart::InputText(later), ContentPart::InputText(earlier))
            | (ContentPart::OutputText(later), ContentPart::OutputText(earlier)) => {
                earlier.text.push_str(&later.text);
                true
            }
            _ => false,
        }),
        Slip::LoseDetail => content.iter_mut().for_each(|part| {
            if let ContentPart::InputImage(image) = part {
                image.detail = None;
            }
        }),
        _ => {}
    }
}

/// Calls `change` with each text that the item holds for the model.
fn each_text(item: &mut ResponseItem, mut change: impl FnMut(&mut String)) {
    let in_output = |output: &mut ToolOutput, change: &mut dyn FnMut(&mut String)| match output {
        ToolOutput::Text(text) => change(text),
        ToolOutput::Parts(parts) => parts.iter_mut().for_each(|part| match part {
            OutputPart::InputText(text) => change(&mut text.text),
            OutputPart::InputImage(_) | OutputPart::EncryptedContent(_) => {}
        }),
    };
    match item {
        ResponseItem::Message(message) => message.content.iter_mut().for_each(|part| match part {
            ContentPart::InputText(text) | ContentPart::OutputText(text) => change(&mut text.text),
            ContentPart::InputImage(_) => {}
        }),
        ResponseItem::AgentMessage(message) => message.content.iter_mut().for_each(|part| match part {
            AgentPart::InputText(text) => change(&mut text.text),
            AgentPart::EncryptedContent(_) => {}
        }),
        ResponseItem::FunctionCall(call) => change(&mut call.arguments),
        ResponseItem::CustomToolCall(call) => change(&mut call.input),
        ResponseItem::FunctionCallOutput(output) => in_output(&mut output.output, &mut change),
        ResponseItem::CustomToolCallOutput(output) => in_output(&mut output.output, &mut change),
        _ => {}
    }
}

/// Adds a nudge that nobody recorded.
fn add(slip: Slip, items: &mut Vec<ResponseItem>) {
    if slip == Slip::AppendContinue && items.last().is_some_and(|item| has_role(item, "assistant")) {
        items.push(message("user", "Continue."));
    }
}

/// A message of one text.
pub(super) fn message(role: &str, text: &str) -> ResponseItem {
    let content = vec![ContentPart::InputText(Text { text: text.to_owned() })];
    ResponseItem::Message(Message { id: None, role: role.to_owned(), content, phase: None })
}

fn call_id_mut(item: &mut ResponseItem) -> Option<&mut CallId> {
    match item {
        ResponseItem::LocalShellCall(call) => call.call_id.as_mut(),
        ResponseItem::FunctionCall(call) => Some(&mut call.call_id),
        ResponseItem::ToolSearchCall(call) => call.call_id.as_mut(),
        ResponseItem::CustomToolCall(call) => Some(&mut call.call_id),
        ResponseItem::FunctionCallOutput(output) => Some(&mut output.call_id),
        ResponseItem::CustomToolCallOutput(output) => Some(&mut output.call_id),
        ResponseItem::ToolSearchOutput(output) => output.call_id.as_mut(),
        _ => None,
    }
}

fn is_aborted(output: &ToolOutput) -> bool {
    matches!(output, ToolOutput::Text(text) if text == "aborted")
}
