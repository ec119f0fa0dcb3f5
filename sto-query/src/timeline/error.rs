//! Why a run cannot be seen over time.

use super::FormulaError;
use crate::functions::FunctionError;
use crate::text::printable;
use crate::tree::RootsError;
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::StoreError;

/// Why a run cannot be seen over time, or has no such metric.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// There is no run.
    #[error("{} has no run", printable(.build))]
    NoRun {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// Costs were not kept by time.
    #[error("run {profile} of {} was stored without slices of its time", printable(.build))]
    NoSlices {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// No metric of the run has this name.
    #[error(
        "no metric is named `{}`{}",
        printable(.name),
        .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
    )]
    NoMetric {
        /// What was asked for.
        name: String,
        /// The name that is closest, if any is close.
        closest: Option<String>,
        /// The names that there are, but for those of functions.
        known: Vec<String>,
    },
    /// A formula cannot be read.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// No function has the name of a metric, or several have it.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// There are no such labels, or no threads.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TimelineError {
    /// What can be done about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            TimelineError::NoSlices { .. } => Some(Hint::SliceTime),
            TimelineError::Store(error) | TimelineError::Roots(RootsError::Store(error)) => {
                error.hint()
            }
            _ => None,
        }
    }
}
