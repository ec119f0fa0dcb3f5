//! Putting a store that was written anew into the place of the old one.
//!
//! The new file is made beside the old one and renamed over it: so the store is the old or the new
//! one at any moment, whatever happens, and who reads the old one reads on. The work holds a
//! reader's lock on the old file until then, which keeps writers out; who waited to write finds
//! that the file was replaced, and opens the new one.

use super::error::{Fault, StoreError};
use super::guard::guarded;
use super::open;
use super::rewrite::rewrite;
use super::rows::Rows;
use super::tables::FILE_NAME;
use super::{Place, Store, in_memory};
use crate::id::ProfileId;
use crate::units::Bytes;
use redb::{Database, ReadableDatabase};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;
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
    /// everything in an order that depends on the profiles alone: stores of the same profiles
    /// become the same bytes.
    ///
    /// # Errors
    /// Where the store is damaged, the disk has no room for a second copy, or other processes write
    /// for too long. The store is then as it was.
    pub fn compact(&self) -> Result<Rewritten, StoreError> {
        self.rewrite(&BTreeSet::new(), true)
    }

    /// Removes profiles, with the frames, stacks and builds that no other profile has. Ids that the
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

    /// Writes some profiles into a file of their own, which is a store in itself: it can be opened,
    /// and merged into another one. The same profiles become the same bytes.
    ///
    /// Returns its size.
    ///
    /// # Errors
    /// Where the file exists already or cannot be written, or the store does not have one of the
    /// profiles, or is damaged.
    pub fn export(&self, profiles: &BTreeSet<ProfileId>, path: &Path) -> Result<Bytes, StoreError> {
        let cannot = |source| open::cannot("make", path, source);
        // Also keeps others from making it meanwhile.
        File::create_new(path).map_err(cannot)?;
        let result = self.read(|rows| {
            for &id in profiles {
                if !rows.has_profile(id)? {
                    return Err(Fault::NoProfile(id));
                }
            }
            let keep = |id| profiles.contains(&id);
            Ok(write_file(rows, &keep, path).map_err(|fault| fault.at(path, "write")))
        });
        result.flatten().inspect_err(|_| {
            // What is left of it is no store.
            let _ = fs::remove_file(path);
        })
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
        // A link to a store stays one.
        let file = &fs::canonicalize(file).map_err(|error| open::cannot("read", file, error))?;
        let folder = file.parent().unwrap_or(file);
        let _alone = open::lock_folder(folder)?;
        let draft = folder.join(format!(".{FILE_NAME}.new"));
        let result = guarded(|| {
            let reading = open::reading(file)?;
            let rows = Rows::open(&reading.begin()?)?;
            remove(&draft)?;
            let rewritten = Rewritten {
                before: file_size(file)?,
                after: write_file(&rows, &keep, &draft)?,
            };
            if replace {
                fs::set_permissions(&draft, fs::metadata(file)?.permissions())?;
                fs::rename(&draft, file)?;
            }
            Ok(rewritten)
        });
        // A failure, a dry run, or one that was killed before may have left it.
        let _ = fs::remove_file(&draft);
        open::sync_folder(folder);
        result.map_err(|fault| fault.at(file, "write"))
    }
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

/// Writes chosen profiles into a new file; returns its size.
fn write_file(rows: &Rows, keep: &dyn Fn(ProfileId) -> bool, path: &Path) -> Result<Bytes, Fault> {
    let mut database = open::new_file(path)?;
    rewrite(rows, keep, &database)?;
    database.compact()?;
    drop(database);
    file_size(path)
}

fn file_size(path: &Path) -> Result<Bytes, Fault> {
    Ok(Bytes(fs::metadata(path)?.len()))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
