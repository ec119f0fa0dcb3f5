//! The metrics over time of a recording.

use super::stack_costs::InternError;
use sto_formats::recording::Recording;
use sto_model::RunMetrics;
use sto_model::limits::{MAX_METRICS, MAX_POINTS};

/// The metrics over time of a recording that have any value, and when it ran: where its samples have no time, from
/// the first value to the last.
pub(super) fn run_metrics(recording: &Recording) -> Result<Option<RunMetrics>, InternError> {
    let series = recording.metrics.iter();
    let mut series: Vec<_> = series
        .filter(|series| !series.values().is_empty())
        .cloned()
        .collect();
    if series.is_empty() {
        return Ok(None);
    }
    series.sort_by(|a, b| a.name().cmp(b.name()));
    if let Some(same) = series
        .windows(2)
        .find(|pair| pair[0].name() == pair[1].name())
    {
        return Err(InternError::SameMetric(same[0].name().to_owned()));
    }
    let of_values = || {
        let times = series.iter().map(|series| series.times());
        let first = times.clone().filter_map(|times| times.first()).min();
        first
            .copied()
            .zip(times.filter_map(|times| times.last()).max().copied())
    };
    let ends = recording.time_range().or_else(of_values);
    let Some((first, last)) = ends else {
        return Ok(None);
    };
    let run = RunMetrics {
        first,
        last,
        series,
    };
    match (run.series.len(), run.points()) {
        (0..=MAX_METRICS, 0..=MAX_POINTS) => Ok(Some(run)),
        (metrics, points) => Err(InternError::TooManyMetrics { metrics, points }),
    }
}
