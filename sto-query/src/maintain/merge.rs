//! What merges did.

use crate::answer::Answer;
use serde::Serialize;
use sto_core::store::{Merged, StoreError};

/// What came from other stores.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Merges {
    /// The other stores, in the order in which they were merged.
    pub sources: Vec<MergedStore>,
}

/// What came from one store.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MergedStore {
    /// Its folder or file.
    pub path: String,
    /// What became of its profiles and tags.
    #[serde(flatten)]
    pub merged: Merged,
}

/// Merges that ended before the last store was in.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
#[non_exhaustive]
pub struct MergeError {
    /// What came from the stores before.
    pub before: Merges,
    /// Number of profiles that went in from the store at which it ended.
    pub added: usize,
    /// Why.
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
