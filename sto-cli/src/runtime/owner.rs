//! Checks the owner of files that were found by searching upwards from the working directory.
//!
//! Any user may put a store or a policy into `/tmp` or into a folder above a shared one. Files of another user are refused
//! unless they are named, as git refuses repositories (`safe.directory`).

use crate::runtime::CliError;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sto_core::files::User;

/// Returns an error if a file or folder that was found belongs to another user.
///
/// For root, files of the user who called sudo are accepted, too.
pub(crate) fn check(path: &Path, what: &'static str, option: &'static str) -> Result<(), CliError> {
    let own = User::current();
    let sudo = std::env::var("SUDO_UID")
        .ok()
        .and_then(|id| id.parse().ok());
    let sudo = sudo.map(User).filter(|_| own == User::ROOT);
    // Check a link and its target.
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
