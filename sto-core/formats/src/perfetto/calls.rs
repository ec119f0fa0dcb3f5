//! Track events that begin and end calls.

use super::arguments::numbers;
use super::clocks::{Clocks, MONOTONIC};
use super::samples::{Samples, processes};
use super::schema::{Event, Legacy, Packet, Process, Thread};
use super::sequence::Sequence;
use super::tracks::{Place, Tracks};
use crate::call_events::{CallEvents, Functions, OutermostCall, ThreadKind, Track, key_of};
use crate::calls;
use crate::error::{DecodeError, Decoded};
use crate::recording::RecordingBuilder;
use crate::source::ReadOptions;
use hashbrown::{HashMap, HashSet};
use sto_model::trace::arguments::UNNAMED_FUNCTION;
use sto_model::trace::log::CallLogWriter;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::Bytes;

/// The calls of all tracks.
pub(super) struct Calls {
    options: ReadOptions,
    events: CallEvents,
    functions: Functions,
    sequences: HashMap<u64, Sequence>,
    clocks: Clocks,
    tracks: Tracks,
    zero: Option<i64>,
    left_out: LeftOut,
    samples: Samples,
}

/// Counts of data that were not read.
#[derive(Default)]
struct LeftOut {
    losses: u64,
    /// Packets after a loss that depend on lost packets.
    after_loss: u64,
    without_time: u64,
    undeclared: u64,
    counters: u64,
}

/// Values of `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const COUNTER: u64 = 4;

/// Marks the track of a legacy asynchronous event, which has no uuid; the process is stored with
/// it.
const ASYNC: u64 = 1 << 32;

/// Marks the group of rows of a thread, by its number. Other groups have a process and a label.
const THREAD: u64 = 1 << 63;
const LABEL_BITS: u32 = 28;

impl Calls {
    pub(super) fn new(options: &ReadOptions) -> Calls {
        Calls {
            options: options.clone(),
            events: CallEvents::new(options),
            functions: Functions::default(),
            sequences: HashMap::new(),
            clocks: Clocks::default(),
            tracks: Tracks::default(),
            zero: None,
            left_out: LeftOut::default(),
            samples: Samples::default(),
        }
    }

    pub(super) fn packet(
        &mut self,
        packet: &Packet<'_>,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let sequence = self.sequences.entry(packet.sequence).or_default();
        let (is_read, lost) = sequence.packet(packet)?;
        self.left_out.losses += u64::from(lost);
        if let Some(clocks) = packet.clocks {
            self.clocks.add(packet.sequence, clocks)?;
        }
        if !is_read {
            self.left_out.after_loss += u64::from(packet.event.is_some());
            return Ok(());
        }
        let clock = match packet.clock {
            0 => sequence.clock,
            clock => clock,
        };
        // An incremental clock advances with every packet, so each must be counted.
        let said = packet.timestamp;
        let time = said.and_then(|said| self.clocks.time(packet.sequence, clock, said));
        if let Some(track) = packet.track {
            self.tracks.add(track, &mut self.functions, builder)?;
        }
        if let Some(process) = packet.process {
            self.tracks.process(Process::read(process)?, builder);
        }
        if let Some(thread) = packet.thread {
            self.tracks.thread(Thread::read(thread)?, builder);
        }
        if let Some(tree) = packet.tree {
            processes(tree, &mut self.tracks, builder)?;
        }
        let stacks = &mut sequence.callstacks;
        if let Some(perf) = packet.perf {
            self.samples.perf(perf, time, stacks, builder)?;
        }
        if let Some(heap) = packet.heap {
            self.samples.heap(heap, stacks, builder)?;
        }
        if let Some(streaming) = packet.streaming {
            let of = (sequence.thread, &mut sequence.reference);
            let clocks = &mut self.clocks;
            let time = |microseconds: i64| {
                let time = microseconds.saturating_mul(1000) as u64;
                clocks.time(packet.sequence, MONOTONIC, time)
            };
            self.samples
                .streaming(streaming, of, stacks, builder, time)?;
        }
        match packet.event {
            Some(event) => {
                let event = Event::read(event)?;
                self.event(packet, &event, time, builder)
            }
            None => Ok(()),
        }
    }

