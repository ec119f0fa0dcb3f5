//! Results of pushing, pulling and adding profiles.

use crate::answer::Answer;
use serde::Serialize;
use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::store::{LeftOut, Merged};
use sto_core::units::Bytes;

/// Result of pushing profiles to a place.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pushed {
    /// The place.
    pub place: String,
    /// Whether this was a dry run, which sends nothing.
    pub dry_run: bool,
    /// Profiles that were sent, or would be, sorted by id.
    pub sent: Vec<ProfileId>,
    /// Total size of their files; zero if nothing was sent.
    #[serde(rename = "sent_bytes")]
    pub bytes: Bytes,
    /// Number of profiles that already existed.
    pub already_there: usize,
    /// Profiles that were not sent because something else has the name of their file.
    pub left_out: Vec<LeftOut>,
}

impl Answer for Pushed {
    const SCHEMA: &'static str = "sto.push/1";
}

/// Result of pulling profiles from a place.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pulled {
    /// The place.
    pub place: String,
    /// Whether this was a dry run, which takes nothing; `added` then counts what would be.
    pub dry_run: bool,
    /// Size of the files that were received, or would be.
    pub received_bytes: Bytes,
    /// Result for the place's profiles.
    #[serde(flatten)]
    pub merged: Merged,
}

impl Answer for Pulled {
    const SCHEMA: &'static str = "sto.pull/1";
}

/// Result of adding profiles to a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddedToLake {
    /// The place of the dataset.
    pub place: String,
    /// Profiles that were added, with their sizes in bytes.
    pub added: BTreeMap<ProfileId, Bytes>,
    /// Number of profiles that already existed.
    pub kept: usize,
}
