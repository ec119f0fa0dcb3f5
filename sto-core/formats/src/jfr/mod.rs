//! JDK Flight Recorder: recordings of the JDK itself and of async-profiler.
//!
//! ```text
//! bytes        chunk, cursor       chunks, their events, numbers and strings
//!   |          metadata, types     descriptions of the types of values
//!   |          values, pools       values by the names of their fields; constants by their keys
//!   v
//! settings     recording_info      which events are samples; periods, program, machine
//! samples      events              samples and their threads
//! traces       stacks              named frames with kinds and lines
//! metrics      metrics             other events over time
//! ```
//!
//! Each chunk describes its own types, which differ between versions of the JDK.
//!
//! Source: <https://github.com/openjdk/jdk>, `src/jdk.jfr/share/classes/jdk/jfr/internal/consumer` and
//! `src/hotspot/share/jfr`; <https://github.com/async-profiler/async-profiler>, `src/flightRecorder.cpp`.
//!
//! See [the manual](crate::manual::jfr).

mod chunk;
mod cursor;
mod events;
mod metadata;
mod metrics;
mod pools;
mod recording_info;
mod stacks;
mod types;
mod values;

use crate::error::Decoded;
use crate::recording::RecordingBuilder;
use crate::source::{Head, ReadOptions};
use chunk::Chunk;
use events::{Samples, Threads};
use metrics::{Metrics, Rows};
use pools::Pools;
use recording_info::RecordingInfo;
use stacks::Traces;
use sto_model::units::{Nanoseconds, UnixSeconds};
use types::Types;

/// Returns `true` if a file begins like a recording.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(&chunk::MAGIC)
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let reader = read_chunks(bytes, options)?;
    let (mut builder, about) = (reader.builder, reader.about);
    reader.samples.finish(&mut builder);
    if let Some(times) = builder.samples.times() {
        let metrics = reader.metrics.finish(times);
        metrics
            .into_iter()
            .for_each(|metric| builder.add_metric(metric));
    }
    builder.origin = about.origin;
    builder.origin.duration = builder.duration();
    builder.origin.recorded = reader
        .began
        .map(|began| UnixSeconds(began.0 / 1_000_000_000));
    builder.lost = about.lost;
    let missing = reader.missing;
    if missing > 0 {
        builder.warnings.push(format!(
            "{missing} stacks and methods that samples refer to are missing in the file; they are shown as `[unknown]`."
        ));
    }
    if about.lost_bytes.0 > 0 {
        builder.warnings.push(format!(
            "{} bytes of events were lost while recording, possibly including samples; record with larger buffers: `-XX:FlightRecorderOptions:memorysize=SIZE`.",
            about.lost_bytes.0
        ));
    }
    Ok(builder)
}

/// The state after the chunks read so far.
#[derive(Default)]
struct Reader {
    builder: RecordingBuilder,
    samples: Samples,
    about: RecordingInfo,
    metrics: Metrics,
    began: Option<Nanoseconds>,
    missing: u64,
}

fn read_chunks(bytes: &[u8], options: &ReadOptions) -> Decoded<Reader> {
    let mut reader = Reader {
        builder: options.builder(),
        ..Reader::default()
    };
    let mut at = 0;
    while at < bytes.len() {
        let chunk = match Chunk::parse(bytes, at) {
            Err(error) if error.is_salvageable() && options.allow_truncated => {
                reader.builder.warnings.push(format!(
                    "It ends within the chunk at byte {at}, which was left out; {at} of {} bytes were read.",
                    bytes.len()
                ));
                break;
            }
            chunk => chunk?,
        };
        reader.read(&chunk)?;
        at = chunk.bytes.len();
    }
    Ok(reader)
}

impl Reader {
    fn read(&mut self, chunk: &Chunk<'_>) -> Decoded<()> {
        self.began.get_or_insert(chunk.clock.start());
        let types = Types::read(chunk.bytes, chunk.metadata)?;
        let pools = Pools::read(chunk, &types)?;
        let rows = Rows::new(&types);
        for event in chunk.events() {
            let event = event?;
            if let Some(of) = types.by_id(event.kind) {
                self.about.read(of, event, &pools, &mut self.builder)?;
                self.metrics.read(&rows, of, event, chunk.clock, &pools)?;
            }
        }
        let process = self.builder.process(self.about.pid, &self.about.program);
        let mut threads = Threads::new(process);
        let mut traces = Traces::new(&pools, &mut self.builder)?;
        self.samples
            .read(chunk, &pools, &self.about, &mut traces, &mut threads)?;
        self.missing += traces.missing;
        Ok(())
    }
}
