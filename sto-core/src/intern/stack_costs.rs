//! What each stack of locations cost, and why that cannot be interned.

use rayon::prelude::*;
use sto_formats::recording::{Recording, Sample, StackIx};
use sto_model::limits::{MAX_DEPTH, MAX_METRICS, MAX_POINTS};
use sto_model::units::Cost;

/// Why samples cannot be interned.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InternError {
    /// A sum of counts leaves 64 bits.
    #[error(
        "the counts of all stacks add up to more than 2^64 - 1; the recording's periods cannot be right"
    )]
    Overflow,
    /// A sample has no frame at all.
    #[error("a sample has no frame, not even an unknown one; its reader must put one")]
    EmptyStack,
    /// A stack is deeper than [`MAX_DEPTH`].
    #[error(
        "a stack has {0} frames, inlined ones among them; stacks of up to {MAX_DEPTH} are stored. Record with a smaller limit of the stack's depth"
    )]
    TooDeep(usize),
    /// The stacks have more frames than [`most_frames`](sto_model::limits::most_frames) allows, common ones counted once.
    #[error(
        "its stacks have more than {limit} frames, inlined ones among them and common ones counted once; a file of its size may have so many. Record for a shorter time, or with a smaller limit of the stack's depth"
    )]
    TooLarge {
        /// How many there may be.
        limit: u64,
    },
    /// Time is to be cut into slices, but samples have no time stamp.
    #[error(
        "{} time stamp, so that time cannot be cut into slices",
        if *all { "no sample has a" } else { "some samples have no" }
    )]
    NoTime {
        /// Whether no sample has one.
        all: bool,
    },
    /// Two metrics over time have one name.
    #[error("two of its metrics over time are called `{0}`")]
    SameMetric(String),
    /// The metrics over time are more than [`MAX_METRICS`], or have more than [`MAX_POINTS`] values.
    #[error(
        "it has {metrics} metrics over time with {points} values; up to {MAX_METRICS} metrics, with up to {MAX_POINTS} values together, are stored. Record fewer of them, or less often"
    )]
    TooManyMetrics {
        /// Number of metrics.
        metrics: usize,
        /// Number of their values.
        points: usize,
    },
}

/// Costs by sample type and distinct stack of locations, stacks in ascending order.
pub(super) type StackCosts = Vec<Vec<(StackIx, Cost)>>;

pub(super) fn costs_by_stack(
    recording: &Recording,
    keep: impl Fn(&Sample) -> bool,
) -> Result<StackCosts, InternError> {
    let mut costs = vec![CostSums::default(); recording.sample_types.len()];
    let mut sums = vec![Cost::ZERO; recording.sample_types.len()];
    let mut samples: u64 = 0;
    let kept = recording.samples.iter().filter(|sample| keep(sample));
    for sample in kept.filter(|sample| !sample.cost.is_zero()) {
        let sample_type = sample.sample_type.get();
        costs[sample_type].add(sample.stack, sample.cost);
        // As the sum of all fits, so does every other sum from here on.
        let sum = &mut sums[sample_type];
        *sum = sum.checked_add(sample.cost).ok_or(InternError::Overflow)?;
        samples = samples
            .checked_add(sample.cost.samples)
            .ok_or(InternError::Overflow)?;
    }
    Ok(costs.into_iter().map(CostSums::finish).collect())
}

/// Costs by key, of which no more are held than twice as many as there are keys, or than a few.
#[derive(Clone)]
pub(super) struct CostSums<K> {
    costs: Vec<(K, Cost)>,
    /// How many they may become before they are summed up.
    most: usize,
}

impl<K> Default for CostSums<K> {
    fn default() -> Self {
        CostSums {
            costs: Vec::new(),
            most: 1 << 14,
        }
    }
}

impl<K: Copy + Ord + Send> CostSums<K> {
    pub(super) fn add(&mut self, key: K, cost: Cost) {
        if self.costs.len() >= self.most {
            sum_by_key(&mut self.costs);
            self.most = self.most.max(2 * self.costs.len());
        }
        self.costs.push((key, cost));
    }

    /// The sums, keys in ascending order.
    pub(super) fn finish(mut self) -> Vec<(K, Cost)> {
        sum_by_key(&mut self.costs);
        self.costs
    }
}

/// Sorts by key, and makes one entry of those with equal keys.
pub(super) fn sum_by_key<K: Copy + Ord + Send>(costs: &mut Vec<(K, Cost)>) {
    costs.par_sort_unstable_by_key(|&(key, _)| key);
    costs.dedup_by(|(next, cost), (key, sum)| {
        let same = next == key;
        if same {
            *sum += *cost;
        }
        same
    });
}
