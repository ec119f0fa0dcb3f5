//! Profiles as a dataset of Parquet files, and back.

#[cfg(feature = "lake")]
mod dataset;
#[cfg(not(feature = "lake"))]
#[path = "no_dataset.rs"]
mod dataset;

pub use dataset::{add_to_lake, check_lake, import_lake, ingest_to_lake};

use crate::sources::Named;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use sto_core::Cancel;

/// Profiles for a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LakeRequest {
    /// The profiles; without it, every one of the store.
    pub named: Option<Named>,
    /// Where the dataset is, as [`Place::parse`](crate::places::Place::parse) takes it. Where there is none, it is made.
    pub place: PathBuf,
}

/// Profiles of a dataset for a store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ImportLakeRequest {
    /// Where the dataset is, as [`Place::parse`](crate::places::Place::parse) takes it.
    pub place: PathBuf,
    /// Selectors of the profiles; without any, it is all of them.
    pub selectors: Vec<String>,
    /// Ends it early: before the next profile.
    #[serde(skip)]
    pub cancel: Cancel,
}
