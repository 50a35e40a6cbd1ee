//! One running subject: started, asked, ended. Not here: what a request holds and what an answer means.

use super::answer::{self, Reply};
use super::orphans::{self, End};
use super::pipes::{LONGEST_LINE, Lost, Pipes};
use crate::case::{Failure, FailureKind};
use crate::json::ObjectWriter;
use crate::subject::protocol::Method;
use rustix::process::Pid;
use std::collections::VecDeque;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio as Pipe};
use std::time::{Duration, Instant};

/// How long a subject that was told to end has for it.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long the exit status and the last words are waited for when stdout has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Bytes that are on their way to a subject at most before one of its answers is waited for. (A larger request goes
/// alone.)
pub(super) const IN_FLIGHT: usize = 1 << 20;

/// A running subject. It is ended with all that it started when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pid: Pid,
    mark: String,
    pipes: Pipes,
    next_id: u64,
    in_flight: VecDeque<Asked>,
    bytes_in_flight: usize,
    /// Whether it is to be ended without a word: it hangs, or has broken the protocol.
    condemned: bool,
}

/// A request without its answer.
#[derive(Debug, Clone, Copy)]
struct Asked {
    id: u64,
    method: Method,
    bytes: usize,
}

impl Process {
    /// Starts a program, the leader of a process group of its own.
    pub(super) fn start(argv: &[String]) -> io::Result<Process> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mark = orphans::fresh_mark();
        let mut command = Command::new(program);
        command.args(arguments).env(orphans::MARK, &mark).process_group(0);
        command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
        let (mut child, pid) = orphans::spawn(&mut command)?;
        let pipes = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes::new(stdin, stdout, stderr),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        };
        match pipes {
            Ok(pipes) => Ok(Process {
                child,
                pid,
                mark,
                pipes,
                next_id: 1,
                in_flight: VecDeque::new(),
                bytes_in_flight: 0,
                condemned: false,
            }),
            Err(error) => {
                orphans::end(&mut child, pid, &mark);
                Err(error)
            }
        }
    }

    /// Its process id, which is that of its group.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether a further request may be sent before an answer is waited for.
    pub(super) fn takes_more(&self) -> bool {
        self.in_flight.is_empty() || self.bytes_in_flight < IN_FLIGHT
    }

    /// The number of requests without an answer.
    pub(super) fn open_requests(&self) -> usize {
        self.in_flight.len()
    }

    /// Sends a request; it goes out while an answer is waited for.
    pub(super) fn ask(&mut self, method: Method, write_params: impl FnOnce(&mut ObjectWriter<'_>)) {
        let (id, out) = (self.next_id, self.pipes.unsent());
        let start = out.len();
        let mut writer = ObjectWriter::open(out);
        writer.string("jsonrpc", "2.0");
        writer.key("id").extend_from_slice(id.to_string().as_bytes());
        writer.string("method", method.as_str());
        let mut params = ObjectWriter::open(writer.key("params"));
        write_params(&mut params);
        params.close();
        writer.close();
        out.push(b'\n');
        let bytes = out.len() - start;
        self.next_id += 1;
        self.bytes_in_flight += bytes;
        self.in_flight.push_back(Asked { id, method, bytes });
    }

    /// The answer to the oldest request without one.
    ///
    /// An `Err` is a failure of the process, which is not to be asked anything more. That the subject answered with an
    /// error is a [`Reply`].
    pub(super) fn answer(&mut self, timeout: Duration) -> Result<Reply, Failure> {
        let Some(asked) = self.in_flight.pop_front() else {
            return Err(Failure::new(FailureKind::Crashed, "no request is open"));
        };
        self.bytes_in_flight -= asked.bytes;
        let start = Instant::now();
        let read = match self.pipes.next_line(start + timeout) {
            Ok(line) => answer::read(line, asked.id, asked.method)
                .map_err(|breach| Failure::new(FailureKind::Protocol, breach)),
            Err(lost) => Err(self.explain(lost, timeout)),
        };
        read.map_err(|failure| self.blame(asked.method, failure))
    }

    /// After the last answer there must be nothing more.
    pub(super) fn must_be_silent(&mut self) -> Result<(), Failure> {
        let looked = self.pipes.look();
        let failure = match (looked, self.pipes.left_over()) {
            (Ok(()), 0) => return Ok(()),
            (Ok(()), bytes) => {
                let line = format!("an answer to nothing: {bytes} bytes on stdout while no request was open");
                Failure::new(FailureKind::Protocol, line)
            }
            (Err(lost), _) => self.explain(lost, Duration::ZERO),
        };
        self.condemned = true;
        Err(with_tail(failure, &self.pipes))
    }

    /// Has it shut down by the protocol: an answer, then an exit with status 0.
    pub(super) fn shut_down(mut self, timeout: Duration) -> Result<(), Failure> {
        self.must_be_silent()?;
        self.ask(Method::Shutdown, |_| {});
        let reply = self.answer(timeout)?;
        self.pipes.close_stdin();
        if let Reply::Error { code, message } = reply {
            return Err(self.blame(Method::Shutdown, answer::failure(code, &message)));
        }
        let failure = match self.wait(timeout) {
            Some(End::Exited(0)) => return Ok(()),
            Some(end) => Failure::new(FailureKind::Crashed, end.to_string()),
            None => {
                Failure::new(FailureKind::Hung, format!("it was still running {timeout:?} after its answer"))
            }
        };
        self.pipes.drain_stderr(Instant::now() + LAST_WORDS);
        Err(self.blame(Method::Shutdown, failure))
    }

    /// A failure with all that is known about it. Unless the subject has only declined, it will be ended without a word.
    pub(super) fn blame(&mut self, method: Method, failure: Failure) -> Failure {
        self.condemned |= !matches!(failure.kind, FailureKind::Refused | FailureKind::MethodMissing);
        let message = format!("{}: {}", method.as_str(), failure.message);
        with_tail(Failure { message, ..failure }, &self.pipes)
    }

    /// The failure that a missing line is.
    fn explain(&mut self, lost: Lost, timeout: Duration) -> Failure {
        let unfinished = match self.pipes.left_over() {
            0 => String::new(),
            bytes => format!(", in the middle of a line ({bytes} bytes came without a line end)"),
        };
        let (kind, message) = match lost {
            Lost::Ended => {
                let (kind, how) = match self.wait(LAST_WORDS) {
                    Some(end) => (FailureKind::Crashed, end.to_string()),
                    // It will never answer, and to see that costs as much as a hang.
                    None => (FailureKind::Hung, "it closed its stdout and went on running".to_owned()),
                };
                (kind, format!("{how} without an answer{unfinished}"))
            }
            Lost::StdinClosed => {
                (FailureKind::Crashed, "it closed its stdin before it was told to shut down".to_owned())
            }
            Lost::TimedOut => {
                let ended = orphans::ended(self.pid).map_or_else(String::new, |end| {
                    format!(": {end}, and what it started holds its stdout open")
                });
                (FailureKind::Hung, format!("no answer within {timeout:?}{ended}{unfinished}"))
            }
            Lost::Interrupted => {
                (FailureKind::Crashed, "ended, because a signal interrupted callpair".to_owned())
            }
            Lost::LineTooLong => {
                let limit = format!("longer than {} MiB, the most that is read", LONGEST_LINE >> 20);
                (FailureKind::Protocol, format!("a line on stdout is {limit}"))
            }
            Lost::Io(error) => (FailureKind::Crashed, format!("its pipes failed: {error}")),
        };
        if kind == FailureKind::Crashed {
            self.pipes.drain_stderr(Instant::now() + LAST_WORDS);
        }
        Failure::new(kind, message)
    }

    /// Waits for its end. It is not reaped yet: its number stays its own until its descendants are ended, too.
    fn wait(&self, limit: Duration) -> Option<End> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(end) = orphans::ended(self.pid) {
                return Some(end);
            }
            if Instant::now() >= deadline || super::signals::interrupted() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// A healthy subject is told to end and has a moment for it; then it is ended, with all that it started.
impl Drop for Process {
    fn drop(&mut self) {
        if !self.condemned {
            self.ask(Method::Shutdown, |_| {});
            let deadline = Instant::now() + FAREWELL;
            while Instant::now() < deadline && self.pipes.next_line(deadline).is_ok() {}
            self.pipes.close_stdin();
            self.wait(deadline.saturating_duration_since(Instant::now()));
        }
        orphans::end(&mut self.child, self.pid, &self.mark);
    }
}

fn with_tail(mut failure: Failure, pipes: &Pipes) -> Failure {
    failure.message.push_str(&pipes.tail().report());
    failure
}
