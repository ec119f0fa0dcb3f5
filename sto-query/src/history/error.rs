//! Errors of histories.

use crate::functions::FunctionError;
use crate::select::BenchmarkRuns;
use sto_core::Hint;
use sto_core::store::StoreError;

/// The reason why a history cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No run matches the program and benchmark.
    #[error("no run in the store is of {asked}; there are {known}")]
    NoRuns {
        /// The requested program and benchmark.
        asked: String,
        /// The existing runs.
        known: String,
    },
    /// Several programs have such runs.
    #[error("several programs have such runs: {}", .programs.join(", "))]
    SeveralPrograms {
        /// Their names.
        programs: Vec<String>,
    },
    /// The program has runs of several benchmarks.
    #[error("there are runs of several benchmarks, which did different work: {benchmarks}")]
    SeveralBenchmarks {
        /// The benchmarks of the runs.
        benchmarks: BenchmarkRuns,
    },
    /// No run measured that event.
    #[error("no run measured `{event}`; there are runs of {}", .known.join(", "))]
    NoEvent {
        /// The event.
        event: String,
        /// The events that were measured.
        known: Vec<String>,
    },
    /// No run, or several, have such an id.
    #[error("{} of the history have an id that begins with `{prefix}`", if *several { "several runs" } else { "no runs" })]
    NoRun {
        /// The requested prefix.
        prefix: String,
        /// Whether several runs match.
        several: bool,
    },
    /// No two runs of a benchmark have that metric.
    #[error("no benchmark has two runs with a metric `{metric}`{}", if known.is_empty() { String::new() } else { format!("; there are runs with {}", known.join(", ")) })]
    NoMetric {
        /// The metric.
        metric: String,
        /// The existing metrics.
        known: Vec<String>,
    },
    /// No run has the function, or several functions match but only one is allowed.
    #[error(transparent)]
    Function(#[from] FunctionError),
}

impl HistoryError {
    /// Returns a hint for fixing the error.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            HistoryError::Store(error) => error.hint(),
            HistoryError::SeveralPrograms { .. } => Some(Hint::NameProgram),
            HistoryError::SeveralBenchmarks { .. } => Some(Hint::NameBenchmark),
            HistoryError::NoRun { .. } => Some(Hint::ListBuilds),
            HistoryError::NoMetric { .. } => Some(Hint::AttachMetric),
            _ => None,
        }
    }
}
