//! Outliers: calls that took unusually long for their stack.

use super::calls::{LongCall, Outlier};
use super::durations::{Durations, ThreadDurations};
use super::paths::{PathNo, Paths};
use super::waits::{WaitsFor, callers_wait};
use crate::units::Nanoseconds;
use std::cmp::Reverse;

/// How many outliers of a run are looked at more closely, of which fewer are kept.
const MOST: usize = 1024;

/// What is typical of a path is said of so many calls or more.
const ENOUGH_CALLS: u64 = 5;

/// How many times longer than nine in ten calls of its path an outlier took: at least, and where their lengths vary
/// much.
const TIMES: (f64, f64) = (4.0, 16.0);

/// The part of a call's lost time by which a call within it explains it.
const EXPLAINS: f64 = 0.9;

/// How long the calls of a run took, by path.
#[derive(Debug, Default)]
pub struct RunDurations {
    /// By path, those of all threads.
    paths: Vec<Durations>,
    /// By thread, the longest calls of each path.
    longest: Vec<Vec<LongCall<PathNo>>>,
}

/// A call of which it is asked whether it is an outlier.
struct Candidate {
    call: LongCall<PathNo>,
    typical: Nanoseconds,
    lost: u64,
    /// How much of that is lost in outliers that it called.
    explained: u64,
}

impl RunDurations {
    /// Adds those of the next thread, whose paths have these numbers here.
    pub fn add(&mut self, thread: &ThreadDurations, here: &[PathNo]) {
        let mut longest = Vec::new();
        for (path, of) in thread.iter() {
            let stack = here[path.get()];
            if stack.get() >= self.paths.len() {
                self.paths.resize_with(stack.get() + 1, Durations::default);
            }
            self.paths[stack.get()].append(&of.durations);
            longest.extend(of.longest.iter().map(|&(duration, begin)| LongCall {
                stack,
                begin,
                end: Nanoseconds(begin.0 + duration.0),
            }));
        }
        self.longest.push(longest);
    }

    /// Those of a path.
    pub(crate) fn of(&self, path: PathNo) -> &Durations {
        &self.paths[path.get()]
    }

    /// By thread, the longest calls of each path, in no order.
    pub(crate) fn longest(&self) -> &[Vec<LongCall<PathNo>>] {
        &self.longest
    }

    /// The outliers among the longest calls of each path and thread, those that lost most time first; none that lost
    /// less than its thread's part of `least`; and of each, how much is lost in outliers that it called. `waits` says
    /// of each path what its function waits for. What happened meanwhile is not said yet.
    pub(crate) fn outliers(
        &self,
        paths: &Paths,
        waits: &[Option<WaitsFor>],
        least: &[Nanoseconds],
    ) -> Vec<(Outlier<PathNo>, Nanoseconds)> {
        let within = callers_wait(paths, waits);
        let typical = self.typical();
        let threads = self.longest.iter().zip(least).enumerate();
        let of_thread = |(thread, (longest, least)): (usize, (&Vec<_>, &Nanoseconds))| {
            let is_asked = |call: &&LongCall<PathNo>| {
                let path = call.stack.get();
                !within[path] && waits[path] != Some(WaitsFor::Time)
            };
            let longest = longest.iter().filter(is_asked);
            let longest = longest.copied().collect();
            let candidates = self.candidates(paths, longest, &typical, *least);
            candidates.into_iter().map(move |of| (thread as u32, of))
        };
        let mut all: Vec<(u32, Candidate)> = threads.flat_map(of_thread).collect();
        let order = |(thread, of): &(u32, Candidate)| {
            (Reverse(of.lost), of.call.begin, *thread, of.call.stack)
        };
        all.sort_by_key(order);
        all.truncate(MOST);
        let outliers = all.into_iter().map(|(thread, of)| {
            let outlier = Outlier {
                thread,
                call: of.call,
                typical: of.typical,
                calls: self.of(of.call.stack).calls(),
                meanwhile: Vec::new(),
            };
            (outlier, Nanoseconds(of.explained))
        });
        outliers.collect()
    }

    /// By path, the median, and what an outlier takes longer than; none where it was called too rarely.
    fn typical(&self) -> Vec<Option<(Nanoseconds, f64)>> {
        let typical = |of: &Durations| {
            let median = of.quantile(0.5, false);
            let most = of.quantile(0.9, true).0.max(1) as f64;
            let spread = most / median.0.max(1) as f64;
            let limit = most * (spread * spread).clamp(TIMES.0, TIMES.1);
            (of.calls() >= ENOUGH_CALLS).then_some((median, limit))
        };
        self.paths.iter().map(typical).collect()
    }

    /// The outliers among the calls of a thread.
    fn candidates(
        &self,
        paths: &Paths,
        mut calls: Vec<LongCall<PathNo>>,
        typical: &[Option<(Nanoseconds, f64)>],
        least: Nanoseconds,
    ) -> Vec<Candidate> {
        // Callers before what they call: a path has a smaller number than those that it calls.
        calls.sort_by_key(|call| (call.begin, Reverse(call.end), call.stack));
        let mut all: Vec<Candidate> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for call in calls {
            while open
                .last()
                .is_some_and(|&outer| all[outer].call.end < call.end)
            {
                open.pop();
            }
            let outer = open.last().copied();
            let duration = call.end.0 - call.begin.0;
            let rare = outer.filter(|&outer| {
                self.is_rare(paths, all[outer].call.stack, call.stack)
                    && duration as f64 >= all[outer].lost as f64 * EXPLAINS
            });
            let usual = typical[call.stack.get()];
            let usual = usual.filter(|&(_, limit)| duration as f64 > limit);
            let typical = match (rare, usual) {
                (Some(_), _) => Nanoseconds(0),
                (None, Some((median, _))) => median,
                (None, None) => continue,
            };
            let lost = duration - typical.0;
            if lost < least.0.max(1) {
                continue;
            }
            if let Some(outer) = outer {
                all[outer].explained += lost;
            }
            open.push(all.len());
            all.push(Candidate {
                call,
                typical,
                lost,
                explained: 0,
            });
        }
        all.retain(|of| (of.explained as f64) < of.lost as f64 * EXPLAINS);
        all
    }

    /// Whether most calls of a path do not call this one, which is called by it directly.
    fn is_rare(&self, paths: &Paths, caller: PathNo, path: PathNo) -> bool {
        paths.caller(path) == Some(caller) && self.of(path).calls() * 2 <= self.of(caller).calls()
    }
}

#[cfg(test)]
mod tests;
