//! The activity of threads during given spans of time, and at given moments.

use super::calls::LongCall;
use super::log::Call;
use super::paths::{CallPathIx, CallPaths};
use crate::units::Nanoseconds;

/// Maximum time from a call that wakes a thread to the end of the thread's wait, in nanoseconds.
const MAX_WAKE_DELAY: u64 = 100_000;

/// Spans and moments for which the activity of threads is determined.
#[derive(Debug)]
pub(crate) struct Times {
    /// The distinct begins and ends of spans, in ascending order.
    bounds: Vec<u64>,
    /// For each bound except the last, whether a span covers the time up to the next bound.
    covered: Vec<bool>,
    /// The distinct moments, in ascending order.
    moments: Vec<u64>,
}

/// The activity of a thread at the times of [`Times`]. The thread has its own indices of paths.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    pub(crate) paths: CallPaths,
    /// The time spent in each innermost call, for each interval between two bounds.
    spent: Vec<Vec<(CallPathIx, u64)>>,
    /// The calls at each moment.
    at: Vec<CallsAtMoment>,
}

/// Calls of a thread at a moment. A call includes the moment of its end, but not of its begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallsAtMoment {
    /// The innermost call.
    pub(crate) innermost: Option<LongCall<CallPathIx>>,
    /// The last call of a function that wakes others, if it ended at most [`MAX_WAKE_DELAY`] before.
    pub(crate) woke: Option<LongCall<CallPathIx>>,
}

impl Times {
    /// Creates the times from spans, (begin, end), and moments.
    pub(crate) fn new(
        spans: &[(Nanoseconds, Nanoseconds)],
        moments: impl Iterator<Item = Nanoseconds>,
    ) -> Times {
        let sorted = |mut times: Vec<u64>| {
            times.sort_unstable();
            times.dedup();
            times
        };
        let bounds = sorted(spans.iter().flat_map(|span| [span.0.0, span.1.0]).collect());
        let mut changes = vec![0_i64; bounds.len()];
        for (begin, end) in spans {
            changes[bounds.partition_point(|&bound| bound < begin.0)] += 1;
            changes[bounds.partition_point(|&bound| bound < end.0)] -= 1;
        }
        let mut open_spans = 0;
        let covered = changes.iter().map(|change| {
            open_spans += change;
            open_spans > 0
        });
        Times {
            covered: covered.collect(),
            moments: sorted(moments.map(|moment| moment.0).collect()),
            bounds,
        }
    }

    /// Determines the activity of a thread from its calls, which are in preorder. `wakes` has for each function
    /// whether it wakes other threads.
    pub(crate) fn activity(&self, calls: impl Iterator<Item = Call>, wakes: &[bool]) -> Activity {
        let mut walk = Walk {
            times: self,
            wakes,
            open: Vec::new(),
            paths: Vec::new(),
            now: 0,
            interval: 0,
            sums: Vec::new(),
            touched: Vec::new(),
            woke: None,
            activity: Activity::default(),
        };
        for call in calls {
            walk.end_calls(call.begin.0, call.depth as usize);
            walk.advance(call.begin.0);
            walk.open.push(call);
        }
        walk.end_calls(u64::MAX, 0);
        walk.advance(u64::MAX);
        walk.activity
    }
}

impl Activity {
    /// The time spent in each innermost call during one of the spans, in no order.
    pub(crate) fn spent(
        &self,
        times: &Times,
        begin: Nanoseconds,
        end: Nanoseconds,
    ) -> impl Iterator<Item = (CallPathIx, u64)> {
        let index = |time: Nanoseconds| {
            times
                .bounds
                .partition_point(|&bound| bound < time.0)
                .min(self.spent.len())
        };
        self.spent[index(begin)..index(end)]
            .iter()
            .flatten()
            .copied()
    }

    /// The calls at one of the moments.
    pub(crate) fn at(&self, times: &Times, moment: Nanoseconds) -> CallsAtMoment {
        let index = times.moments.binary_search(&moment.0).ok();
        let calls = index.and_then(|index| self.at.get(index));
        calls.copied().unwrap_or_default()
    }
}

/// Follows the calls of a thread in time.
struct Walk<'a> {
    times: &'a Times,
    wakes: &'a [bool],
    /// The current calls, outermost first.
    open: Vec<Call>,
    /// The paths of the outermost calls of `open`; paths of the others are not known yet.
    paths: Vec<CallPathIx>,
    now: u64,
    /// The first interval that ends after `now`.
    interval: usize,
    /// The time spent in each path in this interval. Paths that are not in `touched` have 0.
    sums: Vec<u64>,
    touched: Vec<CallPathIx>,
    woke: Option<LongCall<CallPathIx>>,
    activity: Activity,
}

