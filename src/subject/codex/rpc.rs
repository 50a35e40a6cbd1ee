//! One running `codex app-server`: JSON-RPC, one message a line, over its stdin and stdout.
//!
//! Knows processes and messages, nothing of threads and turns. The process leads a group of its own and is killed with all
//! that it started when this is dropped; should we be killed ourselves, it ends because its stdin does.

use super::error::{CodexError, StderrTail, printable};
use crate::json::{Json, Numbers, ObjectWriter};
use crate::subject::stdio::orphans::{self, MARK};
use crate::subject::stdio::signals;
use rustix::process::Pid;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest line that is taken from the program, in bytes. It repeats inputs in its notices, pictures too.
const MAX_LINE: u64 = 256 << 20;

/// How many messages wait for us before the program has to. We read all the while, so this is only a bound on memory.
const MAX_WAITING: usize = 256;

/// How long a wait lasts at most before signals are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How much of stderr is kept, in lines.
const STDERR_LINES: usize = 20;

/// A message of the program.
#[derive(Debug)]
pub(super) enum Message {
    /// The answer to the request of this number.
    Answer(u64, Result<Json, String>),
    /// Something that happened: the method and its parameters.
    Notice(String, Json),
    /// The program wants something of us: the request's id as it is.
    Request(Json),
}

/// What came in place of a message.
#[derive(Debug)]
pub(super) enum Silence {
    /// Nothing until the moment given.
    TimedOut,
    /// A signal asks this process to end.
    Interrupted,
    /// The program ended or wrote something else; in words.
    Ended(String),
}

/// The running program.
#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    pid: Pid,
    /// By which what it started is known.
    mark: String,
    killed: bool,
    stdin: ChildStdin,
    incoming: Receiver<Result<Message, String>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    /// Ends with stderr.
    listener: thread::JoinHandle<()>,
    requests: u64,
}

impl Connection {
    /// Starts the program that `command` describes, as the leader of a new process group.
    pub(super) fn start(mut command: Command) -> Result<Connection, CodexError> {
        use std::os::unix::process::CommandExt as _;
        let program = command.get_program().to_string_lossy().into_owned();
        let cannot = |reason: String| CodexError::CannotStart { program: program.clone(), reason };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mark = orphans::fresh_mark();
        command.env(MARK, &mark);
        let (mut child, pid) = orphans::spawn(&mut command).map_err(|error| cannot(error.to_string()))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(errors)) = pipes else {
            orphans::end(&mut child, pid, &mark);
            return Err(cannot("its pipes cannot be had".into()));
        };
        let (sender, incoming) = mpsc::sync_channel(MAX_WAITING);
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let tail = Arc::clone(&stderr);
        let reading = thread::Builder::new().name("codex-stdout".into());
        let listening = thread::Builder::new().name("codex-stderr".into());
        // The threads end with the pipes. They are not joined: a grandchild may hold a pipe open.
        let started = reading
            .spawn(move || read_messages(stdout, &sender))
            .and_then(|_| listening.spawn(move || keep_tail(errors, &tail)));
        match started {
            Ok(listener) => Ok(Connection {
                child,
                pid,
                mark,
                killed: false,
                stdin,
                incoming,
                stderr,
                listener,
                requests: 0,
            }),
            Err(error) => {
                orphans::end(&mut child, pid, &mark);
                Err(cannot(error.to_string()))
            }
        }
    }

    /// Sends a request, and gives its number. `parameters` writes the object of parameters.
    pub(super) fn request(
        &mut self,
        method: &str,
        parameters: impl FnOnce(&mut ObjectWriter<'_>),
    ) -> io::Result<u64> {
        self.requests += 1;
        let number = self.requests;
        let mut line = Vec::new();
        let mut message = ObjectWriter::open(&mut line);
        message.key("id").extend_from_slice(number.to_string().as_bytes());
        message.string("method", method);
        let mut object = ObjectWriter::open(message.key("params"));
        parameters(&mut object);
        object.close();
        message.close();
        self.send(line)?;
        Ok(number)
    }

    /// Sends a notice without parameters.
    pub(super) fn notify(&mut self, method: &str) -> io::Result<()> {
        let mut line = Vec::new();
        let mut message = ObjectWriter::open(&mut line);
        message.string("method", method);
        message.close();
        self.send(line)
    }

    /// Tells the program that we do not do what it asks for.
    pub(super) fn decline(&mut self, id: &Json) -> io::Result<()> {
        let mut line = Vec::new();
        let mut message = ObjectWriter::open(&mut line);
        id.write(message.key("id"), Numbers::AsWritten);
        let error = br#"{"code":-32601,"message":"this client answers no requests"}"#;
        message.key("error").extend_from_slice(error);
        message.close();
        self.send(line)
    }

    fn send(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        self.stdin.write_all(&line)?;
        self.stdin.flush()
    }

    /// The next message, at the latest at `until`.
    pub(super) fn next(&mut self, until: Instant) -> Result<Message, Silence> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.incoming.recv_timeout(TICK.min(left)) {
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(reason)) => return Err(Silence::Ended(reason)),
                Err(RecvTimeoutError::Timeout) if signals::interrupted() => return Err(Silence::Interrupted),
                Err(RecvTimeoutError::Timeout) if left > TICK => {}
                Err(RecvTimeoutError::Timeout) => return Err(Silence::TimedOut),
                Err(RecvTimeoutError::Disconnected) => return Err(Silence::Ended(self.how_it_ended())),
            }
        }
    }

    /// The number of the process and of its group.
    pub(super) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the program and all that it started with SIGKILL, and waits for its end.
    pub(super) fn kill(&mut self) {
        // Once: then the number is free, and can be another process's.
        if !std::mem::replace(&mut self.killed, true) {
            orphans::end(&mut self.child, self.pid, &self.mark);
        }
    }

    /// The end of what the program wrote to stderr.
    pub(super) fn stderr(&self) -> StderrTail {
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        StderrTail(lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n"))
    }

    /// In words; asked when stdout has ended, so the process is about to. Its last words on stderr are waited for as long.
    fn how_it_ended(&self) -> String {
        for _ in 0..50 {
            match orphans::ended(self.pid) {
                Some(end) if self.listener.is_finished() => return end.to_string(),
                _ => thread::sleep(Duration::from_millis(10)),
            }
        }
        orphans::ended(self.pid).map_or_else(|| "it closed its stdout".into(), |end| end.to_string())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read_messages(stdout: impl Read, sender: &SyncSender<Result<Message, String>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let message = if line.len() as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            Err(format!("it wrote a line over {MAX_LINE} bytes"))
        } else {
            parse_message(&line)
        };
        let over = message.is_err();
        if sender.send(message).is_err() || over {
            return;
        }
    }
}

