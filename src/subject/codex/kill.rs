//! kill -9 in the middle of a tool call: what the program leaves behind when it dies while a command runs.

use super::error::CodexError;
use super::new_turn::recorded_items;
use super::open::{method, opened};
use super::process::CodexProcess;
use super::run::read;
use super::{CodexCase, CodexStep};
use crate::item::Modalities;
use crate::json::{Json, write_string};
use std::fs;
use std::time::{Duration, Instant};

/// What a killed program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexKilled {
    /// The rollout as it was written.
    pub rollout_before: Vec<u8>,
    /// The same file after the kill. To see how it is resumed, project it.
    pub rollout_after: Vec<u8>,
    /// The call that was over when the program died.
    pub finished_call: &'static str,
    /// The call that still ran.
    pub open_call: &'static str,
}

const FINISHED: &str = "call_finished";
const OPEN: &str = "call_open";

impl CodexProcess {
    /// Resumes a rollout, starts a turn in which the model calls the program's shell twice, and kills the program with SIGKILL
    /// while the second command runs. Then the program is started again.
    ///
    /// # Errors
    /// As [`project`](Self::project); [`CodexError::TimedOut`] where the command was never run.
    pub fn kill_in_a_call(
        &mut self,
        rollout: &[u8],
        modalities: Modalities,
    ) -> Result<CodexKilled, CodexError> {
        let outcome = self.try_kill(CodexCase { rollout, modalities, step: CodexStep::Resume });
        self.restart()?;
        outcome
    }

    fn try_kill(&mut self, case: CodexCase<'_>) -> Result<CodexKilled, CodexError> {
        let running = self.home.root().join("work").join("running");
        let written = self.write(case.rollout)?;
        let doing = method(case.step);
        let number = self.open(&written, &case).map_err(|error| self.unwritable(&error, doing))?;
        let thread = opened(&self.wait_for(number, doing)?)?;
        // Should it outlive the program, the command ends when the folder goes.
        let command = format!("touch {0}; while [ -e {0} ]; do sleep 0.1; done", running.display());
        self.server.watch_scripted(&thread.id, move |body| two_calls(body, &command));
        let number = self
            .request_turn(&thread.id, "callpair: run both")
            .map_err(|error| self.unwritable(&error, "turn/start"))?;
        self.wait_for(number, "turn/start")?;
        let until = Instant::now() + self.options.timeout;
        while !(running.exists() && is_finished(&read(&thread.path)?, written.bytes.len())) {
            if Instant::now() >= until {
                let (doing, limit) = ("a shell call", self.options.timeout);
                return Err(CodexError::TimedOut { doing, limit, stderr: self.connection.stderr() });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.connection.kill();
        self.server.take(&thread.id);
        let _ = fs::remove_file(&running);
        let rollout_after = read(&thread.path)?;
        Ok(CodexKilled {
            rollout_before: written.bytes.clone(),
            rollout_after,
            finished_call: FINISHED,
            open_call: OPEN,
        })
    }
}

/// Whether the rollout holds the output of the first call: the outputs of a response are recorded in the order of its calls.
fn is_finished(rollout: &[u8], before: usize) -> bool {
    let is_output = |item: &Json| {
        let text = |key| item.get(key).and_then(Json::as_str);
        text("type") == Some("function_call_output") && text("call_id") == Some(FINISHED)
    };
    recorded_items(rollout.get(before..).unwrap_or_default()).iter().any(is_output)
}

/// Two calls of whatever the version's shell is: one that is over at once, one that runs `command`.
fn two_calls(body: &Json, command: &str) -> Vec<Json> {
    let tools = body.get("tools").and_then(Json::as_array).unwrap_or_default();
    let offers = |name: &str| tools.iter().any(|tool| tool.get("name").and_then(Json::as_str) == Some(name));
    let (tool, parameter) =
        if offers("exec_command") { ("exec_command", "cmd") } else { ("shell_command", "command") };
    let call = |call_id: &str, command: &str| {
        let arguments = object(&[(parameter, command)]);
        let item = object(&[
            ("type", "function_call"),
            ("id", &format!("fc_{call_id}")),
            ("name", tool),
            ("arguments", &arguments),
            ("call_id", call_id),
        ]);
        Json::parse(&item).unwrap_or_default()
    };
    vec![call(FINISHED, "true"), call(OPEN, command)]
}

fn object(members: &[(&str, &str)]) -> String {
    let mut out = b"{".to_vec();
    for (name, value) in members {
        if out.len() > 1 {
            out.push(b',');
        }
        write_string(name, &mut out);
        out.push(b':');
        write_string(value, &mut out);
    }
    out.push(b'}');
    String::from_utf8(out).unwrap_or_default()
}
