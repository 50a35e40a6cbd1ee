//! A folder of saved cases: the smallest case of every failure, replayed by every later run.

use super::saved::{CaseError, SavedCase};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How a saved case's file name ends. (proptest keeps its own seed files, `.txt`, in the same folder.)
const ENDING: &str = ".case.json";

/// A folder of saved cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// Why a saved case cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}; check who may read it", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{}: is no file, but has the name of a saved case; take it away", path.display())]
    NoFile {
        /// What it is called.
        path: PathBuf,
    },
    /// It holds no case.
    #[error("{}: {source}; if the case is no longer wanted, take the file away", path.display())]
    Case {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CaseError,
    },
}

impl Store {
    /// The store in a folder, which need not be there yet.
    pub fn new(folder: impl Into<PathBuf>) -> Store {
        Store { folder: folder.into() }
    }

    /// The cases in the folder, by name. A folder that is not there holds none.
    ///
    /// # Errors
    /// Where the folder or a case in it cannot be read: a regression must not vanish in silence.
    pub fn load(&self) -> Result<Vec<(PathBuf, SavedCase)>, StoreError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Io { path, source }
        };
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(io(&self.folder))?,
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(io(&self.folder))?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ENDING)) {
                paths.push(path);
            }
        }
        paths.sort();
        let load = |path: PathBuf| {
            if !fs::metadata(&path).map_err(io(&path))?.is_file() {
                return Err(StoreError::NoFile { path });
            }
            let text = fs::read_to_string(&path).map_err(io(&path))?;
            match SavedCase::parse(&text) {
                Ok(case) => Ok((path, case)),
                Err(source) => Err(StoreError::Case { path, source }),
            }
        };
        paths.into_iter().map(load).collect()
    }

    /// Saves a case and gives its path. The name is made of the invariant and the steps, so that a case that is there already
    /// is not written again; another one of the same name is never overwritten. The file appears whole or not at all.
    ///
    /// # Errors
    /// Where the folder cannot be made or the file not be written.
    pub fn save(&self, case: &SavedCase) -> io::Result<PathBuf> {
        let put_in =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.folder.display()));
        self.put(case).map_err(put_in)
    }

    fn put(&self, case: &SavedCase) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let name = name_of(case);
        let beside = self.folder.join(format!(".{name}-{}.tmp", unique()));
        let mut number = 1;
        loop {
            let path = match number {
                1 => self.folder.join(format!("{name}{ENDING}")),
                _ => self.folder.join(format!("{name}-{number}{ENDING}")),
            };
            match fs::read_to_string(&path) {
                Ok(text) if is_same(&text, case) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let put =
                        write_whole(&beside, &(case.to_json() + "\n")).and_then(|()| put(&beside, &path));
                    // Its work is done, or what was begun is of no use to anybody.
                    let _ = fs::remove_file(&beside);
                    if put? {
                        return Ok(path);
                    }
                    // Somebody else was faster: look what is there now.
                }
                // Another case, or none that can be read: it is not ours to overwrite.
                _ => number += 1,
            }
        }
    }
}

/// The steps decide: the sentence may be worded anew in a later version.
fn is_same(text: &str, case: &SavedCase) -> bool {
    SavedCase::parse(text).is_ok_and(|saved| saved.case == case.case && saved.invariant == case.invariant)
}

fn name_of(case: &SavedCase) -> String {
    let invariant = case.invariant.as_deref().unwrap_or("case");
    let word: String =
        invariant.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    format!("{word}-{}", short_hash(&SavedCase::bare(case.case.clone()).to_json()))
}

/// A word that no other save that runs at this time has, in this process or in another.
fn unique() -> String {
    static SAVES: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), SAVES.fetch_add(1, Ordering::Relaxed))
}

/// Gives a whole file its name; `false` where the name was taken meanwhile.
fn put(beside: &Path, path: &Path) -> io::Result<bool> {
    match fs::hard_link(beside, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // A file system without links; a rename would overwrite.
        Err(_) if path.exists() => Ok(false),
        Err(_) => fs::rename(beside, path).map(|()| true),
    }
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn short_hash(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}
