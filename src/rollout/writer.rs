//! Appending to a rollout. A line is whole or absent.

use crate::json::{Json, Numbers, ObjectWriter};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The text of a line: `{"timestamp":…,"type":…,"payload":…}`, without a line end, numbers digit for digit.
pub fn line_text(timestamp: &str, line_type: &str, payload: &Json) -> String {
    let mut out = Vec::new();
    let mut writer = ObjectWriter::open(&mut out);
    writer.string("timestamp", timestamp);
    writer.string("type", line_type);
    payload.write(writer.key("payload"), Numbers::AsWritten);
    writer.close();
    // Everything written is text.
    String::from_utf8(out).unwrap_or_default()
}

/// What is written to append a line, behind a line that is unfinished or behind a whole one.
pub(crate) fn appended(line: &str, unfinished: bool) -> String {
    let lead = if unfinished { "\n" } else { "" };
    [lead, line, "\n"].concat()
}

/// Why a line was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A line end inside would make two lines of it.
    #[error("a rollout line must not hold a line end: write JSON, in which it is escaped")]
    LineEndInside,
    /// The file cannot be written. It is as it was before.
    #[error(
        "the line was not written, and the file is as it was: {0}; check the disk and who may write to it"
    )]
    Io(#[from] io::Error),
    /// The file could not be written, nor cut back to what it was.
    #[error(
        "the line was written in part ({write}), and the file could not be cut back ({cut}): the next line begins after a line end"
    )]
    Torn {
        /// Why writing failed.
        write: io::Error,
        /// Why cutting back failed.
        cut: io::Error,
    },
}

/// Appends lines to a rollout; what stands in the file is never changed.
///
/// Unlike the program it never glues a line to an unfinished one: where the file ends without a line end, one is written
/// first. What a crash cut off then stays a line of its own that readers skip.
///
/// ```
/// # use callpair::rollout::RolloutWriter;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("rollout.jsonl");
/// std::fs::write(&path, r#"{"timestamp":"t","ty"#)?; // torn by a crash
/// RolloutWriter::append_to(&path)?.append("{}").unwrap();
/// assert_eq!(std::fs::read_to_string(&path)?, "{\"timestamp\":\"t\",\"ty\n{}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct RolloutWriter {
    file: File,
    /// For a planted fault alone: see [`take_end_for_whole`](Self::take_end_for_whole).
    glues: bool,
}

impl RolloutWriter {
    /// Opens a file for appending, and creates it where it is not there.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub fn append_to(path: &Path) -> io::Result<RolloutWriter> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        Ok(RolloutWriter { file, glues: false })
    }

    /// Appends a line and its line end, in one write.
    ///
    /// How the file ends is looked up each time, so what another process wrote between two lines is neither glued to nor cut
    /// off. Two that write at the very same moment are not kept apart: a session has one writer.
    ///
    /// # Errors
    /// Where the line holds a line end, or the file cannot be written; see [`WriteError`] for what then stands in it.
    pub fn append(&mut self, line: &str) -> Result<(), WriteError> {
        if line.contains('\n') {
            return Err(WriteError::LineEndInside);
        }
        let (len, unfinished) = self.end()?;
        let bytes = appended(line, unfinished && !self.glues);
        self.file.write_all(bytes.as_bytes()).map_err(|write| match self.file.set_len(len) {
            Ok(()) => WriteError::Io(write),
            Err(cut) => WriteError::Torn { write, cut },
        })
    }

    /// The length of the file, and whether it ends in the middle of a line.
    fn end(&mut self) -> io::Result<(u64, bool)> {
        let len = self.file.seek(SeekFrom::End(0))?;
        let mut last = [b'\n'];
        if len > 0 {
            self.file.seek(SeekFrom::End(-1))?;
            self.file.read_exact(&mut last)?;
        }
        Ok((len, last != [b'\n']))
    }

    /// For a planted fault alone: takes an unfinished line for a whole one, as the program does.
    #[cfg(feature = "session")]
    pub(crate) fn take_end_for_whole(&mut self) {
        self.glues = true;
    }

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// Where the system says that it is not.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
