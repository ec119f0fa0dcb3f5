//! Reads text files that the user or a repository names.

use crate::runtime::CliError;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use sto_core::files::{Links, RegularFile};

/// Size limit of a policy or configuration, in bytes.
const MAX_SETTINGS: u64 = 16 << 20;

/// Reads a policy or configuration.
///
/// # Errors
/// See [`read`].
pub(crate) fn read_settings(path: &Path) -> Result<String, CliError> {
    read(path, MAX_SETTINGS).map_err(|source| CliError::ReadFile {
        path: path.to_owned(),
        source,
    })
}

/// Reads a text file of at most `most` bytes. Never waits for a pipe, unless a shell passed it to this process.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a regular file, is longer, or is not UTF-8.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<String> {
    if path.starts_with("/dev/fd") {
        return read_stream(File::open(path)?, most);
    }
    let found = RegularFile::open(path, Links::Follow)?;
    found.check_size(most)?;
    read_stream(found.file, most)
}

/// Like [`read`], but `-` is standard input.
///
/// # Errors
/// See [`read`].
pub(crate) fn read_or_stdin(path: &Path, most: u64) -> io::Result<String> {
    if path == Path::new("-") {
        read_stream(io::stdin().lock(), most)
    } else {
        read(path, most)
    }
}

/// Like [`read`], for a stream.
///
/// # Errors
/// See [`read`].
pub(crate) fn read_stream(stream: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    if stream.take(most + 1).read_to_string(&mut text)? as u64 > most {
        Err(sto_core::files::too_large_error(most))
    } else {
        Ok(text)
    }
}
