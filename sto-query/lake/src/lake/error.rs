//! Errors of datasets.

use crate::places::PlaceError;
use parquet::errors::ParquetError;
use std::io;
use sto_model::id::ProfileId;
use sto_model::printable;
use sto_store::{RestError, StoreError};

/// Error of reading or writing a dataset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LakeError {
    /// The profiles cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The place of the dataset cannot be accessed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// There is no dataset.
    #[error("{0}: this is not a dataset, because it has no manifest.json")]
    NotFound(String),
    /// The manifest is not valid.
    #[error("{file}: this is not the manifest of a dataset: {source}")]
    NoManifest {
        /// The manifest.
        file: String,
        /// Error of parsing it.
        source: serde_json::Error,
    },
    /// The dataset has another layout or version.
    #[error(
        "{file}: the dataset is `{} {version}`, and this sto knows `{} {}`; use another place, or the sto that made it",
        printable(layout),
        super::LAYOUT,
        super::VERSION
    )]
    OtherVersion {
        /// The manifest.
        file: String,
        /// Name of its layout.
        layout: String,
        /// Version of its layout.
        version: u64,
    },
    /// A file of the dataset is damaged.
    #[error("{file}: {what}; the file is damaged or was not written by sto")]
    Damaged {
        /// The file.
        file: String,
        /// Description of the damage.
        what: String,
    },
    /// Counts by function cannot be used for traces of calls, which are compared by stacks.
    #[error(
        "{0}: these are traces of calls, which are compared by their stacks: compare them in a store"
    )]
    CountsOfCalls(String),
    /// A file of counts cannot be read.
    #[error("{file}: {source}")]
    Read {
        /// The file, or its folder.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A part of a profile cannot be encoded.
    #[error(transparent)]
    Rest(#[from] RestError),
    /// A line of a profile has a cost in a frame that is not on any stack, which rows of stacks cannot represent.
    #[error("profile {0} has costs of lines without stacks, which rows of stacks cannot represent")]
    FrameWithoutStack(ProfileId),
    /// A count or cost exceeds the range of Parquet's integers.
    #[error("a stack costs {0}, and Parquet's integers go up to {max}", max = i64::MAX)]
    TooLarge(u64),
    /// The rows cannot be encoded as Parquet.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}
