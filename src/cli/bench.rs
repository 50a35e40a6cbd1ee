//! What a single case is run on and judged by: a subject that the flags name, or a fuzz target.

use super::cases::{Stop, read_artifact, read_bytes, read_case};
use super::subject::{Chosen, SubjectArgs, quoted};
use crate::case::{Case, Failure, SavedCase};
use crate::fuzzing::{self, Broken, Target};
use crate::invariant::Invariant;
use crate::subject::Subject;
use std::path::Path;

/// What a single case is run on and judged by.
pub(super) enum Bench {
    /// A subject; files are cases and sessions, or inputs of the target.
    Subject(Box<Chosen>, Option<Target>),
    /// A target, as an engine runs it; files are its inputs.
    Target(Target),
}

/// The judgement of a file.
pub(super) struct Judged {
    /// How many invariants had something to check, where that is known.
    pub(super) checked: Option<usize>,
    pub(super) broken: Vec<Broken>,
    /// Whether a step was not answered in time.
    pub(super) hung: bool,
}

impl Bench {
    /// Starts the subject, where one is needed.
    ///
    /// # Errors
    /// Where it does not start, and where flags ask for a subject and none is named.
    pub(super) fn new(subject: &SubjectArgs, artifact: Option<Target>) -> Result<Bench, Stop> {
        match artifact {
            Some(target) if !subject.names_one() => match subject.flag_of_measure() {
                None => Ok(Bench::Target(target)),
                Some(flag) => Err(Stop::Useless(
                    flag,
                    format!(
                        "the target {target} has a judge of its own; name a subject too, such as --subject reference"
                    ),
                )),
            },
            _ => Ok(Bench::Subject(Box::new(subject.choose()?), artifact)),
        }
    }

    /// Judges a file on a fresh subject.
    ///
    /// # Errors
    /// Where it cannot be read as what it has to be, and where the subject cannot be started.
    pub(super) fn judge_file(&self, path: &Path) -> Result<Judged, Stop> {
        match self {
            Bench::Target(target) if !target.takes_cases() => {
                let broken = fuzzing::broken_by(*target, &read_bytes(path)?);
                let broken = broken.map_err(|error| Stop::file(path, error))?;
                Ok(Judged { checked: None, broken, hung: false })
            }
            _ => {
                let case = self.read(path)?.case;
                self.start()?.judge(&case)
            }
        }
    }

    /// Reads a file as a case.
    ///
    /// # Errors
    /// Where it is none, and can be made into none.
    pub(super) fn read(&self, path: &Path) -> Result<SavedCase, Stop> {
        match self {
            Bench::Target(target) | Bench::Subject(_, Some(target)) => read_artifact(path, *target),
            Bench::Subject(_, None) => read_case(path),
        }
    }

    /// Makes a subject, fresh.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub(super) fn start(&self) -> Result<Started<'_>, Failure> {
        Ok(match self {
            Bench::Target(target) => Started::Target(*target),
            Bench::Subject(chosen, _) => Started::Subject(chosen, chosen.make()?),
        })
    }

    /// The subject's name and the profile, for a saved case.
    pub(super) fn names(&self) -> Option<(String, String)> {
        match self {
            Bench::Target(target) => {
                let (subject, profile) = fuzzing::judged_on(*target).ok()?;
                Some((subject, profile.as_str().to_owned()))
            }
            Bench::Subject(chosen, _) => {
                let judge = &chosen.judge;
                Some((judge.capabilities().name.clone(), judge.profile().as_str().to_owned()))
            }
        }
    }

    /// The command that runs a saved case again, in the same way.
    pub(super) fn replay(&self, path: &str) -> String {
        let flags = match self {
            Bench::Target(target) => format!(" --artifact {target}"),
            Bench::Subject(chosen, _) => chosen.flags(),
        };
        format!("callpair replay{flags} {}", quoted(path))
    }
}

/// A subject that runs, or a target.
pub(super) enum Started<'a> {
    Subject(&'a Chosen, Box<dyn Subject>),
    Target(Target),
}

impl Started<'_> {
    /// What a case breaks.
    ///
    /// # Errors
    /// Where the target takes no cases.
    pub(super) fn judge(&mut self, case: &Case) -> Result<Judged, Stop> {
        match self {
            Started::Target(target) => {
                let unusable = |error: fuzzing::InputError| Stop::Useless("--artifact", error.to_string());
                let input = fuzzing::encode(*target, case).map_err(unusable)?;
                let broken = fuzzing::broken_by(*target, &input).map_err(unusable)?;
                Ok(Judged { checked: None, broken, hung: false })
            }
            Started::Subject(chosen, subject) => {
                let judgement = chosen.judge.judge(&mut **subject, case);
                let invariants: &[Invariant] = chosen.judge.invariants();
                let broken = judgement.broken.into_iter().filter_map(|(at, message)| {
                    invariants.get(at).map(|invariant| Broken { invariant: invariant.id, message })
                });
                let (checked, hung) = (Some(judgement.checked.len()), judgement.hung);
                Ok(Judged { checked, broken: broken.collect(), hung })
            }
        }
    }

    /// Readies a subject that hangs for the search for a smaller case; whether it hangs on an empty one too.
    pub(super) fn hasten(&mut self) -> bool {
        match self {
            Started::Subject(chosen, subject) => chosen.judge.hasten(&mut **subject),
            Started::Target(_) => false,
        }
    }

    /// The sentence that says how a case breaks this invariant, if it does.
    pub(super) fn breaks(&mut self, case: &Case, id: &str) -> Option<String> {
        match self {
            Started::Subject(chosen, subject) => chosen.judge.breaks(&mut **subject, case, id),
            Started::Target(_) => {
                let broken = self.judge(case).ok()?.broken.into_iter();
                broken.filter(|broken| broken.invariant == id).map(|broken| broken.message).next()
            }
        }
    }
}
