//! Errors of opening, reading and writing a store.

use super::codec::DecodeError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sto_model::Cancelled;
use sto_model::Hint;
use sto_model::id::{BuildId, ProfileId};
use sto_model::memory::MemoryLimitExceeded;

/// An error of opening, reading or writing a store. Every message names the path, the finding and
/// the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder contains no store.
    #[error("there is no store in {}", folder.display())]
    NotFound {
        /// The folder.
        folder: PathBuf,
    },
    /// A store is a folder, but there is something else at its path.
    #[error("{}: a store is a folder, but this is not one; name another folder for the store", path.display())]
    NotAFolder {
        /// The path that should be a folder.
        path: PathBuf,
    },
    /// The caller cancelled the work. What was written before stays.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The file in the store's folder is not a store.
    #[error("{}: not a store: {found}; name another folder for the store, or move this file away", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// A description of the file.
        found: String,
    },
    /// A newer sto wrote the store or added something that this version does not know.
    #[error("{}: the store has {what}; upgrade sto", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The unknown version or features.
        what: String,
    },
    /// Another process has the store open.
    #[error("{}: the store is in use: {} has held it for {} seconds; try again when it is done", path.display(), by.as_deref().unwrap_or("another process"), waited.as_secs())]
    InUse {
        /// The file.
        path: PathBuf,
        /// How long this process waited.
        waited: Duration,
        /// The process that holds it, like `process 123 (sto)`, if the system tells.
        by: Option<String>,
    },
    /// The system failed to read or write.
    #[error("cannot {doing} {}: {source}{}", path.display(), hint(source))]
    Io {
        /// A verb: `read`, `write`, `make`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The store's content breaks the rules of its format.
    #[error("{}: the store is damaged: {location}: {what}; restore a backup of it, or move it away and ingest the recordings again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The table and the record or column in it.
        location: String,
        /// A description of the damage.
        what: String,
    },
    /// The store has no such profile, or it belongs to another executable.
    #[error("{}: no such profile: {profile}", path.display())]
    NoProfile {
        /// The file.
        path: PathBuf,
        /// The profile.
        profile: ProfileId,
    },
    /// The store has no such build.
    #[error("{}: no such build: {build}", path.display())]
    NoBuild {
        /// The file.
        path: PathBuf,
        /// The build.
        build: BuildId,
    },
    /// The requested data takes too much memory.
    #[error("{}: cannot unpack the data: {source}; ask for fewer profiles, or raise the memory limit", path.display())]
    TooMuch {
        /// The file.
        path: PathBuf,
        /// The required memory and the limit.
        source: MemoryLimitExceeded,
    },
    /// The profile breaks a rule of the format.
    #[error("{}: cannot store the profile: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The broken rule.
        why: &'static str,
    },
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space and try again: the stored data is safe"
        }
        io::ErrorKind::FileTooLarge => {
            "; raise the limit on file sizes and try again: the stored data is safe"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; change the permissions, or name another folder for the store"
        }
        _ if error.raw_os_error() == Some(EIO) => {
            "; look for errors of this disk in the system's log, then try again"
        }
        _ => "",
    }
}

/// Linux's error number of a failing device, which [`io::ErrorKind`] lacks.
const EIO: i32 = 5;

fn is_disk_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

impl StoreError {
    /// Advice on what to do about the error.
    pub fn hint(&self) -> Option<Hint> {
        matches!(self, StoreError::NotFound { .. }).then_some(Hint::MakeStore)
    }

    /// Whether the disk or the user's quota is full, or the file has reached its size limit.
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, StoreError::Io { source, .. } if is_disk_full(source))
    }
}

/// The result type of most functions in this crate.
pub(crate) type Result<T, E = InternalError> = std::result::Result<T, E>;

/// A [`StoreError`] without the store's path.
#[derive(Debug)]
#[doc(hidden)]
pub enum InternalError {
    Redb(redb::Error),
    Damaged {
        location: String,
        what: String,
    },
    Newer(String),
    NotOurs,
    InUse {
        waited: Duration,
        by: Option<String>,
    },
    NoProfile(ProfileId),
    NoBuild(BuildId),
    Refused(&'static str),
    TooMuch(MemoryLimitExceeded),
}

/// Converts an error of a temporary file of calls.
pub(crate) fn spool_error(error: std::io::Error) -> InternalError {
    InternalError::Redb(redb::Error::Io(error))
}

impl InternalError {
    /// Creates an error about damage at this location.
    pub fn damaged(location: impl ToString, what: impl Into<String>) -> Self {
        InternalError::Damaged {
            location: location.to_string(),
            what: what.into(),
        }
    }

    /// Whether the disk or the user's quota is full, or the file has reached its size limit.
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, InternalError::Redb(redb::Error::Io(error)) if is_disk_full(error))
    }

    /// Adds the path to an error of copying from one file into another. Errors of the system are about
    /// the file that is written.
    pub(crate) fn copying(self, from: &Path, to: &Path) -> StoreError {
        match self {
            InternalError::Redb(redb::Error::Io(_)) => self.at(to, "write"),
            _ => self.at(from, "read"),
        }
    }

    /// Adds the store's path and the operation (`read`, `write`, `make`).
    pub fn at(self, path: &Path, doing: &'static str) -> StoreError {
        let path = path.to_owned();
        match self {
            InternalError::Redb(redb::Error::Io(source)) => io_error(path, doing, source),
            InternalError::Redb(error) => StoreError::Damaged {
                path,
                location: "the redb file".to_owned(),
                what: error.to_string(),
            },
            InternalError::Damaged { location, what } => StoreError::Damaged {
                path,
                location,
                what,
            },
            InternalError::Newer(what) => StoreError::Newer { path, what },
            InternalError::NotOurs => StoreError::NotAStore {
                path,
                found: "it is a redb file of another program".to_owned(),
            },
            InternalError::InUse { waited, by } => StoreError::InUse { path, waited, by },
            InternalError::NoProfile(profile) => StoreError::NoProfile { path, profile },
            InternalError::NoBuild(build) => StoreError::NoBuild { path, build },
            InternalError::Refused(why) => StoreError::Refused { path, why },
            InternalError::TooMuch(source) => StoreError::TooMuch { path, source },
        }
    }
}

/// Reports reads beyond the end of the file and invalid forms as damage, other errors as the system's.
fn io_error(path: PathBuf, doing: &'static str, source: io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            StoreError::Damaged {
                path,
                location: "the redb file".to_owned(),
                what: source.to_string(),
            }
        }
        _ => StoreError::Io {
            doing,
            path,
            source,
        },
    }
}

macro_rules! from_redb {
    ($($error:ty),*) => {
        $(impl From<$error> for InternalError {
            fn from(error: $error) -> Self {
                InternalError::Redb(error.into())
            }
        })*
    };
}

from_redb!(
    redb::StorageError,
    redb::TableError,
    redb::TransactionError,
    redb::CommitError,
    redb::DatabaseError,
    redb::CompactionError,
    redb::SavepointError,
    redb::BackendError,
    std::io::Error
);

impl From<MemoryLimitExceeded> for InternalError {
    fn from(error: MemoryLimitExceeded) -> Self {
        InternalError::TooMuch(error)
    }
}

impl DecodeError {
    /// Adds the location of the error.
    pub(crate) fn at(self, location: impl ToString) -> InternalError {
        InternalError::damaged(location, self.0)
    }
}

/// Converts an error of packing.
pub(crate) fn packing_error(error: DecodeError) -> InternalError {
    InternalError::Refused(error.0)
}

/// Creates an error from a failed system call.
pub(crate) fn system_error(doing: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}
