//! Queries git about the work tree that contains the working directory.

mod log;
mod notes;
mod repository;
mod worktree;

pub(crate) use log::Shown;
pub(crate) use repository::{GitError, Repository};
pub(crate) use worktree::{Between, Worktree};

use sto_query::sources::WorkTree;

/// The work tree that contains the working directory.
pub(crate) fn here() -> WorkTree {
    WorkTree::containing(".")
}

/// The name of a commit of the repository of the working directory: `v1.2-3-g0123456789ab`.
pub(crate) fn short_name(commit: &str) -> Option<String> {
    here().trimmed_output(&["describe", "--always", "--tags", "--abbrev=12", commit])
}
