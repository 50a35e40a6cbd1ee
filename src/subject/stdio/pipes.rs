//! The three pipes of a subject, driven by one loop: what is to be sent goes out while answers and stderr come in.
//!
//! Nothing blocks but `poll`, so that large messages in both directions at once cannot lock both sides, and a time limit
//! or a signal is noticed while waiting. What a line means is not known here.

use super::signals;
use super::tail::Tail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// The longest line that is read from a subject, in bytes.
pub(super) const LONGEST_LINE: usize = 64 << 20;

/// How long a wait lasts at most before signals are looked at. A signal mostly ends the wait by itself, but not where
/// another thread got it.
const TICK: Duration = Duration::from_millis(50);

/// How long a subject that has closed its stdin may go on before that counts as its end.
const GRACE: Duration = Duration::from_secs(1);

/// Bytes of one read.
const CHUNK: usize = 64 << 10;

/// What of a buffer is kept when it is empty.
const KEPT: usize = 1 << 20;

/// Why no line came.
#[derive(Debug)]
pub(super) enum Lost {
    /// stdout is closed: mostly because the subject has ended.
    Ended,
    /// stdin is closed, with requests still to be sent.
    StdinClosed,
    /// The time is over.
    TimedOut,
    /// A signal asks this process to end.
    Interrupted,
    /// A line is longer than [`LONGEST_LINE`].
    LineTooLong,
    /// The system failed.
    Io(io::Error),
}

/// The pipes, and what is on its way in them.
#[derive(Debug)]
pub(super) struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    unsent: Vec<u8>,
    sent: usize,
    stdin_broke: Option<Instant>,
    received: Vec<u8>,
    /// Where in `received` the first line that was not handed out begins.
    line_start: usize,
    /// Up to where `received` is known to hold no end of that line.
    searched: usize,
    tail: Tail,
    chunk: Box<[u8]>,
}

impl Pipes {
    /// Takes over the pipes of a child.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, stderr: ChildStderr) -> io::Result<Pipes> {
        rustix::io::ioctl_fionbio(&stdin, true)?;
        rustix::io::ioctl_fionbio(&stdout, true)?;
        rustix::io::ioctl_fionbio(&stderr, true)?;
        Ok(Pipes {
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            unsent: Vec::new(),
            sent: 0,
            stdin_broke: None,
            received: Vec::new(),
            line_start: 0,
            searched: 0,
            tail: Tail::default(),
            chunk: vec![0; CHUNK].into_boxed_slice(),
        })
    }

    /// What is to be sent: the caller writes whole lines behind it. They go out while a line is waited for.
    pub(super) fn unsent(&mut self) -> &mut Vec<u8> {
        &mut self.unsent
    }

    /// The last lines of stderr.
    pub(super) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Bytes that came behind the last line that was handed out.
    pub(super) fn left_over(&self) -> usize {
        self.received.len() - self.line_start
    }

    /// Waits for the next line and hands it out without its end.
    pub(super) fn next_line(&mut self, deadline: Instant) -> Result<&[u8], Lost> {
        loop {
            if let Some(end) = self.find_line_end() {
                let start = std::mem::replace(&mut self.line_start, end + 1);
                if end - start > LONGEST_LINE {
                    return Err(Lost::LineTooLong);
                }
                return Ok(self.received.get(start..end).unwrap_or_default());
            }
            if self.left_over() > LONGEST_LINE {
                return Err(Lost::LineTooLong);
            }
            if self.stdout.is_none() {
                return Err(Lost::Ended);
            }
            if signals::interrupted() {
                return Err(Lost::Interrupted);
            }
            let now = Instant::now();
            if self.stdin_broke.is_some_and(|broke| now >= broke + GRACE) {
                return Err(Lost::StdinClosed);
            }
            if now >= deadline {
                return Err(Lost::TimedOut);
            }
            self.exchange(TICK.min(deadline - now)).map_err(Lost::Io)?;
        }
    }

    /// Takes in what has come on stdout, without waiting.
    pub(super) fn look(&mut self) -> Result<(), Lost> {
        self.receive().map_err(Lost::Io)
    }

    /// Closes stdin: the subject's sign that no more is to come.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Takes in what is left of stderr. A process that the subject left behind may hold it open; it is not waited for.
    pub(super) fn drain_stderr(&mut self, deadline: Instant) {
        while self.stderr.is_some() {
            let now = Instant::now();
            if now >= deadline || signals::interrupted() {
                return;
            }
            if self.exchange(TICK.min(deadline - now)).is_err() {
                return;
            }
        }
    }

    fn find_line_end(&mut self) -> Option<usize> {
        let from = self.searched.max(self.line_start);
        let fresh = self.received.get(from..).unwrap_or_default();
        // Looking whether there is one is many times faster than looking where.
        let found = match fresh.contains(&b'\n') {
            true => fresh.iter().position(|byte| *byte == b'\n').map(|at| from + at),
            false => None,
        };
        self.searched = found.map_or(self.received.len(), |end| end + 1);
        found
    }

    /// One round: sends what goes, waits until something comes or the time is over, takes it in.
    fn exchange(&mut self, wait: Duration) -> io::Result<()> {
        self.send()?;
        let mut fds = Vec::with_capacity(3);
        if let (Some(stdin), true) = (&self.stdin, self.sent < self.unsent.len()) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        fds.extend(self.stdout.as_ref().map(|stdout| PollFd::new(stdout, PollFlags::IN)));
        fds.extend(self.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
        let wait = Timespec::try_from(wait).unwrap_or_default();
        match poll(&mut fds, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.receive()?;
        self.receive_stderr()
    }

    fn send(&mut self) -> io::Result<()> {
        while let (Some(stdin), Some(rest)) = (&mut self.stdin, self.unsent.get(self.sent..)) {
            if rest.is_empty() {
                break;
            }
            match stdin.write(rest) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
                // The subject does not read any more. What it has answered before still counts.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.stdin = None;
                    self.stdin_broke = Some(Instant::now());
                }
                Err(error) => return Err(error),
            }
        }
        self.unsent.clear();
        self.unsent.shrink_to(KEPT);
        self.sent = 0;
        Ok(())
    }

    fn receive(&mut self) -> io::Result<()> {
        if self.line_start == self.received.len() {
            self.received.clear();
            self.received.shrink_to(KEPT);
            (self.line_start, self.searched) = (0, 0);
        } else if self.line_start > KEPT {
            self.received.drain(..self.line_start);
            self.searched = self.searched.saturating_sub(self.line_start);
            self.line_start = 0;
        }
        let chunk = &mut *self.chunk;
        read_into(&mut self.stdout, chunk, |read| self.received.extend_from_slice(read))
    }

    fn receive_stderr(&mut self) -> io::Result<()> {
        let chunk = &mut *self.chunk;
        read_into(&mut self.stderr, chunk, |read| self.tail.push(read))
    }
}

/// One read; a pipe that has ended is dropped.
fn read_into(pipe: &mut Option<impl Read>, chunk: &mut [u8], take: impl FnOnce(&[u8])) -> io::Result<()> {
    let Some(open) = pipe else { return Ok(()) };
    match open.read(chunk) {
        Ok(0) => *pipe = None,
        Ok(read) => take(chunk.get(..read).unwrap_or_default()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
