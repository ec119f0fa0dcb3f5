//! What a merge did.

use serde::Serialize;
use sto_core::id::ProfileId;
use sto_core::store::{CameFrom, Conflict, LeftOut, Merged, Tag};

/// What came from other stores; schema `sto.merge/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MergeReport {
    /// `sto.merge/1`.
    pub schema: &'static str,
    /// The store's folder.
    pub store: String,
    /// The other stores, in the order in which they were merged.
    pub sources: Vec<SourceReport>,
}

/// What came from one store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceReport {
    /// Its folder or file.
    pub path: String,
    /// Number of profiles that it has.
    pub profiles: usize,
    /// Ids of the profiles that went in, in the order in which they did.
    pub added: Vec<String>,
    /// Packed size of what was written for them.
    pub stored_bytes: u64,
    /// Number of profiles that were stored already.
    pub already_stored: usize,
    /// Ids of those of them that have other metrics, another time or another revision there; they stay as
    /// they are here.
    pub different: Vec<String>,
    /// Profiles that claim a recording of which another profile stands here, and did not go in.
    pub conflicts: Vec<ConflictReport>,
    /// Profiles that could not be merged, by reason; an entry without any is about the tags.
    pub left_out: Vec<LeftOutReport>,
    /// Tags that came with them, as `EXE@TAG`; JSON leaves out an empty list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Tags there that stand for another build here, and stay as they are here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_tags: Vec<String>,
}

/// Two profiles that claim to be of the same recording and build, and are not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConflictReport {
    /// Id of the one there.
    pub there: String,
    /// Id of the one here, which stays.
    pub here: String,
    /// The store that the one here was merged from; `None` where it was read here, or came with the store.
    pub merged_from: Option<String>,
    /// Whether the one here was read here.
    pub read_here: bool,
    /// What is not the same of them.
    pub differ_in: Vec<String>,
}

/// Profiles that could not be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutReport {
    /// Their ids.
    pub profiles: Vec<String>,
    /// What is wrong, and what to do.
    pub why: String,
}

impl MergeReport {
    /// A report of what came into the store in this folder.
    pub fn new(store: String, sources: Vec<SourceReport>) -> Self {
        MergeReport {
            schema: "sto.merge/1",
            store,
            sources,
        }
    }

    /// Number of profiles that could not be merged.
    pub fn left_out(&self) -> usize {
        let left_out = self.sources.iter().flat_map(|source| &source.left_out);
        left_out.map(|out| out.profiles.len()).sum()
    }
}

impl SourceReport {
    /// Reports what came from a store.
    pub fn new(path: String, merged: &Merged) -> Self {
        SourceReport {
            path,
            profiles: merged.profiles,
            added: ids(&merged.added),
            stored_bytes: merged.stored.0,
            already_stored: merged.already_stored,
            different: ids(&merged.different),
            conflicts: merged.conflicts.iter().map(conflict).collect(),
            left_out: merged.left_out.iter().map(left_out).collect(),
            tags: tags(&merged.tags),
            other_tags: tags(&merged.other_tags),
        }
    }
}

fn conflict(conflict: &Conflict) -> ConflictReport {
    let fields = conflict.differ_in.iter();
    ConflictReport {
        there: conflict.there.to_string(),
        here: conflict.here.to_string(),
        merged_from: merged_from(&conflict.from).map(str::to_owned),
        read_here: conflict.from == CameFrom::ReadHere,
        differ_in: fields.map(|&field| field.to_owned()).collect(),
    }
}

/// The store that a profile was merged from.
pub(crate) fn merged_from(from: &CameFrom) -> Option<&str> {
    match from {
        CameFrom::Store(path) => Some(path),
        CameFrom::ReadHere | CameFrom::Exported => None,
    }
}

fn left_out(out: &LeftOut) -> LeftOutReport {
    LeftOutReport {
        profiles: ids(&out.profiles),
        why: out.why.to_string(),
    }
}

fn tags(tags: &[Tag]) -> Vec<String> {
    let tags = tags.iter();
    tags.map(|tag| format!("{}@{}", tag.executable, tag.name))
        .collect()
}

fn ids(profiles: &[ProfileId]) -> Vec<String> {
    profiles.iter().map(ProfileId::to_string).collect()
}
