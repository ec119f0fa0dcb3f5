//! Metrics over time: counters of groups, and events beside those that have stacks.

use super::events::Events;
use crate::model::MetricSeries;
use crate::recording::over_time::{self, Span};
use crate::recording::{Sample, times_of};
use crate::units::Nanoseconds;
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// A counter of a group, when the group's leader took a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) time: Nanoseconds,
    pub(super) counter: Counter,
    /// What it had counted until then.
    pub(super) value: u64,
    /// How long it was enabled, and how long it really counted.
    pub(super) times: Option<(u64, u64)>,
}

/// An event of a processor or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counter {
    pub(super) id: u64,
    /// The thread whose sample it is, where threads that are begun count by themselves under one id.
    pub(super) tid: Option<u32>,
}

/// What each event of the groups counted from sample to sample, on all processors and in all threads.
pub(super) fn of_groups(events: &Events, readings: Vec<Reading>) -> Vec<MetricSeries> {
    let mut before: HashMap<Counter, Reading> = HashMap::new();
    let mut by_event: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
    for reading in readings {
        let Some(&event) = events.of_id.get(&reading.counter.id) else {
            continue;
        };
        let before = before.insert(reading.counter, reading);
        let Some((before, amount)) =
            before.and_then(|before| Some((before, reading.since(&before)?)))
        else {
            continue;
        };
        by_event.entry(event).or_default().push(Span {
            from: before.time,
            to: reading.time,
            amount,
        });
    }
    let series = by_event.into_iter().filter_map(|(event, spans)| {
        let name = &events.sample_types.get(event as usize)?.event;
        over_time::spans(name, spans)
    });
    series.collect()
}

impl Reading {
    /// What was counted since another one, as if the counter had counted all the time that it was enabled; `None`
    /// of one that began anew.
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

/// The events whose samples have no stacks, beside such whose samples have.
pub(super) fn of_events_without_stacks(events: &Events, samples: &[Sample]) -> Vec<MetricSeries> {
    let has_stacks: Vec<bool> = events
        .layouts
        .iter()
        .map(|layout| layout.has_stacks())
        .collect();
    if !has_stacks.contains(&false) {
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
    let series = series
        .filter_map(|(points, sample_type)| over_time::events(&sample_type.event, times, points));
    series.collect()
}
