//! What threads did for some time, and at some moments.

use super::calls::LongCall;
use super::log::Call;
use super::paths::{FunctionNo, PathNo, Paths};
use crate::units::Nanoseconds;

/// How long after it was woken a thread may be counted as not running yet.
const TO_RUN: u64 = 100_000;

/// What is asked of every thread.
#[derive(Debug)]
pub(crate) struct Times {
    /// Where spans begin and end, in order, no two the same.
    bounds: Vec<u64>,
    /// For each bound but the last, whether a span covers the time up to the next one.
    covered: Vec<bool>,
    /// Moments, in order, no two the same.
    moments: Vec<u64>,
}

/// What a thread did at the times that were asked for. Paths have numbers of its own.
#[derive(Debug, Default)]
pub(crate) struct Did {
    pub(crate) paths: Paths,
    /// Between two bounds each, how long it was in which innermost call.
    spent: Vec<Vec<(PathNo, u64)>>,
    /// At each moment, in which call it was.
    at: Vec<At>,
}

/// In which call a thread was at a moment: in one that began before it, and ended then or later.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At {
    /// The innermost call.
    pub(crate) innermost: Option<LongCall<PathNo>>,
    /// The last call of a function that wakes others, where it ended at that moment or a little before.
    pub(crate) woke: Option<LongCall<PathNo>>,
}

impl Times {
    /// These spans, (begin, end), and moments.
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
        let mut begun = vec![0_i64; bounds.len()];
        for (begin, end) in spans {
            begun[bounds.partition_point(|&at| at < begin.0)] += 1;
            begun[bounds.partition_point(|&at| at < end.0)] -= 1;
        }
        let mut open = 0;
        let covered = begun.iter().map(|change| {
            open += change;
            open > 0
        });
        Times {
            covered: covered.collect(),
            moments: sorted(moments.map(|at| at.0).collect()),
            bounds,
        }
    }

    /// What a thread did that made these calls, which come in preorder. `wakes` says of each function whether it
    /// wakes other threads.
    pub(crate) fn ask(&self, calls: impl Iterator<Item = Call>, wakes: &[bool]) -> Did {
        let mut walk = Walk {
            times: self,
            wakes,
            open: Vec::new(),
            known: Vec::new(),
            now: 0,
            interval: 0,
            sums: Vec::new(),
            touched: Vec::new(),
            woke: None,
            did: Did::default(),
        };
        for call in calls {
            walk.end_all_before(call.begin.0, call.depth as usize);
            walk.pass(call.begin.0);
            walk.open.push(call);
        }
        walk.end_all_before(u64::MAX, 0);
        walk.pass(u64::MAX);
        walk.did
    }
}

impl Did {
    /// How long it was in which innermost call, in no order.
    pub(crate) fn spent(
        &self,
        times: &Times,
        begin: Nanoseconds,
        end: Nanoseconds,
    ) -> impl Iterator<Item = (PathNo, u64)> {
        let index = |time: Nanoseconds| {
            times
                .bounds
                .partition_point(|&at| at < time.0)
                .min(self.spent.len())
        };
        self.spent[index(begin)..index(end)]
            .iter()
            .flatten()
            .copied()
    }

    /// In which call it was at a moment that was asked for.
    pub(crate) fn at(&self, times: &Times, moment: Nanoseconds) -> At {
        let asked = times.moments.binary_search(&moment.0);
        let at = asked.ok().and_then(|index| self.at.get(index));
        at.copied().unwrap_or_default()
    }
}

/// Follows a thread from call to call.
struct Walk<'a> {
    times: &'a Times,
    wakes: &'a [bool],
    /// The calls that the thread is in, outermost first.
    open: Vec<Call>,
    /// The paths of the first of these.
    known: Vec<PathNo>,
    now: u64,
    /// The next interval that ends after that.
    interval: usize,
    /// By path, the time in this interval, of those that were touched.
    sums: Vec<u64>,
    touched: Vec<PathNo>,
    woke: Option<LongCall<PathNo>>,
    did: Did,
}

