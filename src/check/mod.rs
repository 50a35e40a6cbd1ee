//! What is wrong with a recorded history, where, and what the next request will hold in its place.
//!
//! [`check`] takes a file that was read and gives a [`Checked`]: findings by [`Rule`], and notes on what the program does
//! in silence. Findings are made on demand, so that a hundred thousand of them cost little. How they are shown is
//! `report/`'s business.

mod finding;
mod note;
mod rollout;
mod rule;

pub use finding::{Finding, Repair};
pub use note::{Note, NoteKind};
pub use rule::{Rule, Severity};

use crate::history::ToolOutputLimit;
use crate::item::Modalities;
use crate::projection::{Projection, project};
use crate::rollout::PictureCache;
use crate::source::{Kind, Loaded, Place, Source};
use rollout::RolloutFindings;

/// What the next request is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// What the model accepts.
    pub modalities: Modalities,
    /// How long a tool output of a rollout may be.
    pub limit: ToolOutputLimit,
}

/// A file that was checked.
#[derive(Debug)]
pub struct Checked {
    /// What the file is.
    pub kind: Kind,
    /// The version of the program that recorded it, where it says so. It may hold anything.
    pub recorded_by: Option<String>,
    /// The number of physical lines.
    pub physical_lines: usize,
    /// What the program does, or would do, in silence.
    pub notes: Vec<Note>,
    loaded: Loaded,
    projection: Projection,
    /// What is wrong with the file or with what did not load.
    of_file: Vec<Finding>,
}

/// Checks a file. Nothing in it is an error here: all that is wrong becomes a finding.
///
/// ```
/// # use callpair::{check::{self, Settings}, history::ToolOutputLimit, item::Modalities, rollout::Caps, source};
/// let mut file = std::io::Cursor::new(r#"[{"type":"function_call","name":"ls","arguments":"{}","call_id":"a"}]"#);
/// let settings = Settings { modalities: Modalities::TextAndImage, limit: ToolOutputLimit::default() };
/// let checked = check::check(source::read(&mut file, None, Caps::default())?, settings);
/// let finding = checked.findings().next().unwrap();
/// assert_eq!(finding.rule.id(), "responses/call-without-output");
/// assert_eq!(finding.place.pointer.as_deref(), Some("/0"));
/// # Ok::<(), source::SourceError>(())
/// ```
pub fn check(source: Source, settings: Settings) -> Checked {
    let loaded = source.load(settings.limit, &mut PictureCache::new());
    let projection = project(&loaded.items, settings.modalities);
    let physical_lines = source.physical_lines();
    let mut notes = note::of_loading(&loaded);
    let (of_file, recorded_by) = match source {
        Source::Rollout(rollout) => {
            let RolloutFindings { findings, notes: of_rollout } = rollout::examine(&rollout, &loaded);
            notes.extend(of_rollout);
            (findings, rollout.session_meta().map(|meta| meta.cli_version.clone()))
        }
        Source::Items(file) => {
            notes.extend(note::of_item_file(&file));
            (file.unloaded.into_iter().map(Finding::unloaded).collect(), None)
        }
    };
    Checked { kind: loaded.kind, recorded_by, physical_lines, notes, loaded, projection, of_file }
}

impl Checked {
    /// The number of items in the history.
    pub fn items(&self) -> usize {
        self.loaded.items.len()
    }

    /// The history and what the next request makes of it.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// Where the item at `index` of the history stands in the file.
    pub fn place(&self, index: usize) -> Place {
        self.loaded.place(index)
    }

    /// Why the program would not resume the file, if so.
    pub fn refusal(&self) -> Option<&Finding> {
        let refused = |finding: &&Finding| finding.rule.severity() == Severity::Error;
        self.of_file.iter().find(refused)
    }

    /// What did not load, as far as it was kept one by one.
    pub fn not_loaded(&self) -> impl Iterator<Item = &Finding> {
        self.of_file.iter().filter(|finding| finding.rule.severity() == Severity::Warning)
    }

    /// The number of findings.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        self.of_file.iter().for_each(|finding| tally.add(finding.rule.severity()));
        let edits = self.projection.plan().edits();
        edits.iter().for_each(|edit| tally.add(Rule::of(edit.reason).severity()));
        tally
    }

    /// All findings: of the file first, then of the items in their order.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        self.findings_by(|_| true)
    }

    /// The findings by the rules that are wanted, in the same order. Only these are made.
    pub fn findings_by(&self, wanted: impl Fn(Rule) -> bool + Copy) -> impl Iterator<Item = Finding> {
        let of_file = self.of_file.iter().filter(move |finding| wanted(finding.rule)).cloned();
        let edits = self.projection.edits().filter(move |(edit, _)| wanted(Rule::of(edit.reason)));
        of_file.chain(edits.filter_map(|(edit, made)| {
            let item = self.loaded.items.get(edit.index)?;
            Some(Finding::of_item(edit, item, made, self.loaded.place(edit.index)))
        }))
    }
}

/// How many findings there are, by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Those that the program or the API refuses, or has to repair.
    pub errors: usize,
    /// Those that are lost in silence.
    pub warnings: usize,
    /// The rest.
    pub notes: usize,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }

    /// All together.
    pub fn total(self) -> usize {
        self.errors + self.warnings + self.notes
    }
}
