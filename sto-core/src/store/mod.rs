//! The store: builds, profiles and their stacks in one redb file.

mod error;

use crate::id::{BuildId, ExecutableId, ProfileId};
use crate::intern::{Interned, LineCost, SelfCosts, StackTree};
use crate::model::{Build, FrameTable, Profile};
use crate::units::Bytes;
use std::path::{Path, PathBuf};

pub use error::StoreError;

/// A store of profiles: a folder with one redb file, or nothing but memory.
pub struct Store {}

/// Whether a profile was stored, or stood there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is new, and took this many bytes of packed records.
    New {
        /// Packed size of what was written for it.
        stored: Bytes,
    },
    /// The same source is already stored for this build: nothing was changed.
    AlreadyStored,
}

/// A stored build and its profiles.
#[derive(Clone, Debug)]
pub struct StoredBuild {
    /// Its content address.
    pub id: BuildId,
    /// What is known of it.
    pub build: Build,
    /// Its profiles, oldest recording first, then by id.
    pub profiles: Vec<StoredProfile>,
}

/// A stored profile.
#[derive(Clone, Debug)]
pub struct StoredProfile {
    /// Its content address.
    pub id: ProfileId,
    /// Everything about it but its stacks and counts.
    pub profile: Profile,
    /// Packed size of what was written when it was added.
    pub stored: Bytes,
}

/// Stacks and costs of some profiles of one executable.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The frames that the tree uses.
    pub frames: FrameTable,
    /// The stacks that at least one of the profiles has, and their callers.
    pub tree: StackTree,
    /// For each profile asked for, in that order, its self costs by sample type.
    pub costs: Vec<Vec<SelfCosts>>,
}

/// Line costs of one profile.
#[derive(Clone, Debug, Default)]
pub struct LoadedLines {
    /// The frames that the lines are of.
    pub frames: FrameTable,
    /// Line costs by sample type, in the order of frame and line.
    pub lines: Vec<Vec<LineCost>>,
}

impl Store {
    /// Name of the redb file inside the store's folder.
    pub const FILE_NAME: &'static str = "store.redb";

    /// Opens the store in this folder for reading.
    ///
    /// # Errors
    /// Where there is no store, it is of another format version, damaged, or locked by a writer
    /// for too long.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let _ = folder;
        todo!()
    }

    /// Opens the store in this folder for writing; makes the folder and the store where there is
    /// none. Waits for another writer to finish.
    ///
    /// # Errors
    /// As [`Store::open`], and where the folder or file cannot be made.
    pub fn open_or_create(folder: &Path) -> Result<Store, StoreError> {
        let _ = folder;
        todo!()
    }

    /// An empty store that lives in memory.
    ///
    /// # Errors
    /// Where redb cannot set it up.
    pub fn in_memory() -> Result<Store, StoreError> {
        todo!()
    }

    /// The store's folder; `None` in memory.
    pub fn folder(&self) -> Option<&PathBuf> {
        todo!()
    }

    /// Adds a profile in one transaction: all of it, or nothing.
    ///
    /// # Errors
    /// Where the file cannot be written (say, a full disk): the store is then as it was.
    pub fn add(
        &self,
        build: &Build,
        profile: &Profile,
        interned: &Interned,
    ) -> Result<Added, StoreError> {
        let _ = (build, profile, interned);
        todo!()
    }

    /// Every build with its profiles, ordered by executable name, then by its first recording,
    /// then by version.
    ///
    /// # Errors
    /// Where the store is damaged or cannot be read.
    pub fn builds(&self) -> Result<Vec<StoredBuild>, StoreError> {
        todo!()
    }

    /// Size of the store's file; zero in memory.
    ///
    /// # Errors
    /// Where the file cannot be inspected.
    pub fn file_size(&self) -> Result<Bytes, StoreError> {
        todo!()
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
        let _ = (executable, profiles);
        todo!()
    }

    /// Loads the line costs of a profile.
    ///
    /// # Errors
    /// Where the profile does not exist, or the store is damaged.
    pub fn load_lines(&self, profile: ProfileId) -> Result<LoadedLines, StoreError> {
        let _ = profile;
        todo!()
    }
}
