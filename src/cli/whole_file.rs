//! A file that is there whole or not at all: it is written beside its place, and moved there at the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is being written.
#[derive(Debug)]
pub(super) struct WholeFile {
    out: BufWriter<File>,
    path: PathBuf,
    beside: PathBuf,
    moved: bool,
}

impl WholeFile {
    /// Begins the file; nothing stands at `path` yet that did not stand there before.
    pub(super) fn create(path: &Path) -> io::Result<WholeFile> {
        let name = path.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
        let beside = path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let out = BufWriter::new(File::create(&beside)?);
        Ok(WholeFile { out, path: path.to_owned(), beside, moved: false })
    }

    /// Moves the file to its place.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        fs::rename(&self.beside, &self.path)?;
        self.moved = true;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.moved {
            // What was begun is of no use to anybody.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Writes a whole file.
pub(super) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut WholeFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    write(&mut file)?;
    file.finish()
}
