//! Measured commits of a history.

use crate::QueryError;
use crate::compare::EXIT_STATUS;
use crate::history::{HistoryError, HistoryQuery};
use crate::select::{Ancestry, Selection, group_by_commit};
use crate::sources::{BuildRef, Sources};
use std::collections::BTreeMap;
use sto_core::model::{Commit, CommitHash};
use sto_core::store::{StoredBuild, StoredProfile};
use sto_core::units::SampleType;

/// The measured commits of a history: runs of one program and one benchmark.
pub(crate) struct MeasuredCommits {
    /// The program; `None` if nothing was measured.
    pub(crate) executable: Option<String>,
    /// The benchmark, if the runs have one.
    pub(crate) benchmark: Option<String>,
    /// The requested sample type, or the one that most runs have.
    pub(crate) sample_type: Option<SampleType>,
    /// Runs of each commit, by its index in the ancestry. If a commit has several builds, the one recorded last counts.
    pub(crate) runs: BTreeMap<usize, Selection>,
    /// The builds of these runs.
    pub(crate) builds: Vec<StoredBuild>,
}

impl MeasuredCommits {
    /// Selects the builds that were made from commits of the ancestry.
    ///
    /// # Errors
    ///
    /// Returns an error if these are of several programs or benchmarks, or if none matches the query.
    pub(crate) fn select(
        mut builds: Vec<StoredBuild>,
        ancestry: &Ancestry,
        query: &HistoryQuery,
    ) -> Result<MeasuredCommits, HistoryError> {
        let is_of = |revision: &String| {
            let commit =
                CommitHash::from_revision(revision).filter(|_| !Commit::is_dirty(revision));
            commit.is_some_and(|commit| ancestry.index_of(&commit).is_some())
        };
        for stored in &mut builds {
            let of_build = stored.build.revision.clone();
            let is_of = |run: &StoredProfile| {
                run.revision
                    .as_ref()
                    .or(of_build.as_ref())
                    .is_some_and(is_of)
            };
            stored.profiles.retain(|run| is_of(run) && !has_failed(run));
        }
        builds.retain(|stored| !stored.profiles.is_empty());
        let builds = match query.select_one_benchmark(builds) {
            Err(HistoryError::NoRuns { .. }) => Vec::new(),
            builds => builds?,
        };
        if builds.is_empty() {
            return Ok(MeasuredCommits {
                executable: None,
                benchmark: None,
                sample_type: None,
                runs: BTreeMap::new(),
                builds,
            });
        }
        let first = builds.first();
        let profiles = first.and_then(|stored| stored.profiles.first());
        let measured = MeasuredCommits {
            executable: first.map(|stored| stored.build.executable.clone()),
            benchmark: profiles.and_then(|stored| stored.profile.benchmark.clone()),
            sample_type: Some(query.sample_type(&builds)?),
            runs: BTreeMap::new(),
            builds: Vec::new(),
        };
        let newest = |runs: &Selection| {
            let recorded = runs.profiles.iter();
            recorded.map(|run| run.profile.origin.recorded).max()
        };
        let of_commits = group_by_commit(&builds)
            .into_iter()
            .filter_map(|(commit, several)| {
                let runs = several.into_iter().max_by_key(newest)?;
                Some((ancestry.index_of(&commit)?, runs))
            });
        Ok(MeasuredCommits {
            runs: of_commits.collect(),
            builds,
            ..measured
        })
    }

    /// Returns the runs of a commit as an argument for queries.
    pub(crate) fn runs_of_commit(&self, commit: usize) -> Option<BuildRef> {
        let runs = self.runs.get(&commit)?.profiles.iter();
        Some(BuildRef::Runs(runs.map(|run| run.id).collect()))
    }
}

/// Returns `true` if the program's exit status is known and not 0.
fn has_failed(run: &StoredProfile) -> bool {
    let status = run.profile.metrics.get(EXIT_STATUS);
    status.is_some_and(|&status| status != 0.0)
}

/// Returns the number of stored runs of each commit, optionally only of one program and benchmark. If a metric is
/// given, only runs in which it has exactly this value count. Failed runs do not count. Commits without a counted run are
/// left out.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn recorded_runs(
    sources: &Sources,
    executable: Option<&str>,
    benchmark: Option<&str>,
    metric: Option<(&str, f64)>,
) -> Result<BTreeMap<CommitHash, usize>, QueryError> {
    let mut builds = sources.store()?.builds()?;
    builds.retain(|stored| executable.is_none_or(|name| stored.build.executable == name));
    for stored in &mut builds {
        let is_of = |run: &StoredProfile| {
            let profile = &run.profile;
            benchmark.is_none_or(|name| profile.benchmark.as_deref() == Some(name))
                && metric.is_none_or(|(name, value)| profile.metrics.get(name) == Some(&value))
        };
        stored.profiles.retain(|run| is_of(run) && !has_failed(run));
    }
    builds.retain(|stored| !stored.profiles.is_empty());
    let counted = |(commit, selections): (CommitHash, Vec<Selection>)| {
        let runs = selections.iter().map(|selection| selection.profiles.len());
        (commit, runs.sum())
    };
    Ok(group_by_commit(&builds).into_iter().map(counted).collect())
}
