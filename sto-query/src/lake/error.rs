//! Why a dataset cannot be written.

use crate::text::printable;
use parquet::errors::ParquetError;
use std::io;
use std::path::PathBuf;
use sto_core::id::ProfileId;
use sto_core::store::{RestError, StoreError};

/// Why a dataset cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LakeError {
    /// The profiles cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no dataset.
    #[error("{}: there is no dataset here: it has no manifest.json", .0.display())]
    NotFound(PathBuf),
    /// A file or folder of the dataset cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder has something else under the manifest's name.
    #[error("{}: this is no manifest of a dataset: {source}", path.display())]
    NoManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The folder has another layout, or another version of it.
    #[error("{}: the dataset is `{} {version}`, and this sto knows `{} {}`; use another folder, or the sto that made it",
        path.display(), printable(layout), super::LAYOUT, super::VERSION)]
    OtherVersion {
        /// The manifest.
        path: PathBuf,
        /// Its layout.
        layout: String,
        /// Its version.
        version: u64,
    },
    /// A file of the dataset is not what sto wrote.
    #[error("{}: {what}; the file is damaged or another's", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A part of a profile cannot be packed.
    #[error(transparent)]
    Rest(#[from] RestError),
    /// A line of a profile has a cost in a frame that no stack has, which rows of stacks cannot say.
    #[error("profile {0} has costs of lines without stacks, which rows of stacks cannot say")]
    FrameWithoutStack(ProfileId),
    /// A count or a cost is larger than the columns' numbers are.
    #[error("a stack costs {0}, and Parquet's integers go up to {max}", max = i64::MAX)]
    TooLarge(u64),
    /// The rows cannot be written as Parquet.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}
