//! Shared checks of all targets.

use std::backtrace::Backtrace;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::abort;
use std::sync::LazyLock;

/// Aborts on a panic in code of this repository, even if a guard would catch it. Guards exist for
/// libraries that are known to panic on damaged files; a panic in a library aborts only if nothing catches it.
pub(crate) fn panics_of_sto_end_all() {
    panic::set_hook(Box::new(|info| {
        let is_of = |part: &str| info.location().is_some_and(|at| at.file().contains(part));
        if !is_of("/registry/src/") {
            crate::names::give_standard_error_back();
            eprintln!("{info}\n{}", Backtrace::force_capture());
            abort();
        }
    }));
}

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
