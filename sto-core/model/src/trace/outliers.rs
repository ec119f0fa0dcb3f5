//! Finding outliers: calls that took unusually long for their stack.

use super::calls::{LongCall, Outlier};
use super::durations::{Durations, ThreadDurations};
use super::paths::{CallPathIx, CallPaths};
use super::waits::{WaitsFor, callers_wait};
use crate::units::Nanoseconds;
use std::cmp::Reverse;

/// Maximum number of outliers of a run before they are ranked.
const MAX_OUTLIERS: usize = 1024;

/// Minimum number of calls of a path for a typical duration.
const MIN_CALLS: u64 = 5;

/// Minimum ratio of an outlier's duration to the ninth decile of its path: the lowest, and the highest for paths whose
/// durations vary widely.
const RATIOS: (f64, f64) = (4.0, 16.0);

/// The share of a call's lost time at which calls in it explain the outlier.
const EXPLAINED_SHARE: f64 = 0.9;

/// The durations of the calls of a run, by path.
#[derive(Debug, Default)]
pub struct RunDurations {
    /// Durations in all threads, by path.
    paths: Vec<Durations>,
    /// The longest calls of each path, by thread.
    longest: Vec<Vec<LongCall<CallPathIx>>>,
}

/// A possible outlier.
struct Candidate {
    call: LongCall<CallPathIx>,
    typical: Nanoseconds,
    lost: u64,
    /// Lost time of outliers in the call.
    explained: u64,
}

impl RunDurations {
    /// Adds the durations of the next thread. `run_paths` has the run's path for each path of the thread.
    pub fn add(&mut self, thread: &ThreadDurations, run_paths: &[CallPathIx]) {
        let mut longest = Vec::new();
        for (path, calls) in thread.iter() {
            let stack = run_paths[path.get()];
            if stack.get() >= self.paths.len() {
                self.paths.resize_with(stack.get() + 1, Durations::default);
            }
            self.paths[stack.get()].append(&calls.durations);
            longest.extend(calls.longest.iter().map(|&(duration, begin)| LongCall {
                stack,
                begin,
                end: Nanoseconds(begin.0 + duration.0),
            }));
        }
        self.longest.push(longest);
    }

    /// The durations of a path.
    fn path(&self, path: CallPathIx) -> &Durations {
        &self.paths[path.get()]
    }

    /// The longest calls of each path, by thread, in no order.
    pub(crate) fn longest(&self) -> &[Vec<LongCall<CallPathIx>>] {
        &self.longest
    }

    /// Finds the outliers among the longest calls of each path and thread. Returns them with the lost time of
    /// outliers in them, ordered by lost time, largest first.
    ///
    /// `waits` has what the function of each path waits for, and `min_lost` the minimum lost time for each thread.
    /// [`Outlier::meanwhile`] is left empty.
    pub(crate) fn outliers(
        &self,
        paths: &CallPaths,
        waits: &[Option<WaitsFor>],
        min_lost: &[Nanoseconds],
    ) -> Vec<(Outlier<CallPathIx>, Nanoseconds)> {
        let is_within_wait = callers_wait(paths, waits);
        let typical = self.typical();
        let threads = self.longest.iter().zip(min_lost).enumerate();
        let thread_candidates =
            |(thread, (longest, min_lost)): (usize, (&Vec<_>, &Nanoseconds))| {
                let can_be_outlier = |call: &&LongCall<CallPathIx>| {
                    let path = call.stack.get();
                    !is_within_wait[path] && waits[path] != Some(WaitsFor::Time)
                };
                let calls = longest.iter().filter(can_be_outlier).copied().collect();
                let candidates = self.candidates(paths, calls, &typical, *min_lost);
                candidates
                    .into_iter()
                    .map(move |candidate| (thread as u32, candidate))
            };
        let mut all: Vec<(u32, Candidate)> = threads.flat_map(thread_candidates).collect();
        all.sort_by_key(|(thread, candidate)| {
            let call = &candidate.call;
            (Reverse(candidate.lost), call.begin, *thread, call.stack)
        });
        all.truncate(MAX_OUTLIERS);
        let outliers = all.into_iter().map(|(thread, candidate)| {
            let outlier = Outlier {
                thread,
                call: candidate.call,
                typical: candidate.typical,
                calls: self.path(candidate.call.stack).calls(),
                activities: Vec::new(),
            };
            (outlier, Nanoseconds(candidate.explained))
        });
        outliers.collect()
    }

    /// The median of each path, and the duration that an outlier exceeds; `None` if the path has too few calls.
    fn typical(&self) -> Vec<Option<(Nanoseconds, f64)>> {
        let typical = |durations: &Durations| {
            let median = durations.quantile(0.5);
            let ninth_decile = durations.quantile_without_longest(0.9).0.max(1) as f64;
            let spread = ninth_decile / median.0.max(1) as f64;
            let limit = ninth_decile * (spread * spread).clamp(RATIOS.0, RATIOS.1);
            (durations.calls() >= MIN_CALLS).then_some((median, limit))
        };
        self.paths.iter().map(typical).collect()
    }

    /// Finds the outliers among the calls of a thread.
    fn candidates(
        &self,
        paths: &CallPaths,
        mut calls: Vec<LongCall<CallPathIx>>,
        typical: &[Option<(Nanoseconds, f64)>],
        min_lost: Nanoseconds,
    ) -> Vec<Candidate> {
        // Callers come before callees, because their paths have smaller indices.
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
            let is_rare = outer.is_some_and(|outer| {
                self.is_rare(paths, all[outer].call.stack, call.stack)
                    && duration as f64 >= all[outer].lost as f64 * EXPLAINED_SHARE
            });
            let typical = match typical[call.stack.get()] {
                _ if is_rare => Nanoseconds(0),
                Some((median, limit)) if duration as f64 > limit => median,
                _ => continue,
            };
            let lost = duration - typical.0;
            if lost < min_lost.0.max(1) {
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
        all.retain(|candidate| {
            (candidate.explained as f64) < candidate.lost as f64 * EXPLAINED_SHARE
        });
        all
    }

    /// Whether `caller` calls `path` directly, and most calls of `caller` do not call it.
    fn is_rare(&self, paths: &CallPaths, caller: CallPathIx, path: CallPathIx) -> bool {
        paths.caller(path) == Some(caller)
            && self.path(path).calls() * 2 <= self.path(caller).calls()
    }
}

#[cfg(test)]
mod tests;
