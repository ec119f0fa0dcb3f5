//! Metrics that were given to stored runs.

use crate::annotate::GivenMetrics;
use serde::Serialize;
use sto_core::store::Annotated;

/// What was given to runs; schema `sto.annotate/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnnotateReport {
    /// `sto.annotate/1`.
    pub schema: &'static str,
    /// Number of runs that the metrics are of.
    pub runs: usize,
    /// Metrics that their runs did not have.
    pub new: usize,
    /// Metrics that replaced another value.
    pub replaced: usize,
    /// Metrics that their runs had with this value.
    pub unchanged: usize,
}

impl AnnotateReport {
    /// Reports what was given, and what became of it.
    pub fn of(given: &GivenMetrics, annotated: &Annotated) -> Self {
        AnnotateReport {
            schema: "sto.annotate/1",
            runs: given.len(),
            new: annotated.new,
            replaced: annotated.different.len(),
            unchanged: annotated.unchanged,
        }
    }
}
