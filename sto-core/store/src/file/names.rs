//! Names of a store's file and of the temporary files next to it.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use sto_model::files::Folder;

/// The name of a file in its folder.
pub(crate) fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// How the name of a store begins that is written anew; only who has the folder locked does that.
pub(super) fn anew(path: &Path) -> OsString {
    named_after(path, "new-")
}

/// How the name of any other temporary file beside a store begins.
pub(super) fn made(path: &Path) -> OsString {
    named_after(path, "made-")
}

fn named_after(path: &Path, suffix: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(name_of(path));
    name.push(".");
    name.push(suffix);
    name
}

/// Whether somebody writes the store at this path anew.
pub(crate) fn is_written_anew(path: &Path, folder: &Folder) -> bool {
    folder.has_temporary(&anew(path))
}
