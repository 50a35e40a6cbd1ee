//! What the exit status says.

use std::process::ExitCode;

/// The exit status of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All holds.
    Holds,
    /// Something is wrong with what was looked at.
    Found,
    /// The command or its input is unusable.
    Unusable,
    /// The subject could not be started, or would not speak.
    NoSubject,
    /// Interrupted before anything was found.
    Interrupted,
}

/// For `--help`.
pub(super) const HELP: &str = "\
Examples:
  callpair verify --subject-cmd \"python3 mine.py\"   judges a projector of your own
  callpair check ~/.codex/sessions                   what is wrong with recorded sessions
  callpair project session.jsonl                     the request that a session becomes
  callpair explain pairing/function-call             what an id in a report is about

Exit status:
  0    all holds
  1    violations, findings, or a run whose cases did not reach every corner
  2    the command or its input is unusable
  3    the subject could not be started, or would not speak
  130  interrupted before anything was found";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Holds => 0,
            Exit::Found => 1,
            Exit::Unusable => 2,
            Exit::NoSubject => 3,
            Exit::Interrupted => 130,
        })
    }
}
