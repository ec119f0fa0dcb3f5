//! Why there is no model.

use crate::functions::FunctionError;
use crate::statistics::models::PointsError;
use crate::text::{printable, some_of};

/// Why cost cannot be modelled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No run says what it was given.
    #[error("no run of {build} has a metric or a label `{}` that is a number{}", printable(.x), match (.closest, &.known[..]) {
        (Some(closest), _) => format!("; did you mean `{}`?", printable(closest)),
        (None, []) => "; they have no metrics at all".to_owned(),
        (None, known) => format!("; they have {}", some_of(known, 5)),
    })]
    NoX {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// What was asked for.
        x: String,
        /// The metric whose name is closest, if any is close.
        closest: Option<String>,
        /// The metrics and labels that are numbers.
        known: Vec<String>,
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
    /// There is nothing to model.
    #[error("there are no points")]
    NoPoints,
}
