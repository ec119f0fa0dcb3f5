//! Temporary files beside a store: what is to become one, or only shows that there is room.
//!
//! Such a file gets the store's name when it is complete, so a store is there as a whole or not at all.
//! What killed processes leave is removed by the next one that writes.

use crate::error::{StoreError, cannot};
use crate::file::lock::{LockedFolder, Turn};
use crate::file::names::{anew, made};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use sto_model::files::{Folder, Temporary};

/// A new, empty file beside a store.
pub(crate) fn temporary_beside(path: &Path, turn: &Turn) -> Result<Temporary, StoreError> {
    let folder = Folder::of(path).map(Arc::new);
    let new = folder.and_then(|folder| turn.temporaries().new_in(&folder, &made(path)));
    new.map_err(|error| cannot("make a file in", &Folder::path_of(path), error))
}

/// A new, empty file that is to replace the store, which only this user may open until it does.
pub(crate) fn temporary_to_replace(
    path: &Path,
    locked: &LockedFolder,
    turn: &Turn,
) -> io::Result<Temporary> {
    turn.temporaries().private_in(&locked.folder, &anew(path))
}

/// A new, empty file that is to become a store.
pub(crate) fn temporary_to_publish(
    path: &Path,
    locked: &LockedFolder,
    turn: &Turn,
) -> io::Result<Temporary> {
    turn.temporaries().new_in(&locked.folder, &anew(path))
}

/// Removes the temporary files that killed processes left beside a store.
///
/// Another process may just be making the store as well. It finds that this one was quicker.
pub(crate) fn remove_leftovers(path: &Path, locked: &LockedFolder) {
    for start in [anew(path), made(path)] {
        locked.folder.remove_temporaries(&start);
    }
}

/// Checks that there is room for this many bytes more, while nothing is changed yet. redb leaves
/// its file as large as it had become where the disk is full, and the disk stays full.
pub(crate) fn check_room(path: &Path, bytes: u64, turn: &Turn) -> Result<(), StoreError> {
    // An eighth more for the pages that lead to new ones; then what redb keeps for itself.
    let room = bytes + bytes / 8 + (64 << 10);
    temporary_beside(path, turn)?
        .into_nameless()
        .and_then(|mut file| io::copy(&mut io::repeat(0).take(room), &mut file))
        .map_err(|error| cannot("write", path, error))?;
    Ok(())
}
