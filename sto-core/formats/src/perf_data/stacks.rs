//! From samples to stacks of locations, on every core.
//!
//! One thread walks over the records and hands batches of samples over; others decode these, find the mapping
//! of each address and unwind saved stacks. What a batch becomes depends on the batch alone, so the
//! result is the same on one core or many.

use super::events::Events;
use super::sample::{RawSample, Reading, word_of};
use super::walk::Record;
use crate::error::FormatError;
use crate::recording::{Location, LocationIx, Sample, SampleTypeIx, StackIx, Stacks, ThreadIx};
use hashbrown::HashMap;
use linux_perf_data::linux_perf_event_reader::CpuMode;
use std::path::Path;
use std::sync::Arc;
use sto_binary::{AddressSpace, Unwind, UnwindFiles};
use sto_model::units::{Cost, Nanoseconds};

/// `PERF_CONTEXT_*` of `include/uapi/linux/perf_event.h`: marks between the parts of a call chain.
const CONTEXT_MAX: u64 = -4095_i64 as u64;
const CONTEXT_USER: u64 = -512_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;

/// The kernel's and perf's default limit of a call chain (`kernel.perf_event_max_stack`).
const MAX_CHAIN: usize = 127;

/// A `struct perf_branch_entry`: from, to, flags.
const BRANCH_SIZE: usize = 24;
/// The last branch records that processors keep at most, since Skylake.
const MAX_BRANCHES: usize = 32;

const BATCH_SAMPLES: usize = 4096;
const BATCH_BYTES: usize = 4 << 20;

/// Samples on their way to a worker.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) number: usize,
    kernel: Arc<AddressSpace>,
    /// In order of time.
    samples: Vec<Pending>,
    bytes: usize,
}

/// A sample that was not decoded yet, and what it was taken in.
pub(super) struct Pending {
    pub(super) record: Record,
    pub(super) thread: ThreadIx,
    pub(super) space: Arc<AddressSpace>,
    /// What all its stack is, where a virtual machine ran.
    pub(super) guest: Option<Location>,
}

impl Batch {
    /// A batch of samples that see this kernel.
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

    /// Whether the kernel's mappings are still those that the batch's samples see.
    pub(super) fn sees(&self, kernel: &Arc<AddressSpace>) -> bool {
        Arc::ptr_eq(&self.kernel, kernel)
    }

    pub(super) fn push(&mut self, sample: Pending) {
        self.bytes += usize::from(sample.record.size);
        self.samples.push(sample);
    }
}

/// Batches that were located; or the number of the one that could not be, and why.
type Located = Result<Vec<LocatedBatch>, (usize, FormatError)>;

/// What a batch is made into.
#[derive(Default)]
pub(super) struct LocatedBatch {
    pub(super) number: usize,
    pub(super) samples: Vec<Sample>,
    /// The counters that its samples have.
    pub(super) readings: Vec<Reading>,
}

/// What a worker made of the batches that it took.
pub(super) struct Part {
    pub(super) located: Located,
    pub(super) table: LocationTable,
}

/// The locations and stacks that a worker numbered.
#[derive(Default)]
pub(super) struct LocationTable {
    pub(super) locations: Vec<Location>,
    pub(super) stacks: Stacks,
}

/// Decodes samples, and finds and numbers their stacks.
pub(super) struct Worker<'a> {
    path: &'a Path,
    events: &'a Events,
    finder: Finder<'a>,
    located: Located,
}

impl<'a> Worker<'a> {
    pub(super) fn new(path: &'a Path, events: &'a Events, files: &'a UnwindFiles<'a>) -> Self {
        let finder = Finder {
            is_monotonic: events.is_monotonic,
            unwinder: files.unwinder(),
            index: HashMap::new(),
            table: LocationTable::default(),
            stack: Vec::new(),
            unwound: Vec::new(),
        };
        Worker {
            path,
            events,
            finder,
            located: Ok(Vec::new()),
        }
    }

    /// Whether no batch was in error so far; further ones are not looked at.
    pub(super) fn goes_on(&self) -> bool {
        self.located.is_ok()
    }

    pub(super) fn finish(self) -> Part {
        Part {
            located: self.located,
            table: self.finder.table,
        }
    }

    pub(super) fn take(&mut self, batch: &Batch) {
        let done = self.locate(batch);
        if let Ok(located) = &mut self.located {
            match done {
                Ok(done) => located.push(done),
                Err(error) => self.located = Err((batch.number, error)),
            }
        }
    }

