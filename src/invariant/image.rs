//! Pictures follow what the model accepts.

use super::{BOTH, CODEX, Check, Invariant, Needs, Sighting, Verdict};
use crate::item::{ContentPart, InputImage, Modalities, OutputPart, ResponseItem, ToolOutput};

pub(super) const NONE_FOR_TEXT_MODELS: Invariant = Invariant {
    id: "image/none-for-text-models",
    statement: "A request to a text-only model holds no picture, in messages and in tool outputs.",
    law: "image ∉ modalities ⇒ no part of P(H) is an image",
    why: "The API refuses the request, and a session that ever held a picture is stuck on the model.",
    needs: Needs::TextModel,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(none_for_text_models),
};

pub(super) const GENERATED_CLEARED: Invariant = Invariant {
    id: "image/generated-cleared",
    statement: "A request to a text-only model holds no generated picture: the result is empty, the item stays.",
    law: "image ∉ modalities ⇒ ∀ image_generation_call g ∈ P(H): g.result = \"\"",
    why: "As for pictures in messages; this one stands in a field of its own.",
    needs: Needs::TextModel,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(generated_cleared),
};

pub(super) const PLACEHOLDER: Invariant = Invariant {
    id: "image/placeholder",
    statement: "Where a picture was taken out, a text part at the same place says so, in the program's words.",
    law: "image ∉ modalities, part k of i ∈ H an image ⇒ part k of i in P(H) = the placeholder",
    why: "The model must know that there was a picture, and parts must not move.",
    needs: Needs::TextModel,
    profiles: CODEX,
    reports: &[],
    check: Check::Projection(placeholder),
};

pub(super) const KEPT_FOR_IMAGE_MODELS: Invariant = Invariant {
    id: "image/kept-for-image-models",
    statement: "A request to a model that takes pictures holds every picture of the history as it is.",
    law: "image ∈ modalities ⇒ every image of i ∈ H is in i in P(H)",
    why: "Stripping for one model must not cost another its pictures, also not after a switch of models.",
    needs: Needs::ImageModel,
    profiles: BOTH,
    reports: &[],
    check: Check::Projection(kept_for_image_models),
};

/// Stated a second time on purpose: an invariant must not read the constant that it guards.
const PLACEHOLDER_TEXT: &str = "image content omitted because you do not support image input";

/// A part of a message or an output, as far as pictures are concerned.
enum Part<'a> {
    Picture(&'a InputImage),
    Text(&'a str),
    Other,
}

fn parts(item: &ResponseItem) -> Vec<Part<'_>> {
    match item {
        ResponseItem::Message(message) => message.content.iter().map(content_part).collect(),
        ResponseItem::FunctionCallOutput(output) => output_parts(&output.output),
        ResponseItem::CustomToolCallOutput(output) => output_parts(&output.output),
        _ => Vec::new(),
    }
}

fn content_part(part: &ContentPart) -> Part<'_> {
    match part {
        ContentPart::InputImage(image) => Part::Picture(image),
        ContentPart::InputText(text) => Part::Text(&text.text),
        ContentPart::OutputText(_) => Part::Other,
    }
}

fn output_parts(output: &ToolOutput) -> Vec<Part<'_>> {
    let ToolOutput::Parts(parts) = output else { return Vec::new() };
    parts.iter().map(output_part).collect()
}

fn output_part(part: &OutputPart) -> Part<'_> {
    match part {
        OutputPart::InputImage(image) => Part::Picture(image),
        OutputPart::InputText(text) => Part::Text(&text.text),
        OutputPart::EncryptedContent(_) => Part::Other,
    }
}

/// The pictures of a message or an output.
pub(super) fn pictures(item: &ResponseItem) -> impl Iterator<Item = &InputImage> {
    parts(item).into_iter().filter_map(|part| match part {
        Part::Picture(image) => Some(image),
        Part::Text(_) | Part::Other => None,
    })
}

fn has_picture(item: &ResponseItem) -> bool {
    pictures(item).next().is_some()
}

fn none_for_text_models(sighting: &Sighting<'_>) -> Verdict {
    if sighting.modalities != Modalities::Text {
        return Verdict::NotApplicable;
    }
    match sighting.items().iter().position(|item| has_picture(item)) {
        Some(at) => {
            Verdict::broken(format!("{} holds a picture, and the model takes none", sighting.in_request(at)))
        }
        None => Verdict::holds_if_any(sighting.before.iter().filter(|item| has_picture(item)).count()),
    }
}

fn generated_cleared(sighting: &Sighting<'_>) -> Verdict {
    if sighting.modalities != Modalities::Text {
        return Verdict::NotApplicable;
    }
    let generated = |item: &ResponseItem| matches!(item, ResponseItem::ImageGenerationCall(call) if !call.result.is_empty());
    match sighting.items().iter().position(|item| generated(item)) {
        Some(at) => {
            Verdict::broken(format!("{} holds a picture, and the model takes none", sighting.in_request(at)))
        }
        None => Verdict::holds_if_any(sighting.before.iter().filter(|item| generated(item)).count()),
    }
}

/// Pairs of the same item in the history and in the request that held pictures.
fn pairs_with_pictures<'a>(
    sighting: &'a Sighting<'_>,
) -> impl Iterator<Item = (usize, &'a ResponseItem, &'a ResponseItem)> {
    sighting.alignment.matched.iter().filter_map(|&(own, sent)| {
        let (before, after) = (sighting.before.get(own)?, sighting.items().get(sent)?);
        has_picture(before).then_some((sent, &**before, &**after))
    })
}

fn placeholder(sighting: &Sighting<'_>) -> Verdict {
    if sighting.modalities != Modalities::Text {
        return Verdict::NotApplicable;
    }
    let mut checked = 0;
    for (at, before, after) in pairs_with_pictures(sighting) {
        checked += 1;
        let after = parts(after);
        for (k, part) in parts(before).iter().enumerate() {
            let right = match (part, after.get(k)) {
                (Part::Picture(_), Some(Part::Text(text))) => *text == PLACEHOLDER_TEXT,
                // A picture that is still there is the law's before.
                (Part::Picture(_), Some(Part::Picture(_))) => true,
                (Part::Picture(_), _) => false,
                _ => true,
            };
            if !right {
                return Verdict::broken(format!(
                    "part {k} of {} is not the placeholder of a picture",
                    sighting.in_request(at)
                ));
            }
        }
    }
    Verdict::holds_if_any(checked)
}

fn kept_for_image_models(sighting: &Sighting<'_>) -> Verdict {
    if sighting.modalities != Modalities::TextAndImage {
        return Verdict::NotApplicable;
    }
    let mut checked = 0;
    for (at, before, after) in pairs_with_pictures(sighting) {
        checked += 1;
        if !pictures(before).eq(pictures(after)) {
            return Verdict::broken(format!("{} lost a picture, or has another", sighting.in_request(at)));
        }
    }
    let generated = sighting.alignment.matched.iter().filter_map(|&(own, sent)| {
        match (&**sighting.before.get(own)?, &**sighting.items().get(sent)?) {
            (ResponseItem::ImageGenerationCall(own), ResponseItem::ImageGenerationCall(item)) => {
                Some((sent, own.result == item.result))
            }
            _ => None,
        }
    });
    for (at, same) in generated {
        checked += 1;
        if !same {
            return Verdict::broken(format!("{} lost its picture, or has another", sighting.in_request(at)));
        }
    }
    Verdict::holds_if_any(checked)
}
