//! The shape of every item kind and content part that release rust-v0.144.6 reads, field by field.
//!
//! The fields stand in the order in which they are written. The word before a field is explained at
//! [`object_shape`](super::shape). Seen from outside; the probes behind this page are in `docs/shapes.md`.

use super::shape::{Fields, closed_name, object, object_shape, optional, tagged_shape, take_type};
use super::{CallId, ItemId, Shape, ShapeError};
use crate::json::{Json, Object, ObjectWriter};
use std::collections::BTreeMap;

object_shape! {
    /// What somebody said. The role is open: `system` does not reach the model, `tool`, `System` and others do.
    Message {
        /// The item's own id.
        omit id: ItemId,
        /// `user`, `assistant`, `developer`, or any other.
        need role: String,
        /// Texts and pictures, in any mix for any role.
        need content: Vec<ContentPart>,
        /// Where in a turn an assistant message stands.
        omit phase: Phase,
    }
}

object_shape! {
    /// A message between agents.
    AgentMessage {
        /// The item's own id.
        omit id: ItemId,
        /// Who wrote it.
        need author: String,
        /// For whom it is.
        need recipient: String,
        /// Its parts.
        need content: Vec<AgentPart>,
    }
}

object_shape! {
    /// A command that the model asks the runtime to run, in the form of the local shell tool.
    LocalShellCall {
        /// The item's own id.
        omit id: ItemId,
        /// What its output must name; without one there is nothing to pair.
        null call_id: CallId,
        /// Plays no part in pairing.
        need status: LocalShellStatus,
        /// What is to be run. Boxed: it is several times as large as any other part of an item.
        need action: Box<LocalShellAction>,
    }
}

object_shape! {
    /// A call of a function.
    FunctionCall {
        /// The item's own id: the seed of a synthetic output's id.
        omit id: ItemId,
        /// The function.
        need name: String,
        /// The group of tools it is from.
        omit namespace: String,
        /// Mostly JSON, but any text loads.
        need arguments: String,
        /// What its output must name.
        need call_id: CallId,
    }
}

object_shape! {
    /// A search for tools, done by the client or by the server.
    ToolSearchCall {
        /// The item's own id.
        omit id: ItemId,
        /// What its output must name; without one there is nothing to pair.
        null call_id: CallId,
        /// Open.
        omit status: String,
        /// `client`, `server`, or any other.
        need execution: String,
        /// Any JSON, `null` too.
        need arguments: Json,
    }
}

object_shape! {
    /// What a function or a local shell command answered.
    FunctionCallOutput {
        /// The item's own id.
        omit id: ItemId,
        /// The call that it answers.
        need call_id: CallId,
        /// A text or a list of parts.
        need output: ToolOutput,
    }
}

object_shape! {
    /// A call of a tool that takes free text.
    CustomToolCall {
        /// The item's own id.
        omit id: ItemId,
        /// Open.
        omit status: String,
        /// What its output must name.
        need call_id: CallId,
        /// The tool.
        need name: String,
        /// The group of tools it is from.
        omit namespace: String,
        /// The text.
        need input: String,
    }
}

object_shape! {
    /// What a custom tool answered.
    CustomToolCallOutput {
        /// The item's own id.
        omit id: ItemId,
        /// The call that it answers.
        need call_id: CallId,
        /// The tool.
        omit name: String,
        /// A text or a list of parts.
        need output: ToolOutput,
    }
}

object_shape! {
    /// The tools that a search found.
    ToolSearchOutput {
        /// The item's own id.
        omit id: ItemId,
        /// The search that it answers; without one it stands for itself.
        null call_id: CallId,
        /// Open.
        need status: String,
        /// `client`, `server`, or any other, which counts as client.
        need execution: String,
        /// Any JSON each.
        need tools: Vec<Json>,
    }
}

object_shape! {
    /// A search of the web, which the server does by itself: never paired.
    WebSearchCall {
        /// The item's own id.
        omit id: ItemId,
        /// Open.
        omit status: String,
        /// What was done.
        omit action: WebSearchAction,
    }
}

