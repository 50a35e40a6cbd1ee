//! What the program does in silence, and no rule forbids.

use crate::item::{ItemKind, ResponseItem};
use crate::projection::shown;
use crate::rollout::{PictureFate, PictureNote, PictureRefusal, Reencoding};
use crate::source::{ItemFile, Loaded, Place};
use std::collections::BTreeMap;

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoteKind {
    /// A call without output that a compaction or a rollback took away.
    CallTakenAway,
    /// A tool output over the limit, which is cut.
    OutputCut,
    /// A picture that is replaced, sent under another head, or sent smaller.
    Picture,
    /// Items of a kind that the program does not know.
    UnknownKind,
    /// Something about the file as a whole.
    File,
}

impl NoteKind {
    /// The name in reports for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            NoteKind::CallTakenAway => "call-taken-away",
            NoteKind::OutputCut => "output-cut",
            NoteKind::Picture => "picture",
            NoteKind::UnknownKind => "unknown-kind",
            NoteKind::File => "file",
        }
    }
}

/// Something worth knowing that no rule forbids. Its text holds nothing that a user wrote, and no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// Where, in the file.
    pub place: Place,
    /// Where, in the history; counted from 0.
    pub index: Option<usize>,
    /// What is so.
    pub message: String,
}

impl Note {
    pub(super) fn new(kind: NoteKind, place: Place, message: String) -> Note {
        Note { kind, place, index: None, message }
    }
}

/// So many notes of one kind are kept one by one; the rest is counted.
pub(super) const MOST_NOTES: usize = 1000;

/// The first [`MOST_NOTES`] of them, and one that counts the rest.
pub(super) fn bounded(notes: impl Iterator<Item = Note>) -> Vec<Note> {
    let mut notes = notes.fuse();
    let mut kept: Vec<Note> = notes.by_ref().take(MOST_NOTES).collect();
    let rest = notes.count();
    if let Some(kind) = kept.first().map(|note| note.kind).filter(|_| rest > 0) {
        kept.push(Note::new(kind, Place::default(), format!("and {rest} more like these")));
    }
    kept
}

/// What was cut, and what became of pictures.
pub(super) fn of_loading(loaded: &Loaded) -> Vec<Note> {
    let cut = loaded.cut_lines.iter().map(|line| {
        let message = "the tool output is over the limit; its middle is cut out while the session is loaded";
        Note::new(NoteKind::OutputCut, Place::line(*line), message.to_owned())
    });
    let mut notes = bounded(cut);
    notes.extend(bounded(loaded.pictures.iter().map(|note| picture(note, loaded))));
    notes
}

fn picture(note: &PictureNote, loaded: &Loaded) -> Note {
    let message = match note.what {
        PictureFate::Replaced(PictureRefusal::LowDetail) => {
            "a picture of detail \"low\" is replaced by a text while the session is loaded".to_owned()
        }
        PictureFate::Replaced(PictureRefusal::Remote) => {
            "a picture at a remote address is replaced by a text while the session is loaded".to_owned()
        }
        PictureFate::Replaced(PictureRefusal::Undecodable) => {
            "a picture that does not decode is replaced by a text while the session is loaded".to_owned()
        }
        PictureFate::HeadRewritten => {
            "a picture is sent under the media type that fits its content".to_owned()
        }
        PictureFate::WouldBeReencoded(Reencoding::Gif) => {
            "the program sends this GIF as a PNG; here it passes as it is".to_owned()
        }
        PictureFate::WouldBeReencoded(Reencoding::Larger { width, height }) => {
            format!("the program sends this picture of {width} x {height} smaller; here it passes as it is")
        }
        PictureFate::WouldBeReencoded(Reencoding::TooLargeToDecode { width, height }) => format!(
            "this picture of {width} x {height} takes over 64 MiB to decode and was not looked at; here it passes as it is"
        ),
    };
    let mut noted = Note::new(NoteKind::Picture, loaded.place(note.index), message);
    noted.index = Some(note.index);
    noted
}

/// What is worth knowing of a file that is no rollout.
pub(super) fn of_item_file(file: &ItemFile) -> Vec<Note> {
    let mut notes = unknown_kinds(
        file.items.iter().map(|item| &**item),
        "they stand in the input as {\"type\":\"other\"}",
    );
    let mut of_file = |message: String| notes.push(Note::new(NoteKind::File, Place::default(), message));
    if file.byte_order_mark {
        of_file("a byte order mark before the first item was passed over".to_owned());
    }
    if file.input_is_text {
        of_file("the input is one text, so there are no items to pair".to_owned());
    }
    if file.more_unloaded > 0 {
        of_file(format!("{} more items do not load", file.more_unloaded));
    }
    notes
}

/// So many unknown kinds are named.
const MOST_KINDS: usize = 20;

/// A note on the items of kinds that the program does not know, if there are any.
pub(super) fn unknown_kinds<'a>(items: impl Iterator<Item = &'a ResponseItem>, fate: &str) -> Vec<Note> {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        if let ResponseItem::Other(name) = item {
            *kinds.entry(name).or_default() += 1;
        }
    }
    let note = |(name, count): (&str, usize)| {
        let message = format!(
            "{count} of the kind {}, which release 0.144.6 does not know (it knows {} kinds): {fate}",
            shown(name),
            ItemKind::ALL.len() - 1
        );
        Note::new(NoteKind::UnknownKind, Place::default(), message)
    };
    kinds.into_iter().take(MOST_KINDS).map(note).collect()
}
