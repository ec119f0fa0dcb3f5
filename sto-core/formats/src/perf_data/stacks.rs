//! Finding the stack of each sample, on all cores.
//!
//! One thread walks over the records and sends batches of samples to others, which decode them,
//! find the mapping of each address and unwind copied stacks. The result of a batch depends only on
//! the batch, so the number of cores does not change the result.

use super::events::Events;
use super::numbering::{LocatedBatch, Numbering};
use super::off_cpu::Switch;
use super::processes::is_library;
use super::sample::{RawSample, read_u64};
use super::walk::Record;
use crate::error::FormatError;
use crate::recording::{Location, LocationIx, Sample, SampleTypeIx, StackIx, ThreadIx};
use hashbrown::HashMap;
use linux_perf_data::linux_perf_event_reader::CpuMode;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use sto_binary::{AddressSpace, Unwind, UnwindFiles};
use sto_model::units::{Cost, Nanoseconds};
use sto_model::{Stage, Timings};

/// Markers between the parts of a call chain: `PERF_CONTEXT_*` of
/// `include/uapi/linux/perf_event.h`.
const CONTEXT_MAX: u64 = -4095_i64 as u64;
const CONTEXT_USER: u64 = -512_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;

/// Default limit of the kernel and perf to the length of a call chain
/// (`kernel.perf_event_max_stack`).
const MAX_CHAIN: usize = 127;

/// Size of a `struct perf_branch_entry`: from, to, flags.
const BRANCH_SIZE: usize = 24;
/// Maximum number of branch records that processors keep, since Skylake.
const MAX_BRANCHES: usize = 32;

const BATCH_SAMPLES: usize = 4096;
const BATCH_BYTES: usize = 4 << 20;

/// Samples to be located by a worker.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) number: usize,
    kernel: Arc<AddressSpace>,
    /// The samples, in order of time.
    samples: Vec<Pending>,
    bytes: usize,
}

/// A sample that is not decoded yet, with its thread and mappings.
pub(super) struct Pending {
    pub(super) record: Record,
    pub(super) thread: ThreadIx,
    pub(super) space: Arc<AddressSpace>,
    /// The only frame of the stack, if a virtual machine ran.
    pub(super) guest: Option<Location>,
}

impl Batch {
    /// Makes an empty batch of samples with these kernel mappings.
    pub(super) fn new(number: usize, kernel: &Arc<AddressSpace>) -> Self {
        Batch {
            number,
            kernel: Arc::clone(kernel),
            ..Batch::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.samples.len() >= BATCH_SAMPLES || self.bytes >= BATCH_BYTES
    }

    /// Returns `true` if the batch has these mappings of the kernel.
    pub(super) fn has_kernel(&self, kernel: &Arc<AddressSpace>) -> bool {
        Arc::ptr_eq(&self.kernel, kernel)
    }

    pub(super) fn push(&mut self, sample: Pending) {
        self.bytes += usize::from(sample.record.size);
        self.samples.push(sample);
    }
}

/// Decodes samples and finds their stacks.
pub(super) struct Worker<'a> {
    number: usize,
    path: &'a Path,
    events: &'a Events,
    timings: &'a Timings,
    finder: StackFinder<'a>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        number: usize,
        path: &'a Path,
        events: &'a Events,
        files: &'a UnwindFiles<'a>,
        timings: &'a Timings,
    ) -> Self {
        let finder = StackFinder {
            timings,
            is_monotonic: events.is_monotonic,
            unwinder: files.unwinder(),
            index: HashMap::new(),
            locations: Vec::new(),
            is_without_frame: HashMap::new(),
            without_caller: 0,
            stack: Vec::new(),
            unwound: Vec::new(),
        };
        Worker {
            number,
            path,
            events,
            timings,
            finder,
        }
    }

    /// Locates a batch and adds it to the numbering. Returns `false` after an error: then no more batches are needed.
    pub(super) fn add_batch(&mut self, batch: &Batch, numbering: &Mutex<Numbering<'_>>) -> bool {
        let timings = self.timings;
        let located = timings.measure_thread(Stage::Locating, || self.locate(batch));
        let mut numbering = numbering.lock().unwrap_or_else(PoisonError::into_inner);
        timings.measure_thread(Stage::Locating, || numbering.add(batch.number, located))
    }

    fn locate(&mut self, batch: &Batch) -> Result<LocatedBatch, FormatError> {
        let known = self.finder.locations.len();
        let mut stacks = Vec::new();
        let (mut readings, mut switches) = (Vec::new(), Vec::new());
        let locate = |pending: &Pending| {
            let record = &pending.record;
            let layout = &self.events.layouts[record.event as usize];
            let sample = layout.decode(&record.body);
            let sample = sample.map_err(|_| record.malformed(self.path))?;
            readings.extend(layout.readings(&sample));
            if self.events.sched_switch == Some(record.event) {
                switches.push(Switch::from_sample(&sample));
            }
            let truncated = self.finder.find(&batch.kernel, pending, &sample);
            stacks.extend(self.finder.stack.iter().rev());
            let sample = Sample {
                // Not numbered yet.
                stack: StackIx(u32::MAX),
                thread: pending.thread,
                sample_type: SampleTypeIx(record.event),
                time: sample.time.map(Nanoseconds),
                cost: Cost {
                    samples: 1,
                    value: sample.period,
                },
                truncated,
            };
            Ok((sample, stacks.len()))
        };
        let samples = batch.samples.iter().map(locate).collect::<Result<_, _>>()?;
        Ok(LocatedBatch {
            worker: self.number,
            new_locations: self.finder.locations[known..].to_vec(),
            stacks,
            samples,
            readings,
            switches,
            without_caller: std::mem::take(&mut self.finder.without_caller),
        })
    }
}