object_shape! {
    /// A picture that the model made: never paired.
    ImageGenerationCall {
        /// The item's own id.
        omit id: ItemId,
        /// Open.
        need status: String,
        /// The prompt as the model changed it.
        omit revised_prompt: String,
        /// The picture in base64; empty after stripping.
        need result: String,
    }
}

object_shape! {
    /// An opaque summary of what a compaction took away. `compaction_summary` is an older name of it.
    Compaction {
        /// The item's own id.
        omit id: ItemId,
        /// The summary.
        need encrypted_content: String,
    }
}

object_shape! {
    /// As [`Compaction`], of another origin.
    ContextCompaction {
        /// The item's own id.
        omit id: ItemId,
        /// The summary.
        omit encrypted_content: String,
    }
}

object_shape! {
    /// Tools that are made known in the middle of the input.
    AdditionalTools {
        /// The item's own id.
        omit id: ItemId,
        /// Any role, also `system`.
        need role: String,
        /// Any JSON each.
        need tools: Vec<Json>,
    }
}

/// What the model thought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoning {
    /// The item's own id.
    pub id: Option<ItemId>,
    /// A summary for people.
    pub summary: Vec<SummaryPart>,
    /// The thoughts themselves.
    pub content: ReasoningContent,
    /// The thoughts, opaque.
    pub encrypted_content: Option<String>,
}

/// The thoughts of a reasoning item. `None` is written as `null`; a list without any part of type `reasoning_text`, also
/// the empty one, is not written at all; any other list is written whole.
///
/// What is not written equals `null`, as an absent field does.
#[derive(Debug, Clone, Default)]
pub struct ReasoningContent(pub Option<Vec<ReasoningPart>>);

impl ReasoningContent {
    /// The parts, where they are written.
    pub fn sent(&self) -> Option<&[ReasoningPart]> {
        let parts = self.0.as_deref()?;
        parts.iter().any(|part| matches!(part, ReasoningPart::ReasoningText(_))).then_some(parts)
    }
}

impl PartialEq for ReasoningContent {
    fn eq(&self, other: &Self) -> bool {
        self.sent() == other.sent()
    }
}

impl Eq for ReasoningContent {}

impl Fields for Reasoning {
    fn load_fields(object: &mut Object) -> Result<Self, ShapeError> {
        Ok(Reasoning {
            id: optional(object, "id")?,
            summary: super::shape::required(object, "summary")?,
            content: ReasoningContent(optional(object, "content")?),
            encrypted_content: optional(object, "encrypted_content")?,
        })
    }

    fn write_fields(&self, writer: &mut ObjectWriter<'_>) {
        object_shape!(@write omit writer "id", self.id);
        self.summary.write(writer.key("summary"));
        match (&self.content.0, self.content.sent()) {
            (None, _) => writer.key("content").extend_from_slice(b"null"),
            (Some(parts), Some(_)) => parts.write(writer.key("content")),
            (Some(_), None) => {}
        }
        object_shape!(@write null writer "encrypted_content", self.encrypted_content);
    }
}

closed_name! {
    /// Where in a turn an assistant message stands; kept on any role.
    Phase {
        /// On the way.
        "commentary" => Commentary,
        /// The end.
        "final_answer" => FinalAnswer,
    }
}

closed_name! {
    /// How far a local shell call got.
    LocalShellStatus {
        /// It ran.
        "completed" => Completed,
        /// It runs.
        "in_progress" => InProgress,
        /// It broke off.
        "incomplete" => Incomplete,
    }
}

closed_name! {
    /// How closely a picture is to be looked at.
    ImageDetail {
        /// The model chooses.
        "auto" => Auto,
        /// Coarse; not supported by the program, which replaces such a picture on loading.
        "low" => Low,
        /// Fine.
        "high" => High,
        /// As it is.
        "original" => Original,
    }
}

object_shape! {
    /// A piece of text.
    Text {
        /// The text.
        need text: String,
    }
}

object_shape! {
    /// A picture.
    InputImage {
        /// A data URL, mostly.
        need image_url: String,
        /// How closely to look.
        omit detail: ImageDetail,
    }
}

object_shape! {
    /// A piece that only the vendor can read.
    EncryptedContent {
        /// The piece.
        need encrypted_content: String,
    }
}

