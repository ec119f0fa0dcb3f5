//! Folders and files that targets share.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A folder for the files of a target; in memory if `TMPDIR` is.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> =
        LazyLock::new(|| tempfile::tempdir().expect("a folder for files"));
    FOLDER.path()
}

/// A file of `testdata`.
pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(name)
}