impl Walk<'_> {
    /// Ends the calls deeper than this that ended up to then, innermost first.
    fn end_all_before(&mut self, time: u64, depth: usize) {
        while self.open.len() > depth {
            let Some(&call) = self.open.last() else {
                return;
            };
            self.pass(call.end().0.min(time));
            let wakes = self
                .wakes
                .get(call.function.get())
                .is_some_and(|&wakes| wakes);
            if wakes
                && self
                    .next_moment()
                    .is_some_and(|next| next - self.now <= TO_RUN)
            {
                self.woke = self.innermost();
            }
            self.open.pop();
            self.known.truncate(self.open.len());
        }
    }

    /// Time goes on to this, in the call that is innermost.
    fn pass(&mut self, to: u64) {
        if to <= self.now {
            return;
        }
        let bounds = &self.times.bounds;
        while let Some(&[begin, end]) = bounds.get(self.interval..self.interval + 2)
            && begin < to
        {
            let time = end.min(to).saturating_sub(begin.max(self.now));
            if time > 0 && self.times.covered[self.interval] && !self.open.is_empty() {
                let path = self.path();
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
            self.next_interval();
        }
        while let Some(moment) = self.next_moment().filter(|&moment| moment <= to) {
            let is_recent = |woke: &LongCall<PathNo>| moment - woke.end.0 <= TO_RUN;
            let at = At {
                innermost: self.innermost(),
                woke: self.woke.filter(is_recent),
            };
            self.did.at.push(at);
        }
        self.now = to;
    }

    /// The next moment that is asked for.
    fn next_moment(&self) -> Option<u64> {
        self.times.moments.get(self.did.at.len()).copied()
    }

    fn next_interval(&mut self) {
        let sums = &mut self.sums;
        let spent = self
            .touched
            .drain(..)
            .map(|path| (path, std::mem::take(&mut sums[path.get()])));
        self.did.spent.push(spent.collect());
        self.interval += 1;
    }

    fn innermost(&mut self) -> Option<LongCall<PathNo>> {
        let &call = self.open.last()?;
        Some(LongCall {
            stack: self.path(),
            begin: call.begin,
            end: call.end(),
        })
    }

    /// That of the innermost call.
    fn path(&mut self) -> PathNo {
        for at in self.known.len()..self.open.len() {
            let function: FunctionNo = self.open[at].function;
            let path = self.did.paths.call(self.known.last().copied(), function);
            self.known.push(path);
        }
        self.known[self.open.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(depth: u32, function: char, begin: u64, end: u64) -> Call {
        Call {
            with: None,
            depth,
            function: FunctionNo(u32::from(function)),
            begin: Nanoseconds(begin),
            duration: Nanoseconds(end - begin),
        }
    }

    fn asked(calls: &[Call], spans: &[(u64, u64)], moments: &[u64]) -> (Times, Did) {
        let spans: Vec<_> = spans
            .iter()
            .map(|&(begin, end)| (Nanoseconds(begin), Nanoseconds(end)))
            .collect();
        let times = Times::new(&spans, moments.iter().copied().map(Nanoseconds));
        let mut wakes = vec![false; 256];
        wakes['w' as usize] = true;
        let did = times.ask(calls.iter().copied(), &wakes);
        (times, did)
    }

    fn spent(times: &Times, did: &Did, begin: u64, end: u64) -> Vec<(char, u64)> {
        let spent = did.spent(times, Nanoseconds(begin), Nanoseconds(end));
        let mut sums = std::collections::BTreeMap::new();
        for (path, time) in spent {
            *sums
                .entry(char::from(did.paths.function(path).0 as u8))
                .or_default() += time;
        }
        sums.into_iter().collect()
    }

    #[test]
    fn time_is_that_of_the_innermost_call() {
        let calls = [
            call(0, 'a', 10, 100),
            call(1, 'b', 20, 50),
            call(2, 'c', 30, 40),
            call(1, 'c', 50, 60),
            call(0, 'd', 200, 300),
        ];
        let spans = [(0, 400), (25, 55), (120, 150), (35, 35), (55, 250)];
        let (times, did) = asked(&calls, &spans, &[]);
        let all = [('a', 50), ('b', 20), ('c', 20), ('d', 100)];
        assert_eq!(spent(&times, &did, 0, 400), all);
        assert_eq!(spent(&times, &did, 25, 55), [('b', 15), ('c', 15)]);
        assert_eq!(spent(&times, &did, 120, 150), []);
        assert_eq!(
            spent(&times, &did, 55, 250),
            [('a', 40), ('c', 5), ('d', 50)]
        );
    }

    #[test]
    fn a_moment_is_in_the_call_that_began_before_it_and_ended_then_or_later() {
        let calls = [
            call(0, 'a', 10, 100),
            call(1, 'b', 20, 50),
            call(0, 'w', 110, 120),
        ];
        let far = 120 + TO_RUN;
        let (times, did) = asked(
            &calls,
            &[],
            &[5, 10, 20, 21, 50, 51, 105, 115, far, far + 1],
        );
        let innermost = |at| {
            let at = did.at(&times, Nanoseconds(at)).innermost;
            at.map(|call| char::from(did.paths.function(call.stack).0 as u8))
        };
        let named = [5, 10, 20, 21, 50, 51, 105, 115].map(innermost);
        let [a, b, w] = ['a', 'b', 'w'].map(Some);
        assert_eq!(named, [None, None, a, b, b, a, None, w]);
    }

    #[test]
    fn a_call_that_wakes_others_counts_a_little_longer() {
        let calls = [call(0, 'w', 110, 120), call(0, 'a', 130, 2 * TO_RUN)];
        let (times, did) = asked(&calls, &[], &[115, 120 + TO_RUN, 121 + TO_RUN]);
        let woke = |at| did.at(&times, Nanoseconds(at)).woke.map(|call| call.end.0);
        assert_eq!(
            [115, 120 + TO_RUN, 121 + TO_RUN].map(woke),
            [None, Some(120), None]
        );
    }
}
