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
use std::panic::catch_unwind;
use std::sync::LazyLock;

/// The slip of the canary: the defect that this crate is about.
pub const CANARY: Slip = Slip::ForgetFunctionCall;

/// What the target `script` asks beside the catalogue: whether both implementations of this crate leave the same trace.
pub const SECOND_IMPLEMENTATION: &str = "agreement/second-implementation";

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
    LazyLock::new(|| ALL.clone().keep(|invariant| invariant.id != "agreement/projection"));

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
    /// Which; [`SECOND_IMPLEMENTATION`] where only the two implementations of this crate differ.
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

/// What an input breaks, as a person asks who has it in a file: bytes that are no case are an error here, and a panic is
/// a find like any other. Where the target takes files, its name stands for the invariant.
///
/// ```
/// # use callpair::fuzzing::{Target, broken_by};
/// let artifact = [b"\xff".as_slice(), br#"{"schema":"callpair.case/1","steps":[{"record":[
///     {"type":"function_call","name":"ls","arguments":"{}","call_id":"a"}]},{"project":["text"]}]}"#].concat();
/// assert_eq!(broken_by(Target::Canary, &artifact)?[0].invariant, "pairing/function-call");
/// assert_eq!(broken_by(Target::Script, &artifact)?, []);
/// # Ok::<(), callpair::fuzzing::InputError>(())
/// ```
///
/// # Errors
/// Where the input begins as a saved case does and is none.
pub fn broken_by(target: Target, bytes: &[u8]) -> Result<Vec<Broken>, InputError> {
    let case = if target.takes_cases() { Some(decode(target, bytes)?) } else { None };
    let run = || match &case {
        Some(case) => broken(target, case).unwrap_or_default(),
        None => target.run(bytes).err().map(|message| of_file(target, message)).into_iter().collect(),
    };
    // The place of the panic is written to stderr by the hook that every panic passes.
    Ok(catch_unwind(run).unwrap_or_else(|_| vec![of_file(target, "it panicked".to_owned())]))
}

fn of_file(target: Target, message: String) -> Broken {
    Broken { invariant: target.as_str(), message }
}

/// What the cases of a target are run on, and the profile that they are judged by.
///
/// # Errors
/// Where the target takes no cases.
pub fn judged_on(target: Target) -> Result<(String, Profile), InputError> {
    let subject = match target {
        Target::Canary => Bank::new(Some(CANARY)).capabilities(),
        _ => drawn_for(target)?.capabilities.clone(),
    };
    Ok((subject.name, subject.profile))
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
    Some(Broken { invariant: SECOND_IMPLEMENTATION, message })
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
