//! The number of runs of each benchmark.

use crate::text::printable;
use std::collections::BTreeMap;
use sto_core::store::StoredProfile;

/// The number of runs of each benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchmarkRuns(BTreeMap<Option<String>, usize>);

impl BenchmarkRuns {
    pub(crate) fn new<'a>(profiles: impl IntoIterator<Item = &'a StoredProfile>) -> BenchmarkRuns {
        let mut runs = BTreeMap::new();
        for stored in profiles {
            *runs.entry(stored.profile.benchmark.clone()).or_default() += 1;
        }
        BenchmarkRuns(runs)
    }

    /// Returns the number of benchmarks, where runs without a benchmark count as one more.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Display for BenchmarkRuns {
    /// Writes `serve (3 runs), startup (1 run), '' for runs that name none (2 runs)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Runs without a benchmark come last.
        let (none, named): (Vec<_>, Vec<_>) = self.0.iter().partition(|(name, _)| name.is_none());
        for (ix, (name, runs)) in named.into_iter().chain(none).enumerate() {
            if ix > 0 {
                f.write_str(", ")?;
            }
            match name {
                Some(name) => write!(f, "{}", printable(name))?,
                None => f.write_str("'' for runs that name none")?,
            }
            let s = if *runs == 1 { "" } else { "s" };
            write!(f, " ({runs} run{s})")?;
        }
        Ok(())
    }
}
