//! Adds up the costs of each stack of locations.

use rayon::prelude::*;
use sto_formats::recording::{Recording, Sample, StackIx};
use sto_model::limits::{MAX_DEPTH, MAX_METRIC_VALUES, MAX_METRICS};
use sto_model::units::Cost;

/// An error of interning the samples of a recording.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InternError {
    /// A sum of counts overflows 64 bits.
    #[error(
        "the counts of all stacks add up to more than 2^64 - 1; the recording's periods cannot be right"
    )]
    Overflow,
    /// A sample has no frame at all, which is a defect of the format's reader.
    #[error(
        "a sample has no frame, not even an unknown one; this is a defect of the format's reader"
    )]
    EmptyStack,
    /// A stack is deeper than [`MAX_DEPTH`].
    #[error(
        "a stack has {0} frames, including inlined ones, but the limit is {MAX_DEPTH}; record with a smaller maximum stack depth"
    )]
    TooDeep(usize),
    /// The stacks have more distinct frames than [`max_frames`](sto_model::limits::max_frames) allows.
    #[error(
        "its stacks have more than {limit} frames, including inlined ones and counting shared ones once, the limit for a file of its size; record for a shorter time, or with a smaller maximum stack depth"
    )]
    TooLarge {
        /// The maximum number of frames.
        limit: u64,
    },
    /// Time is to be divided into slices, but samples have no timestamp.
    #[error(
        "{} timestamp, so time cannot be divided into slices",
        if *all { "no sample has a" } else { "some samples have no" }
    )]
    NoTime {
        /// Whether no sample has a timestamp.
        all: bool,
    },
    /// Two metrics over time have the same name.
    #[error("two of its metrics over time have the name `{0}`")]
    SameMetric(String),
    /// More than [`MAX_METRICS`] metrics over time, or more than [`MAX_METRIC_VALUES`] values of them.
    #[error(
        "it has {metrics} metrics over time with {points} values, but the limit is {MAX_METRICS} metrics with {MAX_METRIC_VALUES} values in total; record fewer metrics, or less often"
    )]
    TooManyMetrics {
        /// Number of metrics.
        metrics: usize,
        /// Number of values of all metrics.
        points: usize,
    },
}

/// For each sample type the costs of distinct stacks, in ascending order of stacks.
pub(super) type StackCosts = Vec<Vec<(StackIx, Cost)>>;

pub(super) fn costs_by_stack(
    recording: &Recording,
    keep: impl Fn(&Sample) -> bool,
) -> Result<StackCosts, InternError> {
    let mut costs = vec![CostSums::default(); recording.sample_types.len()];
    let mut sums = vec![Cost::ZERO; recording.sample_types.len()];
    let mut last_of = vec![0; recording.stacks.len()];
    let mut samples: u64 = 0;
    let kept = recording.samples.iter().filter(|sample| keep(sample));
    for sample in kept.filter(|sample| !sample.cost.is_zero()) {
        let sample_type = sample.sample_type.get();
        let last = &mut last_of[sample.stack.get()];
        costs[sample_type].add_at(last, sample.stack, sample.cost);
        // As the total fits into 64 bits, all other sums do too.
        let sum = &mut sums[sample_type];
        *sum = sum.checked_add(sample.cost).ok_or(InternError::Overflow)?;
        samples = samples
            .checked_add(sample.cost.samples)
            .ok_or(InternError::Overflow)?;
    }
    Ok(costs.into_iter().map(CostSums::finish).collect())
}

/// Sums of costs by key. Entries are merged whenever they are about to exceed twice the number of keys.
#[derive(Clone)]
pub(super) struct CostSums<K> {
    costs: Vec<(K, Cost)>,
    /// Number of entries at which they are merged.
    merge_at: usize,
}

impl<K> Default for CostSums<K> {
    fn default() -> Self {
        CostSums {
            costs: Vec::new(),
            merge_at: 1 << 14,
        }
    }
}

impl<K: Copy + Ord + Send> CostSums<K> {
    pub(super) fn add(&mut self, key: K, cost: Cost) {
        if self.costs.len() >= self.merge_at {
            sum_by_key(&mut self.costs);
            self.merge_at = self.merge_at.max(2 * self.costs.len());
        }
        self.costs.push((key, cost));
    }

    /// Like [`CostSums::add`], for keys that number something. `last` is of this key: the index of its last entry, which
    /// most often still is the one to add to. It may be wrong.
    pub(super) fn add_at(&mut self, last: &mut u32, key: K, cost: Cost) {
        match self.costs.get_mut(*last as usize) {
            Some((known, sum)) if *known == key => *sum += cost,
            _ => {
                self.add(key, cost);
                *last = self.costs.len() as u32 - 1;
            }
        }
    }

    /// Returns the sums in ascending order of keys.
    pub(super) fn finish(mut self) -> Vec<(K, Cost)> {
        sum_by_key(&mut self.costs);
        self.costs
    }
}

/// Sorts entries by key, and merges those with equal keys.
fn sum_by_key<K: Copy + Ord + Send>(costs: &mut Vec<(K, Cost)>) {
    costs.par_sort_unstable_by_key(|&(key, _)| key);
    costs.dedup_by(|(next, cost), (key, sum)| {
        let same = next == key;
        if same {
            *sum += *cost;
        }
        same
    });
}
