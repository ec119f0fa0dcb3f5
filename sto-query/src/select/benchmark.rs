//! Runs of one benchmark: those of several did different work, and are not added up.

use super::benchmark_runs::BenchmarkRuns;
use super::{SelectError, Selection, full_name};
use std::collections::BTreeSet;

impl Selection {
    /// The benchmarks that its runs are of; `None` are runs that name none.
    pub(crate) fn benchmarks(&self) -> BTreeSet<Option<&str>> {
        let runs = self.profiles.iter();
        runs.map(|stored| stored.profile.benchmark.as_deref())
            .collect()
    }

    /// Its runs of one benchmark, or those that name none. There may be none.
    pub(crate) fn of_benchmark(&self, benchmark: Option<&str>) -> Selection {
        let runs = self.profiles.iter();
        let of_it = runs.filter(|stored| stored.profile.benchmark.as_deref() == benchmark);
        Selection {
            build: self.build.clone(),
            profiles: of_it.cloned().collect(),
        }
    }

    /// Its runs of the benchmark of this name, where an empty name stands for runs that name none;
    /// without a name all of them.
    ///
    /// # Errors
    /// Where it has no run of that benchmark, or no benchmark was named and it has runs of several.
    pub(crate) fn of_one_benchmark(self, named: Option<&str>) -> Result<Selection, SelectError> {
        let Some(name) = named else {
            one_benchmark([&self])?;
            return Ok(self);
        };
        let chosen = self.of_benchmark(Some(name).filter(|name| !name.is_empty()));
        if chosen.profiles.is_empty() {
            return Err(SelectError::NoBenchmark {
                build: full_name(&self.build),
                benchmark: name.to_owned(),
                known: BenchmarkRuns::of(&self.profiles),
            });
        }
        Ok(chosen)
    }
}

/// Whether runs that are added up are all of one benchmark.
///
/// # Errors
/// Where they are of several.
pub(crate) fn one_benchmark<'a>(
    selections: impl IntoIterator<Item = &'a Selection>,
) -> Result<(), SelectError> {
    let selections: Vec<&Selection> = selections.into_iter().collect();
    let runs = BenchmarkRuns::of(selections.iter().flat_map(|selection| &selection.profiles));
    if runs.len() < 2 {
        return Ok(());
    }
    let builds: BTreeSet<String> = selections.iter().map(|s| full_name(&s.build)).collect();
    Err(SelectError::SeveralBenchmarks {
        builds: builds.into_iter().collect(),
        benchmarks: runs,
    })
}
