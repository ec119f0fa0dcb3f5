//! Selects runs of one benchmark. Runs of several benchmarks did different work, and are never
//! added up.

use super::benchmark_runs::BenchmarkRuns;
use super::{SelectError, Selection, full_name};
use std::collections::BTreeSet;

impl Selection {
    /// Returns the benchmarks of the runs; `None` stands for runs without a benchmark.
    pub(crate) fn benchmarks(&self) -> BTreeSet<Option<&str>> {
        let runs = self.profiles.iter();
        runs.map(|stored| stored.profile.benchmark.as_deref())
            .collect()
    }

    /// Returns the runs of one benchmark, or those without a benchmark. The result may be empty.
    pub(crate) fn only_benchmark(&self, benchmark: Option<&str>) -> Selection {
        let runs = self.profiles.iter();
        let matching = runs.filter(|stored| stored.profile.benchmark.as_deref() == benchmark);
        Selection {
            build: self.build.clone(),
            profiles: matching.cloned().collect(),
        }
    }

    /// Returns the runs of the named benchmark. An empty name stands for runs without a benchmark;
    /// `None` selects all runs.
    ///
    /// # Errors
    /// Returns an error if there is no run of that benchmark, or if no benchmark is named and there
    /// are runs of several.
    pub(crate) fn with_benchmark(self, named: Option<&str>) -> Result<Selection, SelectError> {
        let Some(name) = named else {
            check_one_benchmark([&self])?;
            return Ok(self);
        };
        let chosen = self.only_benchmark(Some(name).filter(|name| !name.is_empty()));
        if chosen.profiles.is_empty() {
            return Err(SelectError::NoBenchmark {
                build: full_name(&self.build),
                benchmark: name.to_owned(),
                known: BenchmarkRuns::new(&self.profiles),
            });
        }
        Ok(chosen)
    }
}

/// Checks that runs that are added up all have the same benchmark.
///
/// # Errors
/// Returns an error if there are several benchmarks.
pub(crate) fn check_one_benchmark<'a>(
    selections: impl IntoIterator<Item = &'a Selection>,
) -> Result<(), SelectError> {
    let selections: Vec<&Selection> = selections.into_iter().collect();
    let runs = BenchmarkRuns::new(selections.iter().flat_map(|selection| &selection.profiles));
    if runs.len() < 2 {
        return Ok(());
    }
    let builds: BTreeSet<String> = selections.iter().map(|s| full_name(&s.build)).collect();
    Err(SelectError::SeveralBenchmarks {
        builds: builds.into_iter().collect(),
        benchmarks: runs,
    })
}
