//! The flags that say what is verified, shared by `verify`, `minimize` and `replay`.

use super::signals::is_interrupted;
use crate::case::{Failure, FailureKind};
use crate::fault::{Bank, Slip};
use crate::invariant::{self, Invariant};
use crate::subject::{Against, Capabilities, Profile, Reference, Subject};
use crate::verify::Judge;
use std::time::Duration;

/// What is verified, and by what measure
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SubjectArgs {
    /// A subject within this program: reference (if none is named), bank (the second, plain implementation) or bank/FAULT (with
    /// a planted fault; `callpair explain` lists them), session (the session layer; feature `session`)
    #[arg(long, value_name = "NAME", conflicts_with = "subject_cmd")]
    subject: Option<String>,
    /// A subject over stdio: the command that starts it, split into words as a shell does, without a shell
    #[arg(long, value_name = "CMD")]
    subject_cmd: Option<String>,
    /// The real program: a published Codex executable, driven from outside in a private folder
    #[cfg(all(unix, feature = "codex"))]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["subject", "subject_cmd"])]
    codex: Option<std::path::PathBuf>,
    /// A second subject over stdio: every projection must be the same
    #[arg(long, value_name = "CMD")]
    against: Option<String>,
    /// By what it is judged: codex (codex-0.144.6) or responses; without it what the subject asks for
    #[arg(long)]
    profile: Option<Profile>,
    /// How long one call may take: 5s, 200ms; without it 5s, and 30s for a step of a whole program
    #[arg(long, value_parser = duration, value_name = "TIME")]
    timeout: Option<Duration>,
    /// Let the subject refuse histories; they are counted, not judged (profile responses only)
    #[arg(long)]
    allow_refusals: bool,
    /// Only this invariant or family; may be given several times. Whether the subject answers is always judged
    #[arg(long, value_name = "ID", value_parser = known_id)]
    only: Vec<String>,
    /// Not this invariant or family; may be given several times
    #[arg(long, value_name = "ID", value_parser = known_id)]
    skip: Vec<String>,
}

/// Reads `30s`, `200ms`, `5m`, `2h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time is a number and ms, s, m or h: 30s".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "a time is a number and ms, s, m or h: 30s".to_owned())?;
    Duration::try_from_secs_f64(number * seconds)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| "the time is zero, or too long".to_owned())
}

pub(super) fn known_id(id: &str) -> Result<String, String> {
    match invariant::is_known_id(id) {
        true => Ok(id.to_owned()),
        false => {
            Err(format!("no such invariant or family; families are {}", invariant::families().join(", ")))
        }
    }
}

/// The subject that was chosen.
pub(super) struct Chosen {
    pub(super) judge: Judge,
    /// Whether each subject that is made is one process of its own: two of them can be compared.
    pub(super) is_one_process: bool,
    args: SubjectArgs,
}

impl SubjectArgs {
    /// Whether a subject is named; without that it is the reference.
    pub(super) fn names_one(&self) -> bool {
        #[cfg(all(unix, feature = "codex"))]
        if self.codex.is_some() {
            return true;
        }
        self.subject.is_some() || self.subject_cmd.is_some() || self.against.is_some()
    }

    /// A flag that says how a subject is judged, if one is given.
    pub(super) fn flag_of_measure(&self) -> Option<&'static str> {
        let flags = [
            ("--profile", self.profile.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--allow-refusals", self.allow_refusals),
            ("--only", !self.only.is_empty()),
            ("--skip", !self.skip.is_empty()),
        ];
        flags.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
    }

    /// Starts the subject once and asks what it is and can.
    ///
    /// # Errors
    /// Where it cannot be started or would not speak.
    pub(super) fn choose(&self) -> Result<Chosen, Failure> {
        let capabilities = self.look()?;
        let profile = self.profile.unwrap_or(capabilities.profile);
        if self.allow_refusals && profile == Profile::Codex {
            return Err(unusable(
                "profile codex forbids refusals: --allow-refusals goes with --profile responses",
            ));
        }
        let matches = |invariant: &Invariant, id: &String| invariant.id == *id || invariant.family() == *id;
        let wanted = |invariant: &Invariant| {
            (self.only.is_empty() || self.only.iter().any(|id| matches(invariant, id)))
                && !self.skip.iter().any(|id| matches(invariant, id))
        };
        let mut judge = Judge::new(profile, capabilities).allowing_refusals(self.allow_refusals);
        if self.against.is_some() {
            judge = judge.comparing();
        }
        let judge = judge.keep(wanted);
        Ok(Chosen {
            judge,
            is_one_process: self.subject_cmd.is_some() && self.against.is_none(),
            args: self.clone(),
        })
    }

    /// Starts the subject to see what it can. How it ends is no matter of the verdict, but worth a word.
    fn look(&self) -> Result<Capabilities, Failure> {
        #[cfg(unix)]
        if let (Some(command), None) = (&self.subject_cmd, &self.against) {
            let subject = self.started(command)?;
            let capabilities = subject.capabilities();
            if let Err(failure) = subject.shut_down()
                && !is_interrupted()
            {
                super::output::remark_of(
                    "the subject",
                    &format!("does not end as the protocol says: {failure}"),
                );
            }
            return Ok(capabilities);
        }
        Ok(self.make()?.capabilities())
    }

