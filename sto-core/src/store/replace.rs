//! Putting a store that was written anew into the place of the old one.
//!
//! The new file is made beside the old one and renamed over it: so the store is the old or the new
//! one at any moment, whatever happens, and who reads the old one reads on. The work holds a
//! reader's lock on the old file until then, which keeps writers out; who waited to write finds
//! that the file was replaced, and opens the new one.

use super::Store;
use super::access::{Place, in_memory};
use super::draft::{Draft, folder_of, locked_draft, publish};
use super::error::{Fault, StoreError};
use super::guard::guarded;
use super::lock::lock_folder;
use super::open;
use super::rewrite::rewrite;
use super::rows::Rows;
use crate::id::ProfileId;
use crate::units::Bytes;
use redb::{Database, ReadableDatabase};
use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// The sizes of a store's file before and after it was written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// Its size before; zero in memory.
    pub before: Bytes,
    /// Its size now, or what it would be.
    pub after: Bytes,
}

impl Store {
    /// Writes the store anew, without the space that redb and removed profiles left free, and with
    /// everything in an order that depends on the profiles alone: stores of the same profiles and
    /// tags become the same bytes.
    ///
    /// # Errors
    /// Where the store is damaged, the disk has no room for a second copy, or other processes write
    /// for too long. The store is then as it was.
    pub fn compact(&self) -> Result<Rewritten, StoreError> {
        self.rewrite(&BTreeSet::new(), true)
    }

    /// Removes profiles, with the frames, stacks and builds that no other profile has, and the tags of
    /// such builds. Ids that the
    /// store does not have are passed over.
    ///
    /// # Errors
    /// As [`Store::compact`].
    pub fn prune(&self, profiles: &BTreeSet<ProfileId>) -> Result<Rewritten, StoreError> {
        self.rewrite(profiles, true)
    }

    /// What [`Store::prune`] would come to, found out by doing it beside the store.
    ///
    /// # Errors
    /// As [`Store::compact`].
    pub fn try_prune(&self, profiles: &BTreeSet<ProfileId>) -> Result<Rewritten, StoreError> {
        self.rewrite(profiles, false)
    }

    /// Writes some profiles, and the tags of their builds, into a file of their own, which is a store
    /// in itself: it can be opened, and merged into another one. The same profiles and tags become the
    /// same bytes.
    ///
    /// Returns its size.
    ///
    /// # Errors
    /// Where the file exists already or cannot be written, or the store does not have one of the
    /// profiles, or is damaged.
    pub fn export(&self, profiles: &BTreeSet<ProfileId>, path: &Path) -> Result<Bytes, StoreError> {
        let cannot = |source| open::cannot("make", path, source);
        let folder = folder_of(path);
        fs::metadata(&folder).map_err(cannot)?;
        let _alone = lock_folder(path)?;
        if path.file_name().is_none() || path.symlink_metadata().is_ok() {
            let taken = io::Error::new(
                io::ErrorKind::AlreadyExists,
                "something of this name exists",
            );
            return Err(cannot(taken));
        }
        let keep = |id| profiles.contains(&id);
        let result = self.read(|rows| {
            for &id in profiles {
                if !rows.has_profile(id)? {
                    return Err(Fault::NoProfile(id));
                }
            }
            let written = write_file(rows, &keep, locked_draft(path));
            Ok(written.map_err(|fault| fault.copying(self.path(), path)))
        });
        let published = result.flatten().and_then(|(draft, size)| {
            publish(&draft, path).map_err(cannot)?;
            Ok(size)
        });
        open::sync_folder(&folder);
        published
    }

    fn rewrite(&self, gone: &BTreeSet<ProfileId>, replace: bool) -> Result<Rewritten, StoreError> {
        let keep = |id| !gone.contains(&id);
        let file = match &self.place {
            Place::Folder { file, .. } => file,
            Place::Memory(database) => {
                return rewrite_memory(database, &keep, replace)
                    .map_err(|fault| fault.at(in_memory(), "write"));
            }
        };
        if !self.file_exists()? {
            let nothing = Bytes(0);
            return Ok(Rewritten {
                before: nothing,
                after: nothing,
            });
        }
        let file = &open::real_path(file)?;
        let folder = folder_of(file);
        let _alone = lock_folder(file)?;
        let result = guarded(|| {
            let reading = open::reading_first(file)?;
            let rows = Rows::open(&reading.begin()?)?;
            let before = fs::metadata(file)?;
            let draft = locked_draft(file);
            let written = write_file(&rows, &keep, draft.clone()).and_then(|(draft, after)| {
                if replace {
                    keep_owner(&draft.path, &before)?;
                    fs::rename(&draft.path, file)?;
                }
                Ok(Rewritten {
                    before: Bytes(before.len()),
                    after,
                })
            });
            Ok(written.map_err(|fault| fault.copying(file, &draft)))
        });
        open::sync_folder(&folder);
        result
            .map_err(|fault| fault.at(file, "read"))
            .and_then(|written| written)
    }
}

/// Lets the same people read and write the new file: who writes it anew may be another one than who
/// made it.
#[cfg(unix)]
fn keep_owner(draft: &Path, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, chown};
    // Only root may give a file away; others may give it to a group of theirs.
    if chown(draft, Some(old.uid()), Some(old.gid())).is_err() {
        let _ = chown(draft, None, Some(old.gid()));
    }
    fs::set_permissions(draft, old.permissions())
}

#[cfg(not(unix))]
fn keep_owner(draft: &Path, old: &Metadata) -> io::Result<()> {
    fs::set_permissions(draft, old.permissions())
}

fn rewrite_memory(
    database: &RwLock<Database>,
    keep: &dyn Fn(ProfileId) -> bool,
    replace: bool,
) -> Result<Rewritten, Fault> {
    let mut place = database.write().unwrap_or_else(PoisonError::into_inner);
    let new = open::in_memory()?;
    rewrite(&Rows::open(&place.begin_read()?)?, keep, &new)?;
    if replace {
        *place = new;
    }
    Ok(Rewritten {
        before: Bytes(0),
        after: Bytes(0),
    })
}

/// Writes chosen profiles into a new file; returns it with its size.
fn write_file(
    rows: &Rows,
    keep: &dyn Fn(ProfileId) -> bool,
    path: PathBuf,
) -> Result<(Draft, Bytes), Fault> {
    // A killed process may have left it.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let (draft, file) = Draft::create(path)?;
    let mut database = open::fresh(file)?;
    rewrite(rows, keep, &database)?;
    database.compact()?;
    drop(database);
    let size = Bytes(fs::metadata(&draft.path)?.len());
    Ok((draft, size))
}
