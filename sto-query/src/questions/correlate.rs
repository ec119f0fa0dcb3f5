//! Metrics over time: which explains another, and how two runs go together.

use crate::QueryError;
use crate::answer::limited;
use crate::correlate::{
    self, Alignment, CorrelateError, CorrelateOptions, MAX_ALIGNED, RankedMetrics, RunMetrics,
    correlate_runs, correlate_table,
};
use crate::sources::{Filter, Named, Sources};
use crate::timeline::RunOverTime;
use serde::{Deserialize, Serialize};

/// Metrics of a table that explain a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CorrelateTableRequest {
    /// The metrics: CSV whose first line names the columns, with a row for each time.
    pub table: String,
    /// The target, and how metrics are compared with it.
    pub options: CorrelateOptions,
    /// The most metrics to list.
    pub limit: Option<usize>,
}

/// Ranks the columns of a table by how well they explain a target.
///
/// # Errors
/// Where the table cannot be read, has no such target, or that never varies.
pub fn correlate_columns(request: &CorrelateTableRequest) -> Result<RankedMetrics, CorrelateError> {
    let mut ranked = correlate_table(&request.table, &request.options)?;
    ranked.omitted = limited(&mut ranked.metrics, request.limit);
    Ok(ranked)
}

/// Metrics of runs that explain a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CorrelateRequest {
    /// The runs: of the first one is the target. Of a build with several the newest is taken.
    pub named: Vec<Named>,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// The target, and how metrics are compared with it. Times are seconds since the first run's first sample.
    pub options: CorrelateOptions,
    /// Metrics made of others, as `NAME = EXPRESSION`.
    pub metrics: Vec<String>,
    /// A metric of all runs by which the others are brought to the time of the first.
    pub align: Option<String>,
    /// Number of slices of the first run's time, if it has as many.
    pub slices: Option<usize>,
    /// The most metrics to list.
    pub limit: Option<usize>,
}

/// Ranks every metric of runs by how well it explains a target.
///
/// # Errors
/// As [`Sources::run_over_time`], where there is no such target or metric, the target never varies, or runs cannot be
/// aligned.
pub fn correlate(
    sources: &Sources,
    request: &CorrelateRequest,
) -> Result<RankedMetrics, QueryError> {
    let runs = runs(sources, &request.named, &request.filter, request.inlined)?;
    let metrics = RunMetrics {
        formulas: &request.metrics,
        align: request.align.as_deref(),
        slices: request.slices,
    };
    let mut ranked = correlate_runs(&runs, &metrics, &request.options)?;
    ranked.omitted = limited(&mut ranked.metrics, request.limit);
    Ok(ranked)
}

/// How two runs of the same work go together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AlignRequest {
    /// The run whose time stays, and that which is brought to it. Of a build with several the newest is taken.
    pub named: [Named; 2],
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// The metric by which they are aligned, by name or as `NAME = EXPRESSION`; without it, all of the event.
    pub metric: Option<String>,
    /// The most slices of each run.
    pub slices: Option<usize>,
}

/// Says which times of two runs belong together.
///
/// # Errors
/// As [`Sources::run_over_time`], and where one of them does not have the metric.
pub fn align(sources: &Sources, request: &AlignRequest) -> Result<Alignment, QueryError> {
    let runs = runs(sources, &request.named, &request.filter, false)?;
    let [first, second] = [0, 1].map(|ix| (&runs[ix].0, runs[ix].1));
    let types = &first.0.view.sample_types;
    let event = types.get(first.1).map_or("", |event| &event.event);
    let metric = request.metric.clone();
    let metric = metric.unwrap_or_else(|| format!("event:{event}"));
    let slices = request.slices.unwrap_or(MAX_ALIGNED);
    Ok(correlate::align([first, second], &metric, slices)?)
}

fn runs(
    sources: &Sources,
    named: &[Named],
    filter: &Filter,
    inlined: bool,
) -> Result<Vec<(RunOverTime, usize)>, QueryError> {
    let load = |named| {
        let (run, sample_type) = sources.run_over_time(named, filter)?;
        Ok(match inlined {
            true => (run, sample_type),
            false => (run.without_inlined(), sample_type),
        })
    };
    named.iter().map(load).collect()
}
