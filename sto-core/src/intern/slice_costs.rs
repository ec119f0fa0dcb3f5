//! Adding up what each thread did in each slice of time.

use super::build::{InternError, StackNodes, sum_by_key};
use super::slices::{ProfileThread, ProfileThreadIx, SliceCost, SliceCount, SliceGrid, Slices};
use crate::formats::{Recording, Sample};

/// Cuts the time of all samples of a recording.
pub(super) fn grid(recording: &Recording, count: SliceCount) -> Result<SliceGrid, InternError> {
    let samples = &recording.samples;
    let times = || samples.iter().filter_map(|sample| sample.time);
    let without = samples.len() - times().count();
    let ends = times().min().zip(times().max()).filter(|_| without == 0);
    let grid = ends.and_then(|(first, last)| SliceGrid::new(first, last, count));
    grid.ok_or(InternError::NoTime {
        all: without == samples.len(),
    })
}

/// The costs of the kept samples by thread, slice and node.
pub(super) fn slice_costs(
    recording: &Recording,
    nodes: &StackNodes,
    grid: SliceGrid,
    keep: impl Fn(&Sample) -> bool,
) -> Slices {
    let kept = recording.samples.iter();
    let kept: Vec<&Sample> = kept
        .filter(|sample| keep(sample) && !sample.cost.is_zero())
        .collect();
    let (threads, thread_of) = threads(recording, &kept);
    let mut costs = vec![Vec::new(); recording.sample_types.len()];
    for sample in kept {
        let slice = sample.time.and_then(|time| grid.slice_of(time));
        let slice = slice.expect("the grid covers the time of every sample");
        let thread = thread_of[sample.thread.0 as usize];
        costs[sample.sample_type.0 as usize]
            .push(((thread, slice, nodes.of(sample.stack)), sample.cost));
    }
    costs.iter_mut().for_each(sum_by_key);
    let costs = costs.into_iter().map(|costs| {
        let costs = costs.into_iter();
        costs
            .map(|((thread, slice, node), cost)| SliceCost {
                thread,
                slice,
                node,
                cost,
            })
            .collect()
    });
    Slices {
        grid,
        threads,
        costs: costs.collect(),
    }
}

/// The threads of these samples, in order, and for each thread of the recording its place there.
/// Threads that nothing tells apart are one.
fn threads(recording: &Recording, kept: &[&Sample]) -> (Vec<ProfileThread>, Vec<ProfileThreadIx>) {
    const UNUSED: ProfileThreadIx = ProfileThreadIx(u32::MAX);
    let mut used = vec![false; recording.threads.len()];
    for sample in kept {
        used[sample.thread.0 as usize] = true;
    }
    let mut sorted: Vec<(ProfileThread, usize)> = (0..used.len())
        .filter(|&ix| used[ix])
        .map(|ix| {
            let thread = &recording.threads[ix];
            let thread = ProfileThread {
                pid: recording.processes[thread.process.0 as usize].pid,
                tid: thread.tid,
                name: thread.name.clone(),
            };
            (thread, ix)
        })
        .collect();
    sorted.sort_unstable();
    let mut threads: Vec<ProfileThread> = Vec::new();
    let mut places = vec![UNUSED; used.len()];
    for (thread, ix) in sorted {
        if threads.last() != Some(&thread) {
            threads.push(thread);
        }
        places[ix] = ProfileThreadIx(threads.len() as u32 - 1);
    }
    (threads, places)
}
