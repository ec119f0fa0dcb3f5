//! Selection of branches by score, or by correlation with a metric.

use super::{Branch, BranchSelection, StopCriterion};
use crate::correlate::pearson;
use crate::history::{History, HistoryError, Judged};
use crate::series::{Expected, score};
use crate::text::printable;
use std::collections::BTreeSet;

/// Greedy selection: the score of the samples with the whole branch, as in [`scores`](crate::series::scores).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GreedySelection(pub Judged);

impl GreedySelection {
    /// Returns the expected number per run from the window; `None` with fewer than two runs.
    pub(crate) fn expected(&self, samples: &[f64]) -> Option<Expected> {
        Expected::from_observations(&samples[self.0.window.clone()])
    }

    /// Returns the score; zero without an expectation.
    pub(crate) fn score(&self, samples: &[f64]) -> f64 {
        let expected = self.expected(samples);
        expected.map_or(0.0, |expected| score(self.0.judged_mean(samples), expected))
    }
}

impl BranchSelection for GreedySelection {
    fn rank(&self, branch: &Branch) -> f64 {
        self.score(&branch.samples)
    }
}

/// Discards branches with fewer samples than expected, and those without samples in all of these runs.
impl StopCriterion for GreedySelection {
    fn stops(&self, branch: &Branch) -> bool {
        let samples = &branch.samples;
        let is_there = |samples: &[f64]| samples.iter().any(|&samples| samples > 0.0);
        let known = is_there(&samples[self.0.all()]);
        !known || self.score(samples) < 0.0
    }
}

/// Correlation selection: correlation of the samples with the whole branch with a metric, averaged over benchmarks.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrelationSelection {
    /// Runs with the metric and its value, by benchmark.
    benchmarks: Vec<Vec<(usize, f64)>>,
}

impl CorrelationSelection {
    /// Selects by a metric of the history's runs.
    ///
    /// # Errors
    ///
    /// Returns an error if no benchmark has two runs with the metric.
    pub fn new(history: &History, metric: &str) -> Result<CorrelationSelection, HistoryError> {
        let benchmarks: Vec<_> = history.runs_with(metric).into_values().collect();
        if benchmarks.iter().any(|runs| runs.len() > 1) {
            return Ok(CorrelationSelection { benchmarks });
        }
        let profiles = history.runs.iter().map(|run| &run.profile.profile);
        let known: BTreeSet<&String> = profiles.flat_map(|p| p.metrics.keys()).collect();
        Err(HistoryError::NoMetric {
            metric: printable(metric).into_owned(),
            known: known
                .iter()
                .map(|name| printable(name).into_owned())
                .collect(),
        })
    }

    /// Returns Pearson's coefficient averaged over the benchmarks that have one; zero without any.
    pub(crate) fn coefficient(&self, branch: &Branch) -> f64 {
        let of_benchmark = |runs: &Vec<(usize, f64)>| {
            let samples: Vec<f64> = runs.iter().map(|&(run, _)| branch.samples[run]).collect();
            let metric: Vec<f64> = runs.iter().map(|&(_, value)| value).collect();
            Some(pearson(&samples, &metric)?.coefficient)
        };
        let found: Vec<f64> = self.benchmarks.iter().filter_map(of_benchmark).collect();
        found.iter().sum::<f64>() / found.len().max(1) as f64
    }
}

impl BranchSelection for CorrelationSelection {
    fn rank(&self, branch: &Branch) -> f64 {
        self.coefficient(branch)
    }
}

/// Discards branches whose rank in a selection is not above zero.
pub struct PositiveSelection<'s>(pub &'s dyn BranchSelection);

impl StopCriterion for PositiveSelection<'_> {
    fn stops(&self, branch: &Branch) -> bool {
        self.0.rank(branch) <= 0.0
    }
}
