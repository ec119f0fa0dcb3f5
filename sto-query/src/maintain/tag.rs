//! Tags of builds.

use crate::answer::Answer;
use serde::Serialize;
use sto_core::store::{StoredBuild, Tag, Tagged};

/// Tags, and what was done to them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TagList {
    /// What was done.
    pub action: TagAction,
    /// The tag that something was done to, or all.
    pub tags: Vec<TagEntry>,
}

impl Answer for TagList {
    const SCHEMA: &'static str = "sto.tag/1";
}

/// Why nothing was done to a tag.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The selector names a run, and no build.
    #[error("a tag is of a build, but `{selector}` is one run of {build}")]
    OneRun {
        /// What was written.
        selector: String,
        /// The build that the run is of, as `EXE@BUILD`.
        build: String,
    },
    /// A build has the name, and would not be found any more.
    #[error("a tag cannot have the name of a build: {build}")]
    NameOfBuild {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The tag stands for another build.
    #[error("the tag `{name}` stands for {build}")]
    Taken {
        /// The tag.
        name: String,
        /// The build that it stands for, as `EXE@BUILD`.
        build: String,
    },
    /// No build has the tag.
    #[error("no build has the tag `{name}`")]
    NotFound {
        /// What was asked for.
        name: String,
    },
    /// Builds of several executables have the tag.
    #[error("several executables have the tag `{name}`: {}", tags.join(", "))]
    Several {
        /// What was asked for.
        name: String,
        /// The tags, as `EXE@TAG`.
        tags: Vec<String>,
    },
}

/// What was done to tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TagAction {
    /// Nothing: they are listed.
    Listed,
    /// A tag was set, or moved.
    Set,
    /// A tag was taken away.
    Deleted,
}

/// A tag.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
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
    pub(crate) fn listed(builds: &[StoredBuild]) -> Self {
        let tags = builds.iter().flat_map(StoredBuild::tags);
        TagList::new(TagAction::Listed, tags.map(entry).collect())
    }

    /// Reports a tag that was set.
    pub(crate) fn set(tag: Tag, tagged: &Tagged) -> Self {
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
    pub(crate) fn deleted(tag: Tag) -> Self {
        TagList::new(TagAction::Deleted, vec![entry(tag)])
    }
}

fn entry(tag: Tag) -> TagEntry {
    TagEntry {
        tag,
        moved_from: None,
    }
}
