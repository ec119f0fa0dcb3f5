//! Which build is shown where nobody names one, and which builds are before it.

use crate::QueryError;
use crate::select::{SelectError, Selection, first_recorded, runs_where, whole};
use crate::sources::{Named, Sources};
use std::cmp::Reverse;
use std::collections::HashMap;
use sto_core::model::CommitHash;
use sto_core::store::StoredBuild;

/// The commits of the branch that is checked out.
pub(super) struct Branch {
    /// By commit, how many commits are newer.
    ages: HashMap<String, usize>,
}

impl Branch {
    /// Without commits where nobody knows them.
    pub(super) fn of(sources: &Sources) -> Branch {
        let commits = sources.surroundings().commits("HEAD").unwrap_or_default();
        Branch {
            ages: commits
                .into_iter()
                .map(|commit| commit.id)
                .zip(0..)
                .collect(),
        }
    }

    /// How many commits are newer than that of a revision, whatever was changed in its work tree; `None` where it is
    /// not of the branch.
    pub(super) fn age(&self, revision: &str) -> Option<usize> {
        let commit = CommitHash::of_revision(revision)?.to_string();
        self.ages.get(&commit).copied()
    }

    /// The runs of a build that are of its newest commit on the branch, and the age of that.
    pub(super) fn runs(&self, build: &StoredBuild) -> Option<(usize, Selection)> {
        let of_runs = build.profiles.iter().map(|run| run.revision.as_deref());
        let revisions = of_runs.chain([build.build.revision.as_deref()]).flatten();
        let newest = revisions.filter_map(|revision| self.age(revision)).min()?;
        let runs = runs_where(build, |revision| self.age(revision) == Some(newest))?;
        Some((newest, runs))
    }
}

/// The runs of the newest build of the branch's history: of the last commit up to `HEAD` of which one was made, with
/// changes that were not committed or without. Of several it is the one that was recorded last. Where no build is of
/// the branch, or nobody knows its commits, it is the newest of the store.
///
/// # Errors
/// Where the store cannot be read, or has no runs.
pub fn newest_of_branch(sources: &Sources) -> Result<Named, QueryError> {
    let builds = sources.store()?.builds()?;
    let branch = Branch::of(sources);
    let of_branch = builds.iter().filter_map(|build| {
        let (age, runs) = branch.runs(build)?;
        Some(((age, Reverse(first_recorded(build))), runs))
    });
    let newest_of_store = || {
        let recorded = builds.iter().filter(|build| !build.profiles.is_empty());
        let newest = recorded.max_by_key(|build| first_recorded(build));
        newest.map(whole)
    };
    let newest = of_branch
        .min_by_key(|(order, _)| *order)
        .map(|(_, runs)| runs);
    let newest = newest.or_else(newest_of_store);
    Ok(named(&newest.ok_or(SelectError::EmptyStore)?))
}

/// These runs, by their ids.
pub(super) fn named(runs: &Selection) -> Named {
    Named::Runs(runs.profiles.iter().map(|run| run.id).collect())
}