    /// Whether it is the bank without a fault.
    pub(super) fn is_honest_bank(&self) -> bool {
        self.subject_cmd.is_none() && self.subject.as_deref() == Some("bank")
    }

    fn make(&self) -> Result<Box<dyn Subject>, Failure> {
        let own = self.own()?;
        match &self.against {
            None => Ok(own),
            Some(command) => Ok(Box::new(Against::new(own, self.over_stdio(command)?))),
        }
    }

    fn own(&self) -> Result<Box<dyn Subject>, Failure> {
        if let Some(command) = &self.subject_cmd {
            return self.over_stdio(command);
        }
        #[cfg(all(unix, feature = "codex"))]
        if let Some(path) = &self.codex {
            return self.real_program(path);
        }
        match self.subject.as_deref().unwrap_or("reference") {
            "reference" => Ok(Box::new(Reference::new())),
            "bank" => Ok(Box::new(Bank::new(None))),
            #[cfg(feature = "session")]
            "session" => Ok(Box::new(crate::session::SessionSubject::new()?)),
            name => match name.strip_prefix("bank/").and_then(Slip::from_id) {
                Some(slip) if slip.needs_child() => Err(unusable(format!(
                    "{name} takes the process down; `callpair faults` runs it in a child"
                ))),
                Some(slip) => Ok(Box::new(Bank::new(Some(slip)))),
                None => Err(unusable(format!(
                    "no such subject: {:?}; known are reference, bank, bank/FAULT (`callpair explain` lists them) and, with the feature of that name, session",
                    name.chars().take(60).collect::<String>()
                ))),
            },
        }
    }

    #[cfg(unix)]
    fn over_stdio(&self, command: &str) -> Result<Box<dyn Subject>, Failure> {
        Ok(Box::new(self.started(command)?))
    }

    #[cfg(unix)]
    fn started(&self, command: &str) -> Result<crate::subject::stdio::Stdio, Failure> {
        use crate::subject::stdio::{Options, Stdio};
        let usual = Options::default();
        let options = Options { timeout: self.timeout.unwrap_or(usual.timeout), ..usual };
        Stdio::start(command, options).map_err(|error| Failure::new(FailureKind::Crashed, error.to_string()))
    }

    #[cfg(not(unix))]
    fn over_stdio(&self, _command: &str) -> Result<Box<dyn Subject>, Failure> {
        Err(unusable("subjects over stdio are driven on Unix only"))
    }

    #[cfg(all(unix, feature = "codex"))]
    fn real_program(&self, path: &std::path::Path) -> Result<Box<dyn Subject>, Failure> {
        use crate::subject::codex::{CodexOptions, CodexSubject};
        let usual = CodexOptions::default();
        let options = CodexOptions { timeout: self.timeout.unwrap_or(usual.timeout), ..usual };
        match CodexSubject::start(path, options) {
            Ok(subject) => Ok(Box::new(subject)),
            Err(error) => Err(Failure::new(FailureKind::Crashed, error.to_string())),
        }
    }

    /// The flags that say the same again, for a command that replays something.
    pub(super) fn flags(&self, profile: Profile) -> String {
        let mut flags = String::new();
        if let Some(command) = &self.subject_cmd {
            flags.push_str(&format!(" --subject-cmd {}", quoted(command)));
        } else if let Some(subject) = &self.subject {
            flags.push_str(&format!(" --subject {}", quoted(subject)));
        }
        #[cfg(all(unix, feature = "codex"))]
        if let Some(path) = &self.codex {
            flags.push_str(&format!(" --codex {}", quoted(&path.to_string_lossy())));
        }
        if let Some(command) = &self.against {
            flags.push_str(&format!(" --against {}", quoted(command)));
        }
        if self.profile.is_some() {
            let profile = if profile == Profile::Codex { "codex" } else { "responses" };
            flags.push_str(&format!(" --profile {profile}"));
        }
        if let Some(timeout) = self.timeout {
            flags.push_str(&format!(" --timeout {}ms", timeout.as_millis()));
        }
        flags
    }
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    shlex::try_quote(word)
        .map_or_else(|_| "(a name with a NUL byte)".to_owned(), |quoted| quoted.into_owned())
}

impl Chosen {
    /// Makes a subject, fresh.
    pub(super) fn make(&self) -> Result<Box<dyn Subject>, Failure> {
        self.args.make()
    }

    /// See [`SubjectArgs::flags`].
    pub(super) fn flags(&self) -> String {
        self.args.flags(self.judge.profile())
    }
}

/// Marks a failure that is the command line's, not the subject's.
pub(super) const UNUSABLE: FailureKind = FailureKind::MethodMissing;

fn unusable(why: impl Into<String>) -> Failure {
    Failure::new(UNUSABLE, why)
}
