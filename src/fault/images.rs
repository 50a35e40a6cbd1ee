//! Images, for a model that takes none: a text in the place of each.

use super::{Hand, Slip};
use crate::item::{ContentPart, InputImage, Message, OutputPart, ResponseItem, Text, ToolOutput};

const OMITTED: &str = "image content omitted because you do not support image input";

/// What becomes of a part.
enum Fate {
    Stays,
    Replaced,
    Removed,
}

impl Hand {
    /// Replaces every image by a text, and clears the pictures that the model made.
    pub(super) fn strip_images(&self, items: &mut Vec<ResponseItem>) {
        items.retain(|item| !self.drops_whole(item));
        for item in items {
            match item {
                ResponseItem::Message(message) if self.strips_message(message) => {
                    self.strip_content(&mut message.content);
                }
                ResponseItem::FunctionCallOutput(output) if !self.slips(Slip::ImageKeptInFunctionOutputs) => {
                    self.strip_output(&mut output.output);
                }
                ResponseItem::CustomToolCallOutput(output) if !self.slips(Slip::ImageKeptInCustomOutputs) => {
                    self.strip_output(&mut output.output);
                }
                ResponseItem::ImageGenerationCall(call) if !self.slips(Slip::ImageKeptInGenerations) => {
                    call.result.clear();
                }
                _ => {}
            }
        }
    }

    fn drops_whole(&self, item: &ResponseItem) -> bool {
        match item {
            ResponseItem::ImageGenerationCall(_) => self.slips(Slip::ImageGenerationDropped),
            ResponseItem::Message(message) => {
                self.slips(Slip::ImageMessageDropped)
                    && message.content.iter().any(|part| matches!(part, ContentPart::InputImage(_)))
            }
            _ => false,
        }
    }

    fn strips_message(&self, message: &Message) -> bool {
        match self.slip {
            Some(Slip::ImageKeptInMessages) => false,
            Some(Slip::ImageUserOnly) => message.role == "user",
            _ => true,
        }
    }

    /// What becomes of an image that is the `nth` of its item; `again` where a placeholder stands right before it.
    fn fate(&self, image: &InputImage, nth: usize, again: bool) -> Fate {
        match self.slip {
            Some(Slip::ImageFirstOnly) if nth > 0 => Fate::Stays,
            Some(Slip::ImageDataUrlsOnly) if !image.image_url.starts_with("data:") => Fate::Stays,
            Some(Slip::ImagePartRemoved) => Fate::Removed,
            Some(Slip::ImagePlaceholdersMerged) if again => Fate::Removed,
            _ => Fate::Replaced,
        }
    }

    fn placeholder(&self) -> Text {
        let text = if self.slips(Slip::ImageWrongText) { "[image not available]" } else { OMITTED };
        Text { text: text.to_owned() }
    }

    fn strip_content(&self, content: &mut Vec<ContentPart>) {
        let (mut nth, mut stripped) = (0, Vec::with_capacity(content.len()));
        for part in content.drain(..) {
            let ContentPart::InputImage(image) = &part else {
                stripped.push(part);
                continue;
            };
            let placeholder = match self.slip {
                Some(Slip::ImageOutputText) => ContentPart::OutputText(self.placeholder()),
                _ => ContentPart::InputText(self.placeholder()),
            };
            match self.fate(image, nth, stripped.last() == Some(&placeholder)) {
                Fate::Stays => stripped.push(part),
                Fate::Replaced => stripped.push(placeholder),
                Fate::Removed => {}
            }
            nth += 1;
        }
        *content = stripped;
    }

    fn strip_output(&self, output: &mut ToolOutput) {
        let ToolOutput::Parts(parts) = output else { return };
        let (mut nth, mut stripped) = (0, Vec::with_capacity(parts.len()));
        for part in parts.drain(..) {
            let OutputPart::InputImage(image) = &part else {
                let goes =
                    matches!(part, OutputPart::EncryptedContent(_)) && self.slips(Slip::ImageTakesEncrypted);
                stripped.extend((!goes).then_some(part));
                continue;
            };
            let placeholder = OutputPart::InputText(self.placeholder());
            match self.fate(image, nth, stripped.last() == Some(&placeholder)) {
                Fate::Stays => stripped.push(part),
                Fate::Replaced => stripped.push(placeholder),
                Fate::Removed => {}
            }
            nth += 1;
        }
        *parts = stripped;
        if nth > 0 && self.slips(Slip::ImageOutputFlattened) {
            let texts = parts.iter().filter_map(|part| match part {
                OutputPart::InputText(text) => Some(text.text.as_str()),
                OutputPart::InputImage(_) | OutputPart::EncryptedContent(_) => None,
            });
            *output = ToolOutput::Text(texts.collect::<Vec<_>>().join("\n"));
        }
    }
}