    fn event(
        &mut self,
        packet: &Packet<'_>,
        event: &Event<'_>,
        time: Option<i64>,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let Some(sequence) = self.sequences.get_mut(&packet.sequence) else {
            return Ok(());
        };
        let microseconds = match (event.delta, event.absolute) {
            (Some(delta), _) => {
                let now = sequence
                    .reference
                    .map(|last| last.saturating_add(delta as i64));
                sequence.reference = now;
                Some(now)
            }
            (None, Some(absolute)) if absolute != 0 => Some(Some(absolute as i64)),
            _ => None,
        };
        let sequence = &*sequence;
        let legacy = event.legacy.as_ref();
        let phase = match (event.kind, legacy) {
            (BEGIN, _) => b'B',
            (END, _) => b'E',
            (COUNTER, _) => {
                self.left_out.counters += 1;
                return Ok(());
            }
            (0, Some(legacy)) => legacy.phase as u8,
            _ => return Ok(()),
        };
        if !matches!(phase, b'B' | b'E' | b'X' | b'b' | b'e' | b'S' | b'F') {
            return Ok(());
        }
        let time = match microseconds {
            Some(time) => time.and_then(|time| {
                let time = time.saturating_mul(1000) as u64;
                self.clocks.time(packet.sequence, MONOTONIC, time)
            }),
            None => time,
        };
        let Some(time) = time else {
            self.left_out.without_time += 1;
            return Ok(());
        };
        let id = match event.name_id {
            0 => legacy.map_or(0, |legacy| legacy.name_id),
            id => id,
        };
        let name = match id {
            0 => event.name,
            id => sequence.name(id),
        };
        let name = name.filter(|name| !name.is_empty());
        let at = packet.at;
        let function = |functions: &mut Functions, builder: &mut RecordingBuilder, name: &[u8]| {
            functions.number(name, builder).map_err(DecodeError::at(at))
        };
        let function = match (name, phase) {
            (None, b'E' | b'e' | b'F') => None,
            (name, _) => Some(function(
                &mut self.functions,
                builder,
                name.unwrap_or(b"[unknown]"),
            )?),
        };
        let function = match &numbers(&event.annotations, sequence)?[..] {
            [] => function,
            arguments => {
                let function = function.unwrap_or(UNNAMED_FUNCTION);
                Some(self.events.arguments().intern(function, arguments))
            }
        };
        let uuid = event.track.unwrap_or(sequence.track);
        let thread = match (uuid, legacy, sequence.thread) {
            (0, Some(Legacy { pid, tid, .. }), Some((own_pid, own_tid))) => Some((
                pid.map_or(own_pid, |pid| pid as u32),
                tid.map_or(own_tid, |tid| tid as u32),
            )),
            (0, None, thread) => thread,
            _ => None,
        };
        let track = match (phase, legacy, thread) {
            (b'b' | b'e' | b'S' | b'F', Some(legacy), _) => {
                let category = match event.category_id {
                    0 => event.category.unwrap_or(b""),
                    id => sequence.category(id),
                };
                let pid = thread.or(sequence.thread).map(|(pid, _)| pid);
                let pid = pid.or_else(|| match self.tracks.place(sequence.track)? {
                    Place::Thread(pid, _) | Place::Process(pid, _) => Some(pid),
                });
                asynchronous(legacy, category, pid.unwrap_or(0))
            }
            (_, _, Some(thread)) => Track::Thread(self.tracks.number(thread)),
            _ => Track::Floating {
                process: 0,
                key: uuid,
            },
        };
        self.zero = Some(self.zero.map_or(time, |zero| zero.min(time)));
        match (phase, function) {
            (b'B' | b'b' | b'S', Some(function)) => self.events.begin(track, function, time),
            (b'X', Some(function)) => {
                let took = legacy.and_then(|legacy| legacy.duration);
                let took = took.and_then(|took| (took as i64).checked_mul(1000));
                let end = took
                    .filter(|&took| took >= 0)
                    .map(|took| time.saturating_add(took));
                match (track, end) {
                    (Track::Thread(thread), end) => self.events.call(thread, function, time, end),
                    (track, Some(end)) => {
                        self.events.begin(track, function, time)?;
                        self.events.end(track, Some(function), end)
                    }
                    (_, None) => Ok(()),
                }
            }
            (_, function) => self.events.end(track, function, time),
        }
    }

