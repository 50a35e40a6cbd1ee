//! Runs calls on a subject, all sent before the first is answered, as far as they fit.
//!
//! The answers come in the order of the calls. A subject without state is sent its whole history with each
//! projection; should an answer say that the call has changed it, what was sent after that call is sent again.

use super::answer::{self, Reply};
use super::process::Process;
use super::{Stdio, ended, items};
use crate::case::{Failure, FailureKind, Items, Outcome, Projected, Step};
use crate::item::{Modalities, ResponseItem};
use crate::json::{ObjectWriter, write_string};
use crate::subject::protocol::Method;
use std::sync::Arc;

/// One thing to be done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call<'a> {
    /// Everything is emptied. It has no outcome.
    Reset,
    /// A step.
    Step(&'a Step),
}

impl Call<'_> {
    fn method(self) -> Method {
        match self {
            Call::Reset => Method::Reset,
            Call::Step(Step::Record(_)) => Method::Record,
            Call::Step(Step::Replace(_)) => Method::Replace,
            Call::Step(Step::Project(_)) => Method::Project,
            Call::Step(Step::Snapshot) => Method::Snapshot,
            Call::Step(Step::Resume) => Method::Resume,
            Call::Step(Step::Rollback(_)) => Method::Rollback,
            Call::Step(Step::Fork) => Method::Fork,
        }
    }
}

