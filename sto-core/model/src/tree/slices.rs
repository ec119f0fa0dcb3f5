//! Costs by thread, labels and time slice.

use super::NodeIx;
use crate::SampleLabel;
use crate::index_types;
use crate::units::{Cost, Nanoseconds};
use hashbrown::HashSet;
use std::sync::Arc;

/// Number of slices that the time of a run is divided into: 1 to [`SliceCount::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceCount(u32);

impl SliceCount {
    /// The maximum number of slices. It is low enough to allocate a column with an entry for each slice
    /// even if the number comes from hostile input.
    pub const MAX: u32 = 1 << 16;

    /// Returns `None` for 0 and for more than [`SliceCount::MAX`].
    pub const fn new(count: u32) -> Option<Self> {
        match count {
            1..=Self::MAX => Some(SliceCount(count)),
            _ => None,
        }
    }

    /// The number of slices.
    pub fn get(self) -> u32 {
        self.0
    }
}

index_types! {
    /// Index of a time slice, counted from the first sample of the recording.
    pub SliceIx;
    /// Index of a context in [`TimeSlices::contexts`].
    pub ContextIx;
}

/// A division of the time from the first to the last sample of a recording into slices of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceGrid {
    first: Nanoseconds,
    last: Nanoseconds,
    count: SliceCount,
}

impl SliceGrid {
    /// Divides the time between the first and the last sample. Returns `None` if `first > last`.
    pub fn new(first: Nanoseconds, last: Nanoseconds, count: SliceCount) -> Option<Self> {
        (first <= last).then_some(SliceGrid { first, last, count })
    }

    /// The time of the first sample, by the recording's clock.
    pub fn first(self) -> Nanoseconds {
        self.first
    }

    /// The time of the last sample, by the recording's clock.
    pub fn last(self) -> Nanoseconds {
        self.last
    }

    /// The number of slices.
    pub fn count(self) -> SliceCount {
        self.count
    }

    /// The duration of the run, which ends a nanosecond after its last sample.
    pub fn duration(self) -> Nanoseconds {
        Nanoseconds((self.last.0 - self.first.0).saturating_add(1))
    }

    /// The start of the slice with this index, relative to the first sample. The index [`SliceGrid::count`]
    /// gives the end of the last slice.
    pub fn slice_start(self, slice: u32) -> Nanoseconds {
        let count = u128::from(self.count.0);
        let slices = u128::from(slice).min(count) * self.length();
        Nanoseconds(u64::try_from(slices.div_ceil(count)).unwrap_or(u64::MAX))
    }

    /// The slice of a timestamp, or `None` if it is outside of the recording's time.
    ///
    /// A timestamp between two slices belongs to the later one. The run ends a nanosecond after its last
    /// sample, so that the last sample is in the last slice.
    pub fn slice_at(self, time: Nanoseconds) -> Option<SliceIx> {
        if time > self.last {
            return None;
        }
        let since = u128::from(time.0.checked_sub(self.first.0)?);
        Some(SliceIx(
            (since * u128::from(self.count.0) / self.length()) as u32,
        ))
    }

    /// The exact duration of the run, which may exceed 64 bits.
    fn length(self) -> u128 {
        u128::from(self.last.0 - self.first.0) + 1
    }
}

/// A thread of a profile. Two threads are equal only if all three fields are: a thread gets a new name when it
/// executes another program, and ids are reused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileThread {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The recorded command name.
    pub name: String,
}

/// The context of samples: their thread and labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleContext {
    /// The thread.
    pub thread: ProfileThread,
    /// The distinct labels of each sample, in ascending order.
    pub labels: Arc<[SampleLabel]>,
}

/// Iterates over the label sets of contexts, and returns sets that contexts share (by pointer) only once.
///
/// Many contexts can share a large set, so that iterating over the labels of each context is much slower.
pub fn distinct_label_sets(contexts: &[SampleContext]) -> impl Iterator<Item = &[SampleLabel]> {
    let mut known = HashSet::new();
    let sets = contexts.iter().map(|context| &*context.labels);
    sets.filter(move |set| known.insert(set.as_ptr()))
}

/// The costs of a profile by context, time slice and node.
///
/// The sums over all contexts and slices are the profile's self costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSlices {
    /// The division of the time.
    pub grid: SliceGrid,
    /// The distinct contexts, in ascending order, so that contexts of a thread are adjacent.
    pub contexts: Vec<SampleContext>,
    /// Costs by sample type.
    pub costs: Vec<SliceCosts>,
}

/// Non-zero self costs by context, slice and node, in ascending order, as parallel columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceCosts {
    contexts: Vec<ContextIx>,
    slices: Vec<SliceIx>,
    nodes: Vec<NodeIx>,
    costs: Vec<Cost>,
}

/// The self cost of one node in one slice and context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceCost {
    /// The context.
    pub context: ContextIx,
    /// The slice.
    pub slice: SliceIx,
    /// The node.
    pub node: NodeIx,
    /// The self cost.
    pub cost: Cost,
}

impl TimeSlices {
    /// The number of distinct threads.
    pub fn thread_count(&self) -> usize {
        self.contexts.chunk_by(|a, b| a.thread == b.thread).count()
    }
}

impl SliceCosts {
    /// The number of costs.
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// Returns `true` if there are no costs.
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }

    /// Iterates over the costs in order.
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
