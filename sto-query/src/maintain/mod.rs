//! What was done to a store as a whole, and what is known of it.

mod ingest;
mod merge;
mod symbolize;
mod tag;

pub(crate) use ingest::{FoundSymbols, IngestedProfile};
pub use ingest::{IngestSummary, IngestedFile};
pub(crate) use merge::MergedStore;
pub use merge::{MergeError, Merges};
pub(crate) use symbolize::SymbolizedProfile;
pub use symbolize::SymbolizedProfiles;
pub(crate) use tag::{TagAction, TagEntry};
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

/// Profiles in a file of their own.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExportedStore {
    /// The file.
    pub path: String,
    /// Number of profiles in it.
    pub profiles: usize,
    /// Its size.
    pub bytes: Bytes,
}

impl Answer for ExportedStore {
    const SCHEMA: &'static str = "sto.export-store/1";
}
