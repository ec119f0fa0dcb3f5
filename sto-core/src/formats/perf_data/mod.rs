//! `perf.data`.

use super::{FormatError, Recording};
use std::path::Path;

/// Reads the bytes of a `perf.data` file; `path` is for messages.
pub(super) fn read(path: &Path, _bytes: &[u8]) -> Result<Recording, FormatError> {
    Err(FormatError::Unsupported {
        path: path.to_owned(),
        problem: "perf.data cannot be read yet".to_owned(),
    })
}
