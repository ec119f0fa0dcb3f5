//! Tags of builds.

use serde::Serialize;
use sto_core::store::{StoredBuild, Tag, Tagged};

/// Tags, and what was done to them; schema `sto.tag/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TagList {
    /// `sto.tag/1`.
    pub schema: &'static str,
    /// What was done.
    pub action: TagAction,
    /// The tag that something was done to, or all.
    pub tags: Vec<TagEntry>,
}

/// What was done to tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TagEntry {
    /// The executable.
    pub executable: String,
    /// The tag.
    pub tag: String,
    /// The version of the build that it stands for, or stood for.
    pub build: String,
    /// The version of the build that it was moved away from.
    pub moved_from: Option<String>,
}

impl TagList {
    fn new(action: TagAction, tags: Vec<TagEntry>) -> Self {
        TagList {
            schema: "sto.tag/1",
            action,
            tags,
        }
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
        executable: tag.executable,
        tag: tag.name,
        build: tag.version,
        moved_from: None,
    }
}
