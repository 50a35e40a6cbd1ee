//! How a rollout becomes a thread of the program: `thread/resume` and `thread/fork`, by the path of the file.

use super::error::CodexError;
use super::home::{BASE_INSTRUCTIONS, MODELS, PROVIDER, write_provider};
use super::process::CodexProcess;
use super::session::{Freshened, freshen};
use super::{CodexCase, CodexStep};
use crate::item::Modalities;
use crate::json::Json;
use std::fs;
use std::io;
use std::path::PathBuf;
use uuid::Uuid;

/// A rollout that lies in the private folder; it goes when this is dropped.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) id: Uuid,
    pub(super) path: PathBuf,
    /// What was written.
    pub(super) bytes: Vec<u8>,
    provider: String,
}

impl Drop for Written {
    fn drop(&mut self) {
        // The program may have removed it with its thread.
        let _ = fs::remove_file(&self.path);
    }
}

/// The thread that the program made of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) path: PathBuf,
}

impl CodexProcess {
    /// Writes the case's rollout under an id that no other has.
    pub(super) fn write(&mut self, rollout: &[u8]) -> Result<Written, CodexError> {
        self.written += 1;
        let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("callpair rollout {}", self.written).as_bytes());
        let Freshened { rollout: bytes, provider } = freshen(rollout, id);
        let path = self.home.write_rollout(id, &bytes)?;
        Ok(Written { id, path, bytes, provider: provider.unwrap_or_else(|| PROVIDER.to_owned()) })
    }

    /// Asks for the thread; gives the request's number.
    pub(super) fn open(&mut self, written: &Written, case: &CodexCase<'_>) -> io::Result<u64> {
        let method = method(case.step);
        let model = model(case.modalities);
        let base_url = self.server.base_url();
        self.connection.request(method, |parameters| {
            // Not used where a path is given, but wanted.
            parameters.string("threadId", &written.id.to_string());
            parameters.string("path", &written.path.to_string_lossy());
            parameters.string("model", model);
            parameters.string("baseInstructions", BASE_INSTRUCTIONS);
            parameters.string("modelProvider", &written.provider);
            if written.provider != PROVIDER && is_bare_key(&written.provider) {
                write_provider(parameters.key("config"), &written.provider, &base_url);
            }
            // Spares the program a second reading of the file for us.
            parameters.key("excludeTurns").extend_from_slice(b"true");
        })
    }
}

/// The method that opens a thread for a step.
pub(super) fn method(step: CodexStep) -> &'static str {
    match step {
        CodexStep::Resume | CodexStep::Rollback(_) => "thread/resume",
        CodexStep::Fork => "thread/fork",
    }
}

/// Reads the answer to [`CodexProcess::open`].
pub(super) fn opened(answer: &Json) -> Result<Thread, CodexError> {
    let text = |key| answer.get("thread").and_then(|thread| thread.get(key)).and_then(Json::as_str);
    match (text("id"), text("path")) {
        (Some(id), Some(path)) => Ok(Thread { id: id.to_owned(), path: path.into() }),
        _ => Err(CodexError::NotTold("the program names no thread, or no file of it".into())),
    }
}

fn model(modalities: Modalities) -> &'static str {
    let [(image, _), (text, _)] = MODELS;
    if modalities.accepts_images() { image } else { text }
}

/// Whether a name can stand in the dotted name of a setting. One that cannot is left to the program to refuse.
fn is_bare_key(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