    /// Finishes the recording of these calls.
    pub(super) fn finish(
        mut self,
        size: usize,
        mut builder: RecordingBuilder,
    ) -> Decoded<RecordingBuilder> {
        let mut log = CallLogWriter::new(self.options.call_folder.as_deref());
        let mut undeclared = HashSet::new();
        let tracks = &mut self.tracks;
        let group = |outermost: OutermostCall| {
            let name = |name: Option<TraceFunctionIx>| name.unwrap_or(outermost.function).0;
            let in_process = |pid: u32, label: u32| u64::from(pid) << LABEL_BITS | u64::from(label);
            if outermost.process & ASYNC != 0 {
                return in_process(outermost.process as u32, name(None));
            }
            match tracks.place(outermost.key) {
                Some(Place::Thread(pid, tid)) => THREAD | u64::from(tracks.number((pid, tid))),
                Some(Place::Process(pid, label)) => in_process(pid, name(label)),
                None => {
                    undeclared.insert(outermost.key);
                    in_process(0, name(None))
                }
            }
        };
        let paired = self.events.pair(group)?;
        let row = |row: ThreadKind| match row {
            ThreadKind::Thread(thread) => self.tracks.thread_of(thread),
            ThreadKind::Group(group) if group & THREAD != 0 => self.tracks.thread_of(group as u32),
            ThreadKind::Group(group) => {
                let label = TraceFunctionIx(group as u32 & ((1 << LABEL_BITS) - 1));
                self.tracks
                    .thread_of_process((group >> LABEL_BITS) as u32, self.functions.name(label))
            }
        };
        let zero = self.zero.into_iter().chain(self.samples.first()).min();
        let zero = zero.unwrap_or(0);
        self.samples.finish(zero, &self.tracks, &mut builder)?;
        let misfits = paired.write(zero, Bytes(size as u64), &mut log, row)?;
        self.left_out.undeclared = undeclared.len() as u64;
        builder.warnings.extend(misfits);
        builder.warnings.extend(self.left_out.warnings());
        calls::finish(builder, log, self.functions.locations(), &self.options)
    }
}

/// The track of legacy asynchronous events; those with the same category, scope and id belong
/// together. Local ids are per process.
fn asynchronous(legacy: &Legacy<'_>, category: &[u8], pid: u32) -> Track {
    let (process, id) = match (legacy.local_id, legacy.global_id) {
        (Some(id), _) => (u64::from(pid) | ASYNC, id),
        (None, id) => (0, id.unwrap_or(0)),
    };
    let parts = [
        &process.to_le_bytes(),
        category,
        legacy.scope,
        &id.to_le_bytes(),
    ];
    Track::Floating {
        process: ASYNC | u64::from(pid),
        key: key_of(parts),
    }
}

impl LeftOut {
    fn warnings(&self) -> Vec<String> {
        let all = [
            (
                self.losses,
                "times packets were lost; calls may be missing or too long",
            ),
            (
                self.after_loss,
                "track events were left out: data they refer to were lost",
            ),
            (
                self.without_time,
                "track events were left out: they have no time, or one of a clock that is not related to the trace's",
            ),
            (
                self.undeclared,
                "tracks are not described; they are shown without a process",
            ),
            (self.counters, "values of counters were ignored"),
        ];
        let some = all.into_iter().filter(|&(count, _)| count > 0);
        some.map(|(count, what)| format!("{count} {what}."))
            .collect()
    }
}
