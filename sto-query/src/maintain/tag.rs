//! Tags of builds.

use crate::answer::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use sto_core::store::{StoredBuild, Tag, Tagged};

/// Tags, and what was done to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagList {
    /// What was done.
    pub action: TagAction,
    /// The tag that something was done to, or all.
    pub tags: Vec<TagEntry>,
}

impl Answer for TagList {
    const SCHEMA: &'static str = "sto.tag/1";
}

/// What was done to tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TagAction {
    /// Nothing: they are listed.
    Listed,
    /// A tag was set, or moved.
    Set,
    /// A tag was taken away.
    Deleted,
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagEntry {
    /// It, with the build that it stands for, or stood for.
    #[serde(flatten)]
    pub tag: Tag,
    /// The version of the build that it was moved away from.
    pub moved_from: Option<String>,
}

impl TagList {
    fn new(action: TagAction, tags: Vec<TagEntry>) -> Self {
        TagList { action, tags }
    }

    /// Lists the tags of builds, in the order of these.
    pub fn listed(builds: &[StoredBuild]) -> Self {
        let tags = builds.iter().flat_map(StoredBuild::tags);
        TagList::new(TagAction::Listed, tags.map(entry).collect())
    }

    /// Reports a tag that was set.
    pub fn set(tag: Tag, tagged: &Tagged) -> Self {
        let moved_from = match tagged {
            Tagged::Moved(version) => Some(version.clone()),
            _ => None,
        };
        let entry = TagEntry {
            moved_from,
            ..entry(tag)
        };
        TagList::new(TagAction::Set, vec![entry])
    }

    /// Reports a tag that was taken away.
    pub fn deleted(tag: Tag) -> Self {
        TagList::new(TagAction::Deleted, vec![entry(tag)])
    }
}

fn entry(tag: Tag) -> TagEntry {
    TagEntry {
        tag,
        moved_from: None,
    }
}
