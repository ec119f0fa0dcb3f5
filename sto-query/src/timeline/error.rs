//! Errors of analysing a run over time.

use super::FormulaError;
use crate::functions::FunctionError;
use crate::text::printable;
use crate::tree::RootsError;
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::StoreError;

/// Error of analysing a run over time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// The build has no run.
    #[error("{} has no run", printable(.build))]
    NoRun {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The run was stored without its course over time.
    #[error("run {profile} of {} was stored without slices of its time", printable(.build))]
    NoSlices {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// The run has no metric with this name.
    #[error(
        "no metric is named `{}`{}",
        printable(.name),
        .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
    )]
    NoMetric {
        /// Name, as given.
        name: String,
        /// The most similar name, if any is similar.
        closest: Option<String>,
        /// Available names, without functions.
        known: Vec<String>,
    },
    /// A formula is invalid.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// The name of a metric does not denote exactly one function.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// The run does not have the requested labels or threads.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TimelineError {
    /// Returns a hint about how to resolve the error.
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
