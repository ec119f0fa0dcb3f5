//! Text files that the user, or a repository, names.

use crate::runtime::CliError;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use sto_core::files::{Links, SafeFile};

/// Longest policy or configuration, in bytes.
const MAX_SETTINGS: u64 = 16 << 20;

/// A policy or configuration.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_settings(path: &Path) -> Result<String, CliError> {
    read(path, MAX_SETTINGS).map_err(|source| CliError::ReadFile {
        path: path.to_owned(),
        source,
    })
}

/// A text file of at most so many bytes. Never waits for a pipe, unless a shell handed it to this process.
///
/// # Errors
/// Where it cannot be read, is no regular file, is longer, or is not UTF-8.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<String> {
    if path.starts_with("/dev/fd") {
        return read_stream(File::open(path)?, most);
    }
    let found = SafeFile::open(path, Links::Follow)?;
    found.check_size(most)?;
    read_stream(found.file, most)
}

/// The same, where `-` is standard input.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_or_stdin(path: &Path, most: u64) -> io::Result<String> {
    match path == Path::new("-") {
        true => read_stream(io::stdin().lock(), most),
        false => read(path, most),
    }
}

/// The same of a stream.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_stream(stream: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    match stream.take(most + 1).read_to_string(&mut text)? as u64 > most {
        true => Err(sto_core::files::too_large(most)),
        false => Ok(text),
    }
}