impl Walk<'_> {
    /// Ends the calls at this depth and deeper, innermost first, at `time` or earlier.
    fn end_calls(&mut self, time: u64, depth: usize) {
        while self.open.len() > depth {
            let Some(&call) = self.open.last() else {
                return;
            };
            self.advance(call.end().0.min(time));
            let wakes = self
                .wakes
                .get(call.function.get())
                .is_some_and(|&wakes| wakes);
            if wakes
                && self
                    .next_moment()
                    .is_some_and(|next| next - self.now <= MAX_WAKE_DELAY)
            {
                self.woke = self.innermost();
            }
            self.open.pop();
            self.paths.truncate(self.open.len());
        }
    }

    /// Advances the time, which is spent in the innermost call.
    fn advance(&mut self, to: u64) {
        if to <= self.now {
            return;
        }
        let bounds = &self.times.bounds;
        while let Some(&[begin, end]) = bounds.get(self.interval..self.interval + 2)
            && begin < to
        {
            let time = end.min(to).saturating_sub(begin.max(self.now));
            if time > 0 && self.times.covered[self.interval] && !self.open.is_empty() {
                let path = self.innermost_path();
                if self.sums.len() <= path.get() {
                    self.sums.resize(path.get() + 1, 0);
                }
                let sum = &mut self.sums[path.get()];
                if *sum == 0 {
                    self.touched.push(path);
                }
                *sum += time;
            }
            if end > to {
                break;
            }
            self.finish_interval();
        }
        while let Some(moment) = self.next_moment().filter(|&moment| moment <= to) {
            let is_recent = |woke: &LongCall<CallPathIx>| moment - woke.end.0 <= MAX_WAKE_DELAY;
            let calls = CallsAtMoment {
                innermost: self.innermost(),
                woke: self.woke.filter(is_recent),
            };
            self.activity.at.push(calls);
        }
        self.now = to;
    }

    fn next_moment(&self) -> Option<u64> {
        self.times.moments.get(self.activity.at.len()).copied()
    }

    fn finish_interval(&mut self) {
        let sums = &mut self.sums;
        let spent = self
            .touched
            .drain(..)
            .map(|path| (path, std::mem::take(&mut sums[path.get()])));
        self.activity.spent.push(spent.collect());
        self.interval += 1;
    }

    fn innermost(&mut self) -> Option<LongCall<CallPathIx>> {
        let &call = self.open.last()?;
        Some(LongCall {
            stack: self.innermost_path(),
            begin: call.begin,
            end: call.end(),
        })
    }

    fn innermost_path(&mut self) -> CallPathIx {
        for depth in self.paths.len()..self.open.len() {
            let function = self.open[depth].function;
            let caller = self.paths.last().copied();
            self.paths
                .push(self.activity.paths.intern(caller, function));
        }
        self.paths[self.open.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::paths::TraceFunctionIx;
    use super::*;

    fn call(depth: u32, function: char, begin: u64, end: u64) -> Call {
        Call {
            arguments: None,
            depth,
            function: TraceFunctionIx(u32::from(function)),
            begin: Nanoseconds(begin),
            duration: Nanoseconds(end - begin),
        }
    }

    fn activity(calls: &[Call], spans: &[(u64, u64)], moments: &[u64]) -> (Times, Activity) {
        let spans: Vec<_> = spans
            .iter()
            .map(|&(begin, end)| (Nanoseconds(begin), Nanoseconds(end)))
            .collect();
        let times = Times::new(&spans, moments.iter().copied().map(Nanoseconds));
        let mut wakes = vec![false; 256];
        wakes['w' as usize] = true;
        let activity = times.activity(calls.iter().copied(), &wakes);
        (times, activity)
    }

    fn spent(times: &Times, activity: &Activity, begin: u64, end: u64) -> Vec<(char, u64)> {
        let mut sums = std::collections::BTreeMap::new();
        for (path, time) in activity.spent(times, Nanoseconds(begin), Nanoseconds(end)) {
            let function = char::from(activity.paths.function(path).0 as u8);
            *sums.entry(function).or_default() += time;
        }
        sums.into_iter().collect()
    }

    #[test]
    fn time_is_spent_in_the_innermost_call() {
        let calls = [
            call(0, 'a', 10, 100),
            call(1, 'b', 20, 50),
            call(2, 'c', 30, 40),
            call(1, 'c', 50, 60),
            call(0, 'd', 200, 300),
        ];
        let spans = [(0, 400), (25, 55), (120, 150), (35, 35), (55, 250)];
        let (times, activity) = activity(&calls, &spans, &[]);
        let spent = |begin, end| spent(&times, &activity, begin, end);
        let all = [('a', 50), ('b', 20), ('c', 20), ('d', 100)];
        assert_eq!(spent(0, 400), all);
        assert_eq!(spent(25, 55), [('b', 15), ('c', 15)]);
        assert_eq!(spent(120, 150), []);
        assert_eq!(spent(55, 250), [('a', 40), ('c', 5), ('d', 50)]);
    }

    #[test]
    fn calls_include_their_end_but_not_their_begin() {
        let calls = [
            call(0, 'a', 10, 100),
            call(1, 'b', 20, 50),
            call(0, 'w', 110, 120),
        ];
        let moments = [5, 10, 20, 21, 50, 51, 105, 115];
        let (times, activity) = activity(&calls, &[], &moments);
        let innermost = |moment| {
            let call = activity.at(&times, Nanoseconds(moment)).innermost;
            call.map(|call| char::from(activity.paths.function(call.stack).0 as u8))
        };
        let [a, b, w] = ['a', 'b', 'w'].map(Some);
        let expected = [None, None, a, b, b, a, None, w];
        assert_eq!(moments.map(innermost), expected);
    }

    #[test]
    fn wake_calls_count_until_the_maximum_delay() {
        let calls = [
            call(0, 'w', 110, 120),
            call(0, 'a', 130, 2 * MAX_WAKE_DELAY),
        ];
        let moments = [115, 120 + MAX_WAKE_DELAY, 121 + MAX_WAKE_DELAY];
        let (times, activity) = activity(&calls, &[], &moments);
        let woke = |moment| {
            let calls = activity.at(&times, Nanoseconds(moment));
            calls.woke.map(|call| call.end.0)
        };
        assert_eq!(moments.map(woke), [None, Some(120), None]);
    }
}
