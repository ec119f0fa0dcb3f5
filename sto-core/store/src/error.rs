//! Why a store cannot be opened, read or written.

use super::codec::DecodeError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sto_model::Cancelled;
use sto_model::Hint;
use sto_model::id::{BuildId, ProfileId};
use sto_model::memory::TooMuch;

/// Why a store cannot be opened, read or written. Every message names the path, what was found,
/// and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store in the folder.
    #[error("there is no store in {}", folder.display())]
    NotFound {
        /// The folder.
        folder: PathBuf,
    },
    /// A store is a folder, but something else is there.
    #[error("{}: a store is a folder, but this is not one; name another folder for the store", path.display())]
    NotAFolder {
        /// What should be a folder.
        path: PathBuf,
    },
    /// The work was ended early; what was written before stays.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The file in the store's folder is not a store's.
    #[error("{}: not a store: {found}; name another folder for the store, or move this file away", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// A newer sto wrote the store, or something in it that this one does not know.
    #[error("{}: the store has {what}; upgrade sto", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version or the features that are not known.
        what: String,
    },
    /// Another process has the store open.
    #[error("{}: the store is in use: {} has held it for {} seconds; try again when it is done", path.display(), by.as_deref().unwrap_or("another process"), waited.as_secs())]
    InUse {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
        /// Who has it, as far as the system says: `process 123 (sto)`.
        by: Option<String>,
    },
    /// The system refuses to read or write.
    #[error("cannot {doing} {}: {source}{}", path.display(), hint(source))]
    Io {
        /// `read`, `write`, `make`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store's content breaks the rules of its format.
    #[error("{}: the store is damaged: {location}: {what}; bring back a copy of it, or move it away and ingest the recordings again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where: a table and a record in it.
        location: String,
        /// What is wrong there.
        what: String,
    },
    /// The store has no such profile of the executable that was asked for.
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
    /// What was asked for takes too much memory.
    #[error("{}: it cannot be unpacked: {source}; ask for fewer profiles, or let it take more", path.display())]
    TooMuch {
        /// The file.
        path: PathBuf,
        /// How much.
        source: TooMuch,
    },
    /// A profile cannot be stored as it is.
    #[error("{}: cannot store the profile: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Which rule it breaks.
        why: &'static str,
    },
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room and try again: what is stored is safe"
        }
        io::ErrorKind::FileTooLarge => {
            "; raise the limit on file sizes and try again: what is stored is safe"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; get the permission, or name another folder for the store"
        }
        _ if error.raw_os_error() == Some(EIO) => {
            "; see what the system's log says of this disk, then try again"
        }
        _ => "",
    }
}

/// The system's number of a device that fails; the standard library has no name for it.
const EIO: i32 = 5;

fn is_of_full_disk(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

impl StoreError {
    /// What can be done about it.
    pub fn hint(&self) -> Option<Hint> {
        matches!(self, StoreError::NotFound { .. }).then_some(Hint::MakeStore)
    }

    /// Whether the disk had no room, or this user may take no more of it.
    pub(crate) fn is_of_full_disk(&self) -> bool {
        matches!(self, StoreError::Io { source, .. } if is_of_full_disk(source))
    }
}

/// What most of this module gives back.
pub(crate) type Result<T, E = InternalError> = std::result::Result<T, E>;

/// A [`StoreError`] that does not know yet which store it is about.
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
    TooMuch(TooMuch),
}

/// The error of a temporary file of calls.
pub(crate) fn unspooled(error: std::io::Error) -> InternalError {
    InternalError::Redb(redb::Error::Io(error))
}

impl InternalError {
    /// Corruption at this location.
    pub fn damaged(location: impl ToString, what: impl Into<String>) -> Self {
        InternalError::Damaged {
            location: location.to_string(),
            what: what.into(),
        }
    }

    /// Whether the disk had no room, or this user may take no more of it.
    pub(crate) fn is_of_full_disk(&self) -> bool {
        matches!(self, InternalError::Redb(redb::Error::Io(error)) if is_of_full_disk(error))
    }

    /// The error of writing into one file what another has: what the system refuses is about the
    /// first.
    pub(crate) fn copying(self, from: &Path, to: &Path) -> StoreError {
        match self {
            InternalError::Redb(redb::Error::Io(_)) => self.at(to, "write"),
            _ => self.at(from, "read"),
        }
    }

    /// The error, now that the file is known, and what was to be done with it.
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

/// What redb reads past its file's end, or finds of another form, is damage, not the system's
/// refusal.
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
    std::io::Error
);

impl From<TooMuch> for InternalError {
    fn from(error: TooMuch) -> Self {
        InternalError::TooMuch(error)
    }
}

impl DecodeError {
    /// The error, now that it is known where.
    pub(crate) fn at(self, location: impl ToString) -> InternalError {
        InternalError::damaged(location, self.0)
    }
}

/// What cannot be packed cannot be stored.
pub(crate) fn refused(error: DecodeError) -> InternalError {
    InternalError::Refused(error.0)
}

/// What the system refused.
pub(crate) fn cannot(doing: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}
