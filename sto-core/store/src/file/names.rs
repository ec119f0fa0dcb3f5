//! Names of a store's file and of the temporary files next to it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use sto_model::files::Folder;

/// The name of a file without its folder.
pub(crate) fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// Prefix of the temporary file that is to replace a store or become one. Its maker has the folder locked.
pub(super) fn rewrite_prefix(path: &Path) -> OsString {
    named_after(path, "new-")
}

/// Prefix of all other temporary files next to a store.
pub(super) fn temporary_prefix(path: &Path) -> OsString {
    named_after(path, "made-")
}

fn named_after(path: &Path, suffix: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(name_of(path));
    name.push(".");
    name.push(suffix);
    name
}

/// Whether a process is rewriting the store at this path.
pub(crate) fn is_being_rewritten(path: &Path, folder: &Folder) -> bool {
    folder.has_temporary_file(&rewrite_prefix(path))
}
