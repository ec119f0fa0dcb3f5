//! The store: builds, profiles and their stacks in one redb file.
//!
//! ```text
//! file        the redb file: find, make, lock, open for one operation, close
//! tables      every name, key and version
//! codec       values <-> bytes
//! read        records, columns and packs out of redb; builds, stacks and costs out of these
//! write       profiles go in and out: find their stacks among the stored ones, add the rest; tags, metrics
//! maintain    merge, write anew, verify, count
//! error       what can go wrong
//! guard       what redb does not expect in its file
//! ```
//!
//! Identity is derived: a stored node is a parent and a frame, and its content address follows.
//! So nodes are dense numbers in packed columns, and no table has a row a node. SPEC.md lays down
//! the bytes.
//!
//! A store holds no file open. Each operation opens the file, does its work in one transaction and
//! closes it, and waits for others to do so: redb lets one process write, or many read.

mod codec;
mod error;
mod file;
mod guard;
mod maintain;
mod read;
mod tables;
mod write;

use crate::cancel::Cancelled;
use crate::id::{BuildId, ExecutableId, ProfileId, ReadingId};
use crate::intern::Context;
use crate::model::Build;
use crate::units::Bytes;
use file::access::{Place, Snapshot, in_memory};
use file::{lock, open};
use guard::guarded;
use maintain::{stats, verify};
use read::{builds, slices};
use redb::Database;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

pub use codec::CameFrom;
pub use error::StoreError;
pub use maintain::merge::{Conflict, LeftOut, Merged};
pub use maintain::replace::Rewritten;
pub use maintain::stats::{ExecutableStats, StorePart, StoreStats};
pub use maintain::verify::{Checked, Concerns, Damage, Verification};
pub use read::loaded::{
    Added, Loaded, LoadedBuild, LoadedLines, LoadedSlices, StoredBuild, StoredProfile,
};
pub use write::metrics::{Annotated, Metrics, OtherValue};
pub use write::tags::{Tag, Tagged};

/// A store of profiles: a folder with one redb file, such a file alone, or nothing but memory.
pub struct Store {
    place: Place,
    /// The state that all reads see; without one, each sees the newest.
    snapshot: Option<Snapshot>,
}

impl Store {
    /// Name of the redb file inside the store's folder.
    pub const FILE_NAME: &'static str = tables::FILE_NAME;

