//! Folders and files for several targets.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Returns the folder for the files of a target; it is in memory if `TMPDIR` is.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> =
        LazyLock::new(|| tempfile::tempdir().expect("a folder for files"));
    FOLDER.path()
}

/// Returns the path of a file in `testdata`.
pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(name)
}
