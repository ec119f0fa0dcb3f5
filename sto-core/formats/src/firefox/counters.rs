//! Counters: memory, CPU time, power, bytes sent and received.

use super::samples::Times;
use super::schema::{Counter, CounterSamples, Profile};
use crate::recording::over_time::{self, Span};
use crate::recording::{RecordingBuilder, text_prefix};
use crate::wire::json::Id;
use hashbrown::HashMap;
use sto_model::MetricSeries;
use sto_model::units::Nanoseconds;

/// Adds the counters as metrics: counts from sample to sample, or levels. Returns a warning about
/// counters that were left out.
pub(super) fn add(profile: &Profile<'_>, builder: &mut RecordingBuilder) -> Option<String> {
    let counters = profile.counters?.get();
    let Ok(counters) = serde_json::from_str::<Vec<Counter<'_>>>(counters) else {
        return Some("The counters are invalid; they were left out.".to_owned());
    };
    let mut processes: HashMap<&[u8], usize> = HashMap::new();
    for counter in &counters {
        *processes.entry(&*counter.name.0).or_default() += 1;
    }
    let mut program_of: HashMap<&Id, &[u8]> = HashMap::new();
    for thread in &profile.threads {
        program_of
            .entry(&thread.pid)
            .or_insert(&thread.process_name.0);
    }
    let mut left_out = 0;
    for counter in &counters {
        let Some((samples, times)) = counter.samples().and_then(timed) else {
            left_out += 1;
            continue;
        };
        let mut name = Vec::new();
        if let Some(program) = program_of.get(&counter.pid)
            && !program.is_empty()
            && processes[&*counter.name.0] > 1
        {
            name.extend([text_prefix(program), b": "].concat());
        }
        name.extend(text_prefix(&counter.name.0));
        let name = builder.text(&name).into_owned();
        let counted = if counter.is_level() {
            levels(&name, &times, &samples.count)
        } else {
            counts(&name, &times, &samples.count)
        };
        let operations = samples.number.as_ref();
        let operations =
            operations.and_then(|numbers| counts(&format!("{name} operations"), &times, numbers));
        for metric in counted.into_iter().chain(operations) {
            builder.add_metric(metric);
        }
    }
    (left_out > 0).then(|| {
        format!(
            "{left_out} counters have no samples, or another number of times; they were left out."
        )
    })
}

/// The samples of a counter, if each has a time.
fn timed(samples: &CounterSamples) -> Option<(&CounterSamples, Vec<Nanoseconds>)> {
    let count = samples.count.len();
    let columns = [&samples.time, &samples.time_deltas];
    let times = columns.into_iter().flatten().next()?;
    let numbers = samples.number.as_ref().map_or(count, Vec::len);
    if times.len() != count || numbers != count {
        return None;
    }
    let mut times = Times::from_columns(samples.time.as_deref(), samples.time_deltas.as_deref());
    let times = (0..count).map_while(|row| times.next(row)).collect();
    Some((samples, times))
}

impl Counter<'_> {
    fn samples(&self) -> Option<&CounterSamples> {
        let group = || Some(&self.sample_groups.first()?.samples);
        self.samples.as_ref().or_else(group)
    }

    /// Returns `true` if the changes add up to a level.
    fn is_level(&self) -> bool {
        let graph = self.display.as_ref().map(|display| &*display.graph_type.0);
        let is_level = match graph {
            Some(graph) => graph == b"line-accumulated",
            None => *self.category.0 == *b"Memory",
        };
        let samples = self.samples().into_iter();
        // The first value is ignored.
        let mut changes = samples.flat_map(|samples| samples.count.iter().skip(1).flatten());
        is_level || changes.any(|&change| change < 0.0)
    }
}

/// Sums the changes. The first one is from before the recording and is ignored.
fn levels(name: &str, times: &[Nanoseconds], changes: &[Option<f64>]) -> Option<MetricSeries> {
    let mut level = 0.0;
    let points = times.iter().zip(changes).enumerate();
    let points = points.map(|(row, (&time, change))| {
        if row > 0 {
            level += change.filter(|change| change.is_finite()).unwrap_or(0.0);
        }
        (time, level)
    });
    over_time::level_metric(name, points.collect())
}

/// The counts from each sample to the next.
fn counts(name: &str, times: &[Nanoseconds], counted: &[Option<f64>]) -> Option<MetricSeries> {
    let spans = times.windows(2).zip(counted.iter().skip(1));
    let spans = spans.filter_map(|(times, counted)| {
        Some(Span {
            from: times[0],
            to: times[1],
            amount: (*counted)?,
        })
    });
    over_time::span_metric(name, spans)
}
