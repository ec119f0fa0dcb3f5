//! Whose a file is that nobody named, and that was found on the way up from the working directory.
//!
//! `/tmp`, or a folder above a shared one, may have a store or a policy of anybody. As git does with a
//! repository (its `safe.directory`), one of another user is refused unless it is named.

use crate::runtime::CliError;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sto_core::files::User;

/// Checks that a file or folder that was found is this user's, where there is one.
///
/// Root may be who calls for another user: that one's are root's then, as sudo says.
pub(crate) fn check(path: &Path, what: &'static str, option: &'static str) -> Result<(), CliError> {
    let own = User::of_this_process();
    let sudo = std::env::var("SUDO_UID")
        .ok()
        .and_then(|id| id.parse().ok());
    let sudo = sudo.map(User).filter(|_| own == User::ROOT);
    // A link, and what it leads to.
    for found in [path.symlink_metadata(), path.metadata()]
        .into_iter()
        .flatten()
    {
        let owner = User(found.uid());
        if owner != own && Some(owner) != sudo {
            return Err(CliError::OtherUsers {
                what,
                path: path.to_owned(),
                owner,
                option,
            });
        }
    }
    Ok(())
}
