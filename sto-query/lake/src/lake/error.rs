//! Why a dataset cannot be written.

use crate::places::PlaceError;
use parquet::errors::ParquetError;
use std::io;
use sto_model::id::ProfileId;
use sto_model::printable;
use sto_store::{RestError, StoreError};

/// Why a dataset cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LakeError {
    /// The profiles cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The place of the dataset refuses.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// There is no dataset.
    #[error("{0}: there is no dataset here: it has no manifest.json")]
    NotFound(String),
    /// The place has something else under the manifest's name.
    #[error("{file}: this is no manifest of a dataset: {source}")]
    NoManifest {
        /// The manifest.
        file: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The place has another layout, or another version of it.
    #[error(
        "{file}: the dataset is `{} {version}`, and this sto knows `{} {}`; use another place, or the sto that made it",
        printable(layout),
        super::LAYOUT,
        super::VERSION
    )]
    OtherVersion {
        /// The manifest.
        file: String,
        /// Its layout.
        layout: String,
        /// Its version.
        version: u64,
    },
    /// A file of the dataset is not what sto wrote.
    #[error("{file}: {what}; the file is damaged or another's")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// Counts by function are of traces of calls, which are judged by their stacks.
    #[error(
        "{0}: these are traces of calls, which are judged by their stacks: compare them in a store"
    )]
    CountsOfCalls(String),
    /// A file of counts cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// The file, or its folder.
        file: String,
        /// What the system says.
        source: io::Error,
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
