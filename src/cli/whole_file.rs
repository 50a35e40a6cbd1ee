//! A file that is there whole or not at all: it is written beside its place, and moved there at the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that is being written. Where something stands that is no file, a pipe or a device say, it is written to as it is.
#[derive(Debug)]
pub(super) struct WholeFile {
    out: BufWriter<File>,
    /// Where it is written until it is whole, and what its place is.
    moves: Option<(PathBuf, PathBuf)>,
}

impl WholeFile {
    /// Begins the file; nothing stands at `path` yet that did not stand there before. A link is followed.
    pub(super) fn create(path: &Path) -> io::Result<WholeFile> {
        let there = match fs::metadata(path) {
            Ok(there) => Some(there),
            // A link to nothing: what it names is made.
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => None,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return WholeFile::straight(File::create(path)?);
            }
            Err(error) => return Err(error),
        };
        let place = match &there {
            None => path.to_owned(),
            Some(there) if there.is_file() => fs::canonicalize(path)?,
            Some(_) => return WholeFile::straight(File::options().write(true).open(path)?),
        };
        let name = place.file_name().ok_or_else(|| io::Error::other("the path names no file"))?;
        let beside = place.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let file = File::create(&beside)?;
        let whole = WholeFile { out: BufWriter::new(file), moves: Some((beside, place)) };
        if let Some(there) = there {
            whole.out.get_ref().set_permissions(there.permissions())?;
        }
        Ok(whole)
    }

    fn straight(file: File) -> io::Result<WholeFile> {
        Ok(WholeFile { out: BufWriter::new(file), moves: None })
    }

    /// Moves the file to its place.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some((beside, place)) = &self.moves {
            self.out.get_ref().sync_all()?;
            fs::rename(beside, place)?;
            self.moves = None;
        }
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
        if let Some((beside, _)) = &self.moves {
            // What was begun is of no use to anybody.
            let _ = fs::remove_file(beside);
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    fn write(path: &Path) -> io::Result<()> {
        write_whole(path, |out| out.write_all(b"new"))
    }

    #[test]
    fn a_link_is_followed_and_the_file_keeps_who_may_read_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
        symlink(&file, &link).expect("a link");
        write(&link).expect("it is written");
        assert_eq!(fs::read_to_string(&file).expect("the file"), "new");
        assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        let dangling = folder.path().join("dangling");
        symlink(folder.path().join("made"), &dangling).expect("a link");
        write(&dangling).expect("it is written");
        assert!(folder.path().join("made").is_file() && dangling.is_symlink());
        assert_eq!(
            fs::read_dir(folder.path()).expect("the folder").count(),
            4,
            "nothing is left beside them"
        );
    }

    #[test]
    fn a_device_stays_one_and_a_full_one_is_an_error() {
        let full = Path::new("/dev/full");
        if !fs::metadata(full).is_ok_and(|full| full.file_type().is_char_device()) {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        symlink(full, &link).expect("a link");
        assert!(write(&link).is_err());
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        let itself = folder.path().join("itself");
        symlink(&itself, &itself).expect("a link");
        assert!(write(&itself).is_err());
    }
}
