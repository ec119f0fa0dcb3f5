//! Metrics over time: which explains another.

use crate::answer::limited;
use crate::correlate::{CorrelateError, CorrelateOptions, RankedMetrics, correlate_table};
use serde::{Deserialize, Serialize};

/// Metrics that explain a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CorrelateRequest {
    /// The metrics: CSV whose first line names the columns, with a row for each time.
    pub table: String,
    /// The target, and how metrics are compared with it.
    pub options: CorrelateOptions,
    /// The most metrics to list.
    pub limit: Option<usize>,
}

/// Ranks metrics by how well they explain a target.
///
/// # Errors
/// Where the table cannot be read, has no such target, or that never varies.
pub fn correlate(request: &CorrelateRequest) -> Result<RankedMetrics, CorrelateError> {
    let mut ranked = correlate_table(&request.table, &request.options)?;
    ranked.omitted = limited(&mut ranked.metrics, request.limit);
    Ok(ranked)
}
