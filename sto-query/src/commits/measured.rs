//! Which commits of a history were measured.

use crate::QueryError;
use crate::compare::EXIT_STATUS;
use crate::history::{HistoryError, HistoryQuery};
use crate::select::{Ancestry, Selection, by_commit};
use crate::sources::{Named, Sources};
use std::collections::BTreeMap;
use sto_core::model::{Commit, CommitHash};
use sto_core::store::{StoredBuild, StoredProfile};
use sto_core::units::SampleType;

/// The measured commits of a history: runs of one program and one benchmark.
pub(crate) struct MeasuredCommits {
    /// The program; `None` where nothing was measured.
    pub(crate) executable: Option<String>,
    /// The benchmark, where the runs name one.
    pub(crate) benchmark: Option<String>,
    /// What most of the runs measured, or what was asked for.
    pub(crate) sample_type: Option<SampleType>,
    /// By index in the ancestry, the runs of the commit; of several builds those of the one that was recorded
    /// last.
    pub(crate) runs: BTreeMap<usize, Selection>,
    /// The builds that have them.
    pub(crate) builds: Vec<StoredBuild>,
}

impl MeasuredCommits {
    /// Of these builds those that were made of commits of the ancestry.
    ///
    /// # Errors
    /// Where those are of several programs or benchmarks, or none is what was asked for.
    pub(crate) fn of(
        mut builds: Vec<StoredBuild>,
        ancestry: &Ancestry,
        query: &HistoryQuery,
    ) -> Result<MeasuredCommits, HistoryError> {
        let is_of = |revision: &String| {
            let commit = CommitHash::of_revision(revision).filter(|_| !Commit::is_dirty(revision));
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
        let builds = match query.one(builds) {
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
        let of_commits = by_commit(&builds)
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

    /// The runs of a commit, to ask questions about.
    pub(crate) fn named(&self, commit: usize) -> Option<Named> {
        let runs = self.runs.get(&commit)?.profiles.iter();
        Some(Named::Runs(runs.map(|run| run.id).collect()))
    }
}

/// Whether the program did not do its work.
fn has_failed(run: &StoredProfile) -> bool {
    let status = run.profile.metrics.get(EXIT_STATUS);
    status.is_some_and(|&status| status != 0.0)
}

/// Number of the runs in a store of each commit, of any program and benchmark, or of these alone; without those that
/// failed, and where a metric is given, without those that do not have it at this value.
///
/// # Errors
/// Where the store cannot be read.
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
    Ok(by_commit(&builds).into_iter().map(counted).collect())
}
