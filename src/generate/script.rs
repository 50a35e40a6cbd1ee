//! Drawing of a whole case: how many items, in which steps.

use super::features::{Feature, Features};
use super::history::HistoryDraw;
use super::{Draw, Seeded};
use crate::case::{Case, Items, Step};
use crate::history::ToolOutputLimit;
use crate::item::{ItemKind, Modalities, ResponseItem};
use crate::pairing::{CallKind, OutputKind};
use crate::subject::{Capabilities, Profile};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Which histories are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Histories {
    /// Any that a broken session can leave.
    #[default]
    Arbitrary,
    /// Only such as a healthy runtime records: every call answered, every output after its call.
    WellFormed,
}

impl fmt::Display for Histories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Histories::Arbitrary => "arbitrary",
            Histories::WellFormed => "well-formed",
        })
    }
}

impl FromStr for Histories {
    type Err = String;

    fn from_str(name: &str) -> Result<Histories, String> {
        match name {
            "arbitrary" => Ok(Histories::Arbitrary),
            "well-formed" => Ok(Histories::WellFormed),
            _ => Err("histories are arbitrary or well-formed".to_owned()),
        }
    }
}

/// What cases are drawn for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The subject: only what it can and knows is drawn.
    pub capabilities: Capabilities,
    /// By which it is judged: kinds that are not for the model are drawn for `codex` only.
    pub profile: Profile,
    /// Which histories.
    pub histories: Histories,
    /// Recorded sessions: where there are some, cases are windows of them, with a few wounds, and labels have no floors.
    pub recorded: Arc<Vec<Items>>,
    /// A generator of one's own, in place of this crate's; labels have no floors then.
    pub own: Option<OwnCases>,
}

/// A generator of one's own. What it draws must be for the subject: a step that it cannot do, or a kind that it does not
/// know, is a case that fails.
#[derive(Clone)]
pub struct OwnCases(Arc<dyn Fn(&mut Seeded) -> Case + Send + Sync>);

impl OwnCases {
    /// Draws by this function. The same choices must give the same case, so that a seed can repeat it.
    pub fn new(draw: impl Fn(&mut Seeded) -> Case + Send + Sync + 'static) -> OwnCases {
        OwnCases(Arc::new(draw))
    }
}

impl fmt::Debug for OwnCases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnCases")
    }
}

impl Options {
    /// For a subject, judged by its own profile.
    pub fn for_subject(capabilities: Capabilities) -> Options {
        let profile = capabilities.profile;
        Options {
            capabilities,
            profile,
            histories: Histories::Arbitrary,
            recorded: Arc::default(),
            own: None,
        }
    }

    pub(super) fn knows_call(&self, kind: CallKind) -> bool {
        let (call, output) = kinds_of(kind);
        self.capabilities.knows(call) && self.capabilities.knows(output)
    }

    /// Whether items may be drawn that recording leaves out. A subject without a history of its own would send them.
    pub(super) fn may_be_filtered(&self) -> bool {
        self.capabilities.stateful && self.profile == Profile::Codex && self.capabilities.kinds.is_none()
    }

    pub(super) fn odd_roles(&self) -> bool {
        self.profile == Profile::Codex
    }

    /// The subject's budget for a tool output in bytes; 0 where it does not cut.
    pub(super) fn output_budget(&self) -> usize {
        let bytes = match self.capabilities.truncation {
            None => return 0,
            Some(ToolOutputLimit::Bytes(limit)) => limit.saturating_mul(6) / 5,
            Some(ToolOutputLimit::Tokens(limit)) => limit.saturating_mul(24) / 5,
        };
        // Longer texts would make a case slow to run and prove nothing more.
        usize::try_from(bytes).unwrap_or(0).min(100_000)
    }
}

fn kinds_of(kind: CallKind) -> (ItemKind, ItemKind) {
    let call = match kind {
        CallKind::Function => ItemKind::FunctionCall,
        CallKind::LocalShell => ItemKind::LocalShellCall,
        CallKind::CustomTool => ItemKind::CustomToolCall,
        CallKind::ToolSearch => ItemKind::ToolSearchCall,
    };
    let output = match kind.output() {
        OutputKind::Function => ItemKind::FunctionCallOutput,
        OutputKind::CustomTool => ItemKind::CustomToolCallOutput,
        OutputKind::ToolSearch => ItemKind::ToolSearchOutput,
    };
    (call, output)
}

