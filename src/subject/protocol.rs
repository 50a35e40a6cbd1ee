//! The words of the subject protocol (`docs/protocol.md`) that both sides of it use.

/// The version of the protocol.
pub(crate) const PROTOCOL: u64 = 1;

/// The code of an error: the method is not there.
pub(crate) const METHOD_MISSING: i64 = -32601;

/// The code of an error: the history is declined on purpose.
pub(crate) const REFUSED: i64 = -32001;

/// A method that a subject is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Initialize,
    Project,
    Reset,
    Record,
    Replace,
    Snapshot,
    Resume,
    Rollback,
    Fork,
    Shutdown,
}

impl Method {
    const ALL: [Method; 10] = [
        Method::Initialize,
        Method::Project,
        Method::Reset,
        Method::Record,
        Method::Replace,
        Method::Snapshot,
        Method::Resume,
        Method::Rollback,
        Method::Fork,
        Method::Shutdown,
    ];

    /// The name in a request.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Method::Initialize => "initialize",
            Method::Project => "project",
            Method::Reset => "reset",
            Method::Record => "record",
            Method::Replace => "replace",
            Method::Snapshot => "snapshot",
            Method::Resume => "resume",
            Method::Rollback => "rollback",
            Method::Fork => "fork",
            Method::Shutdown => "shutdown",
        }
    }

    /// The method of this name.
    pub(crate) fn of_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.as_str() == name)
    }
}
