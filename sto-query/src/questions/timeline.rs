//! What a run did over time.

use crate::QueryError;
use crate::answer::limited;
use crate::calls::{self, CallTimeline, CalledRun, CallsError};
use crate::phases::borders_of;
use crate::sources::{Filter, Named, Sources};
use crate::timeline::{self, RowsBy, RunOverTime, Timeline};
use crate::tree::Order;
use serde::{Deserialize, Serialize};
use sto_core::trace::CallThresholds;

/// Most metrics that a page has where nobody names any, and most keys of labels.
const MAX_METRICS: usize = 12;
const MAX_LABELS: usize = 3;

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
    let (run, sample_type, phases) = request.run(sources)?;
    let rows = (&request.by, request.order);
    let limit = request.limit;
    let found = timeline::timeline(&run, sample_type, rows, &request.metrics, limit)?;
    Ok(Timeline { phases, ..found })
}

/// A run over time by each kind of rows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Timelines {
    /// The run.
    pub run: RunOverTime,
    /// The index of the sample type that the request names.
    pub sample_type: usize,
    /// The timeline that was requested, which has the metrics, and then those by other rows.
    pub timelines: Vec<Timeline>,
    /// Number of recorded metrics that were left out.
    pub omitted_metrics: usize,
}

/// Like [`timeline()`], and by functions, modules, threads and labels. Without metrics in the request, it has the
/// event and the metrics that were recorded.
///
/// # Errors
/// As [`timeline()`].
pub fn timelines(sources: &Sources, request: &TimelineRequest) -> Result<Timelines, QueryError> {
    let (run, sample_type, phases) = request.run(sources)?;
    let mut metrics = request.metrics.clone();
    let mut omitted_metrics = 0;
    if metrics.is_empty() {
        let event = run.view.sample_types.get(sample_type);
        metrics.extend(event.map(|event| format!("event:{}", event.event)));
        metrics.extend(run.traced_names().map(str::to_owned));
        omitted_metrics = limited(&mut metrics, Some(MAX_METRICS));
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
            // A run may have no threads.
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

/// What the threads of a run called, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CallTimelineRequest {
    /// The profiles; of several runs the newest is taken.
    pub named: Named,
    /// Which of their runs, and which part of its time.
    pub filter: Filter,
    /// How calls are compressed; as usual, or as they were stored, without it.
    pub thresholds: Option<CallThresholds>,
    /// The most threads; all without it.
    pub limit: Option<usize>,
}

/// Says what the threads of a run called; `None` where it is no trace of calls, and nobody asks how these are
/// compressed.
///
/// # Errors
/// As [`Sources::called_run`], where the calls of a stored run were not kept and are to be compressed anew, and where
/// there is no such part of its time.
pub fn call_timeline(
    sources: &Sources,
    request: &CallTimelineRequest,
) -> Result<Option<CallTimeline>, QueryError> {
    let run = called_run(sources, request)?;
    Ok(run.map(|run| calls::call_timeline(&run, request.limit)))
}

/// Loads the run whose calls [`call_timeline`] is about.
///
/// # Errors
/// As [`call_timeline`].
pub fn called_run(
    sources: &Sources,
    request: &CallTimelineRequest,
) -> Result<Option<CalledRun>, QueryError> {
    let run = sources.called_run_by(&request.named, &request.filter, request.thresholds);
    match run {
        Err(QueryError::Calls(CallsError::NoCalls { .. })) if request.thresholds.is_none() => {
            Ok(None)
        }
        run => run.map(Some),
    }
}

impl TimelineRequest {
    /// The run, which of its sample types was asked for, and when its phases begin.
    fn run(&self, sources: &Sources) -> Result<(RunOverTime, usize, Vec<f64>), QueryError> {
        let (run, sample_type) = sources.run_over_time(&self.named, &self.filter)?;
        let phases = match self.filter.window {
            Some(_) => Vec::new(),
            None => {
                let borders = borders_of(&run, sample_type).slices;
                let inner = borders.get(1..borders.len() - 1).unwrap_or_default();
                let times = inner.iter().map(|&slice| run.slices().border(slice));
                times.map(|time| time.0 as f64 / 1e9).collect()
            }
        };
        let run = match self.inlined {
            true => run,
            false => run.without_inlined(),
        };
        Ok((run, sample_type, phases))
    }
}
