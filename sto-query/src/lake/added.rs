//! What a dataset got.

use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::units::Bytes;

/// What a dataset got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddedToLake {
    /// Where it is.
    pub place: String,
    /// The profiles that were added, and how many bytes each took.
    pub added: BTreeMap<ProfileId, Bytes>,
    /// Number of those that were there.
    pub kept: usize,
}
