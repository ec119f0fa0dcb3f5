//! Results of maintenance operations on a store.

mod ingest;
mod merge;
mod symbolize;
mod tag;

pub use tag::{TagAction, TagEntry};

pub use symbolize::SymbolizedProfile;

pub use merge::MergedStore;

pub use ingest::{FoundSymbols, IngestedProfile};

pub use ingest::{IngestSummary, IngestedFile};
pub use merge::{MergeError, Merges};
pub use symbolize::SymbolizedProfiles;
pub use tag::{TagError, TagList};

use crate::answer::Answer;
use serde::Serialize;
use sto_core::store::{Rewritten, StoreStats, Verification};
use sto_core::units::Bytes;

impl Answer for Verification {
    const SCHEMA: &'static str = "sto.verify/1";
}

impl Answer for StoreStats {
    const SCHEMA: &'static str = "sto.stats/1";
}

impl Answer for Rewritten {
    const SCHEMA: &'static str = "sto.compact/1";
}

/// Result of exporting profiles to a store file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExportedStore {
    /// The file.
    pub path: String,
    /// Number of profiles in it.
    pub profiles: usize,
    /// Size of the file.
    pub bytes: Bytes,
}

impl Answer for ExportedStore {
    const SCHEMA: &'static str = "sto.export-store/1";
}
