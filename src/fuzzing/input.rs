//! The bytes of a fuzzer as a case, and a case as such bytes.
//!
//! Two forms. Bytes are choices of the generator, one after the other. The generator draws only some cases, and no case
//! tells the choices that made it; so behind the byte [`SAVED`] stands a saved case as JSON, which may be any.

use super::Target;
use super::judged::drawn_for;
use crate::case::{Case, CaseError, SavedCase, Step};
use crate::generate;
use arbitrary::Unstructured;

/// The first byte of an input that is a saved case. It begins no UTF-8 text, so no file is taken for one by accident.
pub(super) const SAVED: u8 = 0xff;

/// The most steps of an input. Each resume reads the whole record again, so that many of them only take time.
pub const MOST_STEPS: usize = 100;

/// The most items of an input.
pub const MOST_ITEMS: usize = 2000;

/// Why an input is no case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The target takes no cases.
    #[error(
        "inputs of the target {0} are files, not cases; only normalizer, script and canary take cases \
         (`callpair replay --artifact {0} FILE` runs the file)"
    )]
    NoCases(Target),
    /// It begins as a saved case does, and is none.
    #[error("the input begins with the byte 0xff, but no saved case follows: {0}")]
    Saved(#[from] CaseError),
    /// The same, where what follows is no text.
    #[error("the input begins with the byte 0xff, but what follows is not UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// It is too long to be run again and again.
    #[error(
        "a fuzz input has at most {MOST_STEPS} steps and {MOST_ITEMS} items, and this case has {steps} and {items}; \
         make it smaller with `callpair minimize`"
    )]
    TooLong {
        /// Its steps.
        steps: usize,
        /// Its items.
        items: usize,
    },
}

/// The case that a target makes of an input.
///
/// ```
/// # use callpair::{case::SavedCase, fuzzing::{Target, decode, encode}};
/// let text = r#"{"schema":"callpair.case/1","steps":[{"record":[{"type":"ghost_snapshot"}]},{"project":["text"]}]}"#;
/// let case = SavedCase::parse(text).unwrap().case;
/// assert_eq!(decode(Target::Script, &encode(Target::Script, &case)?)?, case);
/// # Ok::<(), callpair::fuzzing::InputError>(())
/// ```
///
/// # Errors
/// Where the input begins as a saved case does and is none, and where the target takes no cases.
pub fn decode(target: Target, bytes: &[u8]) -> Result<Case, InputError> {
    let options = drawn_for(target)?;
    match bytes.split_first() {
        Some((&SAVED, json)) => {
            let text = std::str::from_utf8(json).map_err(|error| InputError::NotUtf8(error.valid_up_to()))?;
            fit(target, SavedCase::parse(text)?.case)
        }
        _ => Ok(generate::case(&mut Unstructured::new(bytes), options)),
    }
}

/// The input that a target makes this case of. The target `normalizer` keeps no record: a case loses its resumes,
/// rollbacks and forks.
///
/// # Errors
/// Where the case is too long, and where the target takes no cases.
pub fn encode(target: Target, case: &Case) -> Result<Vec<u8>, InputError> {
    drawn_for(target)?;
    let case = fit(target, case.clone())?;
    let mut bytes = vec![SAVED];
    bytes.extend_from_slice(SavedCase::bare(case).to_json().as_bytes());
    Ok(bytes)
}

/// The case without the steps that the target does not take.
fn fit(target: Target, mut case: Case) -> Result<Case, InputError> {
    if target == Target::Normalizer {
        case.steps.retain(|step| !matches!(step, Step::Resume | Step::Rollback(_) | Step::Fork));
    }
    let (steps, items) = (case.steps.len(), case.item_count());
    if steps > MOST_STEPS || items > MOST_ITEMS {
        return Err(InputError::TooLong { steps, items });
    }
    Ok(case)
}
