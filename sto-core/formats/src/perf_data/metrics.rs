//! Metrics over time: counters of event groups, and events without stacks in recordings where
//! others have stacks.

use super::events::Events;
use super::sample::{Counter, Reading};
use crate::recording::over_time::{self, Span};
use crate::recording::{Sample, times_of};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_model::MetricSeries;

/// Limit to the number of differences per counter; if there are more readings, some are skipped.
const MAX_DIFFERENCES: usize = 1 << 20;

/// The state of a counter.
struct Counted {
    /// The reading at the beginning of the next difference.
    from: Reading,
    latest: Reading,
    /// Number of readings since `from`.
    count: usize,
}

/// The counts of each grouped event over time, summed over all processors and threads. Readings
/// within a batch are in order of time.
pub(super) fn group_metrics(events: &Events, batches: Vec<Vec<Reading>>) -> Vec<MetricSeries> {
    let every = batches
        .iter()
        .map(Vec::len)
        .sum::<usize>()
        .div_ceil(MAX_DIFFERENCES);
    let mut counters: HashMap<Counter, Counted> = HashMap::new();
    let mut by_event: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
    let mut add = |from: &Reading, to: &Reading| {
        let event = events.of_id.get(&to.counter.id);
        if let (Some(&event), Some(amount)) = (event, to.since(from)) {
            by_event.entry(event).or_default().push(Span {
                from: from.time,
                to: to.time,
                amount,
            });
        }
    };
    for reading in batches.into_iter().flatten() {
        let first = || Counted {
            from: reading,
            latest: reading,
            count: 0,
        };
        let counted = counters.entry(reading.counter).or_insert_with(first);
        if reading.value < counted.latest.value {
            // The counter was restarted.
            add(&counted.from, &counted.latest);
            *counted = first();
        }
        counted.latest = reading;
        counted.count += 1;
        if counted.count > every {
            add(&counted.from, &reading);
            counted.from = reading;
            counted.count = 1;
        }
    }
    for counted in counters.values().filter(|counted| counted.count > 1) {
        add(&counted.from, &counted.latest);
    }
    let series = by_event.into_iter().filter_map(|(event, spans)| {
        let name = &events.sample_types.get(event as usize)?.event;
        over_time::span_metric(name, spans)
    });
    series.collect()
}

impl Reading {
    /// The count since an earlier reading, scaled up to the time that the counter was enabled;
    /// `None` if the counter was restarted in between.
    fn since(&self, before: &Reading) -> Option<f64> {
        let counted = self.value.checked_sub(before.value)? as f64;
        let (Some((enabled, running)), Some((enabled_before, running_before))) =
            (self.times, before.times)
        else {
            return Some(counted);
        };
        let enabled = enabled.checked_sub(enabled_before)?;
        let running = running.checked_sub(running_before)?;
        Some(match running {
            0 => counted,
            _ => counted * enabled as f64 / running as f64,
        })
    }
}

/// The events without stacks, if other events have stacks.
pub(super) fn metrics_without_stacks(events: &Events, samples: &[Sample]) -> Vec<MetricSeries> {
    let has_stacks: Vec<bool> = events
        .layouts
        .iter()
        .map(|layout| layout.has_stacks())
        .collect();
    if !has_stacks.contains(&false) || !events.have_stacks() {
        return Vec::new();
    }
    let Some(times) = times_of(samples) else {
        return Vec::new();
    };
    let mut points = vec![Vec::new(); has_stacks.len()];
    for sample in samples {
        let event = sample.sample_type.0 as usize;
        if let (Some(time), false) = (sample.time, has_stacks[event]) {
            points[event].push((time, sample.cost.value as f64));
        }
    }
    let series = points.into_iter().zip(&events.sample_types);
    let series = series.filter_map(|(points, sample_type)| {
        over_time::event_metric(&sample_type.event, times, points)
    });
    series.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sto_model::limits::MAX_RECORDED_METRIC_POINTS;
    use sto_model::units::Nanoseconds;
    use sto_model::units::{SampleType, Unit};

    fn events() -> Events {
        let sample_type = |event: &str| SampleType {
            event: event.to_owned(),
            unit: Unit::Events,
        };
        Events {
            sched_switch: None,
            sample_types: vec![sample_type("cycles"), sample_type("instructions")],
            layouts: Vec::new(),
            of_id: [(7, 0), (8, 1), (9, 1)].into_iter().collect(),
            is_monotonic: false,
        }
    }

    fn reading(time: u64, id: u64, value: u64) -> Reading {
        Reading {
            time: Nanoseconds(time),
            counter: Counter { id, tid: None },
            value,
            times: None,
        }
    }

    #[test]
    fn restarted_counter_keeps_earlier_counts() {
        let values = [(1, 10), (2, 15), (3, 2), (4, 2), (5, 9)];
        let readings = values.map(|(time, value)| reading(time, 7, value));
        let unknown = reading(6, 1000, 5);
        let metrics = group_metrics(&events(), vec![readings.to_vec(), vec![unknown]]);
        assert_eq!(metrics.len(), 1);
        assert_eq!(metrics[0].name(), "cycles");
        assert_eq!(metrics[0].values(), [0.0, 5.0, 0.0, 0.0, 7.0]);
    }

    #[test]
    fn skipping_readings_keeps_the_total() {
        let count = 5 * MAX_DIFFERENCES as u64 / 8;
        let of = |id, by| (0..count).map(move |ix| reading(10 + 2 * ix + id, id, 5 + by * ix));
        let readings: Vec<_> = of(8, 3).zip(of(9, 4)).flat_map(|(a, b)| [a, b]).collect();
        let batches: Vec<_> = readings.chunks(4096).map(<[_]>::to_vec).collect();
        let metrics = group_metrics(&events(), batches);
        assert_eq!(metrics.len(), 1);
        let metric = &metrics[0];
        assert_eq!(metric.name(), "instructions");
        assert_eq!(
            metric.values().iter().sum::<f64>(),
            (7 * (count - 1)) as f64
        );
        let (first, last) = (metric.times()[0], *metric.times().last().unwrap());
        assert_eq!((first.0, last.0), (18, 10 + 2 * (count - 1) + 9));
        assert!(
            (MAX_RECORDED_METRIC_POINTS / 2..=MAX_RECORDED_METRIC_POINTS)
                .contains(&metric.values().len())
        );
    }
}
