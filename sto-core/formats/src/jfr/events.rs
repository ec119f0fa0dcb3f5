//! Sample events.

use super::chunk::{Chunk, Clock};
use super::pools::Pools;
use super::recording_info::{Measure, RecordingInfo, SAMPLE_EVENTS};
use super::stacks::Traces;
use super::types::{TypeIx, Types, Unit};
use super::values::{Identity, Value, WantedFields};
use crate::error::{DecodeError, Decoded};
use crate::recording::{ProcessIx, RecordingBuilder, Sample, SampleTypeIx, ThreadIx};
use crate::wire::text::excerpt;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_model::bytes::Cursor;
use sto_model::units::{self, Cost, Nanoseconds};

#[derive(Default)]
pub(super) struct Samples {
    /// By index in [`SAMPLE_EVENTS`]: whether some sample has no period.
    without_period: [bool; SAMPLE_EVENTS.len()],
    /// Number of other events with stacks, by name.
    left_out: BTreeMap<Vec<u8>, u64>,
}

/// The fields to read of an event type.
struct Row {
    index: usize,
    /// Start time, two fields that may have the thread, stack trace, value, number of samples or
    /// weight.
    wanted: WantedFields<6>,
    unit: Unit,
}

impl Samples {
    pub(super) fn read<'b>(
        &mut self,
        chunk: &Chunk<'b>,
        pools: &Pools<'_, 'b>,
        about: &RecordingInfo,
        traces: &mut Traces<'_, '_, 'b>,
        threads: &mut Threads,
    ) -> Decoded<()> {
        let rows = rows(pools.types);
        let mut others = Others::default();
        for event in chunk.events() {
            let event = event?;
            let Some(of) = pools.types.by_id(event.kind) else {
                continue;
            };
            let Some(row) = rows.get(&of) else {
                others.see(of, event.fields, pools.types)?;
                continue;
            };
            let mut fields = event.fields;
            let values = row.wanted.read(pools.types, &mut fields)?;
            let [start, sampled_thread, event_thread, trace, value, count] = values;
            let (name, measure) = SAMPLE_EVENTS[row.index];
            let period = about.period(name);
            let has_no_period = matches!(measure, Measure::Period(_)) && period.is_none();
            self.without_period[row.index] |= has_no_period;
            let thread = match sampled_thread {
                Value::None => event_thread,
                thread => thread,
            };
            let trace = traces.read(trace, event.at)?;
            let sample = Sample {
                stack: trace.stack,
                thread: threads.read(thread, pools, traces.builder)?,
                sample_type: SampleTypeIx(row.index as u32),
                time: match start {
                    Value::Number(ticks) => chunk.clock.time(ticks),
                    _ => None,
                },
                cost: row.cost(
                    value,
                    count,
                    period.unwrap_or_default(),
                    chunk.clock,
                    event.at,
                )?,
                truncated: trace.truncated,
            };
            traces.builder.push_sample(sample);
        }
        for (of, others) in others
            .known
            .into_iter()
            .filter(|(_, others)| others.stacks > 0)
        {
            let name = pools.types.name(of).to_vec();
            *self.left_out.entry(name).or_insert(0) += others.stacks;
        }
        Ok(())
    }

    /// Adds the sample types that have samples.
    pub(super) fn finish(self, builder: &mut RecordingBuilder) {
        let mut indices = [None; SAMPLE_EVENTS.len()];
        let mut samples = std::mem::take(&mut builder.samples);
        for sample in samples.iter() {
            indices[sample.sample_type.get()] = Some(SampleTypeIx(0));
        }
        for ((index, (name, measure)), without_period) in indices
            .iter_mut()
            .zip(&SAMPLE_EVENTS)
            .zip(self.without_period)
        {
            let unit = match measure {
                Measure::Period(_) if without_period => units::Unit::Samples,
                Measure::Period(_) | Measure::Span(_) => units::Unit::Nanoseconds,
                Measure::Bytes(_) | Measure::Weighted => units::Unit::Bytes,
            };
            *index = index.map(|_| builder.sample_type(name, unit));
        }
        for sample in samples.iter_mut() {
            let index = sample.sample_type.get();
            if self.without_period[index] {
                sample.cost.value = sample.cost.samples;
            }
            sample.sample_type = indices[index].unwrap_or(SampleTypeIx(0));
        }
        builder.samples = samples;
        let left_out = self.left_out.iter().map(|(name, count)| {
            let name = excerpt(name);
            format!("{count} of {}", name.trim_matches('`'))
        });
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            builder.warnings.push(format!(
                "Events with stacks that are not samples were left out: {}.",
                left_out.join(", ")
            ));
        }
    }
}

/// Event types that are not samples.
#[derive(Default)]
struct Others {
    known: HashMap<TypeIx, Other>,
}

struct Other {
    trace: WantedFields<1>,
    /// Number of events with a stack.
    stacks: u64,
}

