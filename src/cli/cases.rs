//! Reading of cases, and why a command on one case ends early.

use super::signals::is_interrupted;
use super::subject::UNUSABLE;
use super::{Exit, input, output};
use crate::case::{Case, Failure, Items, SavedCase};
use crate::fuzzing::{self, InputError, Target};
use crate::history::ToolOutputLimit;
use crate::item::Modalities;
use crate::report::EscapeControls;
use crate::rollout::PictureCache;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Why a command came to no result.
pub(super) enum Stop {
    /// A path is of no use, for this reason.
    Unusable(String, String),
    /// The same of something that is no path.
    Useless(&'static str, String),
    /// The subject could not be started, or would not speak.
    Subject(Failure),
}

impl Stop {
    pub(super) fn file(path: &Path, why: impl ToString) -> Stop {
        Stop::Unusable(path.to_string_lossy().into_owned(), why.to_string())
    }

    pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Stop {
        Stop::file(path, format!("cannot be written: {error}; check the folder and who may write there"))
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Subject(failure)
    }
}

/// Says why, where there is no result.
pub(super) fn exit(result: Result<Exit, Stop>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Stop::Unusable(path, why)) => {
            output::complain(&path, &why);
            Exit::Unusable
        }
        Err(Stop::Useless(what, why)) => {
            output::complain_of(what, &why);
            Exit::Unusable
        }
        Err(Stop::Subject(_)) if is_interrupted() => Exit::Interrupted,
        Err(Stop::Subject(failure)) if failure.kind == UNUSABLE => {
            output::complain_of("the command line", &failure.message);
            Exit::Unusable
        }
        Err(Stop::Subject(failure)) => {
            output::complain_of("the subject", &failure.message);
            Exit::NoSubject
        }
    }
}

/// Reads a saved case, or makes one of a recorded session: its history, installed and projected.
pub(super) fn read_case(path: &Path) -> Result<SavedCase, Stop> {
    if input::is_stdin(path) {
        let bytes = read_bytes(path)?;
        return match saved(path, &bytes)? {
            Some(saved) => Ok(saved),
            None => of_history(path, input::read_held(bytes)),
        };
    }
    let head = bytes_of(path, HEAD)?;
    if says_that_it_is_a_case(&head)
        && let Some(saved) = saved(path, &read_bytes(path)?)?
    {
        return Ok(saved);
    }
    of_history(path, input::read(path, input::DialectArg::Auto))
}

/// Reads an input of a fuzz target as its case: bytes that an engine wrote, or a saved case.
pub(super) fn read_artifact(path: &Path, target: Target) -> Result<SavedCase, Stop> {
    let bytes = read_bytes(path)?;
    if let Some(saved) = saved(path, &bytes)? {
        // As an input it loses the steps that the target does not take.
        let taken = fuzzing::encode(target, &saved.case).and_then(|input| fuzzing::decode(target, &input));
        let case = taken.map_err(|error| Stop::file(path, error))?;
        return Ok(SavedCase { case, ..saved });
    }
    let case = fuzzing::decode(target, &bytes).map_err(|error: InputError| Stop::file(path, error))?;
    Ok(SavedCase::bare(case))
}

fn of_history(
    path: &Path,
    source: Result<crate::source::Source, input::InputError>,
) -> Result<SavedCase, Stop> {
    let source = source.map_err(|error| Stop::file(path, error))?;
    let loaded = source.load(ToolOutputLimit::default(), &mut PictureCache::new());
    let items: Items = loaded.items.iter().cloned().collect();
    Ok(SavedCase::bare(Case::of_history(items, Modalities::TextAndImage)))
}

/// How far into a file its schema is looked for.
const HEAD: u64 = 4096;

/// The case, where the bytes say near their beginning that they are one.
fn saved(path: &Path, bytes: &[u8]) -> Result<Option<SavedCase>, Stop> {
    let head = bytes.get(..HEAD as usize).unwrap_or(bytes);
    if !says_that_it_is_a_case(head) {
        return Ok(None);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let byte = error.valid_up_to();
        Stop::file(path, format!("a saved case, but not UTF-8 at byte {byte}; take a whole copy"))
    })?;
    SavedCase::parse(text).map(Some).map_err(|error| Stop::file(path, error))
}

/// What a saved case of any version says that it is; the reader says which versions it knows.
const SAVED: &str = "\"callpair.case/";

fn says_that_it_is_a_case(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.trim_start().starts_with('{') && text.contains(SAVED)
}

/// The longest case and the longest input of a fuzzer that are read, in bytes.
const LONGEST: u64 = 256 << 20;

/// All bytes of a file, or of standard input.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, Stop> {
    let bytes = bytes_of(path, LONGEST + 1)?;
    if bytes.len() as u64 > LONGEST {
        return Err(Stop::file(
            path,
            format!("is longer than {LONGEST} bytes, the most that is read of a case"),
        ));
    }
    Ok(bytes)
}

/// The first bytes of a file, or of standard input.
fn bytes_of(path: &Path, most: u64) -> Result<Vec<u8>, Stop> {
    let mut bytes = Vec::new();
    let read = if input::is_stdin(path) {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => {
            Err(Stop::file(path, format!("cannot be read: {error}; check the path and who may read it")))
        }
    }
}

/// Writes a case to standard output: as it is, or where a person looks at it so that no terminal obeys it.
pub(super) fn write_case(case: &SavedCase) -> io::Result<()> {
    let text = case.to_json();
    if output::is_terminal() {
        let mut out = EscapeControls::new(output::for_programs());
        return writeln!(out, "{text}").and_then(|()| out.flush());
    }
    let mut out = output::for_programs();
    writeln!(out, "{text}").and_then(|()| out.flush())
}