impl Stdio {
    /// Runs calls in order and puts the outcome of every step behind the others, up to the first that fails.
    ///
    /// After a failure the process is ended, unless the subject has only declined.
    pub(super) fn drive(&mut self, calls: &[Call<'_>], outcomes: &mut Vec<Outcome>) -> Result<(), Failure> {
        let Some(process) = &mut self.process else { return Err(ended()) };
        let run = match self.capabilities.stateful {
            true => run_stateful(process, calls, self.options.timeout, outcomes),
            false => run_stateless(process, &mut self.history, calls, self.options.timeout, outcomes),
        };
        let declined =
            matches!(&run, Err(f) if matches!(f.kind, FailureKind::Refused | FailureKind::MethodMissing));
        if declined {
            // What was sent behind the call is still answered; the answers mean nothing any more.
            if skip_answers(process, self.options.timeout).is_err() {
                self.process = None;
            }
        } else if run.is_err() {
            self.process = None;
        }
        run
    }
}

type Timeout = std::time::Duration;

fn run_stateful(
    process: &mut Process,
    calls: &[Call<'_>],
    timeout: Timeout,
    outcomes: &mut Vec<Outcome>,
) -> Result<(), Failure> {
    process.must_be_silent()?;
    let mut to_send = calls.iter();
    for call in calls {
        while process.takes_more()
            && let Some(next) = to_send.next()
        {
            send(process, *next);
        }
        let outcome = answer(process, *call, timeout)?;
        if let Call::Step(_) = call {
            outcomes.push(outcome);
        }
    }
    process.must_be_silent()
}

fn send(process: &mut Process, call: Call<'_>) {
    process.ask(call.method(), |params| match call {
        Call::Step(Step::Record(items) | Step::Replace(items)) => {
            let out = params.key("items");
            out.push(b'[');
            write_items(items, out);
            out.push(b']');
        }
        Call::Step(Step::Project(modalities)) => write_modalities(*modalities, params),
        Call::Step(Step::Rollback(turns)) => {
            params.key("turns").extend_from_slice(turns.to_string().as_bytes());
        }
        Call::Reset | Call::Step(Step::Snapshot | Step::Resume | Step::Fork) => {}
    });
}

fn run_stateless(
    process: &mut Process,
    history: &mut Items,
    calls: &[Call<'_>],
    timeout: Timeout,
    outcomes: &mut Vec<Outcome>,
) -> Result<(), Failure> {
    process.must_be_silent()?;
    // The history as it is at the call that is sent next, as text; `history` is that at the call answered next.
    let mut sent_history = Vec::new();
    write_items(history, &mut sent_history);
    let mut to_send = calls.iter();
    for (at, call) in calls.iter().enumerate() {
        while process.takes_more()
            && let Some(next) = to_send.next()
        {
            send_stateless(process, *next, &mut sent_history);
        }
        match apply(*call, history) {
            Some(outcome) => outcomes.extend(outcome),
            None => {
                let outcome = answer(process, *call, timeout)?;
                if let Some(changed) = changed_history(&outcome, history) {
                    *history = changed;
                    skip_answers(process, timeout)?;
                    to_send = calls.get(at + 1..).unwrap_or_default().iter();
                    sent_history.clear();
                    write_items(history, &mut sent_history);
                }
                outcomes.push(outcome);
            }
        }
    }
    process.must_be_silent()
}

/// What the call does to the history on this side, and its outcome; `None` where the subject has to be asked.
fn apply(call: Call<'_>, history: &mut Items) -> Option<Option<Outcome>> {
    Some(match call {
        Call::Reset => {
            history.clear();
            None
        }
        Call::Step(Step::Record(items)) => {
            history.extend_from_slice(items);
            Some(Outcome::Done)
        }
        Call::Step(Step::Replace(items)) => {
            history.clone_from(items);
            Some(Outcome::Done)
        }
        Call::Step(Step::Snapshot) => Some(Outcome::Snapshot(history.clone())),
        Call::Step(Step::Project(_) | Step::Resume | Step::Rollback(_) | Step::Fork) => return None,
    })
}

fn send_stateless(process: &mut Process, call: Call<'_>, sent_history: &mut Vec<u8>) {
    match call {
        Call::Reset => sent_history.clear(),
        Call::Step(Step::Record(items)) => {
            if !sent_history.is_empty() && !items.is_empty() {
                sent_history.push(b',');
            }
            write_items(items, sent_history);
        }
        Call::Step(Step::Replace(items)) => {
            sent_history.clear();
            write_items(items, sent_history);
        }
        Call::Step(Step::Project(modalities)) => process.ask(Method::Project, |params| {
            let out = params.key("history");
            out.push(b'[');
            out.extend_from_slice(sent_history);
            out.push(b']');
            write_modalities(*modalities, params);
        }),
        Call::Step(Step::Snapshot) => {}
        Call::Step(Step::Resume | Step::Rollback(_) | Step::Fork) => send(process, call),
    }
}

/// The history that the subject says its caller is left with, if it is another one.
fn changed_history(outcome: &Outcome, history: &Items) -> Option<Items> {
    match outcome {
        Outcome::Projected(Projected { history_after: Some(after), .. }) if after != history => {
            Some(after.clone())
        }
        _ => None,
    }
}

fn answer(process: &mut Process, call: Call<'_>, timeout: Timeout) -> Result<Outcome, Failure> {
    let method = call.method();
    match process.answer(timeout)? {
        Reply::Error { code, message } => Err(process.blame(method, answer::failure(code, &message))),
        Reply::Result { mut members, items_text } => {
            let outcome = match call {
                Call::Step(Step::Project(_)) => projected(&mut members, items_text).map(Outcome::Projected),
                Call::Step(Step::Snapshot) => items::required(&mut members, "items").map(Outcome::Snapshot),
                _ => Ok(Outcome::Done),
            };
            outcome.map_err(|breach| process.blame(method, Failure::new(FailureKind::Protocol, breach)))
        }
    }
}

fn projected(members: &mut crate::json::Object, text: Option<String>) -> Result<Projected, String> {
    let items = items::required(members, "items")?;
    let history_after = items::optional(members, "history_after")?;
    Ok(Projected { items, history_after, text })
}

fn skip_answers(process: &mut Process, timeout: Timeout) -> Result<(), Failure> {
    while process.open_requests() > 0 {
        process.answer(timeout)?;
    }
    Ok(())
}

fn write_items(items: &[Arc<ResponseItem>], out: &mut Vec<u8>) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        item.write_recorded(out);
    }
}

fn write_modalities(modalities: Modalities, params: &mut ObjectWriter<'_>) {
    let out = params.key("modalities");
    out.push(b'[');
    for (at, name) in modalities.names().iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_string(name, out);
    }
    out.push(b']');
}
