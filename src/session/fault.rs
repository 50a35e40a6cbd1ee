//! Slips that a session can be told to make, so that its checks can be shown to fail. Without one it makes none.

/// A slip of the session layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slip {
    /// The world state patch that is written does not say what was removed.
    PatchLosesRemoval,
    /// A compaction keeps what the next turn is compared with, although the text is gone.
    BaselineKeptOverCompaction,
    /// The history is projected while the state's lock is held.
    LockHeldWhileProjecting,
    /// A step asks the servers for their tools more than once.
    ToolsListedTwice,
    /// A second attempt repairs the live history itself.
    WriteBackOnRetry,
    /// The snapshot of the world state goes out with the request.
    SnapshotLeaked,
    /// The first line after a crash is written straight behind the half line that the crash left.
    HalfLineTakenForWhole,
    /// A second attempt sends the projection of the first.
    AttemptReusesProjection,
}

impl Slip {
    /// All of them.
    pub const ALL: [Slip; 8] = [
        Slip::PatchLosesRemoval,
        Slip::BaselineKeptOverCompaction,
        Slip::LockHeldWhileProjecting,
        Slip::ToolsListedTwice,
        Slip::WriteBackOnRetry,
        Slip::SnapshotLeaked,
        Slip::HalfLineTakenForWhole,
        Slip::AttemptReusesProjection,
    ];

    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Slip::PatchLosesRemoval => "patch-loses-removal",
            Slip::BaselineKeptOverCompaction => "baseline-kept-over-compaction",
            Slip::LockHeldWhileProjecting => "lock-held-while-projecting",
            Slip::ToolsListedTwice => "tools-listed-twice",
            Slip::WriteBackOnRetry => "write-back-on-retry",
            Slip::SnapshotLeaked => "snapshot-leaked",
            Slip::HalfLineTakenForWhole => "half-line-taken-for-whole",
            Slip::AttemptReusesProjection => "attempt-reuses-projection",
        }
    }
}

/// The slip that a session makes, if any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slips(pub(super) Option<Slip>);

impl Slips {
    pub(super) fn has(self, slip: Slip) -> bool {
        self.0 == Some(slip)
    }
}
