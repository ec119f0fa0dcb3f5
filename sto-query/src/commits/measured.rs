//! Measured commits of a history.

use crate::compare::{EXIT_STATUS, recorded_command};
use crate::history::{HistoryError, HistoryQuery};
use crate::select::{Ancestry, Selection, group_by_commit};
use crate::sources::BuildRef;
use std::collections::BTreeMap;
use sto_core::ingest::IngestOptions;
use sto_core::model::{Build, Commit, CommitHash};
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

/// Returns the number of runs of each commit that have the executable, benchmark, labels and metrics of these options.
/// Without an executable or benchmark in the options, runs of any count. Failed runs do not count. Commits without a
/// counted run are left out.
pub fn runs_by_commit(
    builds: &[StoredBuild],
    options: &IngestOptions,
) -> BTreeMap<CommitHash, usize> {
    let count = |(commit, selections): (CommitHash, Vec<Selection>)| {
        let runs = selections.iter().map(|selection| {
            let runs = selection.profiles.iter();
            runs.filter(|run| repeats(&selection.build, run, options))
                .count()
        });
        Some((commit, runs.sum())).filter(|(_, runs)| *runs > 0)
    };
    group_by_commit(builds)
        .into_iter()
        .filter_map(count)
        .collect()
}

/// Like [`runs_by_commit`], for the version and revision of the options. Runs of another command do not count, if their
/// recordings name it.
pub fn runs_of_version(builds: &[StoredBuild], options: &IngestOptions, command: &str) -> usize {
    let named = options.version.as_ref();
    let builds = builds
        .iter()
        .filter(|stored| Some(&stored.build.version) == named);
    let runs =
        builds.flat_map(|stored| stored.profiles.iter().map(move |run| (&stored.build, run)));
    let is_counted = |(build, run): &(&Build, &StoredProfile)| {
        let revision = run.revision.as_ref().or(build.revision.as_ref());
        let recorded = recorded_command(&run.profile);
        revision == options.revision.as_ref()
            && recorded.is_none_or(|recorded| recorded == command)
            && repeats(build, run, options)
    };
    runs.filter(is_counted).count()
}

/// Whether a run succeeded, and has the executable, benchmark, labels and metrics of these options.
fn repeats(build: &Build, run: &StoredProfile, options: &IngestOptions) -> bool {
    let IngestOptions {
        executable,
        benchmark,
        labels,
        metrics,
        ..
    } = options;
    let profile = &run.profile;
    !has_failed(run)
        && executable
            .as_ref()
            .is_none_or(|name| build.executable == *name)
        && (benchmark.is_none() || profile.benchmark == *benchmark)
        && labels
            .iter()
            .all(|(key, value)| profile.labels.get(key) == Some(value))
        && metrics
            .iter()
            .all(|(name, value)| profile.metrics.get(name) == Some(value))
}
