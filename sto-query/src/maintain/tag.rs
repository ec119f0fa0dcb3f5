//! Tags of builds.

use crate::answer::Answer;
use serde::Serialize;
use sto_core::store::{StoredBuild, Tag, Tagged};

/// Tags, and the operation on them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TagList {
    /// The operation.
    pub action: TagAction,
    /// The affected tag, or all tags.
    pub tags: Vec<TagEntry>,
}

impl Answer for TagList {
    const SCHEMA: &'static str = "sto.tag/1";
}

/// Error of an operation on a tag.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The selector denotes a run rather than a build.
    #[error("a tag is of a build, but `{selector}` is one run of {build}")]
    OneRun {
        /// Selector, as given.
        selector: String,
        /// The build of the run, as `EXE@BUILD`.
        build: String,
    },
    /// A build has this name and would become inaccessible.
    #[error("a tag cannot have the name of a build: {build}")]
    NameOfBuild {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The tag belongs to another build.
    #[error("the tag `{name}` already refers to {build}")]
    Taken {
        /// The tag.
        name: String,
        /// The build with the tag, as `EXE@BUILD`.
        build: String,
    },
    /// No build has the tag.
    #[error("no build has the tag `{name}`")]
    NotFound {
        /// Name of the tag, as given.
        name: String,
    },
    /// Builds of several executables have the tag.
    #[error("several executables have the tag `{name}`: {}", tags.join(", "))]
    Several {
        /// Name of the tag, as given.
        name: String,
        /// The tags, as `EXE@TAG`.
        tags: Vec<String>,
    },
}

/// Operation on tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TagAction {
    /// Tags were listed.
    Listed,
    /// A tag was created or moved.
    Set,
    /// A tag was deleted.
    Deleted,
}

/// A tag.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TagEntry {
    /// The tag, with its current or former build.
    #[serde(flatten)]
    pub tag: Tag,
    /// Version of the build from which it was moved.
    pub moved_from: Option<String>,
}

impl TagList {
    fn new(action: TagAction, tags: Vec<TagEntry>) -> Self {
        TagList { action, tags }
    }

    /// Lists the tags of builds, in the order of the builds.
    pub(crate) fn from_builds(builds: &[StoredBuild]) -> Self {
        let tags = builds.iter().flat_map(StoredBuild::tags);
        TagList::new(TagAction::Listed, tags.map(entry).collect())
    }

    /// Reports a tag that was set.
    pub(crate) fn from_set(tag: Tag, tagged: &Tagged) -> Self {
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

    /// Reports a tag that was deleted.
    pub(crate) fn from_deleted(tag: Tag) -> Self {
        TagList::new(TagAction::Deleted, vec![entry(tag)])
    }
}

fn entry(tag: Tag) -> TagEntry {
    TagEntry {
        tag,
        moved_from: None,
    }
}
