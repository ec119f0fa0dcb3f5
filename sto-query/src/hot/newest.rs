//! Which build is shown where nobody names one.

use crate::QueryError;
use crate::select::{Selection, first_recorded, runs_where};
use crate::sources::{Named, Sources};
use std::collections::HashMap;
use sto_core::model::CommitHash;
use sto_core::store::StoredBuild;

/// The runs of the newest build of the branch's history: of the last commit up to `HEAD` of which one was made, with
/// changes that were not committed or without. Of several it is the one that was recorded last. Where no build is of
/// the branch, or nobody knows its commits, it is the newest of the store.
///
/// # Errors
/// Where the store cannot be read, or has no runs.
pub fn newest_of_branch(sources: &Sources) -> Result<Named, QueryError> {
    let builds = sources.store()?.builds()?;
    let commits = sources.surroundings().commits("HEAD").unwrap_or_default();
    let ages: HashMap<&str, usize> = commits.iter().map(|c| c.id.as_str()).zip(0..).collect();
    let age = |revision: &str| {
        let commit = CommitHash::of_revision(revision)?.to_string();
        ages.get(commit.as_str()).copied()
    };
    let newest = |build: &StoredBuild| {
        let of_runs = build.profiles.iter().map(|run| run.revision.as_deref());
        let revisions = of_runs.chain([build.build.revision.as_deref()]).flatten();
        let newest = revisions.filter_map(age).min()?;
        let runs = runs_where(build, |revision| age(revision) == Some(newest))?;
        Some((newest, runs))
    };
    let of_branch = builds.iter().filter_map(|build| {
        let (age, runs) = newest(build)?;
        Some((age, std::cmp::Reverse(first_recorded(build)), runs))
    });
    match of_branch.min_by_key(|(age, recorded, _)| (*age, *recorded)) {
        Some((_, _, runs)) => Ok(named(&runs)),
        None => {
            let recorded = builds.iter().filter(|build| !build.profiles.is_empty());
            let newest = recorded.max_by_key(|build| first_recorded(build));
            let newest = newest.ok_or(crate::select::SelectError::EmptyStore)?;
            Ok(named(&crate::select::whole(newest)))
        }
    }
}

fn named(runs: &Selection) -> Named {
    Named::Runs(runs.profiles.iter().map(|run| run.id).collect())
}