fn parse_message(line: &[u8]) -> Result<Message, String> {
    // A line may be of the user's content, so no more of it is shown than tells what it is.
    let start = String::from_utf8_lossy(line.get(..60).unwrap_or(line));
    let noise = || format!("it wrote what is no JSON-RPC: {}", printable(start.trim_end()));
    // A notice may hold an item, and that whatever a line of a rollout may.
    let text = std::str::from_utf8(line).map_err(|_| noise())?;
    let Json::Object(mut message) = Json::parse_wrapped(text, 8).map_err(|_| noise())? else {
        return Err(noise());
    };
    let method = message.take("method");
    match (message.take("id"), method) {
        (None, Some(Json::String(method))) => {
            Ok(Message::Notice(method, message.take("params").unwrap_or_default()))
        }
        (Some(id), Some(Json::String(_))) => Ok(Message::Request(id)),
        (Some(id), None) => {
            let number = id.as_u64().ok_or_else(noise)?;
            Ok(Message::Answer(
                number,
                match message.take("error") {
                    None => Ok(message.take("result").unwrap_or_default()),
                    Some(error) => {
                        Err(printable(error.get("message").and_then(Json::as_str).unwrap_or("no message")))
                    }
                },
            ))
        }
        _ => Err(noise()),
    }
}

fn keep_tail(stderr: impl Read, tail: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        // A longer line comes in pieces.
        match stderr.by_ref().take(4096).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = printable(String::from_utf8_lossy(&line).trim_end());
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == STDERR_LINES {
            tail.pop_front();
        }
        tail.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Connection {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Connection::start(command).expect("there is a shell")
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn answers_notices_and_requests_are_told_apart() {
        let mut program = shell(
            r#"echo '{"id":3,"result":{"a":1}}
{"id":4,"error":{"code":-1,"message":"no\u001b[31m"}}
{"method":"m","params":[1]}
{"id":"x","method":"ask"}'"#,
        );
        assert!(matches!(program.next(soon()), Ok(Message::Answer(3, Ok(_)))));
        let Ok(Message::Answer(4, Err(message))) = program.next(soon()) else { panic!("an error") };
        assert_eq!(message, "no[31m", "control characters go");
        assert!(matches!(program.next(soon()), Ok(Message::Notice(method, _)) if method == "m"));
        assert!(matches!(program.next(soon()), Ok(Message::Request(id)) if id.as_str() == Some("x")));
    }

    #[test]
    fn an_end_and_noise_say_what_was_seen() {
        let mut program = shell("echo why >&2; exit 7");
        let Err(Silence::Ended(reason)) = program.next(soon()) else { panic!("it ended") };
        assert_eq!(reason, "it exited with status 7");
        let mut program = shell("echo hello; sleep 600");
        let Err(Silence::Ended(reason)) = program.next(soon()) else { panic!("it spoke noise") };
        assert!(reason.contains("no JSON-RPC: hello"), "{reason}");
    }

    #[test]
    fn a_silent_program_times_out_and_is_killed_with_its_children() {
        let mut program = shell("sleep 600 & echo '{\"id\":1,\"result\":'$!'}'; wait");
        let Ok(Message::Answer(1, Ok(child))) = program.next(soon()) else { panic!("the child's number") };
        let short = Instant::now() + Duration::from_millis(50);
        assert!(matches!(program.next(short), Err(Silence::TimedOut)));
        drop(program);
        let stat = format!("/proc/{child}/stat");
        let gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        let end = soon();
        while !gone() {
            assert!(Instant::now() < end, "the child lives on");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn only_the_end_of_stderr_is_kept() {
        let mut program = shell("i=0; while [ $i -lt 40 ]; do echo line $i >&2; i=$((i+1)); done");
        assert!(matches!(program.next(soon()), Err(Silence::Ended(_))));
        let end = soon();
        while !program.stderr().0.ends_with("line 39") && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        let tail = program.stderr().0;
        assert!(tail.starts_with("line 20\n") && tail.ends_with("line 39"), "{tail}");
    }
}
