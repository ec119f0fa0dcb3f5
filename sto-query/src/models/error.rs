//! Why there is no model.

use crate::functions::FunctionError;
use crate::statistics::models::PointsError;
use crate::text::{printable, some_of};
use crate::tree::WindowError;
use sto_core::id::ProfileId;
use sto_core::store::StoreError;

/// Why cost cannot be modelled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No run says what it was given.
    #[error("no run of {build} has a metric or a label `{}` that is a number{}", printable(.x), match (.closest, &.known[..], &.arguments[..]) {
        (Some(closest), ..) => format!("; did you mean `{}`?", printable(closest)),
        (None, [], []) => "; they have no metrics at all".to_owned(),
        (None, [], arguments) => format!("; their calls have {}", some_of(arguments, 5)),
        (None, known, []) => format!("; they have {}", some_of(known, 5)),
        (None, known, arguments) => {
            format!("; they have {}; their calls {}", some_of(known, 5), some_of(arguments, 5))
        }
    })]
    NoX {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// What was asked for.
        x: String,
        /// The metric whose name is closest, if any is close.
        closest: Option<Box<str>>,
        /// The metrics and labels that are numbers.
        known: Box<[String]>,
        /// The arguments of calls that are numbers.
        arguments: Box<[String]>,
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
