//! The durable record of a session: a file of JSON lines that only ever grows.
//!
//! [`Rollout::read`] takes a file apart into lines, each with its number, and reports what it skips. [`reconstruct`] makes
//! of the lines the history that the program resumes with, [`baseline`] what its settings are compared with. [`RolloutWriter`] appends. What a request then makes of the
//! history is `projection/`'s business.
//!
//! Every rule of reading was seen from outside, on release rust-v0.144.6.

mod baseline;
mod line;
mod lines;
mod picture;
mod pieces;
mod prepare;
mod read;
mod reconstruct;
mod writer;

pub use baseline::{Baseline, baseline};
pub use line::{Compacted, Event, LineProblem, RolloutLine, SessionMeta};
pub use lines::{Caps, Lines, LinesError, PhysicalLine};
pub use picture::{PictureCache, Reencoding, Refusal as PictureRefusal, Verdict as PictureVerdict, examine};
pub use prepare::{PictureFate, PictureNote, prepare};
pub use read::{Located, Refusal, Rollout};
pub use reconstruct::{Origin, Reconstruction, reconstruct};
#[cfg(feature = "session")]
pub(crate) use reconstruct::{newest_texts, user_text};
pub use writer::{RolloutWriter, WriteError, line_text};

use crate::history::ToolOutputLimit;
use crate::item::ItemList;

/// What the program has in memory once it has resumed a file.
#[derive(Debug, Clone, Default)]
pub struct Resumed {
    /// The live history: reconstructed, cut, its pictures prepared.
    pub history: ItemList,
    /// Where each item is from, in the same order.
    pub origins: Vec<Origin>,
    /// The lines whose tool output was cut.
    pub cut_lines: Vec<usize>,
    /// What became of pictures.
    pub pictures: Vec<PictureNote>,
}

/// Reconstructs a history and prepares its pictures.
pub fn resume(
    lines: &[Located<RolloutLine>],
    limit: Option<ToolOutputLimit>,
    cache: &mut PictureCache,
) -> Resumed {
    let Reconstruction { items, origins, cut_lines } = reconstruct(lines, limit);
    let (history, pictures) = prepare(&items, cache);
    Resumed { history, origins, cut_lines, pictures }
}
