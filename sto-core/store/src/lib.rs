//! The store: builds, profiles and their call stacks in one redb file.
//!
//! Tools link to `sto-core`, which re-exports the public items of this crate.
//!
//! ```text
//! file        the redb file: find, create, lock, open for one operation, close
//! tables      names, keys and versions in the file
//! numbers     the store's own numbers for frames, nodes, profiles, ...
//! codec       values <-> bytes
//! read        records, columns and packs from redb; builds, stacks and costs from these
//! write       add and remove profiles; tags and metrics
//! kept        all calls of a profile, by thread and time
//! maintain    merge, rewrite, verify, statistics
//! error       errors of this crate
//! guard       panics of redb on damaged files
//! ```
//!
//! A stored node is a parent and a frame; its content address follows from these and is not stored.
//! So nodes are dense numbers in packed columns, and no table has one row per node. SPEC.md
//! specifies the bytes.
//!
//! A [`Store`] is the location of a store. A [`Snapshot`] holds the file open for reading, a [`Writer`] for adding;
//! other operations that change a store open the file, work in one transaction and close it. Nobody waits for a
//! snapshot that is kept; the call that takes one waits while another process writes.

mod codec;
mod error;
mod file;
mod guard;
mod kept;
mod maintain;
pub mod manual;
mod numbers;
mod read;
mod tables;
#[cfg(test)]
mod test_profiles;
mod write;

use file::access::{Backing, in_memory};
use file::lock::Turn;
use file::open;
use guard::guarded;
use maintain::{stats, verify};
use redb::Database;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};
use sto_model::Cancelled;
use sto_model::units::Bytes;

pub use codec::ProfileOrigin;
#[doc(hidden)]
pub use codec::{DecodeError, KeptHead, PieceInfo, pack_kept_head, pack_piece};
#[doc(hidden)]
pub use error::InternalError;
pub use error::StoreError;
pub use file::access::Writer;
pub use file::lock::{OnWait, StoreOptions, Waiting};
pub use file::state::StateId;
pub use kept::{KeptCall, KeptCalls, KeptSize, NumberedCalls};
pub use maintain::merge::{Conflict, LeftOut, Merged};
pub use maintain::replace::Rewritten;
pub use maintain::stats::{ExecutableStats, StorePart, StoreStats};
pub use maintain::verify::{Checked, Concerns, Corruption, Verification};
pub use read::loaded::{
    Added, Loaded, LoadedBuild, LoadedCalls, LoadedLines, LoadedSlices, StoredBuild, StoredProfile,
};
pub use read::rest::{RestError, pack_rest, unpack_rest};
pub use read::snapshot::Snapshot;
pub use write::NewProfile;
pub use write::metrics::{Annotated, Metrics, OtherValue};
pub use write::tags::{Tag, Tagged};

/// A store of profiles: a folder that contains one redb file, a redb file by itself, or a database in memory.
///
/// Clones are cheap. All stores of one file in a process share it: any number of threads may take and query snapshots
/// while others write. Programs that stay, such as servers, keep the `Store` and ask it whether it
/// [was changed](Store::changed_since).
#[derive(Clone)]
pub struct Store {
    backing: Arc<Backing>,
}

impl Store {
    /// Name of the redb file inside the store's folder.
    pub const FILE_NAME: &'static str = tables::FILE_NAME;

