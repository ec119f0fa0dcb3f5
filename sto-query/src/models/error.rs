//! Errors of modelling.

use super::{FunctionWithoutPoints, KnownNumbers};
use crate::functions::FunctionError;
use crate::text::printable;
use crate::tree::WindowError;
use sto_core::Cancelled;
use sto_core::id::ProfileId;
use sto_core::store::StoreError;
use sto_stats::models::PointsError;

/// Error of modelling cost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The question was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// No run has a number with this name.
    #[error("no run of {} has a metric or a label `{}` that is a number{}; {}", printable(.build), printable(.x),
        .other.as_ref().map_or(String::new(), |other| format!(", although runs of {} have one", printable(other))),
        match .closest {
            Some(closest) => format!("did you mean `{}`?", printable(closest)),
            None => .known.to_string(),
        })]
    NoX {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// Name of the number, as given.
        x: String,
        /// The build it is compared with, if its runs have the number.
        other: Option<String>,
        /// The number with the most similar name, if any is similar.
        closest: Option<Box<str>>,
        /// The known numbers.
        known: Box<KnownNumbers>,
    },
    /// Other functions have points, but not this one.
    #[error("{0}")]
    Pointless(Box<FunctionWithoutPoints>),
    /// The points of two builds are of different kinds.
    #[error("`{}` is a number of samples in {}, but of calls in {}; these cannot be compared", printable(.x), printable(&.builds[0]), printable(&.builds[1]))]
    TwoKinds {
        /// Name of the number, as given.
        x: String,
        /// The builds, as `EXE@BUILD`: first that with samples, then that with calls.
        builds: [String; 2],
    },
    /// The order of calls is needed and was not stored.
    #[error("the calls of run {profile} of {} were merged when it was stored, so their order is not known", printable(.build))]
    NotKept {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No run has both numbers.
    #[error("no run of {build} has both `{}` and `{}`", printable(&.x[0]), printable(&.x[1]))]
    NoBoth {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The names of the two numbers.
        x: [String; 2],
    },
    /// A table lacks a column.
    #[error("no column is called `{}`; expected a line with the column names `x`, `y` and optionally `group`, then rows of numbers", printable(.0))]
    NoColumn(String),
    /// A cell of a table is not a number.
    #[error("line {line}: expected a number in `{column}`, found `{}`", printable(.found))]
    NoNumber {
        /// Line number, from 1.
        line: u64,
        /// Name of the column.
        column: &'static str,
        /// Content of the cell.
        found: String,
    },
    /// A table is not valid CSV.
    #[error("{0}")]
    Malformed(String),
    /// A point is invalid.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// A name does not denote exactly one function.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// Runs cannot be split into parts.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The list of points is empty.
    #[error("there are no points")]
    NoPoints,
}
