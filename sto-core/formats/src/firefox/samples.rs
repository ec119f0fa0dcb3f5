//! The costs of samples: numbers, times, bytes, CPU time.

use super::frames::Tree;
use super::schema::{Meta, SampleTable, Thread};
use crate::error::{DecodeError, Decoded};
use crate::recording::{RecordingBuilder, ThreadIx};
use crate::wire::json::{Number, quote_name, same_length};
use sto_model::units::{Cost, Nanoseconds, Unit};

pub(super) struct Samples {
    /// Nanoseconds per unit of the CPU times, if these are times.
    cpu_factor: Option<u64>,
    /// Whether threads are named after sample types, as in profiles written by sto.
    is_ours: bool,
}

impl Samples {
    pub(super) fn new(meta: &Meta<'_>) -> Samples {
        let cpu_unit = meta
            .sample_units
            .as_ref()
            .map(|units| &*units.thread_cpu_delta.0);
        Samples {
            cpu_factor: match cpu_unit {
                Some(b"ns") => Some(1),
                Some(unit) if unit == "µs".as_bytes() => Some(1000),
                _ => None,
            },
            is_ours: super::frames::is_written_by_sto(meta),
        }
    }

    /// Adds the samples and allocations of a thread.
    pub(super) fn add(
        &mut self,
        thread: &Thread<'_>,
        at: &str,
        thread_ix: ThreadIx,
        tree: &mut Tree,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let Some(samples) = &thread.samples else {
            return Err(DecodeError::new(at, "expected samples, found none"));
        };
        let own_name = self
            .is_ours
            .then(|| builder.text(&thread.name.0).into_owned());
        let tables = [
            (Some(samples), "samples", own_name.as_deref()),
            (
                thread.js_allocations.as_ref(),
                "jsAllocations",
                Some("js-allocations"),
            ),
            (
                thread.native_allocations.as_ref(),
                "nativeAllocations",
                Some("native-allocations"),
            ),
        ];
        for (table, name, event) in tables {
            if let Some(table) = table {
                let at = format!("{at}.{name}");
                self.add_table(table, event, &at, thread_ix, tree, builder)?;
            }
        }
        Ok(())
    }

    fn add_table(
        &mut self,
        table: &SampleTable<'_>,
        event: Option<&str>,
        at: &str,
        thread: ThreadIx,
        tree: &mut Tree,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let count = table.stack.len();
        table.check_lengths(at)?;
        let (default_event, unit, factor) = match table.weight_type.as_ref().map(|kind| &*kind.0) {
            None | Some(b"samples") => ("samples", Unit::Samples, 1),
            Some(b"tracing-ms") => ("wall", Unit::Nanoseconds, 1_000_000),
            Some(b"bytes") => ("bytes", Unit::Bytes, 1),
            Some(_) => {
                let found = table
                    .weight_type
                    .as_ref()
                    .map(quote_name)
                    .unwrap_or_default();
                let problem = format!("{found}; expected `samples`, `tracing-ms` or `bytes`");
                return Err(DecodeError::new(format!("{at}.weightType"), problem));
            }
        };
        let event = event.unwrap_or(default_event);
        let mut times = if self.is_ours {
            Times::Unknown
        } else {
            Times::from_columns(table.time.as_deref(), table.time_deltas.as_deref())
        };
        let cpu_factor = self.cpu_factor;
        for row in 0..count {
            let stack = tree.stack(table.stack[row], || format!("{at}.stack[{row}]"), builder)?;
            let time = times.next(row);
            let mut add = |event: &str, unit, cost: Cost| -> Decoded<()> {
                if cost.is_zero() {
                    return Ok(());
                }
                let sample_type = builder.try_sample_type(event, unit);
                let sample_type = sample_type.map_err(DecodeError::at(at))?;
                builder.push((thread, sample_type), stack, time, cost);
                Ok(())
            };
            let weight = table.weight.as_ref().and_then(|weights| weights[row]);
            let path = |column: &str| format!("{at}.{column}[{row}]");
            match weight {
                // A free is a negative allocation.
                Some(freed) if at.ends_with("nativeAllocations") && freed.is_negative() => {
                    let value = freed.magnitude().weight(factor, || path("weight"))?;
                    add("native-deallocations", unit, Cost { samples: 1, value })?;
                }
                weight => {
                    let weight = weight.unwrap_or(Number::Whole(1));
                    let value = weight.weight(factor, || path("weight"))?;
                    let samples = match unit {
                        Unit::Samples => value,
                        _ => u64::from(value > 0),
                    };
                    add(event, unit, Cost { samples, value })?;
                }
            }
            let delta = table
                .thread_cpu_delta
                .as_ref()
                .and_then(|deltas| deltas[row]);
            if let (Some(delta), Some(factor)) = (delta, cpu_factor) {
                let value = delta.weight(factor, || path("threadCPUDelta"))?;
                let samples = u64::from(value > 0);
                add("cpu", Unit::Nanoseconds, Cost { samples, value })?;
            }
        }
        Ok(())
    }
}

impl SampleTable<'_> {
    fn check_lengths(&self, at: &str) -> Decoded<()> {
        let count = self.stack.len();
        let columns = [
            ("time", self.time.as_ref().map(Vec::len)),
            ("timeDeltas", self.time_deltas.as_ref().map(Vec::len)),
            ("weight", self.weight.as_ref().map(Vec::len)),
            (
                "threadCPUDelta",
                self.thread_cpu_delta.as_ref().map(Vec::len),
            ),
        ];
        for (name, length) in columns {
            let length = length.unwrap_or(count);
            same_length(length, (count, "stack"), || format!("{at}.{name}"))?;
        }
        Ok(())
    }
}

/// The times of samples, from the start of the recording.
pub(super) enum Times<'t> {
    At(&'t [f64]),
    Since { deltas: &'t [f64], now: f64 },
    Unknown,
}

impl<'t> Times<'t> {
    /// Makes times of the column of times or of the column of differences.
    pub(super) fn from_columns(times: Option<&'t [f64]>, deltas: Option<&'t [f64]>) -> Times<'t> {
        match (times, deltas) {
            (Some(times), _) => Times::At(times),
            (None, Some(deltas)) => Times::Since { deltas, now: 0.0 },
            (None, None) => Times::Unknown,
        }
    }

    pub(super) fn next(&mut self, row: usize) -> Option<Nanoseconds> {
        let milliseconds = match self {
            Times::At(times) => times[row],
            Times::Since { deltas, now } => {
                *now += deltas[row];
                *now
            }
            Times::Unknown => return None,
        };
        // Times before the start become 0; the cast saturates.
        Some(Nanoseconds((milliseconds * 1e6).round() as u64))
    }
}
