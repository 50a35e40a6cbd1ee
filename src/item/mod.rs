//! What a history is made of: [`ResponseItem`] and its parts.
//!
//! Two forms, never mixed by accident. A [`ResponseItem`] is the *wire* form of release rust-v0.144.6: what that program
//! reads, and value for value what it sends. A [`LosslessItem`] is what a file held, unknown kinds and fields and the
//! digits of numbers included. The one is loaded from the other; there is no way back.
//!
//! Not here: what items mean to each other. That is `pairing/`.

mod ids;
mod inter_agent;
pub mod kinds;
mod list;
mod lossless;
mod modalities;
pub(crate) mod shape;

pub use ids::{CallId, ItemId};
pub use inter_agent::{AgentPath, InterAgentCommunication};
pub use kinds::*;
pub use list::ItemList;
pub use lossless::LosslessItem;
pub use modalities::{Modalities, ModalitiesError};
pub use shape::{Shape, ShapeError, ShapeProblem};

use crate::json::{Json, Object, ObjectWriter};
use shape::Fields;

/// Declares [`ResponseItem`] and [`ItemKind`] from one table: the kinds, their names in JSON, their shapes.
macro_rules! response_items {
    ($($(#[$meta:meta])* $type:literal $(| $alias:literal)? => $kind:ident,)*) => {
        /// One item of a history, in the form that release rust-v0.144.6 reads and sends.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum ResponseItem {
            $($(#[$meta])* $kind($kind),)*
            /// Asks the server for a compaction. Only ever sent from inside a `replacement_history`.
            CompactionTrigger,
            /// A kind that the program does not know, by its name. Sent as `{"type":"other"}`, from inside a
            /// `replacement_history` only.
            Other(String),
        }

        /// The kind of a [`ResponseItem`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ItemKind {
            $($(#[$meta])* $kind,)*
            /// See [`ResponseItem::CompactionTrigger`].
            CompactionTrigger,
            /// See [`ResponseItem::Other`].
            Other,
        }

        impl ItemKind {
            /// All kinds.
            pub const ALL: &'static [ItemKind] = &[
                $(ItemKind::$kind,)*
                ItemKind::CompactionTrigger,
                ItemKind::Other,
            ];

            /// The `type` with which an item of this kind is sent.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(ItemKind::$kind => $type,)*
                    ItemKind::CompactionTrigger => "compaction_trigger",
                    ItemKind::Other => "other",
                }
            }
        }

        impl ResponseItem {
            /// The kind.
            pub fn kind(&self) -> ItemKind {
                match self {
                    $(ResponseItem::$kind(_) => ItemKind::$kind,)*
                    ResponseItem::CompactionTrigger => ItemKind::CompactionTrigger,
                    ResponseItem::Other(_) => ItemKind::Other,
                }
            }

            /// The item's own id. `Some` of an empty id where it is `""`.
            pub fn id(&self) -> Option<&ItemId> {
                match self {
                    $(ResponseItem::$kind(item) => item.id.as_ref(),)*
                    ResponseItem::CompactionTrigger | ResponseItem::Other(_) => None,
                }
            }

            /// The place of the item's own id, for kinds that have one.
            pub fn id_mut(&mut self) -> Option<&mut Option<ItemId>> {
                match self {
                    $(ResponseItem::$kind(item) => Some(&mut item.id),)*
                    ResponseItem::CompactionTrigger | ResponseItem::Other(_) => None,
                }
            }

            fn load_kind(name: String, object: &mut Object) -> Result<ResponseItem, ShapeError> {
                Ok(match name.as_str() {
                    $($type $(| $alias)? => ResponseItem::$kind($kind::load_fields(object)?),)*
                    "compaction_trigger" => ResponseItem::CompactionTrigger,
                    _ => ResponseItem::Other(name),
                })
            }

            fn write_fields(&self, writer: &mut ObjectWriter<'_>) {
                match self {
                    $(ResponseItem::$kind(item) => item.write_fields(writer),)*
                    ResponseItem::CompactionTrigger | ResponseItem::Other(_) => {}
                }
            }
        }
    };
}

response_items! {
    /// What somebody said.
    "message" => Message,
    /// A message between agents.
    "agent_message" => AgentMessage,
    /// What the model thought.
    "reasoning" => Reasoning,
    /// A command to run.
    "local_shell_call" => LocalShellCall,
    /// A call of a function.
    "function_call" => FunctionCall,
    /// A search for tools.
    "tool_search_call" => ToolSearchCall,
    /// The output of a function or a local shell command.
    "function_call_output" => FunctionCallOutput,
    /// A call of a tool that takes free text.
    "custom_tool_call" => CustomToolCall,
    /// The output of such a tool.
    "custom_tool_call_output" => CustomToolCallOutput,
    /// The tools that a search found.
    "tool_search_output" => ToolSearchOutput,
    /// A search of the web.
    "web_search_call" => WebSearchCall,
    /// A picture that the model made.
    "image_generation_call" => ImageGenerationCall,
    /// An opaque summary.
    "compaction" | "compaction_summary" => Compaction,
    /// An opaque summary of another origin.
    "context_compaction" => ContextCompaction,
    /// Tools made known in the middle of the input.
    "additional_tools" => AdditionalTools,
}

/// The vendor's own field. It is checked while loading, and not sent to other providers.
const METADATA: &str = "internal_chat_message_metadata_passthrough";

impl ResponseItem {
    /// The id that ties a call and its output together, for the kinds that have one.
    pub fn call_id(&self) -> Option<&CallId> {
        match self {
            ResponseItem::LocalShellCall(call) => call.call_id.as_ref(),
            ResponseItem::FunctionCall(call) => Some(&call.call_id),
            ResponseItem::ToolSearchCall(call) => call.call_id.as_ref(),
            ResponseItem::CustomToolCall(call) => Some(&call.call_id),
            ResponseItem::FunctionCallOutput(output) => Some(&output.call_id),
            ResponseItem::CustomToolCallOutput(output) => Some(&output.call_id),
            ResponseItem::ToolSearchOutput(output) => output.call_id.as_ref(),
            ResponseItem::Message(_)
            | ResponseItem::AgentMessage(_)
            | ResponseItem::Reasoning(_)
            | ResponseItem::WebSearchCall(_)
            | ResponseItem::ImageGenerationCall(_)
            | ResponseItem::Compaction(_)
            | ResponseItem::ContextCompaction(_)
            | ResponseItem::AdditionalTools(_)
            | ResponseItem::CompactionTrigger
            | ResponseItem::Other(_) => None,
        }
    }

    /// Loads an item as the program does.
    ///
    /// # Errors
    /// Where the item does not fit its shape. The program skips such a line in silence.
    ///
    /// ```
    /// # use callpair::{item::ResponseItem, json::Json};
    /// let json = Json::parse(r#"{"call_id":"a","type":"function_call","name":"ls","extra":1}"#)?;
    /// let error = ResponseItem::load(json).unwrap_err();
    /// assert_eq!(error.to_string(), "arguments: is required and missing");
    /// # Ok::<(), callpair::json::JsonError>(())
    /// ```
    pub fn load(json: Json) -> Result<ResponseItem, ShapeError> {
        if let Some(number) = json.oversized_integer() {
            return Err(ShapeError::new(ShapeProblem::OversizedInteger(number.text().into_owned())));
        }
        let mut object = shape::object(json)?;
        let name = shape::take_type(&mut object)?;
        let metadata = object.take(METADATA);
        let item = ResponseItem::load_kind(name, &mut object)?;
        let has_metadata = !matches!(
            item,
            ResponseItem::AdditionalTools(_) | ResponseItem::CompactionTrigger | ResponseItem::Other(_)
        );
        if has_metadata && let Some(metadata) = metadata {
            check_metadata(metadata).map_err(|error| error.under(METADATA))?;
        }
        Ok(item)
    }

    /// Writes the wire form: compact, keys in the program's order, with the nulls that it adds.
    pub fn write_wire(&self, out: &mut Vec<u8>) {
        let mut writer = ObjectWriter::open(out);
        writer.string("type", self.kind().as_str());
        self.write_fields(&mut writer);
        writer.close();
    }

    /// Writes the item as a rollout or a saved case holds it: the wire form, but an unknown kind keeps its name.
    pub fn write_recorded(&self, out: &mut Vec<u8>) {
        match self {
            ResponseItem::Other(name) => {
                let mut writer = ObjectWriter::open(out);
                writer.string("type", name);
                writer.close();
            }
            known => known.write_wire(out),
        }
    }

    /// The wire form as text; see [`write_wire`](Self::write_wire).
    ///
    /// ```
    /// # use callpair::{item::ResponseItem, json::Json};
    /// let json = Json::parse(r#"{"type":"tool_search_call","execution":"client","arguments":1e2,"new":0}"#)?;
    /// let item = ResponseItem::load(json).unwrap();
    /// let wire = r#"{"type":"tool_search_call","call_id":null,"execution":"client","arguments":1e+2}"#;
    /// assert_eq!(item.to_wire(), wire);
    /// # Ok::<(), callpair::json::JsonError>(())
    /// ```
    pub fn to_wire(&self) -> String {
        let mut out = Vec::new();
        self.write_wire(&mut out);
        // Everything written is text: pieces of strings and ASCII.
        String::from_utf8(out).unwrap_or_default()
    }
}

/// `null`, or an object whose `turn_id` is a string, `null` or missing.
fn check_metadata(metadata: Json) -> Result<(), ShapeError> {
    match metadata {
        Json::Null => Ok(()),
        other => shape::optional::<String>(&mut shape::object(other)?, "turn_id").map(|_| ()),
    }
}

impl Shape for ResponseItem {
    fn load(json: Json) -> Result<ResponseItem, ShapeError> {
        ResponseItem::load(json)
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.write_wire(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<ResponseItem, ShapeError> {
        ResponseItem::load(Json::parse(text).expect("the text is JSON"))
    }

    #[test]
    fn odd_forms_that_nothing_was_seen_to_write_are_refused_by_name() {
        let refused = [
            (r#"{"type":1,"role":"user","content":[]}"#, "type: expected a string, found a number"),
            (r#"["message",null,"user",[],null,null]"#, "expected an object, found a list"),
            (
                r#"{"type":"message","role":"user","content":[["input_text","x"]]}"#,
                "content[0]: expected an object, found a list",
            ),
            (
                r#"{"type":"message","role":"user","content":[],"phase":{"commentary":null}}"#,
                "phase: expected a string, found an object",
            ),
            (
                r#"{"type":"message","role":"user","content":[],"internal_chat_message_metadata_passthrough":["t"]}"#,
                "internal_chat_message_metadata_passthrough: expected an object, found a list",
            ),
            (r#"{"type":"web_search_call","action":["x"]}"#, "action: expected an object, found a list"),
        ];
        for (text, words) in refused {
            assert_eq!(load(text).map_err(|error| error.to_string()), Err(words.to_owned()), "{text}");
        }
    }
}
