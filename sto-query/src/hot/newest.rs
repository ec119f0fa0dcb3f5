//! Choice of the default build and of the builds before it.

use crate::QueryError;
use crate::select::{SelectError, Selection, first_recorded, select_runs, select_whole_build};
use crate::sources::{BuildRef, Sources};
use std::cmp::Reverse;
use std::collections::HashMap;
use sto_core::model::CommitHash;
use sto_core::store::StoredBuild;

/// The commits of the checked-out branch.
pub(super) struct Branch {
    /// Number of newer commits, by commit.
    ages: HashMap<String, usize>,
}

impl Branch {
    /// Loads the branch; empty if its commits are unknown.
    pub(super) fn load(sources: &Sources) -> Branch {
        let commits = sources.environment().commits("HEAD").unwrap_or_default();
        Branch {
            ages: commits
                .into_iter()
                .map(|commit| commit.id)
                .zip(0..)
                .collect(),
        }
    }

    /// Returns the number of commits newer than a revision's, ignoring changes of the work tree; `None` if it is not
    /// on the branch.
    pub(super) fn age(&self, revision: &str) -> Option<usize> {
        let commit = CommitHash::from_revision(revision)?.to_string();
        self.ages.get(&commit).copied()
    }

    /// Returns the runs of a build's newest commit on the branch, and the commit's age.
    pub(super) fn runs(&self, build: &StoredBuild) -> Option<(usize, Selection)> {
        let of_runs = build.profiles.iter().map(|run| run.revision.as_deref());
        let revisions = of_runs.chain([build.build.revision.as_deref()]).flatten();
        let newest = revisions.filter_map(|revision| self.age(revision)).min()?;
        let runs = select_runs(build, |revision| self.age(revision) == Some(newest))?;
        Some((newest, runs))
    }
}

/// Returns the runs of the branch's newest build. This is the build of the last commit up to `HEAD` that has one, with
/// or without uncommitted changes, or the one recorded last if it has several. If no build is on the branch, or if its
/// commits are unknown, returns the newest build of the store.
///
/// # Errors
///
/// Returns an error if the store cannot be read or has no runs.
pub fn newest_of_branch(sources: &Sources) -> Result<BuildRef, QueryError> {
    let builds = sources.store()?.builds()?;
    let branch = Branch::load(sources);
    let of_branch = builds.iter().filter_map(|build| {
        let (age, runs) = branch.runs(build)?;
        Some(((age, Reverse(first_recorded(build))), runs))
    });
    let newest_of_store = || {
        let recorded = builds.iter().filter(|build| !build.profiles.is_empty());
        let newest = recorded.max_by_key(|build| first_recorded(build));
        newest.map(select_whole_build)
    };
    let newest = of_branch
        .min_by_key(|(order, _)| *order)
        .map(|(_, runs)| runs);
    let newest = newest.or_else(newest_of_store);
    Ok(name_runs(&newest.ok_or(SelectError::EmptyStore)?))
}

/// Names these runs by their ids.
pub(super) fn name_runs(runs: &Selection) -> BuildRef {
    BuildRef::Runs(runs.profiles.iter().map(|run| run.id).collect())
}
