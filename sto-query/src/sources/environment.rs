//! The environment of a question: work trees, and the way of reading files.

use super::work_tree::WorkTree;
use crate::QueryError;
use crate::select::{Selector, TaggedCommit};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, ingest};
use sto_core::store::Store;
use sto_core::units::UnixSeconds;

/// Information about the environment that the library may request. The default methods know nothing.
pub trait Environment: Send + Sync {
    /// The work tree that the other methods ask by default; `None` if there is none.
    fn work_tree(&self) -> Option<&WorkTree> {
        None
    }

    /// Returns the commit of a git revision such as `HEAD~1`; `None` if unknown.
    fn commit(&self, revision: &str) -> Option<TaggedCommit> {
        self.work_tree()?.commit(revision)
    }

    /// Returns the commits of a range of git revisions such as `v1.2..HEAD`, newest first; `None` if unknown.
    fn commits(&self, range: &str) -> Option<Vec<TaggedCommit>> {
        self.work_tree()?.commits(range)
    }

    /// Reads a file named in a query into a store in memory. Implementations may choose symbol sources, show
    /// progress, and warn.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ingest`].
    fn read(
        &self,
        memory: &Store,
        file: &Path,
        options: IngestOptions,
    ) -> Result<IngestOutcome, IngestError> {
        ingest(memory, file, &options, &mut |_| {})
    }

    /// Called if a name in a query matches several functions and all of them are used.
    fn takes_all(&self, _name: &str, _functions: &[String]) {}

    /// Folder in which source files are looked for by default, such as a work tree.
    fn source_folder(&self) -> Option<PathBuf> {
        Some(self.work_tree()?.source_folder())
    }

    /// Returns the revision of the work tree that contains a folder, in the format of `git describe` with the full
    /// commit id, and `-dirty` if files were changed.
    fn revision(&self, folder: &Path) -> Option<String> {
        self.work_tree()?;
        WorkTree::containing(folder).revision()
    }

    /// Returns the text of a file in a work tree at a revision; `None` if unknown, or if it did not exist.
    fn text_at(&self, path: &Path, revision: &str) -> Option<String> {
        self.work_tree()?;
        WorkTree::text_at(path, revision)
    }

    /// Returns the ages of source files at the time of a recording.
    fn changes(&self, recorded: Option<UnixSeconds>) -> FileAges {
        match self.work_tree() {
            Some(work_tree) => {
                let changes = work_tree.changes(recorded);
                Box::new(move |file| changes.age(file))
            }
            None => Box::new(|_| None),
        }
    }
}

/// Returns the time between the last change of a source file and a given time, by the file's path in a profile;
/// `None` if unknown.
pub type FileAges = Box<dyn Fn(&str) -> Option<Duration>>;

/// An environment without information.
impl Environment for () {}

/// Replaces a selector's revision by its commit, or its range by its commits.
///
/// # Errors
///
/// Returns an error if the revision is unknown and is not a commit id.
pub(crate) fn resolve_revision(
    environment: &dyn Environment,
    selector: Selector,
) -> Result<Selector, QueryError> {
    let Some(revision) = selector.revision() else {
        return Ok(selector);
    };
    if let Some(range) = selector.range() {
        let commits = environment.commits(range);
        let commits = commits.ok_or_else(|| QueryError::NoRange {
            range: range.to_owned(),
        })?;
        return Ok(selector.with_commits(commits));
    }
    match environment.commit(revision) {
        Some(commit) => Ok(selector.with_commit(commit)),
        None if revision.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(selector),
        None => Err(QueryError::NoRevision {
            revision: revision.to_owned(),
        }),
    }
}
