//! The session layer as a subject of `callpair verify`: a real file for a record, a real resume from it.

use super::{ForkPoint, Session, SessionConfig, SessionError, SessionServices};
use crate::case::{Failure, FailureKind, Items, Projected};
use crate::history::ToolOutputLimit;
use crate::item::{Modalities, ResponseItem};
use crate::subject::{Capabilities, Profile, Subject};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// Small, so that outputs over it are cheap to draw.
const LIMIT: ToolOutputLimit = ToolOutputLimit::Bytes(100);

/// A session whose rollout lies in a folder of its own, which goes with it.
pub struct SessionSubject {
    folder: TempDir,
    services: SessionServices,
    session: Session,
    path: PathBuf,
    /// How many sessions there were: each has its own file.
    files: u64,
}

impl SessionSubject {
    /// Begins a session in a new folder.
    ///
    /// # Errors
    /// Where the folder or the file cannot be made.
    pub fn new() -> Result<SessionSubject, Failure> {
        let folder = TempDir::new().map_err(|error| Failure::new(FailureKind::Crashed, error.to_string()))?;
        let services = SessionServices::bare();
        let path = folder.path().join("0.jsonl");
        let session = Session::start(&path, config(), services.clone()).map_err(failed)?;
        Ok(SessionSubject { folder, services, session, path, files: 0 })
    }

    /// The path of a file that is not there yet.
    fn next_path(&mut self) -> PathBuf {
        self.files += 1;
        self.folder.path().join(format!("{}.jsonl", self.files))
    }
}

fn config() -> SessionConfig {
    SessionConfig { tool_output_limit: Some(LIMIT), ..SessionConfig::default() }
}

fn failed(error: SessionError) -> Failure {
    Failure::new(FailureKind::Crashed, error.to_string())
}

impl Subject for SessionSubject {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stateful: true,
            resume: true,
            rollback: true,
            fork: true,
            truncation: Some(LIMIT),
            // Pictures are prepared as soon as a history is installed, not only on a resume, so none are drawn that change.
            prepares_pictures: false,
            // An unknown kind in a replacement keeps no name in the file.
            seen_by_resuming: true,
            profile: Profile::Codex,
            ..Capabilities::stateless("session")
        }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        let path = self.next_path();
        self.session = Session::start(&path, config(), self.services.clone()).map_err(failed)?;
        // A file that is not there was never written to.
        let _ = std::fs::remove_file(std::mem::replace(&mut self.path, path));
        Ok(())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.session.record(items.to_vec()).map_err(failed)
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.session.replace(items.to_vec()).map_err(failed)
    }

    fn project(&mut self, modalities: Modalities) -> Result<Projected, Failure> {
        Ok(Projected::of_items(self.session.project(modalities)))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        Ok(self.session.snapshot().iter().cloned().collect())
    }

    fn resume(&mut self) -> Result<(), Failure> {
        if self.path.exists() {
            self.session = Session::resume(&self.path, config(), self.services.clone()).map_err(failed)?;
        }
        Ok(())
    }

    fn rollback(&mut self, turns: u32) -> Result<(), Failure> {
        self.session.rollback(u64::from(turns)).map_err(failed)
    }

    fn fork(&mut self) -> Result<(), Failure> {
        let path = self.next_path();
        let services = self.services.clone();
        self.session = self.session.fork(&path, &ForkPoint::Now, config(), services).map_err(failed)?;
        let _ = std::fs::remove_file(std::mem::replace(&mut self.path, path));
        Ok(())
    }
}
