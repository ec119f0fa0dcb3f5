//! Metrics over time: correlation with a target, and alignment of two runs.

use crate::QueryError;
use crate::answer::truncate;
use crate::correlate::{
    self, Alignment, CorrelateError, CorrelateOptions, MAX_ALIGNED, RankedMetrics, RunMetrics,
    correlate_runs, correlate_table,
};
use crate::sources::{BuildRef, Filter, Sources};
use crate::timeline::RunOverTime;
use serde::{Deserialize, Serialize};

/// Request for the columns of a table that explain a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CorrelateTableRequest {
    /// The metrics: CSV with column names in the first line, and a row for each time.
    pub table: String,
    /// The target, and how metrics are compared with it.
    pub options: CorrelateOptions,
    /// Maximum number of metrics.
    pub limit: Option<usize>,
}

/// Ranks the columns of a table by how well they explain a target.
///
/// # Errors
///
/// Returns an error if the table cannot be read, lacks the target, or the target never varies.
pub fn correlate_columns(request: &CorrelateTableRequest) -> Result<RankedMetrics, CorrelateError> {
    let mut ranked = correlate_table(&request.table, &request.options)?;
    ranked.omitted = truncate(&mut ranked.metrics, request.limit);
    Ok(ranked)
}

/// Request for the metrics of runs that explain a target.
///
/// It is an error if there is no such target or metric, the target never varies, or runs cannot be aligned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CorrelateRequest {
    /// The runs. The first one has the target. The newest run of each build is used.
    pub named: Vec<BuildRef>,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// The target, and how metrics are compared with it. Times are seconds since the first run's
    /// first sample.
    pub options: CorrelateOptions,
    /// Metrics computed from others, as `NAME = EXPRESSION`.
    pub metrics: Vec<String>,
    /// A metric of all runs by which the others are aligned with the first.
    pub align: Option<String>,
    /// Maximum number of slices of the first run's time.
    pub slices: Option<usize>,
    /// Maximum number of metrics.
    pub limit: Option<usize>,
}

/// Ranks all metrics of runs by how well they explain a target.
pub(super) fn correlate(
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
    ranked.omitted = truncate(&mut ranked.metrics, request.limit);
    Ok(ranked)
}

/// Request for the alignment of two runs of the same work.
///
/// It is an error if one of the runs lacks the metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AlignRequest {
    /// The reference, and the run that is aligned with it. The newest run of each build is used.
    pub named: [BuildRef; 2],
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// The metric by which they are aligned, by name or as `NAME = EXPRESSION`; the whole event if
    /// `None`.
    pub metric: Option<String>,
    /// Maximum number of slices of each run.
    pub slices: Option<usize>,
}

/// Finds the times of two runs that correspond to each other.
pub(super) fn align(sources: &Sources, request: &AlignRequest) -> Result<Alignment, QueryError> {
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
    named: &[BuildRef],
    filter: &Filter,
    inlined: bool,
) -> Result<Vec<(RunOverTime, usize)>, QueryError> {
    let load = |named| {
        let (run, sample_type) = sources.run_over_time(named, filter)?;
        Ok(if inlined {
            (run, sample_type)
        } else {
            (run.without_inlined(), sample_type)
        })
    };
    named.iter().map(load).collect()
}
