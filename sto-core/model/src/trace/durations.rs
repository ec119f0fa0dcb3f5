//! Numbers and durations of calls by call path: distributions, and the longest calls.

use super::paths::CallPathIx;
use crate::units::Nanoseconds;

/// Number of longest calls to keep for each path and thread.
pub(crate) const LONGEST: usize = 8;

/// Each power of two is divided into 2^5 buckets.
const PRECISION_BITS: u32 = 5;

/// A histogram of durations. The width of a bucket is at most 1/32 of the durations in it.
///
/// Source of the layout: G. Tene, HdrHistogram.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    calls: u64,
    total: u64,
    min: u64,
    max: u64,
    /// The bucket of the first count.
    first: usize,
    counts: Vec<u32>,
}

impl Durations {
    /// Adds the duration of a call.
    #[inline]
    pub(crate) fn add(&mut self, duration: Nanoseconds) {
        let bucket = bucket(duration.0);
        let at = bucket.wrapping_sub(self.first);
        match self.counts.get_mut(at) {
            Some(count) => *count = count.saturating_add(1),
            None => *self.count_mut(bucket) = 1,
        }
        self.min = match self.calls {
            0 => duration.0,
            _ => self.min.min(duration.0),
        };
        self.max = self.max.max(duration.0);
        self.calls += 1;
        self.total = self.total.saturating_add(duration.0);
    }

    /// Adds another histogram.
    pub(crate) fn append(&mut self, others: &Durations) {
        if others.calls == 0 {
            return;
        }
        self.min = match self.calls {
            0 => others.min,
            _ => self.min.min(others.min),
        };
        self.max = self.max.max(others.max);
        self.calls += others.calls;
        self.total = self.total.saturating_add(others.total);
        for (at, &added) in others.counts.iter().enumerate() {
            let count = self.count_mut(others.first + at);
            *count = count.saturating_add(added);
        }
    }

    /// The number of calls.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The total duration of the calls.
    pub fn total(&self) -> Nanoseconds {
        Nanoseconds(self.total)
    }

    /// A quantile by nearest rank, or zero if there are no calls. It is exact if all durations are equal; otherwise
    /// its relative error is at most 1/64.
    pub(crate) fn quantile(&self, share: f64) -> Nanoseconds {
        self.quantile_of(share, self.calls)
    }

    /// Like [`Durations::quantile`], without the longest call.
    pub(crate) fn quantile_without_longest(&self, share: f64) -> Nanoseconds {
        self.quantile_of(share, self.calls.saturating_sub(1))
    }

    fn quantile_of(&self, share: f64, calls: u64) -> Nanoseconds {
        let rank = ((calls as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (at, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            if seen >= rank {
                return Nanoseconds(middle(self.first + at).clamp(self.min, self.max));
            }
        }
        Nanoseconds(self.max)
    }

    fn count_mut(&mut self, bucket: usize) -> &mut u32 {
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let before = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, before));
            self.first = bucket;
        }
        let at = bucket - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        &mut self.counts[at]
    }
}

/// The bucket of a duration. Each duration below 64 has its own bucket.
#[inline]
fn bucket(duration: u64) -> usize {
    let shift = (u64::BITS - (duration | 1).leading_zeros()).saturating_sub(PRECISION_BITS + 1);
    ((shift as usize) << PRECISION_BITS) + (duration >> shift) as usize
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let shift = (bucket >> PRECISION_BITS).saturating_sub(1);
    let lowest = (bucket - (shift << PRECISION_BITS)) as u64;
    (lowest << shift) + (1 << shift >> 1)
}

/// The calls of one path in one thread.
#[derive(Clone, Debug, Default)]
pub struct PathCalls {
    /// The durations of all calls.
    pub durations: Durations,
    /// (Duration, begin) of the longest calls, in no order. Earlier calls are preferred among equals.
    pub(crate) longest: Vec<(Nanoseconds, Nanoseconds)>,
    /// The shortest of the longest durations, once there are [`LONGEST`].
    limit: Nanoseconds,
}

impl PathCalls {
    #[inline]
    pub(super) fn add(&mut self, begin: Nanoseconds, duration: Nanoseconds) {
        self.durations.add(duration);
        if self.longest.len() < LONGEST || duration > self.limit {
            self.keep(begin, duration);
        }
    }

    #[cold]
    fn keep(&mut self, begin: Nanoseconds, duration: Nanoseconds) {
        if self.longest.len() == LONGEST {
            let by_length =
                |&at: &usize| (self.longest[at].0, std::cmp::Reverse(self.longest[at].1));
            let shortest = (0..LONGEST).min_by_key(by_length);
            self.longest
                .swap_remove(shortest.expect("LONGEST is not zero"));
        }
        self.longest.push((duration, begin));
        if self.longest.len() == LONGEST {
            let durations = self.longest.iter().map(|&(duration, _)| duration);
            self.limit = durations.min().unwrap_or_default();
        }
    }
}

/// The calls of one thread, by path.
#[derive(Clone, Debug, Default)]
pub struct ThreadDurations(Vec<PathCalls>);

impl ThreadDurations {
    /// Iterates over the called paths and their calls.
    pub fn iter(&self) -> impl Iterator<Item = (CallPathIx, &PathCalls)> {
        let paths = self.0.iter().enumerate();
        paths
            .filter(|(_, calls)| calls.durations.calls() > 0)
            .map(|(path, calls)| (CallPathIx(path as u32), calls))
    }

    /// The calls of a path, which may be new.
    #[inline]
    pub(super) fn path_mut(&mut self, path: CallPathIx) -> &mut PathCalls {
        if path.get() >= self.0.len() {
            self.0.resize_with(path.get() + 1, PathCalls::default);
        }
        &mut self.0[path.get()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_accurate_to_one_64th() {
        let mut last = 0;
        for duration in (0..4096).chain([u64::MAX / 3, u64::MAX]) {
            let at = bucket(duration);
            assert!(at >= last, "{duration}");
            last = at;
            let error = middle(at).abs_diff(duration);
            assert!(
                error <= duration / 64,
                "{duration} is read as {}",
                middle(at)
            );
        }
    }

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile(0.5), Nanoseconds(0));
        for duration in [3, 1, 2, 1_000_000] {
            durations.add(Nanoseconds(duration));
        }
        assert_eq!(durations.quantile(0.5), Nanoseconds(2));
        assert_eq!(durations.quantile(0.9), Nanoseconds(1_000_000));
        assert_eq!(durations.quantile_without_longest(0.9), Nanoseconds(3));
        let mut same = Durations::default();
        (0..9).for_each(|_| same.add(Nanoseconds(1_234_567)));
        assert_eq!(same.quantile(0.5), Nanoseconds(1_234_567));
        durations.append(&same);
        assert_eq!(durations.calls(), 13);
        assert_eq!(durations.total(), Nanoseconds(1_000_006 + 9 * 1_234_567));
        assert_eq!(durations.quantile(0.2), Nanoseconds(3));
    }

    #[test]
    fn keeps_the_longest_calls_and_prefers_earlier_ones() {
        let mut calls = PathCalls::default();
        for begin in 0..100 {
            calls.add(
                Nanoseconds(begin),
                Nanoseconds(if begin == 70 { 9 } else { 5 }),
            );
        }
        calls.longest.sort();
        assert_eq!(calls.longest.len(), LONGEST);
        let (longest, others) = calls.longest.split_last().unwrap();
        assert_eq!(*longest, (Nanoseconds(9), Nanoseconds(70)));
        assert!(others.iter().all(|&(_, begin)| begin < Nanoseconds(8)));
    }
}
