//! Replaces a store by a rewritten one.
//!
//! The new file is written next to the old one and renamed over it, so the path always has either the old
//! or the new store, and readers of the old one are not disturbed. Until the rename, the operation holds a
//! shared lock on the old file, which keeps writers out. A writer that waited finds that the file was
//! replaced, and opens the new one.

use crate::error::{self, InternalError, StoreError};
use crate::file::access::Backing;
use crate::file::lock::lock_folder;
use crate::file::names::name_of;
use crate::file::open;
use crate::file::space::reserve;
use crate::file::temporary::{remove_leftovers, temporary_to_publish, temporary_to_replace};
use crate::guard::guarded;
use crate::maintain::rewrite::rewrite;
use crate::read::rows::{NewRows, Rows};
use crate::tables::Record;
use crate::write::Removal;
use crate::write::tags;
use crate::{Snapshot, Store};
use redb::{Database, ReadableDatabase};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use sto_model::files::{Folder, MemoryFile};
use sto_model::id::ProfileId;
use sto_model::system::{Reserve, file_id};
use sto_model::units::Bytes;

/// The sizes of a store's file before and after it was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Rewritten {
    /// Size before; zero in memory.
    #[serde(rename = "bytes_before")]
    pub before: Bytes,
    /// Size after, also for a trial run.
    #[serde(rename = "bytes_after")]
    pub after: Bytes,
    /// Whether profiles were only removed from the file, because the disk had no room for a second copy. The file
    /// then still contains stacks that no profile uses.
    #[serde(skip)]
    pub in_place: bool,
}

impl Store {
    /// Rewrites the store without free space, in an order that depends only on its profiles: stores of the
    /// same profiles and tags become identical files.
    ///
    /// # Errors
    /// Returns an error if the store is damaged, the disk has no room for a second copy, or other processes
    /// write for too long. The store is then unchanged.
    pub fn compact(&self) -> Result<Rewritten, StoreError> {
        self.rewrite(&BTreeSet::new(), true)
    }

    /// Removes profiles, with the frames, stacks and builds that no other profile uses, and the tags of
    /// those builds. Ignores ids that are not in the store.
    ///
    /// If the disk has no room for a second copy, removes the profiles from the file in place, and then rewrites
    /// it if there is room.
    ///
    /// # Errors
    /// Like [`Store::compact`]; if the disk is full and an error occurs, some profiles may already be removed.
    pub fn prune(&self, profiles: &BTreeSet<ProfileId>) -> Result<Rewritten, StoreError> {
        let before = self.file_size()?;
        match self.rewrite(profiles, true) {
            Err(error) if error.is_disk_full() && !profiles.is_empty() => {}
            done => return done,
        }
        self.remove(profiles)?;
        let (after, in_place) = match self.compact() {
            Err(error) if error.is_disk_full() => (self.file_size()?, true),
            compacted => (compacted?.after, false),
        };
        Ok(Rewritten {
            before,
            after,
            in_place,
        })
    }

    /// Removes profiles from the file in place and frees their space. A transaction needs room for the pages
    /// that it changes. So the first removes one profile, and each later one, which can reuse the freed pages,
    /// twice as many as the one before.
    fn remove(&self, profiles: &BTreeSet<ProfileId>) -> Result<(), StoreError> {
        let all: Vec<ProfileId> = profiles.iter().copied().collect();
        self.writer().write(None, |session| {
            let mut left = &all[..];
            let mut count = 1;
            while !left.is_empty() {
                let (next, later) = left.split_at(count.min(left.len()));
                (left, count) = (later, 2 * count);
                let transaction = session.begin()?;
                let rows = Rows::open(&session.database.begin_read()?)?;
                let mut new = NewRows::new(rows.contents);
                let next = next.iter().copied().collect();
                let gone = Removal::new(&rows, &next)?.write(&rows, &mut new)?;
                let mut tags = rows.tags()?;
                tags.retain(|tag| !gone.contains(&tag.build()));
                drop(rows);
                new.write(&transaction)?;
                tags::write(&transaction, &tags)?;
                transaction.commit()?;
            }
            Ok(())
        })
    }

    /// Returns the result of [`Store::prune`] without changing the store. It writes a temporary file next to the
    /// store, or in memory if the disk is full.
    ///
    /// # Errors
    /// Like [`Store::compact`].
    pub fn try_prune(&self, profiles: &BTreeSet<ProfileId>) -> Result<Rewritten, StoreError> {
        self.rewrite(profiles, false)
    }

