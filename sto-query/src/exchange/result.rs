//! Results of pushing, pulling and adding profiles.

use crate::answer::Answer;
use serde::Serialize;
use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::store::Merged;
use sto_core::units::Bytes;

/// What was sent to a place.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pushed {
    /// The place.
    pub place: String,
    /// Whether it was only found out, and nothing was sent.
    pub dry_run: bool,
    /// The profiles that were sent, or would be, in the order of their ids.
    pub sent: Vec<ProfileId>,
    /// Size of their files together; zero where nothing was sent.
    #[serde(rename = "sent_bytes")]
    pub bytes: Bytes,
    /// Number of profiles that were there.
    pub already_there: usize,
}

impl Answer for Pushed {
    const SCHEMA: &'static str = "sto.push/1";
}

/// What was taken from a place.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pulled {
    /// The place.
    pub place: String,
    /// Whether it was only found out, and nothing was taken: `added` would be.
    pub dry_run: bool,
    /// Size of the files that came, or would.
    pub received_bytes: Bytes,
    /// What became of its profiles.
    #[serde(flatten)]
    pub merged: Merged,
}

impl Answer for Pulled {
    const SCHEMA: &'static str = "sto.pull/1";
}

/// What was added to a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddedToLake {
    /// The place of the dataset.
    pub place: String,
    /// The profiles that were added, and how many bytes each took.
    pub added: BTreeMap<ProfileId, Bytes>,
    /// Number of profiles that were there before.
    pub kept: usize,
}
