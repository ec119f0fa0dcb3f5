//! What was done in each context and slice of a run's time.

use super::NodeIx;
use crate::SampleLabel;
use crate::numbers;
use crate::units::{Cost, Nanoseconds};
use hashbrown::HashSet;
use std::sync::Arc;

/// Number of slices that the time of a run is cut into: 1 to [`SliceCount::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceCount(u32);

impl SliceCount {
    /// The most slices: few enough that a reader may lay out a column with an entry a slice for
    /// anything, also where hostile bytes name the number.
    pub const MAX: u32 = 1 << 16;

    /// `None` for 0 and for more than [`SliceCount::MAX`].
    pub const fn new(count: u32) -> Option<Self> {
        match count {
            1..=Self::MAX => Some(SliceCount(count)),
            _ => None,
        }
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

numbers! {
    /// Index of a slice of time, counted from the first sample of the recording.
    pub SliceIx;
    /// Index of a context in [`Slices::contexts`].
    pub ContextIx;
}

/// How the time of a recording is cut: from its first sample to its last, in slices of equal
/// length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceGrid {
    first: Nanoseconds,
    last: Nanoseconds,
    count: SliceCount,
}

impl SliceGrid {
    /// Cuts the time from the first sample to the last; `None` if they are the wrong way around.
    pub fn new(first: Nanoseconds, last: Nanoseconds, count: SliceCount) -> Option<Self> {
        (first <= last).then_some(SliceGrid { first, last, count })
    }

    /// When the first sample was taken, by the recording's clock.
    pub fn first(self) -> Nanoseconds {
        self.first
    }

    /// When the last sample was taken, by the recording's clock.
    pub fn last(self) -> Nanoseconds {
        self.last
    }

    /// The number of slices.
    pub fn count(self) -> SliceCount {
        self.count
    }

    /// How long the run took: up to a nanosecond after its last sample.
    pub fn duration(self) -> Nanoseconds {
        Nanoseconds((self.last.0 - self.first.0).saturating_add(1))
    }

    /// Where the slice of this index begins, or the last one ends, since the first sample.
    pub fn border(self, slice: u32) -> Nanoseconds {
        let count = u128::from(self.count.0);
        let slices = u128::from(slice).min(count) * u128::from(self.duration().0);
        Nanoseconds(slices.div_ceil(count) as u64)
    }

    /// The slice that a time stamp is in; `None` outside of the recording's time.
    ///
    /// The run is taken to end a nanosecond after its last sample, so that this is in the last
    /// slice as any other is in its own: a stamp on a border belongs to the slice that begins.
    pub fn slice_of(self, time: Nanoseconds) -> Option<SliceIx> {
        if time > self.last {
            return None;
        }
        let since = u128::from(time.0.checked_sub(self.first.0)?);
        let length = u128::from(self.last.0 - self.first.0) + 1;
        Some(SliceIx((since * u128::from(self.count.0) / length) as u32))
    }
}

/// A thread of a profile. Threads are distinguished by all three: a thread that runs another program
/// has a new name, and ids are given out again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileThread {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Its command name, as recorded.
    pub name: String,
}

/// What samples were taken in: a thread, and what they are labelled with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context {
    /// The thread.
    pub thread: ProfileThread,
    /// The labels of each of the samples, in ascending order, none twice.
    pub labels: Arc<[SampleLabel]>,
}

/// The sets of labels that contexts have, each once where they share it: many contexts may share a
/// large one, so that going through all of each would take far longer than reading them did.
pub fn label_sets(contexts: &[Context]) -> impl Iterator<Item = &[SampleLabel]> {
    let mut known = HashSet::new();
    let sets = contexts.iter().map(|context| &*context.labels);
    sets.filter(move |set| known.insert(set.as_ptr()))
}

/// The costs of a profile by context, slice of time and node.
///
/// Over all contexts and slices they add up to the profile's self costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slices {
    /// How time is cut.
    pub grid: SliceGrid,
    /// The contexts, in ascending order, none twice: those of one thread stand together.
    pub contexts: Vec<Context>,
    /// Costs by sample type.
    pub costs: Vec<SliceCosts>,
}

/// Self costs by context, slice and node: parallel columns, in ascending order, none twice, none
/// with a zero cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceCosts {
    contexts: Vec<ContextIx>,
    slices: Vec<SliceIx>,
    nodes: Vec<NodeIx>,
    costs: Vec<Cost>,
}

/// What one node cost in one slice, in one context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceCost {
    /// The context.
    pub context: ContextIx,
    /// The slice.
    pub slice: SliceIx,
    /// The node.
    pub node: NodeIx,
    /// Its self cost there.
    pub cost: Cost,
}

impl Slices {
    /// Number of distinct threads.
    pub fn thread_count(&self) -> usize {
        self.contexts.chunk_by(|a, b| a.thread == b.thread).count()
    }
}

impl SliceCosts {
    /// Number of costs.
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }

    /// Every cost, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = SliceCost> + Clone {
        (0..self.len()).map(|i| SliceCost {
            context: self.contexts[i],
            slice: self.slices[i],
            node: self.nodes[i],
            cost: self.costs[i],
        })
    }
}

impl FromIterator<SliceCost> for SliceCosts {
    fn from_iter<I: IntoIterator<Item = SliceCost>>(costs: I) -> Self {
        let mut columns = SliceCosts::default();
        for SliceCost {
            context,
            slice,
            node,
            cost,
        } in costs
        {
            columns.contexts.push(context);
            columns.slices.push(slice);
            columns.nodes.push(node);
            columns.costs.push(cost);
        }
        columns
    }
}
