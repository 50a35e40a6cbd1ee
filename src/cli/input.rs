//! Opening what a path names: a file, standard input, or the files of a folder.

use crate::check::Settings;
use crate::history::ToolOutputLimit;
use crate::item::Modalities;
use crate::rollout::Caps;
use crate::source::{self, Dialect, Source, SourceError};
use clap::ValueEnum;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// `--dialect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DialectArg {
    /// Tell it by the content
    Auto,
    /// Items of the Responses API
    Responses,
    /// Messages of the Chat Completions API (told, not read yet)
    Chat,
    /// Messages of the Anthropic API (told, not read yet)
    Anthropic,
    /// Contents of the Gemini API (told, not read yet)
    Gemini,
}

impl DialectArg {
    fn forced(self) -> Option<Dialect> {
        match self {
            DialectArg::Auto => None,
            DialectArg::Responses => Some(Dialect::Responses),
            DialectArg::Chat => Some(Dialect::Chat),
            DialectArg::Anthropic => Some(Dialect::Anthropic),
            DialectArg::Gemini => Some(Dialect::Gemini),
        }
    }
}

/// How a file is read, and what becomes of its history
#[derive(Debug, clap::Args)]
pub(super) struct HistoryArgs {
    /// Whose history it is
    #[arg(long, value_enum, default_value = "auto")]
    pub(super) dialect: DialectArg,
    /// What the next model accepts: text, or text,image
    #[arg(long, default_value_t = Modalities::TextAndImage, value_name = "LIST")]
    modalities: Modalities,
    /// Where tool outputs of a rollout are cut: bytes:N or tokens:N; the budget is 1.2 times N
    #[arg(long, default_value_t = ToolOutputLimit::default(), value_name = "LIMIT")]
    tool_output_limit: ToolOutputLimit,
}

impl HistoryArgs {
    pub(super) fn settings(&self) -> Settings {
        Settings { modalities: self.modalities, limit: self.tool_output_limit }
    }
}

/// Why a path gives no history.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// It cannot be opened or read.
    #[error("cannot be opened: {0}; check the path and who may read it")]
    Io(#[from] io::Error),
    /// It is a folder.
    #[error("is a folder; name a file in it")]
    Folder,
    /// What comes through a pipe is longer than this.
    #[error("is longer than {0} bytes, the most that is read from a pipe; write it to a file")]
    PipeTooLong(u64),
    /// It is of no use as a history.
    #[error("{0}")]
    Source(#[from] SourceError),
}

/// The most that is read from something that cannot be read twice, in bytes: it is held in memory.
const PIPE_CAP: u64 = 512 << 20;

/// Reads the file at `path`; `-` is standard input.
pub(super) fn read(path: &Path, dialect: DialectArg) -> Result<Source, InputError> {
    let caps = Caps::default();
    if is_stdin(path) {
        return Ok(source::read(&mut held(io::stdin().lock())?, dialect.forced(), caps)?);
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(InputError::Folder);
    }
    if metadata.is_file() {
        return Ok(source::read(&mut file, dialect.forced(), caps)?);
    }
    Ok(source::read(&mut held(file)?, dialect.forced(), caps)?)
}

/// Reads what was read already, of standard input.
pub(super) fn read_held(bytes: Vec<u8>) -> Result<Source, InputError> {
    Ok(source::read(&mut Cursor::new(bytes), None, Caps::default())?)
}

/// All bytes of what cannot be read twice.
fn held(reader: impl Read) -> Result<Cursor<Vec<u8>>, InputError> {
    let mut bytes = Vec::new();
    if reader.take(PIPE_CAP + 1).read_to_end(&mut bytes)? as u64 > PIPE_CAP {
        return Err(InputError::PipeTooLong(PIPE_CAP));
    }
    Ok(Cursor::new(bytes))
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path to check, and whether a search of a folder found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: PathBuf,
    pub(super) searched: bool,
}

/// What the paths of a command line name: files as they are, folders by the files in them, sorted.
pub(super) fn expand(paths: &[PathBuf]) -> impl Iterator<Item = Result<Named, (PathBuf, String)>> {
    paths.iter().flat_map(|path| -> Box<dyn Iterator<Item = _>> {
        if is_stdin(path) || !path.is_dir() {
            return Box::new(std::iter::once(Ok(Named { path: path.clone(), searched: false })));
        }
        let mut files = search(path).peekable();
        if files.peek().is_none() {
            let why = "holds no *.jsonl, *.jsonl.zst or *.json".to_owned();
            return Box::new(std::iter::once(Err((path.clone(), why))));
        }
        Box::new(files)
    })
}

fn search(folder: &Path) -> impl Iterator<Item = Result<Named, (PathBuf, String)>> + use<> {
    let folder = folder.to_owned();
    WalkDir::new(&folder).sort_by_file_name().into_iter().filter_map(move |entry| match entry {
        Ok(entry) if entry.file_type().is_file() && is_history_name(entry.path()) => {
            Some(Ok(Named { path: entry.into_path(), searched: true }))
        }
        Ok(_) => None,
        Err(error) => {
            let path = error.path().unwrap_or(&folder).to_owned();
            let why = error.io_error().map(ToString::to_string);
            Some(Err((path, format!("cannot be searched: {}", why.unwrap_or_else(|| error.to_string())))))
        }
    })
}

fn is_history_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    [".jsonl", ".jsonl.zst", ".json"].iter().any(|ending| name.ends_with(ending))
}
