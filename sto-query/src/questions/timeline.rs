//! Runs over time.

use crate::QueryError;
use crate::answer::truncate;
use crate::calls::{self, CallTimeline, CallTrace};
use crate::phases::borders_of;
use crate::sources::{BuildRef, Filter, Sources};
use crate::timeline::{self, RowsBy, RunOverTime, Timeline};
use crate::tree::Order;
use serde::{Deserialize, Serialize};
use sto_core::trace::CallThresholds;

/// Default maximum numbers of metrics and of label keys on a page.
const MAX_METRICS: usize = 12;
const MAX_LABELS: usize = 3;

/// Request for a run over time.
///
/// It is an error if there are no such rows or metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TimelineRequest {
    /// The profiles; the newest of several runs is used.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// The meaning of the rows.
    pub by: RowsBy,
    /// The cost of rows, by which they are ordered.
    pub order: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// The metrics, by name or as `NAME = EXPRESSION`.
    pub metrics: Vec<String>,
    /// Maximum number of rows; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Returns the costs of a run over time.
pub(super) fn timeline(
    sources: &Sources,
    request: &TimelineRequest,
) -> Result<Timeline, QueryError> {
    let (run, sample_type, phases) = request.run(sources)?;
    let rows = (&request.by, request.order);
    let limit = request.limit;
    let found = timeline::timeline(&run, sample_type, rows, &request.metrics, limit)?;
    Ok(Timeline { phases, ..found })
}

/// A run over time, with several kinds of rows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Timelines {
    /// The run.
    pub run: RunOverTime,
    /// Index of the requested sample type.
    pub sample_type: usize,
    /// The requested timeline, which has the metrics, then those with other kinds of rows.
    pub timelines: Vec<Timeline>,
    /// Number of recorded metrics that were left out.
    pub omitted_metrics: usize,
}

/// Request for a run over time with rows for functions, modules, threads and labels, for a page.
///
/// Without metrics in the request, the event and the recorded metrics are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelinesRequest(pub TimelineRequest);

pub(super) fn timelines(
    sources: &Sources,
    request: &TimelinesRequest,
) -> Result<Timelines, QueryError> {
    let TimelinesRequest(request) = request;
    let (run, sample_type, phases) = request.run(sources)?;
    let mut metrics = request.metrics.clone();
    let mut omitted_metrics = 0;
    if metrics.is_empty() {
        let event = run.view.sample_types.get(sample_type);
        metrics.extend(event.map(|event| format!("event:{}", event.event)));
        metrics.extend(run.traced_names().map(str::to_owned));
        omitted_metrics = truncate(&mut metrics, Some(MAX_METRICS));
    }
    let of = |by: &RowsBy, order, metrics: &[String]| {
        timeline::timeline(&run, sample_type, (by, order), metrics, request.limit)
    };
    let mut timelines = vec![Timeline {
        phases,
        ..of(&request.by, request.order, &metrics)?
    }];
    let labels = run.label_keys().take(MAX_LABELS);
    let labels = labels.map(|key| (RowsBy::Label(key.to_owned()), Order::SelfCost));
    let others = [
        (RowsBy::Function, Order::SelfCost),
        (RowsBy::Function, Order::Total),
        (RowsBy::Module, Order::SelfCost),
        (RowsBy::Thread, Order::SelfCost),
    ];
    for (by, order) in others.into_iter().chain(labels) {
        if (&by, order) != (&request.by, request.order) {
            // The run may have no threads.
            timelines.extend(of(&by, order, &[]));
        }
    }
    Ok(Timelines {
        run,
        sample_type,
        timelines,
        omitted_metrics,
    })
}

/// Request for the calls of a run's threads over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CallTimelineRequest {
    /// The profiles; the newest of several runs is used.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the part of the time.
    pub filter: Filter,
    /// Thresholds of compression; if `None`, the stored ones or the default.
    pub thresholds: Option<CallThresholds>,
    /// Maximum number of threads; unlimited if `None`.
    pub limit: Option<usize>,
}

pub(super) fn call_timeline(
    sources: &Sources,
    request: &CallTimelineRequest,
) -> Result<CallTimeline, QueryError> {
    let run = call_trace(sources, &CallTraceRequest(request.clone()))?;
    Ok(calls::call_timeline(&run, request.limit))
}

/// Request for a run with the calls of its threads, for a page.
///
/// It is an error if the run is no trace of calls, calls of a stored run are to be recompressed but were not kept, or
/// there is no such part of the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallTraceRequest(pub CallTimelineRequest);

pub(super) fn call_trace(
    sources: &Sources,
    request: &CallTraceRequest,
) -> Result<CallTrace, QueryError> {
    let CallTraceRequest(request) = request;
    sources.call_trace_with_roots(&request.named, &request.filter, request.thresholds)
}

impl TimelineRequest {
    /// Returns the run, the index of the requested sample type, and the times at which phases
    /// begin.
    fn run(&self, sources: &Sources) -> Result<(RunOverTime, usize, Vec<f64>), QueryError> {
        let (run, sample_type) = sources.run_over_time(&self.named, &self.filter)?;
        let phases = match self.filter.window {
            Some(_) => Vec::new(),
            None => {
                let borders = borders_of(&run, sample_type).slices;
                let inner = borders.get(1..borders.len() - 1).unwrap_or_default();
                let times = inner.iter().map(|&slice| run.slices().slice_start(slice));
                times.map(|time| time.0 as f64 / 1e9).collect()
            }
        };
        let run = if self.inlined {
            run
        } else {
            run.without_inlined()
        };
        Ok((run, sample_type, phases))
    }
}
