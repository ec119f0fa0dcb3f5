//! Collects the metrics over time of a recording.

use super::stack_costs::InternError;
use sto_formats::recording::Recording;
use sto_model::RunMetrics;
use sto_model::limits::{MAX_METRIC_VALUES, MAX_METRICS};

/// Returns the metrics over time with at least one value, and the recording's first and last time. If its samples have
/// no timestamps, these are the times of the first and last values.
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
    let range_of_values = || {
        let times = series.iter().map(|series| series.times());
        let first = times.clone().filter_map(|times| times.first()).min();
        first
            .copied()
            .zip(times.filter_map(|times| times.last()).max().copied())
    };
    let range = recording.time_range().or_else(range_of_values);
    let Some((first, last)) = range else {
        return Ok(None);
    };
    let run = RunMetrics {
        first,
        last,
        series,
    };
    match (run.series.len(), run.value_count()) {
        (0..=MAX_METRICS, 0..=MAX_METRIC_VALUES) => Ok(Some(run)),
        (metrics, points) => Err(InternError::TooManyMetrics { metrics, points }),
    }
}