    /// Opens the store at this path for reading: its folder, or its file, whatever that is called.
    ///
    /// # Errors
    /// Where there is no store, it is of another format version, damaged, or locked by a writer
    /// for too long.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        Store::at(path, false)
    }

    /// Opens the store at this path for a question of several reads: all of them see the state that it
    /// has now, whatever others write or prune meanwhile. Writers wait until this is dropped, so it should not
    /// be kept while a user reads the answer. It cannot be written to.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_snapshot(path: &Path) -> Result<Store, StoreError> {
        let (folder, file) = open::place(path)?;
        if !open::inspect(&folder, &file)? {
            return Err(StoreError::NotFound { folder });
        }
        Ok(Store {
            snapshot: Some(Snapshot::of(&file)?),
            place: Place::Folder {
                may_create: false,
                folder,
                file,
            },
        })
    }

    /// Opens the store at this path for writing. Where there is none, it is empty, and the first
    /// profile that is added makes it, with its folder: so what fails before leaves no trace.
    ///
    /// # Errors
    /// As [`Store::open`], and where something else is in the way of the folder or file.
    pub fn open_or_create(path: &Path) -> Result<Store, StoreError> {
        Store::at(path, true)
    }

    fn at(path: &Path, may_create: bool) -> Result<Store, StoreError> {
        let (folder, file) = open::place(path)?;
        let store = Store {
            place: Place::Folder {
                may_create: may_create && file != path,
                folder,
                file,
            },
            snapshot: None,
        };
        store.read(|_| Ok(()))?;
        Ok(store)
    }

    /// From here on, this function is called when an operation of this process has waited for a second
    /// for others to be done with a store: with the path that they have locked, and who they are, as
    /// far as the system tells: `process 123 (sto) of user 1000`. The first function that is given stays.
    ///
    /// Whoever may read a store can lock it, so that an operation may wait for a stranger.
    pub fn tell_waits(tell: fn(&Path, Option<&str>)) {
        let _ = lock::TELL.set(tell);
    }

    /// Sees whether a profile could be added, for who works for long before there is one. Leaves
    /// nothing behind.
    ///
    /// # Errors
    /// Where the system does not let this process make or change the store's file.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        match &self.place {
            Place::Memory(_) => Ok(()),
            Place::Folder { file, .. } if self.file_exists()? => open::check_writable(file),
            Place::Folder { folder, file, .. } => open::check_creatable(folder, file),
        }
    }

    /// An empty store that lives in memory.
    ///
    /// # Errors
    /// Where redb cannot set it up.
    pub fn in_memory() -> Result<Store, StoreError> {
        let database = open::in_memory().map_err(|fault| fault.at(in_memory(), "make"))?;
        Ok(Store {
            place: Place::Memory(RwLock::new(database)),
            snapshot: None,
        })
    }

    /// The folder that the store's file is in; `None` in memory.
    pub fn folder(&self) -> Option<&PathBuf> {
        match &self.place {
            Place::Folder { folder, .. } => Some(folder),
            Place::Memory(_) => None,
        }
    }

    /// Whether it has a profile.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn has(&self, profile: ProfileId) -> Result<bool, StoreError> {
        self.read(|rows| rows.has_profile(profile))
    }

    /// The profile that stands for a source in a build, if there is one, and where it came from.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn reading(&self, reading: ReadingId) -> Result<Option<(ProfileId, CameFrom)>, StoreError> {
        let found = self.read(|rows| rows.reading(reading))?;
        Ok(found.map(|found| (found.profile, found.from)))
    }

    /// Every build with its profiles, ordered by executable name, then by its first recording,
    /// then by version.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn builds(&self) -> Result<Vec<StoredBuild>, StoreError> {
        self.read(builds::builds)
    }

    /// What is known of a build, by all its profiles; `None` where the store does not have it.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn build(&self, build: BuildId) -> Result<Option<Build>, StoreError> {
        self.read(|rows| builds::build(rows, build))
    }

    /// Size of the store's file; zero in memory, and where nothing was stored yet.
    ///
    /// # Errors
    /// Where the file cannot be inspected.
    pub fn file_size(&self) -> Result<Bytes, StoreError> {
        match &self.place {
            Place::Folder { file, .. } => open::file_size(file),
            Place::Memory(_) => Ok(Bytes(0)),
        }
    }

    /// Loads the stacks and self costs of profiles that belong to one executable.
    ///
    /// The tree is in preorder and depends on the profiles alone, not on the order in which they
    /// were added: children stand in the order of their frames.
    ///
    /// # Errors
    /// Where a profile does not exist, or the store is damaged.
    pub fn load(
        &self,
        executable: ExecutableId,
        profiles: &[ProfileId],
    ) -> Result<Loaded, StoreError> {
        self.read(|rows| builds::load(rows, executable, profiles))
    }

    /// Loads the stacks of a build and their self costs, added up over its profiles. They were added
    /// up as the profiles came in, so many are read as fast as one.
    ///
    /// # Errors
    /// Where the build does not exist, or the store is damaged.
    pub fn load_build(&self, build: BuildId) -> Result<LoadedBuild, StoreError> {
        self.read(|rows| builds::load_build(rows, build, None))
    }

    /// Loads the same over some of a build's profiles, each named once. However many they are, a few of them
    /// are in memory at a time.
    ///
    /// # Errors
    /// Where the build does not exist or has not all of these profiles, or the store is damaged.
    pub fn load_sum(
        &self,
        build: BuildId,
        profiles: &[ProfileId],
    ) -> Result<LoadedBuild, StoreError> {
        self.read(|rows| builds::load_build(rows, build, Some(profiles)))
    }

    /// Loads the line costs of a profile.
    ///
    /// # Errors
    /// Where the profile does not exist, or the store is damaged.
    pub fn load_lines(&self, profile: ProfileId) -> Result<LoadedLines, StoreError> {
        self.read(|rows| builds::load_lines(rows, profile))
    }

    /// Loads the costs of a profile by context and slice of time; `None` where they were not kept.
    ///
    /// # Errors
    /// Where the profile does not exist, or the store is damaged.
    pub fn load_slices(&self, profile: ProfileId) -> Result<Option<LoadedSlices>, StoreError> {
        self.read(|rows| slices::load(rows, profile))
    }

    /// Loads what samples of a profile were taken in, in ascending order; `None` where its slices of
    /// time were not kept.
    ///
    /// # Errors
    /// As [`Store::load_slices`].
    pub fn load_contexts(&self, profile: ProfileId) -> Result<Option<Vec<Context>>, StoreError> {
        self.read(|rows| slices::contexts(rows, profile))
    }

    /// Whether a profile's costs by context and slice of time are kept.
    ///
    /// # Errors
    /// As [`Store::load_slices`].
    pub fn has_slices(&self, profile: ProfileId) -> Result<bool, StoreError> {
        self.read(|rows| Ok(builds::profile_record(rows, profile)?.slices > 0))
    }

    /// Where the store's bytes are, and how much it holds. Nothing is written to the file, though
    /// redb checks all of it first.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn stats(&self) -> Result<StoreStats, StoreError> {
        let of_memory = |database: &Database| {
            stats::stats(database, None).map_err(|fault| fault.at(in_memory(), "read"))
        };
        match &self.place {
            Place::Memory(database) => {
                of_memory(&database.read().unwrap_or_else(PoisonError::into_inner))
            }
            Place::Folder { file, .. } if self.file_exists()? => {
                let size = open::file_size(file)?;
                guarded(|| stats::stats(&open::checked(file)?, Some(size)))
                    .map_err(|fault| fault.at(file, "read"))
            }
            Place::Folder { .. } => {
                of_memory(&open::in_memory().map_err(|fault| fault.at(in_memory(), "make"))?)
            }
        }
    }

    /// Reads, hashes and counts everything in the store at this path again, and tells all that is
    /// wrong. The store need not be sound enough to be opened. Nothing is written. `progress` is told before
    /// each few profiles how much was checked, and may end it there.
    ///
    /// # Errors
    /// Where there is no store, it is of another format version, locked by a writer for too long,
    /// or the system refuses to read it. Damage is no error.
    pub fn verify(
        path: &Path,
        progress: &mut dyn FnMut(&Checked) -> Result<(), Cancelled>,
    ) -> Result<Verification, StoreError> {
        let (folder, file) = open::place(path)?;
        match open::inspect(&folder, &file)? {
            true => verify::verify(&file, progress),
            false => Err(StoreError::NotFound { folder }),
        }
    }
}
