//! Adds up costs by context and slice of time.

use super::frame_tree::StackNodes;
use super::stack_costs::{CostSums, InternError};
use sto_formats::recording::{Recording, Sample};
use sto_model::tree::{
    ContextIx, NodeIx, ProfileThread, SampleContext, SliceCost, SliceCosts, SliceCount, SliceGrid,
    SliceIx, TimeSlices,
};
use sto_model::units::Nanoseconds;

/// Divides the time of a recording's samples into slices. A single slice needs no timestamps.
///
/// # Errors
/// Returns an error if there are several slices and a sample has no timestamp.
pub(super) fn grid(recording: &Recording, count: SliceCount) -> Result<SliceGrid, InternError> {
    let samples = &recording.samples;
    let untimed = samples
        .iter()
        .filter(|sample| sample.time.is_none())
        .count();
    let range = recording.time_range().filter(|_| untimed == 0);
    let whole = (count.get() == 1).then_some((Nanoseconds(0), Nanoseconds(0)));
    let grid = range
        .or(whole)
        .and_then(|(first, last)| SliceGrid::new(first, last, count));
    grid.ok_or(InternError::NoTime {
        all: untimed == samples.len(),
    })
}

/// Returns the costs of the kept samples by context, slice and node. Samples with a cost of zero are left out.
pub(super) fn slice_costs(
    recording: &Recording,
    nodes: &StackNodes,
    grid: SliceGrid,
    keep: impl Fn(&Sample) -> bool,
) -> TimeSlices {
    let kept = || {
        let samples = recording.samples.iter();
        samples.filter(|sample| keep(sample) && !sample.cost.is_zero())
    };
    let (contexts, context_of) = contexts(recording, kept());
    let mut costs = vec![CostSums::default(); recording.sample_types.len()];
    for sample in kept() {
        let slice = match grid.count().get() {
            1 => SliceIx(0),
            _ => {
                let slice = sample.time.and_then(|time| grid.slice_at(time));
                slice.expect("the grid covers the time of every sample")
            }
        };
        let context = context_of[sample.thread.get()];
        let key = (context, slice, nodes.node(sample.stack));
        costs[sample.sample_type.get()].add(key, sample.cost);
    }
    TimeSlices {
        grid,
        contexts,
        costs: costs.into_iter().map(costs_from_sums).collect(),
    }
}

pub(super) fn costs_from_sums(costs: CostSums<(ContextIx, SliceIx, NodeIx)>) -> SliceCosts {
    let costs = costs.finish().into_iter();
    costs
        .map(|((context, slice, node), cost)| SliceCost {
            context,
            slice,
            node,
            cost,
        })
        .collect()
}

/// Returns the distinct contexts of the kept samples in ascending order, and for each thread of the recording the index
/// of its context, or `u32::MAX` if none of its samples are kept.
fn contexts<'s>(
    recording: &Recording,
    kept: impl Iterator<Item = &'s Sample>,
) -> (Vec<SampleContext>, Vec<ContextIx>) {
    const UNUSED: ContextIx = ContextIx(u32::MAX);
    let mut used = vec![false; recording.threads.len()];
    for sample in kept {
        used[sample.thread.get()] = true;
    }
    let mut sorted: Vec<(SampleContext, usize)> = (0..used.len())
        .filter(|&ix| used[ix])
        .map(|ix| {
            let thread = &recording.threads[ix];
            let context = SampleContext {
                thread: ProfileThread {
                    pid: recording.processes[thread.process.get()].pid,
                    tid: thread.tid,
                    name: thread.name.clone(),
                },
                labels: thread.labels.clone(),
            };
            (context, ix)
        })
        .collect();
    sorted.sort_unstable();
    let mut contexts: Vec<SampleContext> = Vec::new();
    let mut indices = vec![UNUSED; used.len()];
    for (context, ix) in sorted {
        if contexts.last() != Some(&context) {
            contexts.push(context);
        }
        indices[ix] = ContextIx(contexts.len() as u32 - 1);
    }
    (contexts, indices)
}
