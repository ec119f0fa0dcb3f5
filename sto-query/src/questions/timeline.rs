//! What a run did over time.

use crate::QueryError;
use crate::sources::{Filter, Named, Sources};
use crate::timeline::{self, RowsBy, Timeline};
use crate::tree::Order;
use serde::{Deserialize, Serialize};

/// What a run did over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TimelineRequest {
    /// The profiles; of several runs the newest is taken.
    pub named: Named,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// What rows are of.
    pub by: RowsBy,
    /// The cost that rows are of, and ordered by.
    pub order: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// The metrics, by name or as `NAME = EXPRESSION`.
    pub metrics: Vec<String>,
    /// The most rows; all without it.
    pub limit: Option<usize>,
}

/// Says what a run did over time.
///
/// # Errors
/// As [`Sources::run_over_time`], and where there are no such rows or metrics.
pub fn timeline(sources: &Sources, request: &TimelineRequest) -> Result<Timeline, QueryError> {
    let (run, sample_type) = sources.run_over_time(&request.named, &request.filter)?;
    let run = match request.inlined {
        true => run,
        false => run.without_inlined(),
    };
    Ok(timeline::timeline(
        &run,
        sample_type,
        (&request.by, request.order),
        &request.metrics,
        request.limit,
    )?)
}
