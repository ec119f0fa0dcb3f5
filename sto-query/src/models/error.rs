//! Why there is no model.

use super::{Numbers, Pointless};
use crate::functions::FunctionError;
use crate::text::printable;
use crate::tree::WindowError;
use sto_core::id::ProfileId;
use sto_core::store::StoreError;
use sto_stats::models::PointsError;

/// Why cost cannot be modelled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No run says what it was given.
    #[error("no run of {} has a metric or a label `{}` that is a number{}; {}", printable(.build), printable(.x),
        .other.as_ref().map_or(String::new(), |other| format!(", as those of {} have", printable(other))),
        match .closest {
            Some(closest) => format!("did you mean `{}`?", printable(closest)),
            None => .known.to_string(),
        })]
    NoX {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// What was asked for.
        x: String,
        /// The build that it is compared with, where runs of that have it.
        other: Option<String>,
        /// The number whose name is closest, if any is close.
        closest: Option<Box<str>>,
        /// The numbers that there are.
        known: Box<Numbers>,
    },
    /// Others say what they were given, but not this function.
    #[error("{0}")]
    Pointless(Box<Pointless>),
    /// Points of two builds are not of one kind.
    #[error("`{}` is a number of samples in {}, and of calls in {}; these cannot be compared", printable(.x), printable(&.builds[0]), printable(&.builds[1]))]
    TwoKinds {
        /// What was asked for.
        x: String,
        /// The builds, as `EXE@BUILD`: of samples, and of calls.
        builds: [String; 2],
    },
    /// Calls are asked for by their order, and were not kept.
    #[error("the calls of run {profile} of {} were compressed when it was stored: their order is not known", printable(.build))]
    NotKept {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Runs say one number or the other.
    #[error("no run of {build} has both `{}` and `{}`", printable(&.x[0]), printable(&.x[1]))]
    NoBoth {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The two.
        x: [String; 2],
    },
    /// A table has no such column.
    #[error("no column is called `{}`; expected a line with the names of columns, `x` and `y` and maybe `group`, then rows of numbers", printable(.0))]
    NoColumn(String),
    /// A row of a table is no point.
    #[error("line {line}: expected a number in `{column}`, found `{}`", printable(.found))]
    NoNumber {
        /// The line, from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// What stands there.
        found: String,
    },
    /// A table is no CSV.
    #[error("{0}")]
    Malformed(String),
    /// A point is none.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// Not one function has a name.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// Runs cannot be cut into parts.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// There is nothing to model.
    #[error("there are no points")]
    NoPoints,
}
