//! Selects runs of benchmarks. Runs of several benchmarks did different work, and are only added up
//! if the user names several.

use super::benchmark_runs::BenchmarkRuns;
use super::{SelectError, Selection, full_name};
use std::collections::BTreeSet;
use sto_core::store::StoredProfile;

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

    /// Returns the runs of the named benchmarks, see [`is_of_benchmark`]; all runs if there are no
    /// names.
    ///
    /// # Errors
    /// Returns an error if there is no run of these benchmarks, or if no benchmark is named and
    /// there are runs of several.
    pub(crate) fn with_benchmarks(mut self, named: &[String]) -> Result<Selection, SelectError> {
        if named.is_empty() {
            check_one_benchmark([&self])?;
            return Ok(self);
        }
        let known = BenchmarkRuns::new(&self.profiles);
        self.profiles.retain(|run| is_of_benchmark(named, run));
        if self.profiles.is_empty() {
            return Err(SelectError::NoBenchmark {
                build: full_name(&self.build),
                benchmark: named.join(", "),
                known,
            });
        }
        Ok(self)
    }
}

/// Whether a run is of one of these benchmarks. In a name, `*` stands for any text; an empty name
/// stands for runs without a benchmark.
pub(crate) fn is_of_benchmark(named: &[String], run: &StoredProfile) -> bool {
    let benchmark = run.profile.benchmark.as_deref();
    named.iter().any(|name| match benchmark {
        Some(benchmark) => matches_name(name, benchmark),
        None => name.is_empty(),
    })
}

/// Whether a benchmark has this name, in which `*` stands for any text.
pub(crate) fn matches_name(name: &str, benchmark: &str) -> bool {
    let Some((start, rest)) = name.split_once('*') else {
        return name == benchmark;
    };
    let Some(mut text) = benchmark.strip_prefix(start) else {
        return false;
    };
    let (between, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in between.split('*') {
        let Some(at) = text.find(part) else {
            return false;
        };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
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

#[cfg(test)]
mod tests {
    use super::matches_name;

    #[test]
    fn star_stands_for_any_text_in_the_name_of_a_benchmark() {
        let name = "029_(host,m5d)_(jdk,17)";
        for pattern in [name, "*", "029_*", "*17)", "*(jdk*)", "0*_*_*17)", "**"] {
            assert!(matches_name(pattern, name), "{pattern}");
        }
        for pattern in [
            "",
            "029",
            "29_*",
            "*17",
            "*jdk*m5d*",
            "029_(host,m5d)_(jdk,17)*)",
        ] {
            assert!(!matches_name(pattern, name), "{pattern}");
        }
    }
}
