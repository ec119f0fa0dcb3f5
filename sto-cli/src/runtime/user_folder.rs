//! Folders of this user, by the XDG base directory specification.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder in a variable, otherwise `default` below `$HOME`. Empty or relative paths are ignored.
pub(crate) fn user_folder(
    variable: &dyn Fn(&str) -> Option<OsString>,
    name: &str,
    default: &str,
) -> Option<PathBuf> {
    let path = |name: &str| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    path(name).or_else(|| Some(path("HOME")?.join(default)))
}
