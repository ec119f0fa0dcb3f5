//! What cannot be compared, and why.

use crate::text::printable;
use crate::timeline::TimelineError;
use serde::Serialize;
use sto_stats::warp::WarpError;

/// Why metrics cannot be ranked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorrelateError {
    /// The table has no line.
    #[error("it is empty; expected a line with the names of columns, and rows of numbers")]
    Empty,
    /// The first line has numbers alone.
    #[error("its first line has only numbers; expected the names of the columns")]
    NoNames,
    /// It is no CSV.
    #[error("{0}")]
    Malformed(String),
    /// A row is longer than the first line.
    #[error(
        "line {line}: expected at most {columns} fields, as many as there are columns, found {found}"
    )]
    TooManyFields {
        /// The line, from 1.
        line: u64,
        /// Its fields.
        found: usize,
        /// Fields of the first line.
        columns: usize,
    },
    /// A row has no time.
    #[error("line {line}: there is no number in `{}`, the column of times", printable(.column))]
    NoTime {
        /// The line, from 1.
        line: u64,
        /// The column of times.
        column: String,
    },
    /// Times repeat, or go back.
    #[error(
        "line {line}: expected a time above {before} in `{}`, found {time}; sort the rows by time, one for each",
        printable(.column)
    )]
    TimeGoesBack {
        /// The line, from 1.
        line: u64,
        /// The column of times.
        column: String,
        /// The time of the row before.
        before: f64,
        /// The time that was found.
        time: f64,
    },
    /// No column is the target.
    #[error("no column is called `{}`{}", printable(.target), match .closest {
        Some(closest) => format!("; the closest is `{}`", printable(closest)),
        None => String::new(),
    })]
    NoTarget {
        /// What was asked for.
        target: String,
        /// The column whose name is closest.
        closest: Option<String>,
    },
    /// Several columns are the target.
    #[error("{count} columns are called `{}`; give each a name of its own", printable(.target))]
    SeveralTargets {
        /// What was asked for.
        target: String,
        /// Their number.
        count: usize,
    },
    /// The target cannot be compared.
    #[error("the target `{}` {}", printable(.target), match .why {
        WhyLeftOut::Text => "has values that are no numbers",
        WhyLeftOut::Gaps => "has no value in half of the rows or more",
        WhyLeftOut::Part | WhyLeftOut::Same | WhyLeftOut::Aligned => "is what it would be compared with",
    })]
    Target {
        /// The target.
        target: String,
        /// What is wrong with it.
        why: WhyLeftOut,
    },
    /// There is nothing to explain.
    #[error("the target `{}` never varies there: there is nothing to explain", printable(.target))]
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
    /// A run has no such metric.
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    /// A correlator needs a pattern.
    #[error("linear-pattern compares metrics with a pattern, and there is none")]
    NoPattern,
    /// A pattern is none.
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
    /// Why.
    pub why: WhyLeftOut,
}

/// Why a metric is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WhyLeftOut {
    /// It has what is no number.
    Text,
    /// Half of its values or more are missing.
    Gaps,
    /// The target is made of it.
    Part,
    /// Its values are those of the target.
    Same,
    /// Its run was brought to the time of the first by it.
    Aligned,
}