/// Finds the stacks of samples, and numbers their locations.
struct StackFinder<'a> {
    timings: &'a Timings,
    is_monotonic: bool,
    unwinder: Box<dyn Unwind + 'a>,
    index: HashMap<Location, LocationIx>,
    locations: Vec<Location>,
    /// Whether code at these locations has no frame.
    is_without_frame: HashMap<LocationIx, bool>,
    /// Number of samples of such code in this batch.
    without_caller: usize,
    /// The current stack, innermost first.
    stack: Vec<LocationIx>,
    unwound: Vec<u64>,
}

impl StackFinder<'_> {
    /// Fills `self.stack`, innermost first. Returns `true` if the stack was cut before its root.
    fn find(&mut self, kernel: &AddressSpace, pending: &Pending, sample: &RawSample<'_>) -> bool {
        self.stack.clear();
        if let Some(guest) = pending.guest {
            self.push(guest);
            return false;
        }
        let (chain, branches) = (sample.chain, sample.branches);
        let saved = sample
            .user_regs
            .filter(|_| !sample.user_stack.is_empty())
            .map(|regs| (regs, sample.user_stack));
        let time = sample.time.filter(|_| self.is_monotonic);
        let mut last = None;
        let space = &*pending.space;
        let mut in_user = |address| space.locate(address, time, &mut last);
        let mut last_in_kernel = None;
        let mut in_kernel = |address| kernel.locate(address, None, &mut last_in_kernel);
        let mut truncated = chain.len() / 8 >= MAX_CHAIN;

        let mut context = CONTEXT_USER;
        let mut innermost = true;
        let mut words = chain.chunks_exact(8).map(read_u64).peekable();
        while let Some(word) = words.next() {
            if word >= CONTEXT_MAX {
                (context, innermost) = (word, true);
                continue;
            }
            // A return address may lie after the last instruction of its function.
            let address = if innermost {
                word
            } else {
                word.saturating_sub(1)
            };
            let interrupted = std::mem::take(&mut innermost);
            match context {
                CONTEXT_KERNEL => drop(self.push(in_kernel(address))),
                CONTEXT_USER if saved.is_some() || !branches.is_empty() => {}
                CONTEXT_USER => {
                    let location = in_user(address);
                    if location == Location::Unmapped && self.outermost() == Some(location) {
                        continue;
                    }
                    let location = self.push(location);
                    // Frame pointers skip the caller of a function that has not set up its frame
                    // yet or never does; the link register has it, if the architecture has one.
                    let caller = sample.link.filter(|_| interrupted);
                    let caller =
                        caller.and_then(|link| self.unwinder.caller_in_link(space, word, link));
                    if let Some(caller) = caller.filter(|caller| words.peek() != Some(caller)) {
                        self.push(in_user(caller.saturating_sub(1)));
                    } else if interrupted && sample.link.is_none() {
                        let unwinder = &mut self.unwinder;
                        let is_without_frame = || {
                            // Distributions build libraries without frame pointers, as everybody knows.
                            let file = space.find(word).map(|mapping| &mapping.file);
                            file.is_some_and(|file| !is_library(file))
                                && unwinder.is_without_frame(space, word)
                        };
                        let known = self.is_without_frame.entry(location);
                        let is_without_frame = *known.or_insert_with(is_without_frame);
                        self.without_caller += usize::from(is_without_frame);
                    }
                }
                _ => drop(self.push(Location::Unmapped)),
            }
        }
        if saved.is_none() {
            for (depth, address) in calls_of(branches).enumerate() {
                self.push(in_user(address.saturating_sub(u64::from(depth > 0))));
            }
            truncated |= branches.len() / BRANCH_SIZE >= MAX_BRANCHES;
        }
        if let Some((regs, stack)) = saved {
            let mut unwound = std::mem::take(&mut self.unwound);
            unwound.clear();
            let unwind = || self.unwinder.unwind(space, time, regs, stack, &mut unwound);
            truncated |= !self.timings.measure_thread(Stage::Unwinding, unwind);
            for (depth, &address) in unwound.iter().enumerate() {
                self.push(in_user(address.saturating_sub(u64::from(depth > 0))));
            }
            self.unwound = unwound;
        }
        if self.stack.is_empty() {
            let ip = sample.ip.unwrap_or_default();
            self.push(match CpuMode::from_misc(pending.record.misc) {
                CpuMode::Kernel => in_kernel(ip),
                _ => in_user(ip),
            });
        }
        // If the chain leaves mapped code, a register that was no frame pointer was followed.
        truncated || self.outermost() == Some(Location::Unmapped)
    }

    /// Returns the outermost location so far.
    fn outermost(&self) -> Option<Location> {
        let number = self.stack.last()?;
        Some(self.locations[number.0 as usize])
    }

    fn push(&mut self, location: Location) -> LocationIx {
        let locations = &mut self.locations;
        let number = *self.index.entry(location).or_insert_with(|| {
            locations.push(location);
            LocationIx(locations.len() as u32 - 1)
        });
        self.stack.push(number);
        number
    }
}

/// The addresses of a call stack recorded as branches, innermost first: the target of the last
/// call, then the source of each call.
fn calls_of(branches: &[u8]) -> impl Iterator<Item = u64> {
    let entries = branches.chunks_exact(BRANCH_SIZE);
    let innermost = entries.clone().next().map(|entry| read_u64(&entry[8..16]));
    innermost
        .into_iter()
        .chain(entries.map(|entry| read_u64(&entry[..8])))
}
