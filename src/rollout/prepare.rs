//! Preparation of pictures while a session is loaded: those that can never be sent give way to a text.
//!
//! Shrinking and re-encoding, which the program does too, is left out: such a picture passes unchanged and is reported.

use super::picture::{PictureCache, Reencoding, Refusal, Verdict};
use crate::item::{ContentPart, ImageDetail, InputImage, ItemList, OutputPart, ResponseItem, ToolOutput};
use crate::projection::replace_images;
use std::sync::Arc;

/// What became of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureNote {
    /// The item's place in the history, counted from 0.
    pub index: usize,
    /// What became of it.
    pub what: PictureFate,
}

/// What becomes of a picture that is not sent as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFate {
    /// A text takes its place.
    Replaced(Refusal),
    /// The head of its data URL is written anew.
    HeadRewritten,
    /// The program would send other bytes; here it passes unchanged.
    WouldBeReencoded(Reencoding),
}

/// Prepares the pictures of a history, and says of each that is not sent as it stands what became of it.
///
/// A picture is decoded once, however often it occurs.
pub fn prepare(items: &ItemList, cache: &mut PictureCache) -> (ItemList, Vec<PictureNote>) {
    let mut notes = Vec::new();
    let prepared = items.iter().enumerate().map(|(index, item)| {
        if holds_pictures(item) { prepare_item(index, item, cache, &mut notes) } else { Arc::clone(item) }
    });
    let prepared: ItemList = prepared.collect();
    (prepared, notes)
}

fn holds_pictures(item: &ResponseItem) -> bool {
    let in_output = |output: &ToolOutput| match output {
        ToolOutput::Text(_) => false,
        ToolOutput::Parts(parts) => parts.iter().any(|part| matches!(part, OutputPart::InputImage(_))),
    };
    match item {
        ResponseItem::Message(message) => {
            message.content.iter().any(|part| matches!(part, ContentPart::InputImage(_)))
        }
        ResponseItem::FunctionCallOutput(output) => in_output(&output.output),
        ResponseItem::CustomToolCallOutput(output) => in_output(&output.output),
        _ => false,
    }
}

fn prepare_item(
    index: usize,
    item: &Arc<ResponseItem>,
    cache: &mut PictureCache,
    notes: &mut Vec<PictureNote>,
) -> Arc<ResponseItem> {
    let mut prepared = ResponseItem::clone(item);
    let before = notes.len();
    replace_images(&mut prepared, |image| {
        let (text, what) = prepare_picture(image, cache)?;
        notes.push(PictureNote { index, what });
        text
    });
    if notes.len() == before { Arc::clone(item) } else { Arc::new(prepared) }
}

/// The text that takes the picture's place, if any, and what is reported; `None` where it is sent as it stands.
fn prepare_picture(
    image: &mut InputImage,
    cache: &mut PictureCache,
) -> Option<(Option<&'static str>, PictureFate)> {
    let low = image.detail == Some(ImageDetail::Low);
    let original = image.detail == Some(ImageDetail::Original);
    match cache.examine(&image.image_url, low, original) {
        Verdict::Unchanged => None,
        Verdict::Refused(refusal) => Some((Some(refusal.text()), PictureFate::Replaced(refusal))),
        Verdict::HeadRewritten(url) => {
            image.image_url = url;
            Some((None, PictureFate::HeadRewritten))
        }
        Verdict::WouldBeReencoded(why) => Some((None, PictureFate::WouldBeReencoded(why))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn item(text: &str) -> Arc<ResponseItem> {
        Arc::new(ResponseItem::load(Json::parse(text).expect("JSON")).expect("the item loads"))
    }

    /// An item of each kind that can hold pictures, holding this part.
    fn holders(part: &str) -> [Arc<ResponseItem>; 3] {
        [
            item(&format!(r#"{{"type":"message","role":"user","content":[{part}]}}"#)),
            item(&format!(r#"{{"type":"function_call_output","call_id":"c","output":[{part}]}}"#)),
            item(&format!(r#"{{"type":"custom_tool_call_output","call_id":"c","output":[{part}]}}"#)),
        ]
    }

    fn picture(url: &str) -> String {
        format!(r#"{{"type":"input_image","image_url":"{url}"}}"#)
    }

    #[test]
    fn a_picture_that_cannot_be_sent_gives_way_to_a_text_wherever_it_stands() {
        let items: ItemList = holders(&picture("https://example.com/a.png")).into_iter().collect();
        let (prepared, notes) = prepare(&items, &mut PictureCache::new());
        let Some(PictureNote { what: PictureFate::Replaced(refusal), .. }) = notes.first() else {
            panic!("the pictures are replaced, got {notes:?}")
        };
        let text = format!(r#"{{"type":"input_text","text":"{}"}}"#, refusal.text());
        assert_eq!(prepared, holders(&text).into_iter().collect());
        assert_eq!(notes.iter().map(|note| note.index).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn an_item_without_a_picture_to_replace_is_the_very_same_afterwards() {
        let kept = holders(&picture("file:///a.png"));
        let text = holders(r#"{"type":"input_text","text":"data:image/png;base64,AAAA"}"#);
        let generated = item(r#"{"type":"image_generation_call","status":"","result":"no picture"}"#);
        let plain =
            item(r#"{"type":"function_call_output","call_id":"c","output":"data:image/png;base64,AAAA"}"#);
        let items: ItemList = kept.into_iter().chain(text).chain([generated, plain]).collect();
        let (prepared, notes) = prepare(&items, &mut PictureCache::new());
        assert!(prepared.shares_items_with(&items));
        assert_eq!(notes, []);
    }

    #[test]
    fn a_wide_picture_may_be_sent_with_detail_original_and_is_made_smaller_without() {
        use base64::Engine;
        let mut png = std::io::Cursor::new(Vec::new());
        image::DynamicImage::new_luma8(3000, 1)
            .write_to(&mut png, image::ImageFormat::Png)
            .expect("a picture");
        let data = base64::engine::general_purpose::STANDARD.encode(png.into_inner());
        let fates = |detail: &str| {
            let part =
                format!(r#"{{"type":"input_image","image_url":"data:image/png;base64,{data}"{detail}}}"#);
            prepare(&holders(&part).into_iter().collect(), &mut PictureCache::new()).1
        };
        assert_eq!(fates(r#","detail":"original""#), []);
        let made_smaller = fates(r#","detail":"high""#);
        assert_eq!(made_smaller.len(), 3);
        assert!(made_smaller.iter().all(|note| matches!(note.what, PictureFate::WouldBeReencoded(_))));
    }

    #[test]
    fn each_picture_of_an_item_is_noted_and_its_neighbours_stay() {
        let text = r#"{"type":"input_text","text":"t"}"#;
        let parts = [picture("http://a"), text.to_owned(), picture("file:b"), picture("data:x")].join(",");
        let items: ItemList = holders(&parts).into_iter().take(1).collect();
        let (prepared, notes) = prepare(&items, &mut PictureCache::new());
        assert_eq!(notes.iter().map(|note| note.index).collect::<Vec<_>>(), [0, 0]);
        let Some(ResponseItem::Message(message)) = prepared.get(0).map(|item| &**item) else {
            panic!("the message stays one")
        };
        let is_picture: Vec<bool> =
            message.content.iter().map(|part| matches!(part, ContentPart::InputImage(_))).collect();
        assert_eq!(is_picture, [false, false, true, false]);
    }
}