impl Others {
    fn see(&mut self, of: TypeIx, mut fields: Cursor<'_>, types: &Types<'_>) -> Decoded<()> {
        let other = self.known.entry(of).or_insert_with(|| Other {
            trace: WantedFields::new(types, of, ["stackTrace"]),
            stacks: 0,
        });
        let [trace] = other.trace.read(types, &mut fields)?;
        other.stacks += u64::from(matches!(trace, Value::Key(_, key) if key != 0));
        Ok(())
    }
}

/// The sampled event types of a chunk.
fn rows(types: &Types<'_>) -> HashMap<TypeIx, Row> {
    let rows = SAMPLE_EVENTS
        .iter()
        .enumerate()
        .filter_map(|(index, (name, measure))| {
            let of = types.by_name(name)?;
            let (value, count) = measure.fields();
            let names = [
                "startTime",
                "sampledThread",
                "eventThread",
                "stackTrace",
                value,
                count,
            ];
            let mut fields = types.fields(of).iter();
            let field = fields.find(|field| types.name_of(field) == value.as_bytes());
            let row = Row {
                index,
                wanted: WantedFields::new(types, of, names),
                unit: field.map_or(Unit::Ticks, |field| field.unit),
            };
            Some((of, row))
        });
    rows.collect()
}

impl Row {
    fn cost(
        &self,
        value: Value<'_>,
        count: Value<'_>,
        period: Nanoseconds,
        clock: Clock,
        at: usize,
    ) -> Decoded<Cost> {
        let (name, measure) = SAMPLE_EVENTS[self.index];
        let amount = |value: Value<'_>, field: &str| match value {
            Value::Number(number) => u64::try_from(number).map_err(|_| {
                let problem =
                    format!("an event {name} with the {field} {number}; expected 0 or more");
                DecodeError::new(at, problem)
            }),
            _ => {
                let problem = format!("an event {name} without a number `{field}`; expected one");
                Err(DecodeError::new(at, problem))
            }
        };
        let (samples, value) = match measure {
            Measure::Period(None) => (1, Some(period.0)),
            Measure::Period(Some(field)) => {
                let samples = match count {
                    Value::None => 1,
                    count => amount(count, field)?,
                };
                (samples, samples.checked_mul(period.0))
            }
            Measure::Bytes(field) => (1, Some(amount(value, field)?)),
            Measure::Weighted => {
                let size = amount(value, "size")?;
                let weight = match count {
                    Value::Fraction(weight) => weight,
                    _ => 1.0,
                };
                (1, Some(weighted(size, weight).ok_or_else(|| {
                    let problem = format!(
                        "an event {name} of {size} bytes that weighs {weight}; expected 0 or more, and less than 2^64 bytes in all"
                    );
                    DecodeError::new(at, problem)
                })?))
            }
            Measure::Span(field) => {
                let span = amount(value, field)?;
                (
                    1,
                    match self.unit {
                        Unit::Ticks => clock.span(span).map(|span| span.0),
                        Unit::Nanoseconds(factor) => span.checked_mul(factor),
                    },
                )
            }
        };
        let value = value.ok_or_else(|| {
            let problem = format!("an event {name} of more than 2^64 - 1 nanoseconds");
            DecodeError::new(at, problem)
        })?;
        Ok(Cost { samples, value })
    }
}

/// The total size of the objects that a sample stands for.
fn weighted(size: u64, weight: f64) -> Option<u64> {
    if weight == 1.0 {
        return Some(size);
    }
    let bytes = (size as f64 * weight).round();
    // 2^64 is the first value that does not fit.
    (0.0..u64::MAX as f64)
        .contains(&bytes)
        .then_some(bytes as u64)
}

pub(super) struct Threads {
    process: ProcessIx,
    known: HashMap<Identity, ThreadIx>,
}

impl Threads {
    /// Makes the threads of a process.
    pub(super) fn new(process: ProcessIx) -> Threads {
        Threads {
            process,
            known: HashMap::new(),
        }
    }

    /// The thread that a value refers to.
    pub(super) fn read<'b>(
        &mut self,
        thread: Value<'b>,
        pools: &Pools<'_, 'b>,
        builder: &mut RecordingBuilder,
    ) -> Decoded<ThreadIx> {
        let identity = thread.identity();
        if let Some(&known) = self.known.get(&identity) {
            return Ok(known);
        }
        let [tid, java_name, system_name] =
            pools.fields(thread, ["osThreadId", "javaName", "osName"])?;
        let mut name = pools.text(java_name)?;
        if name.is_empty() {
            name = pools.text(system_name)?;
        }
        let tid = u32::try_from(tid.number()).unwrap_or(0);
        let name = String::from_utf8_lossy(&name);
        let thread = builder.thread_unchecked(self.process, tid, &name);
        self.known.insert(identity, thread);
        Ok(thread)
    }
}
