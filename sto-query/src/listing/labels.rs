//! Values of labels and metrics of the runs in a store, for choosing among them.

use super::{Listing, ListingError};
use crate::answer::Answer;
use serde::Serialize;
use std::collections::BTreeMap;
use sto_core::store::StoredBuild;

/// The values by which runs can be chosen, and for each of them the number of runs that have it.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LabelList {
    /// The programs.
    pub executables: BTreeMap<String, usize>,
    /// The benchmarks. Runs without one are not counted.
    pub benchmarks: BTreeMap<String, usize>,
    /// The values of each label, by its key.
    pub labels: BTreeMap<String, BTreeMap<String, usize>>,
    /// The metrics, by name.
    pub metrics: BTreeMap<String, MetricRange>,
}

impl Answer for LabelList {
    const SCHEMA: &'static str = "sto.labels/1";
}

/// The values of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MetricRange {
    /// Number of runs that have the metric.
    pub runs: usize,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Listing {
    /// Counts the values of labels and metrics of the matching runs. Offset and limit don't apply.
    ///
    /// # Errors
    ///
    /// Returns an error if none of the runs matches, unless the store is empty.
    pub fn labels(&self, builds: Vec<StoredBuild>) -> Result<LabelList, ListingError> {
        let mut list = LabelList::default();
        for build in self.chosen(builds)? {
            for run in &build.profiles {
                let profile = &run.profile;
                *list
                    .executables
                    .entry(build.build.executable.clone())
                    .or_default() += 1;
                if let Some(benchmark) = &profile.benchmark {
                    *list.benchmarks.entry(benchmark.clone()).or_default() += 1;
                }
                for (key, value) in &profile.labels {
                    let values = list.labels.entry(key.clone()).or_default();
                    *values.entry(value.clone()).or_default() += 1;
                }
                for (name, &value) in &profile.metrics {
                    let range = list.metrics.entry(name.clone()).or_insert(MetricRange {
                        runs: 0,
                        min: value,
                        max: value,
                    });
                    range.runs += 1;
                    range.min = range.min.min(value);
                    range.max = range.max.max(value);
                }
            }
        }
        Ok(list)
    }
}
