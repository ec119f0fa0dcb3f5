//! The samples of a recording under construction.

use super::parts::{Sample, SampleTypeIx, StackIx, ThreadIx};
use hashbrown::HashMap;
use sto_model::units::{Cost, Nanoseconds};

/// Samples in order of arrival, or sums of samples that differ only in time.
#[derive(Default)]
pub(crate) struct Samples {
    all: Vec<Sample>,
    /// Whether samples are summed over time.
    are_sums: bool,
    /// Index of the last sample by sample type and stack, if samples are summed.
    last_of: Vec<Vec<u32>>,
    /// Index of the sample of each added cost.
    added: HashMap<Cell, usize>,
    /// Whether some samples can still be summed.
    repeat: bool,
    /// Number of samples after the last summing.
    summed: usize,
    /// The first and last time of a sample.
    times: Option<(Nanoseconds, Nanoseconds)>,
}

/// Number of samples from which on they are summed, and then again whenever their number has
/// doubled.
const MANY: usize = 1 << 18;

const NONE: u32 = u32::MAX;

impl Samples {
    /// Makes an empty list; `are_sums` says whether samples are summed over time.
    pub(super) fn new(are_sums: bool) -> Samples {
        Samples {
            are_sums,
            ..Samples::default()
        }
    }

    /// Makes a list of these samples.
    pub(crate) fn from_vec(all: Vec<Sample>) -> Samples {
        Samples {
            times: times_of(&all),
            all,
            ..Samples::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sample> {
        self.all.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Sample> {
        self.all.iter_mut()
    }

    pub(crate) fn into_iter(self) -> impl Iterator<Item = Sample> {
        self.all.into_iter()
    }

    /// The times of the first and last sample that have one.
    pub(crate) fn times(&self) -> Option<(Nanoseconds, Nanoseconds)> {
        self.times
    }

    /// Adds a sample, or sums it with the last one of its stack if that is possible. Samples
    /// without times are summed later, once there are many.
    pub(super) fn push(&mut self, sample: Sample) {
        self.observe_time(sample.time);
        if self.are_sums && self.is_summed(&sample) {
            return;
        }
        self.repeat |= !self.are_sums && sample.time.is_none();
        if self.repeat && self.all.len() >= self.summed.max(MANY / 2) * 2 {
            self.sum();
        }
        if self.are_sums {
            let (of, stack) = (sample.sample_type.get(), sample.stack.get());
            if of >= self.last_of.len() {
                self.last_of.resize(of + 1, Vec::new());
            }
            let last_of = &mut self.last_of[of];
            if stack >= last_of.len() {
                last_of.resize(stack + 1, NONE);
            }
            self.repeat |= last_of[stack] != NONE;
            last_of[stack] = self.all.len() as u32;
        }
        self.all.push(sample);
    }

    /// Adds to the cost of a stack in a thread, without a time.
    pub(super) fn add(&mut self, cell: Cell, cost: Cost) {
        let next = self.all.len();
        let index = *self.added.entry(cell).or_insert(next);
        if index < next {
            self.all[index].cost += cost;
            return;
        }
        let (thread, sample_type, stack) = cell;
        self.all.push(Sample {
            stack,
            thread,
            sample_type,
            time: None,
            cost,
            truncated: false,
        });
    }

    fn observe_time(&mut self, time: Option<Nanoseconds>) {
        if let Some(time) = time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
    }

    /// Adds a sample to the last one of its stack and returns `true`, if that is possible.
    fn is_summed(&mut self, sample: &Sample) -> bool {
        let last_of = self.last_of.get(sample.sample_type.get());
        let last = last_of.and_then(|last_of| last_of.get(sample.stack.get()));
        let last = last.and_then(|&last| self.all.get_mut(last as usize));
        last.is_some_and(|last| is_added(last, sample))
    }

    /// Sums all samples that can be summed.
    fn sum(&mut self) {
        let mut index_of = HashMap::new();
        let mut kept = 0;
        for at in 0..self.all.len() {
            let sample = self.all[at];
            if self.are_sums || sample.time.is_none() {
                let index = *index_of.entry(kind(&sample)).or_insert(kept);
                if index < kept && is_added(&mut self.all[index], &sample) {
                    continue;
                }
            }
            self.all[kept] = sample;
            kept += 1;
        }
        self.all.truncate(kept);
        self.repeat = false;
        self.summed = kept;
        self.added.clear();
        self.last_of.clear();
    }

    /// Returns the samples, sorted by time if they have one.
    pub(super) fn finish(mut self) -> Vec<Sample> {
        if self.are_sums && self.repeat {
            self.sum();
        }
        if !self.all.is_sorted_by_key(|sample| sample.time) {
            self.all.sort_by_key(|sample| sample.time);
        }
        self.all
    }
}

/// The times of the first and last sample that have one.
pub(crate) fn times_of(samples: &[Sample]) -> Option<(Nanoseconds, Nanoseconds)> {
    let times = || samples.iter().filter_map(|sample| sample.time);
    times().min().zip(times().max())
}

/// The thread, sample type and stack of a cost.
type Cell = (ThreadIx, SampleTypeIx, StackIx);

/// The key that two samples must share to be summed.
fn kind(sample: &Sample) -> (Cell, bool, bool) {
    let cell = (sample.thread, sample.sample_type, sample.stack);
    (cell, sample.truncated, sample.time.is_some())
}

/// Adds a sample to an earlier one and returns `true`, if they can be summed.
fn is_added(to: &mut Sample, sample: &Sample) -> bool {
    let sum = to.cost.checked_add(sample.cost);
    match sum.filter(|_| kind(to) == kind(sample)) {
        Some(sum) => {
            to.cost = sum;
            to.time = to.time.min(sample.time);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(stack: usize, time: Option<u64>) -> Sample {
        Sample {
            stack: StackIx(stack as u32),
            thread: ThreadIx(0),
            sample_type: SampleTypeIx(0),
            time: time.map(Nanoseconds),
            cost: Cost::from_count(1),
            truncated: false,
        }
    }

    fn costs(samples: Samples) -> Vec<(Option<u64>, u64)> {
        let samples = samples.finish().into_iter();
        let costs = samples.map(|sample| (sample.time.map(|time| time.0), sample.cost.samples));
        costs.collect()
    }

    #[test]
    fn memory_of_samples_without_times_is_bounded_by_their_stacks() {
        let mut samples = Samples::default();
        samples.push(sample(0, Some(5)));
        for ix in 0..3 * MANY {
            samples.push(sample(ix % 2, None));
            assert!(samples.all.len() <= MANY);
        }
        samples.sum();
        let half = 3 * MANY as u64 / 2;
        assert_eq!(costs(samples), [(None, half), (None, half), (Some(5), 1)]);
    }

    #[test]
    fn sum_has_first_time_and_different_samples_stay_apart() {
        let mut samples = Samples::new(true);
        let other = Sample {
            thread: ThreadIx(1),
            ..sample(0, Some(9))
        };
        let cut = Sample {
            truncated: true,
            ..sample(0, Some(8))
        };
        for time in 0..2 * MANY as u64 {
            samples.push(sample(0, Some(time + 7)));
            samples.push(other);
            samples.push(cut);
            samples.push(sample(0, None));
            assert!(samples.all.len() <= MANY);
        }
        assert_eq!(
            samples.times(),
            Some((Nanoseconds(7), Nanoseconds(2 * MANY as u64 + 6)))
        );
        let all = 2 * MANY as u64;
        let times = [None, Some(7), Some(8), Some(9)];
        assert_eq!(costs(samples), times.map(|time| (time, all)));
    }

    #[test]
    fn overflowing_sum_becomes_two_samples() {
        let mut samples = Samples::new(true);
        let most = Sample {
            cost: Cost::from_count(u64::MAX),
            ..sample(0, None)
        };
        samples.push(most);
        samples.push(most);
        assert_eq!(costs(samples), [(None, u64::MAX), (None, u64::MAX)]);
    }
}
