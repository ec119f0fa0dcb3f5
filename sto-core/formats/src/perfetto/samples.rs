//! Samples of call stacks: of perf counters (traced_perf), of the heap (heapprofd), and of Chrome's
//! sampling profiler.

use super::callstacks::Callstacks;
use super::schema::{Process, Thread};
use super::tracks::Tracks;
use crate::error::{DecodeError, Decoded};
use crate::recording::{self, RecordingBuilder, StackIx};
use crate::wire::protobuf::{Message, fields};
use crate::wire::text::base_name;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_model::units::{Cost, Nanoseconds, Unit};

#[derive(Default)]
pub(super) struct Samples {
    samples: Vec<Sample>,
    /// The last dump of each process, heap, call stack id and stack. Several ids may have the same
    /// names.
    heaps: BTreeMap<(u32, u32, u64, u32), Heap>,
    /// Numbers of heaps, by name.
    heap_names: HashMap<Vec<u8>, u32>,
    lost: u64,
    /// Number of samples that the profiler skipped because it could not keep up.
    skipped: u64,
    /// Number of samples without a stack.
    missing: u64,
}

struct Sample {
    thread: (u32, u32),
    time: Option<i64>,
    stack: StackIx,
    is_truncated: bool,
}

/// The bytes and number of a stack's allocations since the start, and of its frees.
#[derive(Default)]
struct Heap {
    allocated: u64,
    freed: u64,
    allocations: u64,
    frees: u64,
    /// The bytes at the peak of the heap, if recorded.
    most: u64,
}

impl Samples {
    /// Reads a `PerfSample`.
    pub(super) fn perf(
        &mut self,
        message: Message<'_>,
        time: Option<i64>,
        callstacks: &mut Callstacks,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let (mut pid, mut tid, mut callstack, mut lost) = (0, 0, 0, 0);
        let (mut unwinding, mut skipped) = (0, 0);
        fields!(message, {
            2 => pid,
            3 => tid,
            4 => callstack,
            16 => unwinding,
            17 => lost,
            18 => skipped,
        });
        self.lost = self.lost.saturating_add(lost);
        if skipped != 0 {
            self.skipped += 1;
            return Ok(());
        }
        let stack = match callstack {
            // It only has the number of lost samples.
            0 if tid == 0 => return Ok(()),
            0 => Some(builder.stack(&[]).map_err(DecodeError::at(message.at()))?),
            callstack => callstacks.stack(callstack, message.at(), builder)?,
        };
        let Some(stack) = stack else {
            self.missing += 1;
            return Ok(());
        };
        self.samples.push(Sample {
            thread: (pid as u32, tid as u32),
            time,
            stack,
            is_truncated: unwinding != 0,
        });
        Ok(())
    }

    /// Reads a `StreamingProfilePacket`: samples of a thread, with microseconds since the previous
    /// one. `time` converts microseconds of the writer's clock.
    pub(super) fn streaming(
        &mut self,
        message: Message<'_>,
        (thread, reference): (Option<(u32, u32)>, &mut Option<i64>),
        callstacks: &mut Callstacks,
        builder: &mut RecordingBuilder,
        mut time: impl FnMut(i64) -> Option<i64>,
    ) -> Decoded<()> {
        let (mut stacks, mut deltas) = (Vec::<u64>::new(), Vec::<u64>::new());
        fields!(message, { 1 => stacks, 2 => deltas });
        for (ix, callstack) in stacks.into_iter().enumerate() {
            let delta = deltas.get(ix).map_or(0, |&delta| delta as i64);
            *reference = reference.map(|last| last.saturating_add(delta));
            let Some(stack) = callstacks.stack(callstack, message.at(), builder)? else {
                self.missing += 1;
                continue;
            };
            self.samples.push(Sample {
                thread: thread.unwrap_or((0, 0)),
                time: reference.and_then(&mut time),
                stack,
                is_truncated: false,
            });
        }
        Ok(())
    }

