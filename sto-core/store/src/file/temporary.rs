//! Temporary files next to a store: future stores, and files that test for free disk space.
//!
//! A file gets the store's name only when it is complete, so a store is never visible half-written.
//! The next writer removes the files of killed processes.

use crate::error::{StoreError, system_error};
use crate::file::lock::{LockedFolder, Turn};
use crate::file::names::{rewrite_prefix, temporary_prefix};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use sto_model::files::{Folder, TemporaryFile};

/// Creates an empty temporary file next to a store.
pub(crate) fn temporary_next_to(path: &Path, turn: &Turn) -> Result<TemporaryFile, StoreError> {
    let folder = Folder::open_parent(path).map(Arc::new);
    let new = folder.and_then(|folder| turn.temporaries().new_in(&folder, &temporary_prefix(path)));
    new.map_err(|error| system_error("make a file in", &Folder::parent_path(path), error))
}

/// Creates an empty file that will replace the store. Until then only this user can open it.
pub(crate) fn temporary_to_replace(
    path: &Path,
    locked: &LockedFolder,
    turn: &Turn,
) -> io::Result<TemporaryFile> {
    turn.temporaries()
        .new_private_in(&locked.folder, &rewrite_prefix(path))
}

/// Creates an empty file that will become a new store.
pub(crate) fn temporary_to_publish(
    path: &Path,
    locked: &LockedFolder,
    turn: &Turn,
) -> io::Result<TemporaryFile> {
    turn.temporaries()
        .new_in(&locked.folder, &rewrite_prefix(path))
}

/// Removes the temporary files of killed processes next to a store.
///
/// This may also remove the file of a process that is just creating the same store; that process
/// then finds the store already there.
pub(crate) fn remove_leftovers(path: &Path, locked: &LockedFolder) {
    for start in [rewrite_prefix(path), temporary_prefix(path)] {
        locked.folder.remove_temporary_files(&start);
    }
}

/// Checks that the disk has room for this many bytes more before anything is changed. If the disk fills
/// up during a write, redb does not shrink its file, and the disk stays full.
pub(crate) fn check_room(path: &Path, bytes: u64, turn: &Turn) -> Result<(), StoreError> {
    // Plus an eighth for branch pages, plus redb's own data.
    let room = bytes + bytes / 8 + (64 << 10);
    temporary_next_to(path, turn)?
        .into_unlinked()
        .and_then(|mut file| io::copy(&mut io::repeat(0).take(room), &mut file))
        .map_err(|error| system_error("write", path, error))?;
    Ok(())
}
