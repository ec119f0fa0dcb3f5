//! Queries for the runs of a history.

use super::HistoryError;
use crate::functions::KeyOptions;
use crate::select::{Ancestry, BenchmarkRuns, group_by_commit, is_of_benchmark, oldest_first};
use crate::text::printable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use sto_core::store::StoredBuild;
use sto_core::units::SampleType;

/// A query for the runs of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HistoryQuery {
    /// The program; by default the only one that has runs of the benchmark.
    pub executable: Option<String>,
    /// The benchmarks, see [`Filter`](crate::sources::Filter::benchmarks); by default the only one.
    pub benchmarks: Vec<String>,
    /// The event; by default the one that most runs measured.
    pub event: Option<String>,
    /// How functions of the builds are matched.
    pub matching: KeyOptions,
    /// The commits by which builds are ordered. Each build keeps its runs of these commits, and
    /// builds without such runs are left out. By default, builds are ordered by time.
    pub ancestry: Option<Ancestry>,
}

impl HistoryQuery {
    /// Returns the builds of the program, oldest first, with their profiles of the benchmarks, at
    /// least one each.
    pub(super) fn matching(
        &self,
        mut builds: Vec<StoredBuild>,
    ) -> Result<Vec<StoredBuild>, HistoryError> {
        let known = describe(&builds);
        oldest_first(&mut builds);
        if let Some(ancestry) = &self.ancestry {
            builds = ordered_by_ancestry(builds, ancestry);
        }
        // The sort is stable: the builds of each program stay oldest first.
        builds.sort_by(|a, b| a.build.executable.cmp(&b.build.executable));
        builds.retain_mut(|stored| {
            stored
                .profiles
                .retain(|stored| !stored.profile.is_average() && !stored.profile.is_window());
            if !self.benchmarks.is_empty() {
                stored
                    .profiles
                    .retain(|stored| is_of_benchmark(&self.benchmarks, stored));
            }
            let executable = self.executable.as_ref();
            executable.is_none_or(|name| *name == stored.build.executable)
                && !stored.profiles.is_empty()
        });
        if !builds.is_empty() {
            return Ok(builds);
        }
        let named = |what: &str, name: &Option<String>| {
            let name = name.as_ref()?;
            Some(format!("{what} `{}`", printable(name)))
        };
        let benchmarks = (!self.benchmarks.is_empty()).then(|| self.benchmarks.join(", "));
        let asked = [
            named("program", &self.executable),
            named("benchmark", &benchmarks),
        ];
        let commits = self.ancestry.is_some().then(|| "these commits".to_owned());
        let asked: Vec<String> = asked.into_iter().flatten().chain(commits).collect();
        Err(HistoryError::NoRuns {
            asked: if asked.is_empty() {
                "any program".to_owned()
            } else {
                asked.join(" and ")
            },
            known,
        })
    }

    /// Like [`matching`](Self::matching), for one program and one benchmark.
    ///
    /// # Errors
    /// Returns an error if no program or benchmark matches, or if several do.
    pub(crate) fn select_one_benchmark(
        &self,
        builds: Vec<StoredBuild>,
    ) -> Result<Vec<StoredBuild>, HistoryError> {
        let builds = self.select(builds)?;
        HistoryQuery::check_one_benchmark(&builds)?;
        Ok(builds)
    }

    /// Like [`matching`](Self::matching), for one program, and one benchmark unless some are named.
    ///
    /// # Errors
    /// Returns an error if no program or benchmark matches, or if several do.
    pub(super) fn select(
        &self,
        builds: Vec<StoredBuild>,
    ) -> Result<Vec<StoredBuild>, HistoryError> {
        let builds = self.matching(builds)?;
        HistoryQuery::check_one_program(&builds)?;
        if self.benchmarks.is_empty() {
            HistoryQuery::check_one_benchmark(&builds)?;
        }
        Ok(builds)
    }

    /// Checks that all builds are of one program.
    ///
    /// # Errors
    /// Returns an error if there are several programs.
    fn check_one_program(builds: &[StoredBuild]) -> Result<(), HistoryError> {
        let programs: BTreeSet<&str> = builds.iter().map(|b| b.build.executable.as_str()).collect();
        if programs.len() == 1 {
            return Ok(());
        }
        Err(HistoryError::SeveralPrograms {
            programs: programs
                .iter()
                .map(|name| printable(name).into_owned())
                .collect(),
        })
    }

    /// Checks that all profiles are of one benchmark.
    ///
    /// # Errors
    /// Returns an error if there are several benchmarks.
    fn check_one_benchmark(builds: &[StoredBuild]) -> Result<(), HistoryError> {
        let benchmarks = BenchmarkRuns::new(builds.iter().flat_map(|stored| &stored.profiles));
        if benchmarks.len() < 2 {
            return Ok(());
        }
        Err(HistoryError::SeveralBenchmarks { benchmarks })
    }

    /// Returns the sample type of the history.
    ///
    /// # Errors
    /// Returns an error if no run measured it.
    pub(crate) fn sample_type(&self, builds: &[StoredBuild]) -> Result<SampleType, HistoryError> {
        let profiles = builds.iter().flat_map(|stored| &stored.profiles);
        let measured = profiles.map(|profile| &profile.profile.sample_types[..]);
        let (types, of_runs) = SampleType::choose_columns(measured);
        let mut runs = vec![0_u64; types.len()];
        for &column in of_runs.iter().flatten() {
            runs[column] += 1;
        }
        let column = match &self.event {
            None => (0..types.len()).rev().max_by_key(|&column| runs[column]),
            Some(event) => SampleType::index_of_event(event, &types),
        };
        match column {
            Some(column) => Ok(types[column].clone()),
            None => Err(HistoryError::NoEvent {
                event: match &self.event {
                    None => "anything".to_owned(),
                    Some(event) => printable(event).into_owned(),
                },
                known: types.into_iter().map(|known| known.event).collect(),
            }),
        }
    }
}

/// Returns the builds of commits of an ancestry, ancestors first. A build of several commits is
/// split.
fn ordered_by_ancestry(builds: Vec<StoredBuild>, ancestry: &Ancestry) -> Vec<StoredBuild> {
    let mut found: Vec<(usize, StoredBuild)> = Vec::new();
    for stored in builds {
        for (commit, selections) in group_by_commit(std::slice::from_ref(&stored)) {
            let Some(at) = ancestry.index_of(&commit) else {
                continue;
            };
            found.extend(selections.into_iter().map(|selection| {
                let of_commit = StoredBuild {
                    build: selection.build,
                    profiles: selection.profiles,
                    ..stored.clone()
                };
                (at, of_commit)
            }));
        }
    }
    // Children precede their parents in the ancestry; builds of one commit stay in the order of
    // time.
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    found.into_iter().map(|(_, stored)| stored).collect()
}

/// Maximum number of names in an error.
const MAX_NAMED: usize = 10;

fn describe(builds: &[StoredBuild]) -> String {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for stored in builds {
        for profile in &stored.profiles {
            let executable = printable(&stored.build.executable);
            known.insert(match &profile.profile.benchmark {
                None => executable.into_owned(),
                Some(name) => format!("{executable} ({})", printable(name)),
            });
        }
    }
    let more = known.len().saturating_sub(MAX_NAMED);
    let mut listed: Vec<String> = known.into_iter().take(MAX_NAMED).collect();
    match (listed.is_empty(), more) {
        (true, _) => return "no runs at all".to_owned(),
        (false, 0) => {}
        (false, more) => listed.push(format!("{more} more")),
    }
    format!("runs of {}", listed.join(", "))
}
