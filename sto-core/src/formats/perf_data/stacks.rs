//! From samples to stacks of locations, on every core.
//!
//! One thread reads records and hands batches of samples over; others find the mapping of each
//! address and unwind saved stacks. What a batch becomes depends on the batch alone, so the result
//! is the same on one core or many.

use super::sample::{RawSample, word_of};
use crate::binary::AddressSpace;
use crate::binary::Unwinder;
use crate::binary::UserRegs;
use crate::recording::{Location, LocationIx, SampleTypeIx, StackIx, Stacks, ThreadIx};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::Arc;

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

/// Samples on their way to a worker, with the bytes they need copied out of the reader's buffer.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) number: usize,
    kernel: Arc<AddressSpace>,
    /// Whether times are of the clock that jitdumps have.
    is_monotonic: bool,
    samples: Vec<Pending>,
    bytes: Vec<u8>,
}

/// What stays of a sample on the whole way.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) thread: ThreadIx,
    pub(super) sample_type: SampleTypeIx,
    pub(super) time: Option<u64>,
    pub(super) period: u64,
}

struct Pending {
    taken: Taken,
    space: Arc<AddressSpace>,
    guest: Option<Location>,
    ip: Option<u64>,
    user_regs: Option<UserRegs>,
    chain: Range<usize>,
    branches: Range<usize>,
    stack: Range<usize>,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.samples.len() >= BATCH_SAMPLES || self.bytes.len() >= BATCH_BYTES
    }

    /// Makes the batch ready for samples that see this kernel.
    pub(super) fn start(&mut self, number: usize, kernel: &Arc<AddressSpace>, is_monotonic: bool) {
        self.number = number;
        self.kernel = Arc::clone(kernel);
        self.is_monotonic = is_monotonic;
        self.samples.clear();
        self.bytes.clear();
    }

    /// Whether the kernel's mappings are still those that the batch's samples see.
    pub(super) fn sees(&self, kernel: &Arc<AddressSpace>) -> bool {
        Arc::ptr_eq(&self.kernel, kernel)
    }

    /// Takes a sample; `guest` is what all its stack is, where a virtual machine ran.
    pub(super) fn push(
        &mut self,
        taken: Taken,
        sample: &RawSample<'_>,
        space: Arc<AddressSpace>,
        guest: Option<Location>,
    ) {
        let mut copy = |bytes: &[u8]| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            start..self.bytes.len()
        };
        let (chain, stack) = (copy(sample.chain), copy(sample.user_stack));
        let branches = copy(sample.branches);
        let (ip, user_regs) = (sample.ip, sample.user_regs);
        self.samples.push(Pending {
            taken,
            space,
            guest,
            ip,
            user_regs,
            chain,
            branches,
            stack,
        });
    }
}

/// A batch's samples with their stacks, as the worker that found them numbers these.
pub(super) struct Located {
    pub(super) number: usize,
    pub(super) samples: Vec<LocatedSample>,
}

pub(super) struct LocatedSample {
    pub(super) taken: Taken,
    pub(super) stack: StackIx,
    pub(super) truncated: bool,
}

/// Finds the stacks of samples, and numbers them and their locations.
pub(super) struct Worker<'a> {
    unwinder: Unwinder<'a>,
    index: HashMap<Location, LocationIx>,
    places: Places,
    /// The stack at hand, innermost first.
    stack: Vec<LocationIx>,
    unwound: Vec<u64>,
}

/// What a worker's numbers stand for.
#[derive(Default)]
pub(super) struct Places {
    pub(super) locations: Vec<Location>,
    pub(super) stacks: Stacks,
}

impl<'a> Worker<'a> {
    pub(super) fn new(unwinder: Unwinder<'a>) -> Self {
        Worker {
            unwinder,
            index: HashMap::new(),
            places: Places::default(),
            stack: Vec::new(),
            unwound: Vec::new(),
        }
    }

    pub(super) fn into_places(self) -> Places {
        self.places
    }

    /// `None` where the distinct stacks are more than can be numbered.
    pub(super) fn locate(&mut self, batch: &Batch) -> Option<Located> {
        let mut located = Located {
            number: batch.number,
            samples: Vec::with_capacity(batch.samples.len()),
        };
        for sample in &batch.samples {
            self.stack.clear();
            let truncated = self.walk(batch, sample);
            self.stack.reverse();
            located.samples.push(LocatedSample {
                taken: sample.taken,
                stack: self.places.stacks.try_insert(&self.stack)?,
                truncated,
            });
        }
        Some(located)
    }

    /// Fills `self.stack`, innermost first; says whether the stack was cut before its root.
    fn walk(&mut self, batch: &Batch, sample: &Pending) -> bool {
        let chain = &batch.bytes[sample.chain.clone()];
        let saved = &batch.bytes[sample.stack.clone()];
        let saved = sample
            .user_regs
            .filter(|_| !saved.is_empty())
            .map(|regs| (regs, saved));
        let branches = &batch.bytes[sample.branches.clone()];
        let time = sample.taken.time.filter(|_| batch.is_monotonic);
        let mut last = None;
        let mut in_user = |address| sample.space.locate(address, time, &mut last);
        let mut last_in_kernel = None;
        let mut in_kernel = |address| batch.kernel.locate(address, None, &mut last_in_kernel);
        let mut truncated = chain.len() / 8 >= MAX_CHAIN;
        if let Some(guest) = sample.guest {
            self.push(guest);
            return false;
        }

        let mut context = CONTEXT_USER;
        let mut innermost = true;
        for word in chain.chunks_exact(8).map(word_of) {
            if word >= CONTEXT_MAX {
                (context, innermost) = (word, true);
                continue;
            }
            // A return address may stand behind its function's last instruction.
            let address = if innermost {
                word
            } else {
                word.saturating_sub(1)
            };
            innermost = false;
            match context {
                CONTEXT_KERNEL => self.push(in_kernel(address)),
                CONTEXT_USER if saved.is_some() || !branches.is_empty() => {}
                CONTEXT_USER => self.push(in_user(address)),
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
            truncated |= !self
                .unwinder
                .unwind(&sample.space, regs, stack, &mut unwound);
            for (depth, &address) in unwound.iter().enumerate() {
                self.push(in_user(address.saturating_sub(u64::from(depth > 0))));
            }
            self.unwound = unwound;
        }
        if self.stack.is_empty() {
            let ip = sample.ip.unwrap_or_default();
            self.push(match ip >> 63 {
                1 => in_kernel(ip),
                _ => in_user(ip),
            });
        }
        // A chain that leaves mapped code followed something that was no frame pointer.
        let root = self
            .stack
            .last()
            .map(|&number| self.places.locations[number.0 as usize]);
        truncated || root == Some(Location::Unmapped)
    }

    fn push(&mut self, location: Location) {
        let locations = &mut self.places.locations;
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
