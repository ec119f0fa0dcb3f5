//! What writing a store anew came to.

use serde::Serialize;
use std::path::Path;
use sto_core::store::Rewritten;
use sto_core::units::Bytes;

/// A compacted store; schema `sto.compact/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompactReport {
    /// `sto.compact/1`.
    pub schema: &'static str,
    /// Size of the store's file before.
    pub bytes_before: u64,
    /// Size of the store's file now.
    pub bytes_after: u64,
}

/// Profiles in a file of their own; schema `sto.export-store/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExportedStore {
    /// `sto.export-store/1`.
    pub schema: &'static str,
    /// The file.
    pub path: String,
    /// Number of profiles in it.
    pub profiles: usize,
    /// Its size.
    pub bytes: u64,
}

impl From<Rewritten> for CompactReport {
    fn from(rewritten: Rewritten) -> Self {
        CompactReport {
            schema: "sto.compact/1",
            bytes_before: rewritten.before.0,
            bytes_after: rewritten.after.0,
        }
    }
}

impl ExportedStore {
    /// A file of this size with so many profiles.
    pub fn new(path: &Path, profiles: usize, size: Bytes) -> Self {
        ExportedStore {
            schema: "sto.export-store/1",
            path: path.display().to_string(),
            profiles,
            bytes: size.0,
        }
    }
}