    fn rewrite(&self, gone: &BTreeSet<ProfileId>, replace: bool) -> Result<Rewritten, StoreError> {
        let keep = |id| !gone.contains(&id);
        let (file, turn) = match &*self.backing {
            Backing::Folder { file, turn, .. } => (file, turn),
            Backing::Memory {
                database, changes, ..
            } => {
                let rewritten = rewrite_memory(database, &keep, replace);
                changes.fetch_add(1, Ordering::AcqRel);
                return rewritten.map_err(|error| error.at(self.path(), "write"));
            }
        };
        if !self.file_exists()? {
            let nothing = Bytes(0);
            return Ok(Rewritten {
                before: nothing,
                after: nothing,
                in_place: false,
            });
        }
        let file = &open::real_path(file)?;
        let locked = lock_folder(file, turn)?;
        remove_leftovers(file, &locked);
        let result = guarded(|| {
            let reading = open::open_for_reading_locked(file, turn)?;
            let rows = Rows::open(&reading.database.begin_read()?)?;
            // The file that was read must be the one in the locked folder.
            let name = name_of(file);
            let before = locked.folder.open_file(name)?.metadata;
            let read = file.symlink_metadata()?;
            if file_id(&read) != file_id(&before) {
                return Err(moved().into());
            }
            let written = || -> Result<Bytes, InternalError> {
                let new = temporary_to_replace(file, &locked, turn)?;
                let after = write_file(&rows, &keep, false, new.file())?;
                if replace {
                    let rights = locked.folder.access_rights(name)?;
                    new.replace(name, rights.ok_or_else(moved)?)?;
                }
                Ok(after)
            };
            let written = match written() {
                // On a full disk, it is most useful to know how much space pruning would free.
                Err(error) if !replace && error.is_disk_full() => {
                    write_file(&rows, &keep, false, MemoryFile::new()?.file())
                }
                written => written,
            };
            let written = written.map(|after| Rewritten {
                before: Bytes(before.len()),
                after,
                in_place: false,
            });
            Ok(written.map_err(|error| error.copying(file, file)))
        });
        locked.folder.sync();
        result
            .map_err(|error| error.at(file, "read"))
            .and_then(|written| written)
    }
}

impl Snapshot {
    /// Writes some profiles and the tags of their builds into a new file, which is a store that can be
    /// opened or merged. The same profiles and tags give identical files.
    ///
    /// Returns the file's size.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be written, a profile is not in the store, or the store
    /// is damaged.
    pub fn export(&self, profiles: &BTreeSet<ProfileId>, path: &Path) -> Result<Bytes, StoreError> {
        let cannot = |source| error::system_error("make", path, source);
        Folder::open_parent(path).map_err(cannot)?;
        let locked = lock_folder(path, self.turn())?;
        let name = name_of(path);
        if name.is_empty() || locked.folder.contains(name).map_err(cannot)? {
            let taken = io::Error::new(io::ErrorKind::AlreadyExists, "a file of this name exists");
            return Err(cannot(taken));
        }
        remove_leftovers(path, &locked);
        let keep = |id| profiles.contains(&id);
        let result = self.read(|rows| {
            for &id in profiles {
                if !rows.has_record(Record::Profile, id.0)? {
                    return Err(InternalError::NoProfile(id));
                }
            }
            let written = temporary_to_publish(path, &locked, self.turn())
                .map_err(InternalError::from)
                .and_then(|new| Ok((write_file(rows, &keep, true, new.file())?, new)));
            Ok(written.map_err(|error| error.copying(self.path(), path)))
        });
        let published = result.flatten().and_then(|(size, new)| {
            new.persist_noclobber(name).map_err(cannot)?;
            Ok(size)
        });
        locked.folder.sync();
        published
    }
}

fn moved() -> io::Error {
    io::Error::other("another user moved it or its folder in the meantime")
}

fn rewrite_memory(
    database: &RwLock<Arc<Database>>,
    keep: &dyn Fn(ProfileId) -> bool,
    replace: bool,
) -> Result<Rewritten, InternalError> {
    let mut current = database.write().unwrap_or_else(PoisonError::into_inner);
    let new = open::in_memory()?;
    rewrite(&Rows::open(&current.begin_read()?)?, keep, false, &new)?;
    if replace {
        *current = Arc::new(new);
    }
    Ok(Rewritten {
        before: Bytes(0),
        after: Bytes(0),
        in_place: false,
    })
}

/// Writes the selected profiles into a new file; returns its size.
pub(crate) fn write_file(
    rows: &Rows,
    keep: &dyn Fn(ProfileId) -> bool,
    is_export: bool,
    new: &File,
) -> Result<Bytes, InternalError> {
    let mut database = open::create_in_file(new.try_clone()?)?;
    rewrite(rows, keep, is_export, &database)?;
    database.compact()?;
    drop(database);
    reserve(new, Reserve::Keep);
    Ok(Bytes(new.metadata()?.len()))
}
