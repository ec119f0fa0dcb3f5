//! Selects builds by a range of commits: `git:v1.2..HEAD`.

use super::error::NoBuildInRange;
use super::revision::{Described, PREFIX, TaggedCommit, select_runs, shortened};
use super::{MAX_NAMED, SelectError, Selection, Selector, full_name};
use std::collections::HashSet;
use sto_core::store::StoredBuild;

/// Separator of the two ends of a range, which names of branches and tags cannot contain.
const BETWEEN: &str = "..";

/// A set of commits, with a fast lookup of full ids and a linear one of prefixes and tags.
pub(crate) struct CommitSet<'a> {
    commits: &'a [TaggedCommit],
    ids: HashSet<&'a str>,
}

impl<'a> CommitSet<'a> {
    pub(crate) fn new(commits: &'a [TaggedCommit]) -> CommitSet<'a> {
        CommitSet {
            ids: commits.iter().map(|commit| commit.id.as_str()).collect(),
            commits,
        }
    }

    /// Whether a revision is one of the commits, regardless of uncommitted changes.
    fn contains(&self, revision: &Described<'_>) -> bool {
        revision.commit.is_some_and(|id| self.ids.contains(id))
            || (!revision.is_whole()
                && self
                    .commits
                    .iter()
                    .any(|commit| revision.is_at_commit(commit)))
    }
}

impl Selector {
    /// Returns the range of git revisions that the selector names, such as `v1.2..HEAD`.
    /// [`Selector::with_commits`] sets the commits that it resolves to.
    pub(crate) fn range(&self) -> Option<&str> {
        let named = self.name.strip_prefix(PREFIX)?;
        named.contains(BETWEEN).then_some(named)
    }

    /// Sets the commits that the range was resolved to.
    #[must_use]
    pub fn with_commits(self, commits: Vec<TaggedCommit>) -> Self {
        Selector {
            range: Some(commits),
            ..self
        }
    }
}

/// Returns the builds of commits in the range, in the order of the store, each with its runs of
/// these commits. The result is not empty.
///
/// # Errors
/// Returns an error if no build matches, or if the range was not resolved.
pub(super) fn select(
    builds: &[&StoredBuild],
    selector: &Selector,
    range: &str,
) -> Result<Vec<Selection>, SelectError> {
    let Some(commits) = &selector.range else {
        return Err(SelectError::UnresolvedRevision {
            revision: range.to_owned(),
        });
    };
    let set = CommitSet::new(commits);
    let executable = selector.executable.as_ref();
    let (mut found, mut known, mut with_changes) = (Vec::new(), Vec::new(), Vec::new());
    for build in builds {
        if executable.is_some_and(|executable| *executable != build.build.executable) {
            continue;
        }
        let name = full_name(&build.build);
        let mut is_changed = false;
        let of_these = select_runs(build, |revision| {
            let revision = Described::parse(revision);
            let has = set.contains(&revision);
            is_changed |= has && revision.is_dirty;
            has && !revision.is_dirty
        });
        match (of_these, &build.build.revision) {
            (Some(selection), _) => found.push(selection),
            (None, _) if is_changed => with_changes.push(name),
            (None, Some(revision)) => known.push(format!("{name} ({})", shortened(revision))),
            (None, None) => {}
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let more = known.len().saturating_sub(MAX_NAMED);
    known.truncate(MAX_NAMED);
    Err(SelectError::NoBuildInRange(Box::new(NoBuildInRange {
        range: range.to_owned(),
        commits: commits.len(),
        with_changes,
        known,
        more,
    })))
}

/// Returns the only build of commits in the range.
///
/// # Errors
/// Returns the same errors as [`select`], and an error if there are several builds.
pub(super) fn select_one(
    builds: &[&StoredBuild],
    selector: &Selector,
    range: &str,
) -> Result<Selection, SelectError> {
    match <[_; 1]>::try_from(select(builds, selector, range)?) {
        Ok([selection]) => Ok(selection),
        Err(several) => Err(SelectError::SeveralInRange {
            range: range.to_owned(),
            more: several.len().saturating_sub(MAX_NAMED),
            candidates: several
                .iter()
                .take(MAX_NAMED)
                .map(|selection| full_name(&selection.build))
                .collect(),
        }),
    }
}
