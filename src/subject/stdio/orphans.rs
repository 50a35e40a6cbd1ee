//! Ending everything that a subject started, also what left its process group. The driver of the real program
//! (`codex/`) ends it by the same means.
//!
//! Every subject is started with a variable of its own in its environment, which its descendants inherit: by that, by
//! its process group and by the tree of parents they are found. The tree and the environment are read from `/proc`;
//! where there is none, the process group alone is ended.
//!
//! A program whose only children are subjects can also [`adopt`] orphans: then what has lost its parent comes to
//! this process, nothing escapes, and nothing is left to a first process that may not reap.

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group, waitid,
    waitpid,
};
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The variable by which a descendant of a subject is known.
pub(in crate::subject) const MARK: &str = "CALLPAIR_SUBJECT";

/// Subjects that run, so that they are never taken for orphans.
static RUNNING: Mutex<Running> = Mutex::new(Running { pids: Vec::new(), adopts: false });

struct Running {
    pids: Vec<Pid>,
    adopts: bool,
}

fn running() -> MutexGuard<'static, Running> {
    // A list of numbers is whole after a panic too.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on processes that have lost their parent come to this one, which ends and reaps them when the subject that
/// they descend from ends. Only for a program whose children are subjects and nothing else: other children would be
/// reaped, too. Where the system has no such thing (other than Linux), this does nothing.
///
/// # Errors
/// Where the system refuses.
pub fn adopt() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(getpid()))?;
        running().adopts = true;
    }
    Ok(())
}

/// A mark that no other subject has, of this process or of another one.
pub(in crate::subject) fn fresh_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}.{number}.{now}", std::process::id())
}

/// Starts a child of which [`end`] knows.
pub(in crate::subject) fn spawn(command: &mut Command) -> io::Result<(Child, Pid)> {
    let mut running = running();
    let child = command.spawn()?;
    let pid = Pid::from_child(&child);
    running.pids.push(pid);
    Ok((child, pid))
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::subject) enum End {
    /// It exited with this status.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
}

/// `it exited with status 3`, `it was ended by signal 11 (SIGSEGV)`.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            End::Exited(status) => write!(f, "it exited with status {status}"),
            End::Signalled(signal) => match signal_hook::low_level::signal_name(signal) {
                Some(name) => write!(f, "it was ended by signal {signal} ({name})"),
                None => write!(f, "it was ended by signal {signal}"),
            },
        }
    }
}

/// How a child ended, if it did. It is not reaped by this.
pub(in crate::subject) fn ended(pid: Pid) -> Option<End> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(pid), look).ok()??;
    let signalled = || status.terminating_signal().map(End::Signalled);
    status.exit_status().map(End::Exited).or_else(signalled)
}

/// Ends a child, its process group and all that it started, and reaps it.
pub(in crate::subject) fn end(child: &mut Child, pid: Pid, mark: &str) {
    end_descendants(pid, mark);
    // A killed child ends at once, unless the system holds it (in a read from a dead network drive, say).
    for _ in 0..500 {
        if reap(child, pid) {
            break;
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    reap_adopted();
}

/// Whether the child has ended; it is reaped then, and its number free.
fn reap(child: &mut Child, pid: Pid) -> bool {
    let mut running = running();
    let ended = !matches!(child.try_wait(), Ok(None));
    if ended {
        running.pids.retain(|other| *other != pid);
    }
    ended
}

/// How long what was killed is waited for: it ends at once, unless the system is busy or holds it.
const LINGERS: Duration = Duration::from_secs(2);

/// As long as the child is not reaped its number is not given to another process, nor that of its group.
fn end_descendants(pid: Pid, mark: &str) {
    // What is gone already cannot be killed: no error counts. A process may be born while the list is read, and a killed one
    // takes its time on a busy machine, so the list is read until it is empty.
    let deadline = Instant::now() + LINGERS;
    while Instant::now() < deadline {
        let found = descendants(pid, mark);
        let _ = kill_process_group(pid, Signal::KILL);
        for descendant in &found {
            let _ = kill_process(*descendant, Signal::KILL);
        }
        if found.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A line of the table of processes.
struct Entry {
    pid: Pid,
    parent: i32,
    group: i32,
    zombie: bool,
}

/// The processes of this system, where it shows them as Linux does.
fn processes() -> Vec<Entry> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| entry(Pid::from_raw(pid)?)).collect()
}

/// `/proc/PID/stat`: the number, the name in parentheses (which may hold anything), state, parent, group.
fn entry(pid: Pid) -> Option<Entry> {
    let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let zombie = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Entry { pid, parent, group, zombie })
}

/// All living processes that descend from a subject, itself too.
fn descendants(subject: Pid, mark: &str) -> HashSet<Pid> {
    let table = processes();
    let mark = format!("{MARK}={mark}");
    let mut found = HashSet::from([subject]);
    let is_marked = |entry: &Entry| {
        let environment = std::fs::read(format!("/proc/{}/environ", entry.pid.as_raw_nonzero()));
        environment.is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == mark.as_bytes()))
    };
    let by_itself = |entry: &&Entry| entry.group == subject.as_raw_nonzero().get() || is_marked(entry);
    found.extend(table.iter().filter(by_itself).map(|entry| entry.pid));
    loop {
        let before = found.len();
        let is_found = |raw| Pid::from_raw(raw).is_some_and(|pid| found.contains(&pid));
        let children: Vec<Pid> = table.iter().filter(|e| is_found(e.parent)).map(|e| e.pid).collect();
        found.extend(children);
        if found.len() == before {
            break;
        }
    }
    // The table may be a little old, but this process never is a descendant of its child.
    found.remove(&getpid());
    let is_alive = |pid: &Pid| table.iter().any(|entry| entry.pid == *pid && !entry.zombie);
    found.into_iter().filter(is_alive).collect()
}

/// Reaps the adopted that have ended. When no subject runs any more, those that live are ended first: they hid their
/// descent, but they can only be a subject's.
fn reap_adopted() {
    let running = running();
    if !running.adopts {
        return;
    }
    let deadline = Instant::now() + LINGERS;
    while Instant::now() < deadline {
        let own = getpid().as_raw_nonzero().get();
        let mut adopted = processes();
        adopted.retain(|entry| entry.parent == own && !running.pids.contains(&entry.pid));
        if running.pids.is_empty() {
            for entry in adopted.iter().filter(|entry| !entry.zombie) {
                let _ = kill_process(entry.pid, Signal::KILL);
            }
        } else {
            adopted.retain(|entry| entry.zombie);
        }
        if adopted.is_empty() {
            break;
        }
        for entry in &adopted {
            let _ = waitpid(Some(entry.pid), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_stands_in_the_table_with_its_parent() {
        if !std::path::Path::new("/proc/self/stat").exists() {
            eprintln!("skipped: this system has no /proc");
            return;
        }
        let table = processes();
        let own = table.iter().find(|entry| entry.pid == getpid()).expect("this process is listed");
        assert_eq!(Pid::from_raw(own.parent), rustix::process::getppid());
        assert!(!own.zombie);
    }
}
