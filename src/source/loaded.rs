//! The history that a file gives, and where each of its items stands.

use super::file::{ElementPlace, pointer};
use super::{Kind, Source};
use crate::history::ToolOutputLimit;
use crate::item::ItemList;
use crate::rollout::{Origin, PictureCache, PictureNote, resume};

/// The history that a projection starts from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What the file is.
    pub kind: Kind,
    /// The items, oldest first.
    pub items: ItemList,
    places: Places,
    /// The lines whose tool output was cut; only of a rollout.
    pub cut_lines: Vec<usize>,
    /// What became of pictures; only of a rollout.
    pub pictures: Vec<PictureNote>,
}

#[derive(Debug, Clone)]
enum Places {
    Lines(Vec<Origin>),
    Elements(Vec<ElementPlace>),
}

/// Where an item stands in its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The physical line, counted from 1, on which it begins; none for what is about the whole file.
    pub line: Option<usize>,
    /// The JSON pointer to it: within the whole of an array or a body, within the line of a compaction.
    pub pointer: Option<String>,
}

impl Place {
    /// A place that is a line.
    pub fn line(line: usize) -> Place {
        Place { line: Some(line), pointer: None }
    }
}

impl Source {
    /// What the file is.
    pub fn kind(&self) -> Kind {
        match self {
            Source::Rollout(_) => Kind::CodexRollout,
            Source::Items(file) => file.kind,
        }
    }

    /// The number of physical lines.
    pub fn physical_lines(&self) -> usize {
        match self {
            Source::Rollout(rollout) => rollout.physical_lines,
            Source::Items(file) => file.physical_lines,
        }
    }

    /// Makes the history: of a rollout as the program does on resume, with tool outputs cut and pictures prepared; of all
    /// else the items as they stand.
    pub fn load(&self, limit: ToolOutputLimit, cache: &mut PictureCache) -> Loaded {
        match self {
            Source::Rollout(rollout) => {
                let resumed = resume(&rollout.lines, Some(limit), cache);
                Loaded {
                    kind: Kind::CodexRollout,
                    items: resumed.history,
                    places: Places::Lines(resumed.origins),
                    cut_lines: resumed.cut_lines,
                    pictures: resumed.pictures,
                }
            }
            Source::Items(file) => Loaded {
                kind: file.kind,
                items: file.items.clone(),
                places: Places::Elements(file.places.clone()),
                cut_lines: Vec::new(),
                pictures: Vec::new(),
            },
        }
    }
}

impl Loaded {
    /// Where the item at `index` stands; nowhere if there is none.
    pub fn place(&self, index: usize) -> Place {
        match &self.places {
            Places::Lines(origins) => origins.get(index).map(|origin| Place {
                line: Some(origin.line),
                pointer: origin.inside.map(|inside| format!("/payload/replacement_history/{inside}")),
            }),
            Places::Elements(places) => places
                .get(index)
                .map(|place| Place { line: Some(place.line), pointer: pointer(self.kind, place.element) }),
        }
        .unwrap_or_default()
    }
}
