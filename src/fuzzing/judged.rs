//! Targets whose inputs are cases: run on a subject, judged by the invariants.

use super::Target;
use super::input::{InputError, decode};
use crate::case::{Case, Items};
use crate::fault::{Bank, Slip};
use crate::generate::Options;
use crate::item::{ItemList, Modalities};
use crate::projection::project;
use crate::subject::{Capabilities, Profile, Reference, Stateless, Subject};
use crate::verify::Judge;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The slip of the canary: the defect that this crate is about.
pub const CANARY: Slip = Slip::ForgetFunctionCall;

/// Without a history of its own. The profile is `codex` all the same: what it answers must be exact.
static NORMALIZER: LazyLock<Capabilities> =
    LazyLock::new(|| Capabilities { profile: Profile::Codex, ..Capabilities::stateless("normalizer") });

static REFERENCE: LazyLock<Capabilities> = LazyLock::new(|| Reference::new().capabilities());

static FOR_NORMALIZER: LazyLock<Options> = LazyLock::new(|| Options::for_subject(NORMALIZER.clone()));
static FOR_REFERENCE: LazyLock<Options> = LazyLock::new(|| Options::for_subject(REFERENCE.clone()));

/// All that concern one projection: the metamorphic laws take several, and agreement would compare it with itself.
static FAST: LazyLock<Judge> = LazyLock::new(|| {
    let judge = Judge::new(NORMALIZER.profile, NORMALIZER.clone());
    judge.keep(|invariant| !["metamorphic", "agreement"].contains(&invariant.family()))
});

static ALL: LazyLock<Judge> = LazyLock::new(|| Judge::new(REFERENCE.profile, REFERENCE.clone()));

/// Without the exact model, since most subjects in the world have none.
static LAWS: LazyLock<Judge> =
    LazyLock::new(|| ALL.clone().keep(|invariant| invariant.family() != "agreement"));

/// What cases are drawn for.
pub(super) fn drawn_for(target: Target) -> Result<&'static Options, InputError> {
    match target {
        Target::Normalizer => Ok(&FOR_NORMALIZER),
        Target::Script | Target::Canary => Ok(&FOR_REFERENCE),
        Target::Rollout | Target::Json => Err(InputError::NoCases(target)),
    }
}

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Which; `agreement/second-implementation` where only the two implementations of this crate differ.
    pub invariant: &'static str,
    /// How.
    pub message: String,
}

/// The projection alone, judged by the fast invariants: all that concern one projection.
///
/// # Errors
/// What is broken.
pub fn normalizer(bytes: &[u8]) -> Result<(), String> {
    verdict(Target::Normalizer, bytes)
}

/// A whole script on the reference, judged by every invariant, and run on the honest bank, which must leave the same trace.
///
/// # Errors
/// What is broken.
pub fn script(bytes: &[u8]) -> Result<(), String> {
    verdict(Target::Script, bytes)
}

/// A script on a subject with one known fault, [`CANARY`]. A fuzz run that does not find it finds nothing else either.
///
/// # Errors
/// What is broken.
pub fn canary(bytes: &[u8]) -> Result<(), String> {
    verdict(Target::Canary, bytes)
}

/// A script on a bank with a slip, judged by the laws alone. A slip that [`needs_child`](Slip::needs_child) takes the
/// process down.
///
/// # Errors
/// What is broken.
pub fn fault(slip: Slip, bytes: &[u8]) -> Result<(), String> {
    let Ok(case) = decode(Target::Script, bytes) else { return Ok(()) };
    said(&judged(&LAWS, &mut Bank::new(Some(slip)), &case))
}

/// What a case breaks of a target's subject.
///
/// # Errors
/// Where the target takes no cases.
pub fn broken(target: Target, case: &Case) -> Result<Vec<Broken>, InputError> {
    match target {
        Target::Normalizer => {
            let projector = |history: &mut Items, modalities: Modalities| {
                project(&history.iter().cloned().collect::<ItemList>(), modalities).to_items()
            };
            Ok(judged(&FAST, &mut Stateless::new(NORMALIZER.clone(), projector), case))
        }
        Target::Script => {
            let mut broken = judged(&ALL, &mut Reference::new(), case);
            if broken.is_empty() {
                broken.extend(second_implementation(case));
            }
            Ok(broken)
        }
        Target::Canary => Ok(judged(&LAWS, &mut Bank::new(Some(CANARY)), case)),
        Target::Rollout | Target::Json => Err(InputError::NoCases(target)),
    }
}

fn verdict(target: Target, bytes: &[u8]) -> Result<(), String> {
    // What is no case is no find either.
    let Ok(case) = decode(target, bytes) else { return Ok(()) };
    said(&broken(target, &case).unwrap_or_default())
}

fn judged(judge: &Judge, subject: &mut dyn Subject, case: &Case) -> Vec<Broken> {
    let judgement = judge.judge(subject, case);
    let broken = judgement.broken.into_iter().filter_map(|(at, message)| {
        judge.invariants().get(at).map(|invariant| Broken { invariant: invariant.id, message })
    });
    broken.collect()
}

/// The two implementations of the projection share no code, so that each holds the other to account.
fn second_implementation(case: &Case) -> Option<Broken> {
    let script = case.script(&REFERENCE.modalities);
    let (reference, bank) = (Reference::new().run(&script), Bank::new(None).run(&script));
    let at = (0..script.len()).find(|&at| reference.get(at) != bank.get(at))?;
    let step = script.get(at).map_or("", |step| step.name());
    let message = format!("the reference and the honest bank differ after step {at} ({step})");
    Some(Broken { invariant: "agreement/second-implementation", message })
}

fn said(broken: &[Broken]) -> Result<(), String> {
    if broken.is_empty() {
        return Ok(());
    }
    let mut sentence = String::new();
    for Broken { invariant, message } in broken {
        // Writing to a string cannot fail.
        let _ = writeln!(sentence, "{invariant}: {message}");
    }
    Err(sentence)
}
