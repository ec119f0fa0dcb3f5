//! Errors of ranking metrics, and metrics that are left out.

use crate::text::printable;
use crate::timeline::TimelineError;
use serde::Serialize;
use sto_stats::warp::WarpError;

/// Error of ranking metrics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorrelateError {
    /// The table is empty.
    #[error("it is empty; expected a line with the names of columns, and rows of numbers")]
    Empty,
    /// The first line has only numbers.
    #[error("its first line has only numbers; expected the names of the columns")]
    NoNames,
    /// The table is not valid CSV.
    #[error("{0}")]
    Malformed(String),
    /// A row has more fields than the first line.
    #[error(
        "line {line}: expected at most {columns} fields (the number of columns), found {found}"
    )]
    TooManyFields {
        /// Line number, from 1.
        line: u64,
        /// Number of fields in the line.
        found: usize,
        /// Number of fields in the first line.
        columns: usize,
    },
    /// A row has no time.
    #[error("line {line}: expected a number in `{}`, the column of times", printable(.column))]
    NoTime {
        /// Line number, from 1.
        line: u64,
        /// Name of the column of times.
        column: String,
    },
    /// Times are not strictly ascending.
    #[error(
        "line {line}: expected a time above {before} in `{}`, found {time}; sort the rows by time, with one row for each",
        printable(.column)
    )]
    TimeGoesBack {
        /// The line, from 1.
        line: u64,
        /// Name of the column of times.
        column: String,
        /// Time of the row before.
        before: f64,
        /// Time of this row.
        time: f64,
    },
    /// The target is not a column.
    #[error("no column is called `{}`{}", printable(.target), match .closest {
        Some(closest) => format!("; the closest is `{}`", printable(closest)),
        None => String::new(),
    })]
    NoTarget {
        /// The target as the user typed it.
        target: String,
        /// The column with the most similar name.
        closest: Option<String>,
    },
    /// Several columns have the name of the target.
    #[error("{count} columns are called `{}`; give each a name of its own", printable(.target))]
    SeveralTargets {
        /// The target as the user typed it.
        target: String,
        /// Number of such columns.
        count: usize,
    },
    /// The target cannot be compared.
    #[error("the target `{}` {}", printable(.target), match .why {
        WhyLeftOut::Text => "has values that are not numbers",
        WhyLeftOut::Gaps => "has no value in at least half of the rows",
        WhyLeftOut::Part | WhyLeftOut::Same | WhyLeftOut::Aligned => "cannot be compared with itself",
    })]
    Target {
        /// The target.
        target: String,
        /// The reason.
        why: WhyLeftOut,
    },
    /// The target is constant.
    #[error("the target `{}` is constant there, so there is nothing to explain", printable(.target))]
    ConstantTarget {
        /// The target.
        target: String,
    },
    /// A run has no value of the metric by which it is to be aligned.
    #[error("{} has no value of `{}`", printable(.build), printable(.metric))]
    NoValue {
        /// The metric.
        metric: String,
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// Runs cannot be aligned.
    #[error(transparent)]
    Warp(#[from] WarpError),
    /// A run does not have the metric.
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    /// A correlator needs a pattern, and none was given.
    #[error("linear-pattern needs a pattern, and none is given")]
    NoPattern,
    /// The pattern is invalid.
    #[error("the pattern {0}")]
    Pattern(&'static str),
}

/// A metric that is not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOut {
    /// The metric.
    pub name: String,
    /// The reason.
    pub why: WhyLeftOut,
}

/// Reason why a metric is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WhyLeftOut {
    /// It has values that are not numbers.
    Text,
    /// At least half of its values are missing.
    Gaps,
    /// The target is computed from it.
    Part,
    /// Its values equal the target's.
    Same,
    /// Its run was aligned by it.
    Aligned,
}
