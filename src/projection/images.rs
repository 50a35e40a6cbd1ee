//! Stripping of pictures for a model that takes none.

use crate::item::{ContentPart, OutputPart, ResponseItem, Text, ToolOutput};

/// What stands in a picture's place when the model takes none.
pub const IMAGES_UNSUPPORTED: &str = "image content omitted because you do not support image input";

/// How many pictures an item holds that a text-only model must not get. The picture of an image generation counts
/// where it is not empty.
pub fn image_count(item: &ResponseItem) -> usize {
    match item {
        ResponseItem::Message(message) => {
            message.content.iter().filter(|part| matches!(part, ContentPart::InputImage(_))).count()
        }
        ResponseItem::FunctionCallOutput(output) => images_in(&output.output),
        ResponseItem::CustomToolCallOutput(output) => images_in(&output.output),
        ResponseItem::ImageGenerationCall(call) => usize::from(!call.result.is_empty()),
        _ => 0,
    }
}

fn images_in(output: &ToolOutput) -> usize {
    match output {
        ToolOutput::Text(_) => 0,
        ToolOutput::Parts(parts) => {
            parts.iter().filter(|part| matches!(part, OutputPart::InputImage(_))).count()
        }
    }
}

/// The item without its pictures: each becomes a text part at the same place, nothing is merged; the result of an
/// image generation becomes empty.
pub fn strip_images(item: &ResponseItem) -> ResponseItem {
    let mut item = item.clone();
    replace_images(&mut item, |_| Some(IMAGES_UNSUPPORTED));
    if let ResponseItem::ImageGenerationCall(call) = &mut item {
        call.result.clear();
    }
    item
}

/// Puts a text part in place of each picture of a message or an output for which `text` has one.
pub(crate) fn replace_images(
    item: &mut ResponseItem,
    mut text: impl FnMut(&mut crate::item::InputImage) -> Option<&'static str>,
) {
    let mut text = |image: &mut _| text(image).map(|text| Text { text: text.to_owned() });
    match item {
        ResponseItem::Message(message) => {
            for part in &mut message.content {
                if let ContentPart::InputImage(image) = part
                    && let Some(text) = text(image)
                {
                    *part = ContentPart::InputText(text);
                }
            }
        }
        ResponseItem::FunctionCallOutput(output) => replace_in_output(&mut output.output, text),
        ResponseItem::CustomToolCallOutput(output) => replace_in_output(&mut output.output, text),
        _ => {}
    }
}

fn replace_in_output(
    output: &mut ToolOutput,
    mut text: impl FnMut(&mut crate::item::InputImage) -> Option<Text>,
) {
    let ToolOutput::Parts(parts) = output else { return };
    for part in parts {
        if let OutputPart::InputImage(image) = part
            && let Some(text) = text(image)
        {
            *part = OutputPart::InputText(text);
        }
    }
}
