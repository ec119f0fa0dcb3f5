//! Metrics over time: loads, sizes, garbage collections, compilations.

use super::chunk::Clock;
use super::cursor::Event;
use super::pools::Pools;
use super::types::{TypeIx, Types, Unit};
use super::values::{Value, WantedFields};
use crate::error::Decoded;
use crate::recording::over_time::{self, Span};
use hashbrown::HashMap;
use sto_model::MetricSeries;
use sto_model::units::Nanoseconds;

/// The metrics: name, event type, and how an event is used.
const METRICS: [(&str, &str, Made); 18] = [
    ("cpu load: JVM user", "jdk.CPULoad", Made::Level("jvmUser")),
    (
        "cpu load: JVM system",
        "jdk.CPULoad",
        Made::Level("jvmSystem"),
    ),
    (
        "cpu load: machine total",
        "jdk.CPULoad",
        Made::Level("machineTotal"),
    ),
    (
        "heap before collection",
        "jdk.GCHeapSummary",
        Made::LevelWhen("Before GC", "heapUsed"),
    ),
    (
        "heap after collection",
        "jdk.GCHeapSummary",
        Made::LevelWhen("After GC", "heapUsed"),
    ),
    ("collections", "jdk.GarbageCollection", Made::Busy),
    ("collection pauses", "jdk.GCPhasePause", Made::Busy),
    ("compilations", "jdk.Compilation", Made::Busy),
    ("deoptimizations", "jdk.Deoptimization", Made::Times),
    ("VM operations", "jdk.ExecuteVMOperation", Made::Busy),
    (
        "classes loaded",
        "jdk.ClassLoadingStatistics",
        Made::Total("loadedClassCount"),
    ),
    (
        "classes unloaded",
        "jdk.ClassLoadingStatistics",
        Made::Total("unloadedClassCount"),
    ),
    (
        "threads",
        "jdk.JavaThreadStatistics",
        Made::Level("activeCount"),
    ),
    (
        "threads started",
        "jdk.JavaThreadStatistics",
        Made::Total("accumulatedCount"),
    ),
    (
        "context switch rate",
        "jdk.ThreadContextSwitchRate",
        Made::Level("switchRate"),
    ),
    (
        "exceptions thrown",
        "jdk.ExceptionStatistics",
        Made::Total("throwables"),
    ),
    (
        "physical memory used",
        "jdk.PhysicalMemory",
        Made::Level("usedSize"),
    ),
    (
        "resident set size",
        "jdk.ResidentSetSize",
        Made::Level("size"),
    ),
];

/// How an event contributes to a metric.
#[derive(Clone, Copy)]
enum Made {
    /// A field is the level at the event's time.
    Level(&'static str),
    /// Like `Level`, but only for events with this value of `when`.
    LevelWhen(&'static str, &'static str),
    /// The event's duration is counted in nanoseconds; durations may overlap.
    Busy,
    /// The event is counted.
    Times,
    /// A field is a total since the start of the virtual machine.
    Total(&'static str),
}

/// Points of each metric so far, by index in [`METRICS`].
#[derive(Default)]
pub(super) struct Metrics {
    points: [Vec<(Nanoseconds, f64)>; METRICS.len()],
    spans: [Vec<Span>; METRICS.len()],
    /// The previous time and value of each total.
    before: [Option<(Nanoseconds, f64)>; METRICS.len()],
}

/// How the events of a chunk are read.
pub(super) struct Rows(HashMap<TypeIx, Vec<Row>>);

struct Row {
    metric: usize,
    /// Start time, duration, `when`, value.
    wanted: WantedFields<4>,
    /// Unit of the duration.
    unit: Unit,
}

impl Rows {
    pub(super) fn new(types: &Types<'_>) -> Rows {
        let mut rows: HashMap<TypeIx, Vec<Row>> = HashMap::new();
        for (metric, (_, event, made)) in METRICS.iter().enumerate() {
            let Some(of) = types.by_name(event) else {
                continue;
            };
            let field = match made {
                Made::Level(field) | Made::LevelWhen(_, field) | Made::Total(field) => field,
                Made::Busy | Made::Times => "",
            };
            let mut fields = types.fields(of).iter();
            let duration = fields.find(|field| types.name_of(field) == b"duration");
            rows.entry(of).or_default().push(Row {
                metric,
                wanted: WantedFields::new(types, of, ["startTime", "duration", "when", field]),
                unit: duration.map_or(Unit::Ticks, |field| field.unit),
            });
        }
        Rows(rows)
    }
}

impl Metrics {
    /// Reads an event if it contributes to a metric.
    pub(super) fn read<'b>(
        &mut self,
        rows: &Rows,
        of: TypeIx,
        event: Event<'b>,
        clock: Clock,
        pools: &Pools<'_, 'b>,
    ) -> Decoded<()> {
        for row in rows.0.get(&of).into_iter().flatten() {
            let mut fields = event.fields;
            let [start, duration, when, value] = row.wanted.read(pools.types, &mut fields)?;
            let Value::Number(start) = start else {
                continue;
            };
            let Some(time) = clock.time(start) else {
                continue;
            };
            let value = match value {
                Value::Number(value) => value as f64,
                Value::Fraction(value) => value,
                _ => f64::NAN,
            };
            let points = &mut self.points[row.metric];
            match METRICS[row.metric].2 {
                Made::LevelWhen(wanted, _) if *pools.text(when)? != *wanted.as_bytes() => {}
                Made::Level(_) | Made::LevelWhen(..) => points.push((time, value)),
                Made::Times => points.push((time, 1.0)),
                Made::Busy => {
                    let took = u64::try_from(duration.number()).unwrap_or(0);
                    let took = match row.unit {
                        Unit::Ticks => clock.span(took).map(|took| took.0),
                        Unit::Nanoseconds(factor) => took.checked_mul(factor),
                    };
                    let end = took.and_then(|took| Some((took, time.0.checked_add(took)?)));
                    self.spans[row.metric].extend(end.map(|(took, end)| Span {
                        from: time,
                        to: Nanoseconds(end),
                        amount: took as f64,
                    }));
                }
                Made::Total(_) => {
                    if let Some((from, before)) = self.before[row.metric].replace((time, value)) {
                        // A total that decreases is from another virtual machine.
                        self.spans[row.metric].push(Span {
                            from,
                            to: time,
                            amount: value - before,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the metrics of a recording, given the times of its first and last sample.
    pub(super) fn finish(self, (first, last): (Nanoseconds, Nanoseconds)) -> Vec<MetricSeries> {
        let all = METRICS.iter().zip(self.points).zip(self.spans);
        // Periods without events count as 0.
        let idle = Span {
            from: first,
            to: last,
            amount: 0.0,
        };
        let all = all.filter_map(|(((name, _, made), points), spans)| match made {
            Made::Level(_) | Made::LevelWhen(..) => over_time::level_metric(name, points),
            Made::Times => over_time::event_metric(name, (first, last), points),
            Made::Busy if spans.is_empty() => None,
            Made::Busy => over_time::span_metric(name, spans.into_iter().chain([idle])),
            Made::Total(_) => over_time::span_metric(name, spans),
        });
        all.collect()
    }
}