    fn locate(&mut self, batch: &Batch) -> Result<LocatedBatch, FormatError> {
        let mut readings = Vec::new();
        let locate = |pending: &Pending| {
            let record = &pending.record;
            let layout = &self.events.layouts[record.event as usize];
            let sample = layout.decode(&record.body);
            let sample = sample.map_err(|_| record.malformed(self.path))?;
            readings.extend(layout.readings(&sample));
            let found = self.finder.find(&batch.kernel, pending, &sample);
            let (stack, truncated) = found.ok_or_else(|| too_large(self.path))?;
            Ok(Sample {
                stack,
                thread: pending.thread,
                sample_type: SampleTypeIx(record.event),
                time: sample.time.map(Nanoseconds),
                cost: Cost {
                    samples: 1,
                    value: sample.period,
                },
                truncated,
            })
        };
        let samples = batch.samples.iter().map(locate).collect::<Result<_, _>>()?;
        Ok(LocatedBatch {
            number: batch.number,
            samples,
            readings,
        })
    }
}

/// Finds the stacks of samples, and numbers them and their locations.
struct Finder<'a> {
    is_monotonic: bool,
    unwinder: Box<dyn Unwind + 'a>,
    index: HashMap<Location, LocationIx>,
    table: LocationTable,
    /// The stack at hand, innermost first.
    stack: Vec<LocationIx>,
    unwound: Vec<u64>,
}

impl Finder<'_> {
    /// A sample's stack, and whether it was cut before its root; `None` where the distinct stacks are more than can
    /// be numbered.
    fn find(
        &mut self,
        kernel: &AddressSpace,
        pending: &Pending,
        sample: &RawSample<'_>,
    ) -> Option<(StackIx, bool)> {
        self.stack.clear();
        let truncated = self.walk(kernel, pending, sample);
        self.stack.reverse();
        Some((self.table.stacks.try_insert(&self.stack)?, truncated))
    }

    /// Fills `self.stack`, innermost first; says whether the stack was cut before its root.
    fn walk(&mut self, kernel: &AddressSpace, pending: &Pending, sample: &RawSample<'_>) -> bool {
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
        let mut words = chain.chunks_exact(8).map(word_of).peekable();
        while let Some(word) = words.next() {
            if word >= CONTEXT_MAX {
                (context, innermost) = (word, true);
                continue;
            }
            // A return address may be after its function's last instruction.
            let address = if innermost {
                word
            } else {
                word.saturating_sub(1)
            };
            let interrupted = std::mem::take(&mut innermost);
            match context {
                CONTEXT_KERNEL => self.push(in_kernel(address)),
                CONTEXT_USER if saved.is_some() || !branches.is_empty() => {}
                CONTEXT_USER => {
                    self.push(in_user(address));
                    // Frame pointers lead to the caller of the function whose frame is the newest, not to that of
                    // one that has none yet, or never.
                    let caller = sample.link.filter(|_| interrupted);
                    let caller =
                        caller.and_then(|link| self.unwinder.caller_in_link(space, word, link));
                    if let Some(caller) = caller.filter(|caller| words.peek() != Some(caller)) {
                        self.push(in_user(caller.saturating_sub(1)));
                    }
                }
                _ => self.push(Location::Unmapped),
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
            truncated |= !self.unwinder.unwind(space, regs, stack, &mut unwound);
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
        // A chain that leaves mapped code followed something that was no frame pointer.
        let root = self
            .stack
            .last()
            .map(|&number| self.table.locations[number.0 as usize]);
        truncated || root == Some(Location::Unmapped)
    }

    fn push(&mut self, location: Location) {
        let locations = &mut self.table.locations;
        let number = *self.index.entry(location).or_insert_with(|| {
            locations.push(location);
            LocationIx(locations.len() as u32 - 1)
        });
        self.stack.push(number);
    }
}

/// The addresses of a call stack that the processor kept as branches: where the last call went to, and
/// where each call came from, innermost first.
fn calls_of(branches: &[u8]) -> impl Iterator<Item = u64> {
    let entries = branches.chunks_exact(BRANCH_SIZE);
    let innermost = entries.clone().next().map(|entry| word_of(&entry[8..16]));
    innermost
        .into_iter()
        .chain(entries.map(|entry| word_of(&entry[..8])))
}

pub(super) fn too_large(path: &Path) -> FormatError {
    let problem = "its distinct stacks have more than 2^32 frames together; record for a shorter \
                   time or at a lower frequency";
    FormatError::Unsupported {
        path: path.into(),
        problem: problem.into(),
    }
}