tagged_shape! {
    /// A part of a message.
    ContentPart {
        /// Text that went to the model.
        "input_text" => InputText(Text),
        /// A picture.
        "input_image" => InputImage(InputImage),
        /// Text that came from the model.
        "output_text" => OutputText(Text),
    }
}

tagged_shape! {
    /// A part of a message between agents.
    AgentPart {
        /// Text.
        "input_text" => InputText(Text),
        /// An opaque piece.
        "encrypted_content" => EncryptedContent(EncryptedContent),
    }
}

tagged_shape! {
    /// A part of a tool's output.
    OutputPart {
        /// Text.
        "input_text" => InputText(Text),
        /// A picture.
        "input_image" => InputImage(InputImage),
        /// An opaque piece.
        "encrypted_content" => EncryptedContent(EncryptedContent),
    }
}

tagged_shape! {
    /// A part of a summary of thoughts.
    SummaryPart {
        /// Text.
        "summary_text" => SummaryText(Text),
    }
}

tagged_shape! {
    /// A part of the thoughts.
    ReasoningPart {
        /// Thoughts as such.
        "reasoning_text" => ReasoningText(Text),
        /// Other text.
        "text" => Text(Text),
    }
}

/// A tool's output: a text or a list of parts. An object is neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolOutput {
    /// One text.
    Text(String),
    /// Parts in order; may be empty.
    Parts(Vec<OutputPart>),
}

impl Shape for ToolOutput {
    fn load(json: Json) -> Result<ToolOutput, ShapeError> {
        match json {
            Json::String(text) => Ok(ToolOutput::Text(text)),
            Json::Array(_) => Vec::load(json).map(ToolOutput::Parts),
            other => Err(ShapeError::wrong_type("a string or a list", &other)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            ToolOutput::Text(text) => text.write(out),
            ToolOutput::Parts(parts) => parts.write(out),
        }
    }
}

object_shape! {
    /// What a local shell call runs.
    Exec {
        /// The program and its arguments.
        need command: Vec<String>,
        /// Milliseconds.
        null timeout_ms: u64,
        /// Where to run it.
        null working_directory: String,
        /// Variables.
        null env: BTreeMap<String, String>,
        /// As whom.
        null user: String,
    }
}

tagged_shape! {
    /// What a local shell call does.
    LocalShellAction {
        /// Run a command.
        "exec" => Exec(Exec),
    }
}

object_shape! {
    /// A search by words.
    Search {
        /// The words.
        omit query: String,
        /// Several of them.
        omit queries: Vec<String>,
    }
}

object_shape! {
    /// The opening of a page.
    OpenPage {
        /// Its address.
        omit url: String,
    }
}

object_shape! {
    /// A search within a page.
    FindInPage {
        /// Its address.
        omit url: String,
        /// What to find.
        omit pattern: String,
    }
}

/// What a search of the web did. An action of an unknown type loads, and is written as `{"type":"other"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSearchAction {
    /// Searched.
    Search(Search),
    /// Opened a page.
    OpenPage(OpenPage),
    /// Searched within a page.
    FindInPage(FindInPage),
    /// Anything else.
    Other,
}

impl Shape for WebSearchAction {
    fn load(json: Json) -> Result<WebSearchAction, ShapeError> {
        let mut object = object(json)?;
        Ok(match take_type(&mut object)?.as_str() {
            "search" => WebSearchAction::Search(Search::load_fields(&mut object)?),
            "open_page" => WebSearchAction::OpenPage(OpenPage::load_fields(&mut object)?),
            "find_in_page" => WebSearchAction::FindInPage(FindInPage::load_fields(&mut object)?),
            _ => WebSearchAction::Other,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut writer = ObjectWriter::open(out);
        match self {
            WebSearchAction::Search(search) => {
                writer.string("type", "search");
                search.write_fields(&mut writer);
            }
            WebSearchAction::OpenPage(page) => {
                writer.string("type", "open_page");
                page.write_fields(&mut writer);
            }
            WebSearchAction::FindInPage(find) => {
                writer.string("type", "find_in_page");
                find.write_fields(&mut writer);
            }
            WebSearchAction::Other => writer.string("type", "other"),
        }
        writer.close();
    }
}
