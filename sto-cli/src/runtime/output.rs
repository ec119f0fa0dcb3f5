//! Writes results to standard output or to a file.

use crate::runtime::interrupt::temporaries;
use crate::runtime::{CliError, pager, ui};
use clap::{Args, ValueEnum};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use sto_core::files::Folder;
use sto_query::results::{Answer, json};
use sto_query::text::Style;

/// Output format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// The choice between text and JSON, for every command that prints data.
#[derive(Debug, Args)]
pub(crate) struct FormatArg {
    /// Write the result in this format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

impl FormatArg {
    /// Text, for people.
    pub(crate) fn text() -> Self {
        FormatArg {
            format: Format::Text,
        }
    }

    /// Whether the format is text.
    pub(crate) fn is_text(&self) -> bool {
        self.format == Format::Text
    }

    /// Prints an answer to standard output, with this renderer or as JSON.
    pub(crate) fn print<A: Answer>(
        &self,
        answer: &A,
        text: impl FnOnce(&A, Style) -> String,
    ) -> Result<(), CliError> {
        self.format.print(answer, text)
    }
}

impl Format {
    /// Prints an answer to standard output, with this renderer or as JSON.
    pub(crate) fn print<A: Answer>(
        self,
        answer: &A,
        text: impl FnOnce(&A, Style) -> String,
    ) -> Result<(), CliError> {
        match self {
            Format::Text => show(&text(answer, ui::style())),
            Format::Json => {
                let json = json(answer).expect("answers have no keys but strings");
                write_stdout(json.as_bytes())
            }
        }
    }
}

/// The file that the user named for output; `None` for standard output.
pub(crate) fn file(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| !["-", "/dev/stdout"].map(Path::new).contains(path))
}

/// The number of entries that a command lists.
#[derive(Debug, Args)]
pub(crate) struct LimitArg {
    /// List at most this many; 0 lists all [default: 30 in text, all in JSON]
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,
}

impl LimitArg {
    /// The maximum number that the user gave; `None` for all.
    pub(crate) fn given(&self) -> Option<usize> {
        self.limit.filter(|&limit| limit > 0)
    }

    /// The maximum number to list; `None` for all.
    pub(crate) fn for_format(&self, format: &FormatArg) -> Option<usize> {
        let limit = self.limit.or(format.is_text().then_some(30));
        limit.filter(|&limit| limit > 0)
    }
}

/// Writes text to standard output, through a pager if it is longer than the terminal.
pub(crate) fn show(text: &str) -> Result<(), CliError> {
    if pager::show(text) {
        Ok(())
    } else {
        write_stdout(text.as_bytes())
    }
}

/// Writes all data to standard output.
///
/// If the reader closes the pipe early, as `head` does, that is not an error.
pub(crate) fn write_stdout(data: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Replaces a file atomically: readers see the old or the new content.
///
/// Special files (`/dev/stdout`, a named pipe) are written directly.
pub(crate) fn write_file(path: &Path, data: &[u8]) -> Result<(), CliError> {
    let written = match fs::metadata(path) {
        Ok(found) if !found.is_file() => File::create(path).and_then(|mut f| f.write_all(data)),
        // Follow a symbolic link, so that the link is kept.
        Ok(_) => fs::canonicalize(path).and_then(|target| replace(&target, data)),
        Err(_) => replace(path, data),
    };
    written.map_err(|source| CliError::WriteFile {
        path: path.to_owned(),
        source,
    })
}

/// Replaces a file and keeps its mode, or creates a new one.
fn replace(path: &Path, data: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = Arc::new(Folder::open_parent(path)?);
    let old = folder.access_rights(name)?;
    let start = OsStr::new(".sto-");
    let new = match old {
        Some(_) => temporaries().new_private_in(&folder, start)?,
        None => temporaries().new_in(&folder, start)?,
    };
    let mut file = new.file();
    file.write_all(data).and_then(|()| file.sync_all())?;
    match old {
        Some(old) => new.replace(name, old),
        None => new.persist(name),
    }
}

/// Whether a file's name has this extension, ignoring case.
pub(crate) fn ends_in(file: &Path, extension: &str) -> bool {
    let found = file.extension();
    found.is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
