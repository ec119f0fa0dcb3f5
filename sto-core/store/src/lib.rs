//! The store: builds, profiles and their stacks in one redb file.
//!
//! `sto-core` re-exports what other tools link; this crate is one of its parts.
//!
//! ```text
//! file        the redb file: find, make, lock, open for one operation, close
//! tables      every name, key and version
//! numbers     the numbers of frames, nodes, profiles, ...
//! codec       values <-> bytes
//! read        records, columns and packs out of redb; builds, stacks and costs out of these
//! write       profiles go in and out: find their stacks among the stored ones, add the rest; tags, metrics
//! kept        every call of a profile, by thread and time
//! maintain    merge, write anew, verify, count
//! error       what can go wrong
//! guard       what redb does not expect in its file
//! ```
//!
//! Identity is derived: a stored node is a parent and a frame, and its content address follows.
//! So nodes are dense numbers in packed columns, and no table has a row a node. SPEC.md specifies
//! the bytes.
//!
//! A [`Store`] says where one is, and holds no file open. A [`Snapshot`] of it does, for questions, and a
//! [`Writer`], for additions; what else changes a store opens the file, does its work in one transaction and
//! closes it. All of them wait for others to be done: redb lets one process write, or many read.

mod codec;
mod error;
mod file;
mod guard;
mod kept;
mod maintain;
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
use std::sync::{Arc, PoisonError, RwLock};
use sto_model::Cancelled;
use sto_model::units::Bytes;

pub use codec::CameFrom;
#[doc(hidden)]
pub use codec::{DecodeError, KeptHead, PieceInfo, pack_kept_head, pack_piece};
#[doc(hidden)]
pub use error::InternalError;
pub use error::StoreError;
pub use file::access::Writer;
pub use file::lock::{OnWait, StoreOptions, Waiting};
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
pub use write::metrics::{Annotated, Metrics, OtherValue};
pub use write::tags::{Tag, Tagged};

/// A store of profiles: a folder with one redb file, such a file alone, or nothing but memory.
pub struct Store {
    backing: Backing,
}

impl Store {
    /// Name of the redb file inside the store's folder.
    pub const FILE_NAME: &'static str = tables::FILE_NAME;

    /// Opens the store at this path, which must be there: its folder, or its file, whatever that is called.
    ///
    /// # Errors
    /// Where there is no store, it is of another format version, damaged, or locked by a writer
    /// for too long.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        Store::open_with(path, StoreOptions::default())
    }

    /// Opens the store at this path. Where there is none, it is empty, and the first profile that is added makes
    /// it, with its folder: so what fails before leaves no trace.
    ///
    /// # Errors
    /// As [`Store::open`], and where something else is in the way of the folder or file.
    pub fn open_or_create(path: &Path) -> Result<Store, StoreError> {
        let create = StoreOptions {
            create: true,
            ..StoreOptions::default()
        };
        Store::open_with(path, create)
    }

    /// Opens the store at this path as the options say.
    ///
    /// # Errors
    /// As [`Store::open_or_create`].
    pub fn open_with(path: &Path, options: StoreOptions) -> Result<Store, StoreError> {
        let store = Store::at(path, options)?;
        store.snapshot()?;
        Ok(store)
    }

    /// The store at this path, whether or not it is there.
    fn at(path: &Path, options: StoreOptions) -> Result<Store, StoreError> {
        let (folder, file) = open::paths_of(path)?;
        Ok(Store {
            backing: Backing::Folder {
                may_create: options.create && file != path,
                folder,
                file,
                turn: Arc::new(Turn::new(options)),
            },
        })
    }

    /// Sees whether a profile could be added, for who works for long before there is one. Leaves
    /// nothing behind.
    ///
    /// # Errors
    /// Where the system does not let this process make or change the store's file.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        match &self.backing {
            Backing::Memory(..) => Ok(()),
            Backing::Folder { file, turn, .. } if self.file_exists()? => {
                open::check_writable(file, turn)
            }
            Backing::Folder {
                folder, file, turn, ..
            } => open::check_creatable(folder, file, turn),
        }
    }

    /// An empty store that lives in memory.
    ///
    /// # Errors
    /// Where redb cannot set it up.
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::in_memory_for(in_memory())
    }

    /// The same for what is kept otherwise at this path: errors name that, and so do stores that it is
    /// [merged](Store::merge) into.
    ///
    /// # Errors
    /// Where redb cannot set it up.
    pub fn in_memory_for(path: &Path) -> Result<Store, StoreError> {
        let database = open::in_memory().map_err(|error| error.at(path, "make"))?;
        Ok(Store {
            backing: Backing::Memory(RwLock::new(Arc::new(database)), path.to_owned()),
        })
    }

    /// What is called when an operation on it has waited for a second.
    pub fn on_wait(&self) -> Option<OnWait> {
        match &self.backing {
            Backing::Folder { turn, .. } => turn.on_wait().cloned(),
            Backing::Memory(..) => None,
        }
    }

    /// The folder that the store's file is in; `None` in memory.
    pub fn folder(&self) -> Option<&PathBuf> {
        match &self.backing {
            Backing::Folder { folder, .. } => Some(folder),
            Backing::Memory(..) => None,
        }
    }

    /// Size of the store's file; zero in memory, and where nothing was stored yet.
    ///
    /// # Errors
    /// Where the file cannot be inspected.
    pub fn file_size(&self) -> Result<Bytes, StoreError> {
        match &self.backing {
            Backing::Folder { file, .. } => open::file_size(file),
            Backing::Memory(..) => Ok(Bytes(0)),
        }
    }

    /// Where the store's bytes are, and how much it holds. Nothing is written to the file, though
    /// redb checks all of it first.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn stats(&self) -> Result<StoreStats, StoreError> {
        let of_memory = |database: &Database| {
            stats::stats(database, None).map_err(|error| error.at(self.path(), "read"))
        };
        match &self.backing {
            Backing::Memory(database, _) => {
                of_memory(&database.read().unwrap_or_else(PoisonError::into_inner))
            }
            Backing::Folder { file, turn, .. } if self.file_exists()? => {
                let size = open::file_size(file)?;
                guarded(|| stats::stats(&open::checked(file, turn)?, Some(size)))
                    .map_err(|error| error.at(file, "read"))
            }
            Backing::Folder { .. } => {
                of_memory(&open::in_memory().map_err(|error| error.at(self.path(), "make"))?)
            }
        }
    }

    /// Reads, hashes and counts everything in the store at this path again, and lists all that is
    /// wrong. The store need not be sound enough to be opened. Nothing is written. `progress` is called before
    /// each few profiles with how much was checked, and may end it there.
    ///
    /// # Errors
    /// Where there is no store, it is of another format version, locked by a writer for too long,
    /// or the system refuses to read it. Damage is no error.
    pub fn verify(
        path: &Path,
        on_wait: Option<OnWait>,
        progress: &mut dyn FnMut(&Checked) -> Result<(), Cancelled>,
    ) -> Result<Verification, StoreError> {
        let (folder, file) = open::paths_of(path)?;
        let options = StoreOptions {
            on_wait,
            ..StoreOptions::default()
        };
        match open::inspect(&folder, &file)? {
            true => verify::verify(&file, &Turn::new(options), progress),
            false => Err(StoreError::NotFound { folder }),
        }
    }
}