/// Draws a case. It always ends with a projection.
///
/// ```
/// # use callpair::{generate::{Options, Seeded, case}, subject::Capabilities};
/// let options = Options::for_subject(Capabilities::stateless("mine"));
/// let drawn = case(&mut Seeded::of_case(7, 0), &options);
/// assert_eq!(drawn, case(&mut Seeded::of_case(7, 0), &options));
/// ```
pub fn case<D: Draw>(draw: &mut D, options: &Options) -> Case {
    if let Some(OwnCases(own)) = &options.own {
        return own(&mut Seeded::of_case(draw.bits(), 0));
    }
    if !options.recorded.is_empty()
        && let Some(case) = super::recorded::case(draw, options, &options.recorded)
    {
        return case;
    }
    let features = Features::draw(draw).without(&impossible(options));
    let mut left = length(draw);
    let stateful = options.capabilities.stateful;
    let mut history = HistoryDraw::new(draw, features, options);
    let mut script = ScriptDraw { steps: Vec::with_capacity(8), so_far: Items::new(), features, options };
    let replace_first = !stateful || history.draw().chance(1, 4);
    let mut first = true;
    while left > 0 || first {
        let chunk = script.chunk(history.draw(), left);
        let items = history.take(chunk);
        left -= chunk;
        if script.has(Feature::Replacements) {
            script.so_far.extend_from_slice(&items);
        }
        script.steps.push(match first && replace_first {
            true => Step::Replace(script.replacement(items)),
            false => Step::Record(items),
        });
        first = false;
        if script.happens_between(history.draw()) {
            history.forget();
        }
    }
    script.project(history.draw());
    Case { steps: script.steps }
}

/// Features that make no sense for the subject.
fn impossible(options: &Options) -> Vec<Feature> {
    let Capabilities { resume, rollback, fork, prepares_pictures, truncation, .. } = &options.capabilities;
    let switches = [
        (*resume, Feature::Resumes),
        (*rollback, Feature::Rollbacks),
        (*fork, Feature::Forks),
        (*prepares_pictures, Feature::UnsendablePictures),
        (truncation.is_some(), Feature::LongOutputs),
        (options.profile == Profile::Codex, Feature::ContextMessages),
    ];
    switches.into_iter().filter(|(can, _)| !can).map(|(_, feature)| feature).collect()
}

/// How many items a case has: 12 in the mean, up to 200.
fn length(draw: &mut impl Draw) -> usize {
    match draw.below(100) {
        0..10 => draw.below(3),
        10..60 => 1 + draw.below(10),
        60..90 => 4 + draw.below(16),
        90..99 => 20 + draw.below(30),
        _ => 50 + draw.below(151),
    }
}

struct ScriptDraw<'a> {
    steps: Vec<Step>,
    /// What has been recorded since the last replacement, where there may be another.
    so_far: Items,
    features: Features,
    options: &'a Options,
}

impl ScriptDraw<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    /// How many of the items that are left come in the next step.
    fn chunk(&self, draw: &mut impl Draw, left: usize) -> usize {
        if self.has(Feature::SeveralRecords) && draw.chance(1, 2) {
            1.max(draw.below(left)).min(left)
        } else {
            left
        }
    }

    /// What happens after a step. Says whether the history was replaced.
    fn happens_between(&mut self, draw: &mut impl Draw) -> bool {
        if self.has(Feature::EarlyProjections) && draw.chance(1, 3) {
            self.project(draw);
        }
        let mut replaced = false;
        if self.has(Feature::Replacements) && draw.chance(1, 4) {
            replaced = true;
            let kept = self.kept(draw);
            self.so_far.clone_from(&kept);
            let kept = self.replacement(kept);
            self.steps.push(Step::Replace(kept));
        }
        if self.has(Feature::Rollbacks) && draw.chance(1, 4) {
            self.steps.push(Step::Rollback(1 + draw.below(2) as u32));
        }
        if self.has(Feature::Resumes) && draw.chance(1, 2) {
            self.steps.push(Step::Resume);
        }
        if self.has(Feature::Forks) && draw.chance(1, 4) {
            self.steps.push(Step::Fork);
        }
        replaced
    }

    /// What a compaction leaves of the history: its end, perhaps without its very last items. Pairs may be cut in two.
    fn kept(&self, draw: &mut impl Draw) -> Items {
        let from = draw.below(self.so_far.len() + 1);
        let tail = self.so_far.get(from..).unwrap_or_default();
        let cut = draw.below(2).min(tail.len());
        let mut kept = tail.get(..tail.len() - cut).unwrap_or_default().to_vec();
        if self.options.histories == Histories::WellFormed {
            kept.clear();
        }
        kept
    }

    /// What of some items a replacement can bring. Of a kind that the program does not know, the record may keep nothing and
    /// the request keeps no name; so where nothing else is seen, what became of such an item cannot be told.
    fn replacement(&self, mut items: Items) -> Items {
        if self.options.capabilities.seen_by_resuming {
            items.retain(|item| !matches!(**item, ResponseItem::Other(_)));
        }
        items
    }

    fn project(&mut self, draw: &mut impl Draw) {
        let modalities = &self.options.capabilities.modalities;
        let drawn = if modalities.is_empty() { Modalities::Text } else { *draw.pick(modalities) };
        self.steps.push(Step::Project(drawn));
    }
}
