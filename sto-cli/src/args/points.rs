//! Files of points.

use crate::runtime::{CliError, text};
use std::path::Path;

/// Size limit of a table, in bytes: about 20 million points.
const MAX_TABLE: u64 = 1 << 30;

/// Reads a file of points; `-` is standard input.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(crate) fn read_points(path: &Path) -> Result<String, CliError> {
    text::read_or_stdin(path, MAX_TABLE).map_err(|source| CliError::ReadFile {
        path: path.to_owned(),
        source,
    })
}
