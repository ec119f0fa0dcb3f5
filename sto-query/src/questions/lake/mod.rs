//! Export of profiles to a dataset of Parquet files, and import.

#[cfg(feature = "lake")]
mod dataset;
#[cfg(not(feature = "lake"))]
#[path = "no_dataset.rs"]
mod dataset;

pub use dataset::{add_to_lake, check_lake, import_lake, ingest_to_lake};

use crate::sources::BuildRef;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use sto_core::CancelToken;

/// Request to add profiles to a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LakeRequest {
    /// The profiles; all profiles of the store if `None`.
    pub named: Option<BuildRef>,
    /// The place of the dataset, as parsed by [`Place::parse`](crate::places::Place::parse). The
    /// dataset is created if it does not exist.
    pub place: PathBuf,
}

/// Request to import profiles of a dataset into a store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ImportLakeRequest {
    /// The place of the dataset, as parsed by [`Place::parse`](crate::places::Place::parse).
    pub place: PathBuf,
    /// Selectors of the profiles; all profiles if empty.
    pub selectors: Vec<String>,
    /// Cancels the request before the next profile.
    #[serde(skip)]
    pub cancel: CancelToken,
}
