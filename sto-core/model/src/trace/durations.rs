//! How often the paths of calls were called and how long that took: their distribution, and the longest calls.

use super::paths::PathNo;
use crate::units::Nanoseconds;

/// How many of the longest calls of a path are kept, of each thread.
pub(crate) const LONGEST: usize = 8;

/// Two to this power are the buckets that each power of two is divided into.
const PRECISION: u32 = 5;

/// Durations by buckets whose width is at most 1/32 of what they hold.
///
/// Source of the layout: G. Tene, HdrHistogram.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    calls: u64,
    total: u64,
    least: u64,
    most: u64,
    /// The bucket that the first of the counts is of.
    first: usize,
    counts: Vec<u32>,
}

impl Durations {
    /// Adds that of one call.
    #[inline]
    pub(crate) fn add(&mut self, duration: Nanoseconds) {
        let bucket = bucket(duration.0);
        let at = bucket.wrapping_sub(self.first);
        match self.counts.get_mut(at) {
            Some(count) => *count = count.saturating_add(1),
            None => *self.count_mut(bucket) = 1,
        }
        self.least = match self.calls {
            0 => duration.0,
            _ => self.least.min(duration.0),
        };
        self.most = self.most.max(duration.0);
        self.calls += 1;
        self.total = self.total.saturating_add(duration.0);
    }

    /// Adds those of other calls.
    pub(crate) fn append(&mut self, others: &Durations) {
        if others.calls == 0 {
            return;
        }
        self.least = match self.calls {
            0 => others.least,
            _ => self.least.min(others.least),
        };
        self.most = self.most.max(others.most);
        self.calls += others.calls;
        self.total = self.total.saturating_add(others.total);
        for (at, &added) in others.counts.iter().enumerate() {
            let count = self.count_mut(others.first + at);
            *count = count.saturating_add(added);
        }
    }

    /// How many calls.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// How long they took together.
    pub fn total(&self) -> Nanoseconds {
        Nanoseconds(self.total)
    }

    /// What this share of the calls took at most, by nearest rank: exact where they all took the same, else wrong by
    /// 1/64 at most; zero of no calls. `without` leaves out one call that took as long as any.
    pub(crate) fn quantile(&self, share: f64, without: bool) -> Nanoseconds {
        let calls = self.calls - u64::from(without && self.calls > 0);
        let rank = ((calls as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (at, &count) in self.counts.iter().enumerate() {
            seen += u64::from(count);
            if seen >= rank {
                return Nanoseconds(middle(self.first + at).clamp(self.least, self.most));
            }
        }
        Nanoseconds(self.most)
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

/// The bucket of a duration: below 64 its own.
#[inline]
fn bucket(duration: u64) -> usize {
    let shift = (u64::BITS - (duration | 1).leading_zeros()).saturating_sub(PRECISION + 1);
    ((shift as usize) << PRECISION) + (duration >> shift) as usize
}

/// What lies in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let shift = (bucket >> PRECISION).saturating_sub(1);
    let lowest = (bucket - (shift << PRECISION)) as u64;
    (lowest << shift) + (1 << shift >> 1)
}

/// The calls of one path in one thread.
#[derive(Clone, Debug, Default)]
pub struct PathCalls {
    /// How long they took.
    pub durations: Durations,
    /// The longest of them, (duration, begin), in no order; of equal ones the earlier.
    pub(crate) longest: Vec<(Nanoseconds, Nanoseconds)>,
    /// What a call has to take longer than to be one of them.
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
            self.longest.swap_remove(shortest.expect("there are some"));
        }
        self.longest.push((duration, begin));
        if self.longest.len() == LONGEST {
            self.limit = self.longest.iter().map(|of| of.0).min().unwrap_or_default();
        }
    }
}

/// The calls of one thread, by path.
#[derive(Clone, Debug, Default)]
pub struct ThreadDurations(Vec<PathCalls>);

impl ThreadDurations {
    /// The paths that the thread called, with their calls.
    pub fn iter(&self) -> impl Iterator<Item = (PathNo, &PathCalls)> {
        let paths = self.0.iter().enumerate();
        paths
            .filter(|(_, of)| of.durations.calls() > 0)
            .map(|(path, of)| (PathNo(path as u32), of))
    }

    /// Those of a path, for one more call.
    #[inline]
    pub(super) fn of_mut(&mut self, path: PathNo) -> &mut PathCalls {
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
    fn durations_are_in_buckets_no_wider_than_a_thirty_second_of_them() {
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
    fn quantiles_are_by_nearest_rank_and_can_leave_out_the_longest() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile(0.5, false), Nanoseconds(0));
        for duration in [3, 1, 2, 1_000_000] {
            durations.add(Nanoseconds(duration));
        }
        assert_eq!(durations.quantile(0.5, false), Nanoseconds(2));
        assert_eq!(durations.quantile(0.9, false), Nanoseconds(1_000_000));
        assert_eq!(durations.quantile(0.9, true), Nanoseconds(3));
        let mut same = Durations::default();
        (0..9).for_each(|_| same.add(Nanoseconds(1_234_567)));
        assert_eq!(same.quantile(0.5, false), Nanoseconds(1_234_567));
        durations.append(&same);
        assert_eq!(durations.calls(), 13);
        assert_eq!(durations.total(), Nanoseconds(1_000_006 + 9 * 1_234_567));
        assert_eq!(durations.quantile(0.2, false), Nanoseconds(3));
    }

    #[test]
    fn the_longest_calls_of_a_path_are_kept_of_equal_ones_the_earlier() {
        let mut of = PathCalls::default();
        for begin in 0..100 {
            of.add(
                Nanoseconds(begin),
                Nanoseconds(if begin == 70 { 9 } else { 5 }),
            );
        }
        of.longest.sort();
        let [.., longest] = of.longest[..] else {
            panic!("nothing kept")
        };
        assert_eq!(longest, (Nanoseconds(9), Nanoseconds(70)));
        assert_eq!(of.longest.len(), LONGEST);
        assert!(
            of.longest[..LONGEST - 1]
                .iter()
                .all(|of| of.1 < Nanoseconds(8))
        );
    }
}