    /// Opens the existing store at a path, which is its folder or its file. The file may have any name.
    ///
    /// # Errors
    /// Returns an error if there is no store, it has another format version, is damaged, or another
    /// process keeps it locked for too long.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        Store::open_with(path, StoreOptions::default())
    }

    /// Opens the store at a path, or an empty one if the path does not exist. The first added profile creates
    /// the folder and the file, so failures before that leave no trace.
    ///
    /// # Errors
    /// Like [`Store::open`]; also returns an error if the path is taken by something else.
    pub fn open_or_create(path: &Path) -> Result<Store, StoreError> {
        let create = StoreOptions {
            create: true,
            ..StoreOptions::default()
        };
        Store::open_with(path, create)
    }

    /// Opens the store at a path with the given options.
    ///
    /// # Errors
    /// Like [`Store::open_or_create`].
    pub fn open_with(path: &Path, options: StoreOptions) -> Result<Store, StoreError> {
        let store = Store::at(path, options)?;
        store.snapshot()?;
        Ok(store)
    }

    /// Returns the store at a path, which need not exist.
    fn at(path: &Path, options: StoreOptions) -> Result<Store, StoreError> {
        let (folder, file) = open::folder_and_file(path)?;
        Ok(Store {
            backing: Arc::new(Backing::Folder {
                may_create: options.create && file != path,
                folder,
                file,
                turn: Arc::new(Turn::new(options)),
            }),
        })
    }

    /// Checks that a profile could be added, so that a caller can fail before long work. Leaves no
    /// files behind.
    ///
    /// # Errors
    /// Returns an error if the system does not let this process create or change the store's file.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        match &*self.backing {
            Backing::Memory { .. } => Ok(()),
            Backing::Folder { file, turn, .. } if self.file_exists()? => {
                open::check_writable(file, turn)
            }
            Backing::Folder {
                folder, file, turn, ..
            } => open::check_creatable(folder, file, turn),
        }
    }

    /// Creates an empty store in memory.
    ///
    /// # Errors
    /// Returns an error if redb cannot create the database.
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::in_memory_for(in_memory())
    }

    /// Creates an empty store in memory for content that is kept elsewhere, at this path. Errors name the
    /// path, and so do stores that this one is [merged](Store::merge) into.
    ///
    /// # Errors
    /// Returns an error if redb cannot create the database.
    pub fn in_memory_for(path: &Path) -> Result<Store, StoreError> {
        let database = open::in_memory().map_err(|error| error.at(path, "make"))?;
        Ok(Store {
            backing: Arc::new(Backing::Memory {
                database: RwLock::new(Arc::new(database)),
                changes: AtomicU64::new(0),
                name: path.to_owned(),
            }),
        })
    }

    /// The callback for operations that have waited for a second.
    pub fn on_wait(&self) -> Option<OnWait> {
        match &*self.backing {
            Backing::Folder { turn, .. } => turn.on_wait().cloned(),
            Backing::Memory { .. } => None,
        }
    }

    /// The folder that contains the store's file; `None` for a store in memory.
    pub fn folder(&self) -> Option<&PathBuf> {
        match &*self.backing {
            Backing::Folder { folder, .. } => Some(folder),
            Backing::Memory { .. } => None,
        }
    }

    /// The size of the store's file; zero in memory and if nothing was stored yet.
    ///
    /// # Errors
    /// Returns an error if the file's metadata cannot be read.
    pub fn file_size(&self) -> Result<Bytes, StoreError> {
        match &*self.backing {
            Backing::Folder { file, .. } => open::file_size(file),
            Backing::Memory { .. } => Ok(Bytes(0)),
        }
    }

    /// Counts what the store holds and how many bytes each part takes. redb checks the whole file
    /// first; nothing is written to it.
    ///
    /// # Errors
    /// Returns an error if the store is damaged or cannot be read.
    pub fn stats(&self) -> Result<StoreStats, StoreError> {
        let of_memory = |database: &Database| {
            stats::stats(database, None).map_err(|error| error.at(self.path(), "read"))
        };
        match &*self.backing {
            Backing::Memory { database, .. } => {
                of_memory(&database.read().unwrap_or_else(PoisonError::into_inner))
            }
            Backing::Folder { file, turn, .. } if self.file_exists()? => {
                let size = open::file_size(file)?;
                guarded(|| stats::stats(&open::open_and_check(file, turn)?.database, Some(size)))
                    .map_err(|error| error.at(file, "read"))
            }
            Backing::Folder { .. } => {
                of_memory(&open::in_memory().map_err(|error| error.at(self.path(), "make"))?)
            }
        }
    }

    /// Reads, hashes and counts everything in the store at this path, and lists all damage. Also works on
    /// stores that are too damaged to open. Nothing is written. `progress` is called every few profiles
    /// and may cancel the work.
    ///
    /// # Errors
    /// Returns an error if there is no store, it has another format version, another process keeps it
    /// locked for too long, or the system cannot read it. Damage is not an error.
    pub fn verify(
        path: &Path,
        on_wait: Option<OnWait>,
        progress: &mut dyn FnMut(&Checked) -> Result<(), Cancelled>,
    ) -> Result<Verification, StoreError> {
        let (folder, file) = open::folder_and_file(path)?;
        let options = StoreOptions {
            on_wait,
            ..StoreOptions::default()
        };
        if open::inspect(&folder, &file)? {
            verify::verify(&file, &Turn::new(options), progress)
        } else {
            Err(StoreError::NotFound { folder })
        }
    }
}