    /// Reads a `ProfilePacket`: the heaps of processes since their start.
    pub(super) fn heap(
        &mut self,
        mut message: Message<'_>,
        callstacks: &mut Callstacks,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let mut dumps = Vec::new();
        while let Some(field) = message.next()? {
            match field.number {
                5 => dumps.push(field.message()?),
                _ => callstacks.read_heap_field(&field)?,
            }
        }
        for dump in dumps {
            let (mut pid, mut names, mut samples) = (0, Vec::new(), Vec::<Message<'_>>::new());
            fields!(dump, { 1 => pid, 11 => names, 2 => samples });
            let name: &[u8] = names.pop().unwrap_or_default();
            let next = self.heap_names.len() as u32;
            let name = *self.heap_names.entry_ref(name).or_insert(next);
            for sample in samples {
                let (mut callstack, mut heap) = (0, Heap::default());
                fields!(sample, {
                    1 => callstack,
                    2 => heap.allocated,
                    3 => heap.freed,
                    5 => heap.allocations,
                    6 => heap.frees,
                    8 => heap.most,
                    9 => heap.allocations,
                });
                match callstacks.stack(callstack, sample.at(), builder)? {
                    Some(stack) => {
                        self.heaps
                            .insert((pid as u32, name, callstack, stack.0), heap);
                    }
                    None => self.missing += 1,
                }
            }
        }
        Ok(())
    }

    /// The time of the first sample that has one.
    pub(super) fn first(&self) -> Option<i64> {
        self.samples.iter().filter_map(|sample| sample.time).min()
    }

    /// Adds the samples, with times relative to `zero`.
    pub(super) fn finish(
        self,
        zero: i64,
        tracks: &Tracks,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        for sample in &self.samples {
            let of = tracks.named_thread(sample.thread);
            let process = builder.process(of.pid, &of.program);
            let thread = builder.thread_unchecked(process, of.tid, &of.name);
            let samples = builder.sample_type("samples", Unit::Samples);
            let since = sample
                .time
                .and_then(|time| u64::try_from(time.saturating_sub(zero)).ok());
            builder.push_sample(recording::Sample {
                stack: sample.stack,
                thread,
                sample_type: samples,
                time: since.map(Nanoseconds),
                cost: Cost::from_count(1),
                truncated: sample.is_truncated,
            });
        }
        let names: HashMap<u32, Vec<u8>> = self
            .heap_names
            .into_iter()
            .map(|(name, ix)| (ix, name))
            .collect();
        for ((pid, name, _, stack), heap) in self.heaps {
            let program = tracks.named_thread((pid, pid)).program;
            let process = builder.process(pid, &program);
            let heap_name = names.get(&name).map_or(&b""[..], Vec::as_slice);
            let heap_name = String::from_utf8_lossy(heap_name);
            let thread = builder.thread_unchecked(process, 0, &heap_name);
            let in_use = match heap.most {
                0 => heap.allocated.saturating_sub(heap.freed),
                most => most,
            };
            let both = [
                (
                    "inuse_space",
                    in_use,
                    heap.allocations.saturating_sub(heap.frees),
                ),
                ("alloc_space", heap.allocated, heap.allocations),
            ];
            for (event, value, times) in both {
                if value > 0 {
                    let of = builder.sample_type(event, Unit::Bytes);
                    // Old versions do not have the number of allocations.
                    let cost = Cost {
                        samples: times.max(1),
                        value,
                    };
                    builder.push((thread, of), StackIx(stack), None, cost);
                }
            }
        }
        builder.lost = builder.lost.saturating_add(self.lost);
        let left_out = [
            (
                self.skipped,
                "samples were skipped: the profiler could not keep up",
            ),
            (
                self.missing,
                "samples were left out: their stacks are missing in the trace",
            ),
        ];
        for (count, what) in left_out {
            if count > 0 {
                builder.warnings.push(format!("{count} {what}."));
            }
        }
        Ok(())
    }
}

/// Reads a `ProcessTree`: names of processes and threads.
pub(super) fn processes(
    mut tree: Message<'_>,
    tracks: &mut Tracks,
    builder: &mut RecordingBuilder,
) -> Decoded<()> {
    while let Some(field) = tree.next()? {
        match field.number {
            1 => {
                let (mut pid, mut command) = (0, Vec::new());
                fields!(field.message()?, { 1 => pid, 3 => command });
                let name: &[u8] = command.first().copied().unwrap_or_default();
                let process = Process {
                    pid: pid as u32,
                    name: base_name(name),
                };
                tracks.process(process, builder);
            }
            2 => {
                let (mut tid, mut pid, mut names) = (0, 0, Vec::new());
                fields!(field.message()?, { 1 => tid, 3 => pid, 2 => names });
                let thread = Thread {
                    pid: pid as u32,
                    tid: tid as u32,
                    name: names.pop().unwrap_or_default(),
                    reference: 0,
                };
                tracks.thread(thread, builder);
            }
            _ => {}
        }
    }
    Ok(())
}
