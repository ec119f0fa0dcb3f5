//! Results of merging stores.

use crate::answer::Answer;
use serde::Serialize;
use sto_core::store::{Merged, StoreError};

/// Result of merging other stores.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Merges {
    /// The other stores, in the order of merging.
    pub sources: Vec<MergedStore>,
}

/// Result of merging one store.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MergedStore {
    /// Path of the folder or file.
    pub path: String,
    /// Result for its profiles and tags.
    #[serde(flatten)]
    pub merged: Merged,
}

/// Error that ended merging early.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
#[non_exhaustive]
pub struct MergeError {
    /// Results for the earlier stores.
    pub before: Merges,
    /// Number of profiles added from the store that failed.
    pub added: usize,
    /// The error.
    pub source: StoreError,
}

impl Answer for Merges {
    const SCHEMA: &'static str = "sto.merge/1";
}

impl Merges {
    /// Number of profiles that could not be merged.
    pub fn left_out(&self) -> usize {
        let sources = self.sources.iter();
        sources
            .map(|source| source.merged.profiles_left_out())
            .sum()
    }
}
