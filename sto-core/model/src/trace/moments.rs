//! Finding the calls of a run that deserve attention: outliers and waits, with the activity of other threads.

use super::calls::{LongCall, Outlier, ThreadActivity, Wait};
use super::log::{CallLog, SpoolError, TraceThreadIx};
use super::meanwhile::{Activity, CallsAtMoment, Times};
use super::outliers::RunDurations;
use super::paths::{CallPathIx, CallPaths};
use super::thresholds::CallThresholds;
use super::waits::{WaitsFor, callers_wait, is_wake_function, waits, waits_for};
use crate::units::Nanoseconds;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of outliers of a run.
const MAX_OUTLIERS: usize = 256;

/// Divisor of time spent waiting for other threads in the ranking of outliers, because the activity of the other
/// threads is more likely to be the cause.
const WAIT_DIVISOR: u64 = 10;

/// Minimum share of an outlier's lost time that an outlier of another thread loses during it if that is the likelier
/// cause.
const CAUSE_SHARE: f64 = 0.8;

/// Divisor of time spent in callees in the ranking of outliers, because there may only be more calls than usual.
const CALLEE_DIVISOR: u64 = 3;

/// Maximum number of stacks of each thread to keep for an outlier.
const MAX_STACKS: usize = 3;

/// The minimum lost time of an outlier is the call duration threshold of its thread divided by this.
const MIN_LOST_DIVISOR: u64 = 100;

/// The outliers and waits of a run.
#[derive(Debug, Default)]
pub struct NotableCalls {
    /// See [`RunCalls::outliers`](super::RunCalls::outliers).
    pub outliers: Vec<Outlier<CallPathIx>>,
    /// See [`RunCalls::waits`](super::RunCalls::waits).
    pub waits: Vec<Wait<CallPathIx>>,
}

/// Finds the outliers and waits of a run. `names` are the names of the functions by number.
///
/// # Errors
/// Returns an error if the log cannot be read.
pub fn find_notable_calls(
    log: &CallLog,
    paths: &mut CallPaths,
    durations: &RunDurations,
    thresholds: &CallThresholds,
    names: &[&str],
) -> Result<NotableCalls, SpoolError> {
    let min_lost = log.threads().map(|thread| {
        let (begin, end) = log.time(thread);
        let threshold = thresholds
            .call_duration
            .resolve(Nanoseconds(end.0 - begin.0));
        Nanoseconds(threshold.0 / MIN_LOST_DIVISOR)
    });
    let kinds = PathKinds::new(paths, names);
    let candidates = durations.outliers(paths, &kinds.waits_for, &min_lost.collect::<Vec<_>>());
    let mut waits = waits(durations.longest(), paths, |path| {
        kinds.is_outermost_wait(path)
    });
    if candidates.is_empty() && waits.is_empty() {
        return Ok(NotableCalls::default());
    }
    let spans: Vec<_> = candidates
        .iter()
        .map(|(outlier, _)| (outlier.call.begin, outlier.call.end))
        .collect();
    let times = Times::new(&spans, waits.iter().map(|wait| wait.call.end));
    let run = RunActivity {
        threads: read_activity(log, &times, paths, names)?,
        times,
        paths,
        kinds,
    };
    let mut outliers = run.rank(candidates);
    outliers
        .par_iter_mut()
        .for_each(|outlier| outlier.activities = run.during(&outlier.call));
    for wait in &mut waits {
        wait.ended_by = run.ended_by(wait);
    }
    Ok(NotableCalls { outliers, waits })
}

/// Determines the activity of each thread at the given times.
fn read_activity(
    log: &CallLog,
    times: &Times,
    paths: &mut CallPaths,
    names: &[&str],
) -> Result<Vec<Thread>, SpoolError> {
    let wakes: Vec<bool> = names.iter().map(|name| is_wake_function(name)).collect();
    let read = |thread: TraceThreadIx| {
        let mut calls = log.calls(thread);
        let activity = times.activity(calls.by_ref(), &wakes);
        calls.check()?;
        Ok((log.time(thread), activity))
    };
    let threads: Vec<TraceThreadIx> = log.threads().collect();
    let read: Result<Vec<_>, SpoolError> = threads.into_par_iter().map(read).collect();
    let threads = read?.into_iter().map(|(time, activity)| Thread {
        time,
        run_paths: paths.append(&activity.paths),
        activity,
    });
    Ok(threads.collect())
}

/// The time that an outlier took longer than is typical.
fn lost_time(outlier: &Outlier<CallPathIx>) -> u64 {
    outlier.call.end.0 - outlier.call.begin.0 - outlier.typical.0
}

/// Whether the thread of `outlier` may only have waited for `other`, an outlier of another thread: `other` began and
/// ended within it, and lost nearly as much time.
fn is_likely_cause(other: &Outlier<CallPathIx>, outlier: &Outlier<CallPathIx>) -> bool {
    other.thread != outlier.thread
        && other.call.begin >= outlier.call.begin
        && other.call.end <= outlier.call.end
        && lost_time(other) as f64 >= CAUSE_SHARE * lost_time(outlier) as f64
}

/// Properties of call paths that follow from the names of their functions, by path.
struct PathKinds {
    waits_for: Vec<Option<WaitsFor>>,
    /// Whether one of the callers waits.
    is_within_wait: Vec<bool>,
    wakes: Vec<bool>,
}

impl PathKinds {
    fn new(paths: &CallPaths, names: &[&str]) -> PathKinds {
        let functions: Vec<(Option<WaitsFor>, bool)> = names
            .iter()
            .map(|name| (waits_for(name), is_wake_function(name)))
            .collect();
        let (waits_for, wakes): (Vec<_>, Vec<_>) = paths
            .iter()
            .map(|path| functions[paths.function(path).get()])
            .unzip();
        PathKinds {
            is_within_wait: callers_wait(paths, &waits_for),
            waits_for,
            wakes,
        }
    }

    fn is_wait(&self, path: CallPathIx) -> bool {
        self.waits_for[path.get()].is_some() || self.is_within_wait[path.get()]
    }

    fn is_outermost_wait(&self, path: CallPathIx) -> bool {
        self.waits_for[path.get()].is_some() && !self.is_within_wait[path.get()]
    }
}

/// The activity of all threads of a run.
struct RunActivity<'p> {
    threads: Vec<Thread>,
    times: Times,
    paths: &'p CallPaths,
    kinds: PathKinds,
}

impl RunActivity<'_> {
    /// Orders outliers by the part of their lost time that is likely to be their own, largest first. Each outlier
    /// comes with the lost time of outliers in it.
    fn rank(
        &self,
        candidates: Vec<(Outlier<CallPathIx>, Nanoseconds)>,
    ) -> Vec<Outlier<CallPathIx>> {
        let weight = |(outlier, explained): &(Outlier<CallPathIx>, Nanoseconds)| {
            let weight = self.weight(outlier, *explained).min(lost_time(outlier));
            let mut others = candidates.iter();
            if others.any(|(other, _)| is_likely_cause(other, outlier)) {
                weight / WAIT_DIVISOR
            } else {
                weight
            }
        };
        let weights: Vec<u64> = candidates.iter().map(weight).collect();
        let outliers = candidates.into_iter().map(|(outlier, _)| outlier);
        let mut ranked: Vec<(u64, Outlier<CallPathIx>)> =
            weights.into_iter().zip(outliers).collect();
        // A stable sort: outliers of equal weight stay ordered by lost time.
        ranked.sort_by_key(|(weight, _)| Reverse(*weight));
        ranked.truncate(MAX_OUTLIERS);
        ranked.into_iter().map(|(_, outlier)| outlier).collect()
    }

    /// The duration of an outlier, in which waits and callees count less, and `explained` time in callees does not
    /// count.
    fn weight(&self, outlier: &Outlier<CallPathIx>, explained: Nanoseconds) -> u64 {
        let call = &outlier.call;
        let waits_for = |path: &CallPathIx| self.kinds.waits_for[path.get()];
        let (mut own, mut waited, mut called) = (0, 0, 0);
        let thread = &self.threads[outlier.thread as usize];
        for (innermost, time) in thread.spent(&self.times, call) {
            let stack = std::iter::successors(Some(innermost), |&path| self.paths.caller(path));
            let callees: Vec<CallPathIx> = stack.take_while(|&path| path != call.stack).collect();
            // The outermost wait decides what the thread waits for.
            let outermost = waits_for(&call.stack);
            match outermost.or(callees.iter().rev().find_map(waits_for)) {
                Some(WaitsFor::Others) => waited += time,
                Some(WaitsFor::Time) if callees.last().and_then(waits_for).is_some() => own += time,
                _ if callees.is_empty() => own += time,
                _ => called += time,
            }
        }
        own + waited / WAIT_DIVISOR + called.saturating_sub(explained.0) / CALLEE_DIVISOR
    }

    /// The longest activities of each thread during a call.
    fn during(&self, call: &LongCall<CallPathIx>) -> Vec<ThreadActivity<CallPathIx>> {
        let threads = (0..).zip(&self.threads);
        let activities = threads.map(|(ix, thread)| thread.during(ix, call, &self.times));
        activities.flatten().collect()
    }

    /// The call of another thread that most likely ended a wait.
    fn ended_by(&self, wait: &Wait<CallPathIx>) -> Option<(u32, LongCall<CallPathIx>)> {
        let threads = (0..).zip(&self.threads);
        let calls = threads.filter_map(|(ix, thread)| {
            if ix == wait.thread {
                return None;
            }
            let (wakes, call) = self.call_at_end(thread, &wait.call)?;
            let distance = call.end.0.abs_diff(wait.call.end.0);
            Some(((!wakes, distance, ix), call))
        });
        let ((_, _, thread), call) = calls.min_by_key(|&(order, _)| order)?;
        Some((thread, call))
    }

    /// The call of a thread when a wait of another thread ended, and whether its function wakes others. `None` if
    /// the thread was waiting too.
    fn call_at_end(
        &self,
        thread: &Thread,
        wait: &LongCall<CallPathIx>,
    ) -> Option<(bool, LongCall<CallPathIx>)> {
        let CallsAtMoment { innermost, woke } = thread.activity.at(&self.times, wait.end);
        let in_run = |call: LongCall<CallPathIx>| call.map(|path| thread.run_paths[path.get()]);
        let innermost = innermost.map(in_run);
        if let Some(call) = innermost.filter(|call| self.kinds.wakes[call.stack.get()]) {
            return Some((true, call));
        }
        if let Some(call) = woke.map(in_run).filter(|call| call.end > wait.begin) {
            return Some((true, call));
        }
        let call = innermost.filter(|call| !self.kinds.is_wait(call.stack))?;
        Some((false, call))
    }
}

/// The activity of a thread.
struct Thread {
    time: (Nanoseconds, Nanoseconds),
    activity: Activity,
    /// The run's path for each path of `activity`.
    run_paths: Vec<CallPathIx>,
}

impl Thread {
    /// The time spent in each innermost call during a call, in no order.
    fn spent(
        &self,
        times: &Times,
        call: &LongCall<CallPathIx>,
    ) -> impl Iterator<Item = (CallPathIx, u64)> {
        let spent = self.activity.spent(times, call.begin, call.end);
        spent.map(|(path, time)| (self.run_paths[path.get()], time))
    }

    /// The longest activities during a call, longest first. Empty if the thread had not begun or had ended.
    fn during(
        &self,
        ix: u32,
        call: &LongCall<CallPathIx>,
        times: &Times,
    ) -> Vec<ThreadActivity<CallPathIx>> {
        let mut sums: BTreeMap<CallPathIx, u64> = BTreeMap::new();
        for (path, time) in self.spent(times, call) {
            *sums.entry(path).or_default() += time;
        }
        let duration = call.end.0 - call.begin.0;
        let idle = duration.saturating_sub(sums.values().sum());
        let overlaps = call.begin < self.time.1 && call.end > self.time.0;
        let idle = (overlaps && idle > 0).then_some((None, idle));
        let stacks = sums.into_iter().map(|(path, time)| (Some(path), time));
        let mut all: Vec<(Option<CallPathIx>, u64)> = stacks.chain(idle).collect();
        all.sort_by_key(|&(path, time)| (Reverse(time), path));
        all.truncate(MAX_STACKS);
        let activities = all.into_iter().map(|(stack, time)| ThreadActivity {
            thread: ix,
            stack,
            time: Nanoseconds(time),
        });
        activities.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::CallThread;
    use super::super::log::CallLogWriter;
    use super::super::paths::TraceFunctionIx;
    use super::super::regtime::compress_calls;
    use super::*;

    const NAMES: [&str; 6] = [
        "serve",
        "handle",
        "pthread_mutex_lock",
        "flush",
        "pthread_mutex_unlock",
        "write",
    ];
    const SERVE: TraceFunctionIx = TraceFunctionIx(0);
    const HANDLE: TraceFunctionIx = TraceFunctionIx(1);
    const LOCK: TraceFunctionIx = TraceFunctionIx(2);
    const FLUSH: TraceFunctionIx = TraceFunctionIx(3);
    const UNLOCK: TraceFunctionIx = TraceFunctionIx(4);
    const WRITE: TraceFunctionIx = TraceFunctionIx(5);

    /// Finds the moments of calls, given as (thread, function, begin, end), in preorder for each thread.
    fn found(calls: &[(u32, TraceFunctionIx, u64, u64)]) -> (NotableCalls, CallPaths) {
        let mut writer = CallLogWriter::new(None);
        let mut open: BTreeMap<TraceThreadIx, Vec<u64>> = BTreeMap::new();
        for &(tid, function, begin, end) in calls {
            let thread: TraceThreadIx = writer.intern_thread(CallThread {
                pid: 1,
                program: "app".to_owned(),
                tid,
                name: String::new(),
            });
            let open = open.entry(thread).or_default();
            while let Some(ended) = open.pop_if(|ended| *ended <= begin) {
                writer.end(thread, None, Nanoseconds(ended));
            }
            open.push(end);
            writer.begin(thread, function, Nanoseconds(begin)).unwrap();
        }
        for (thread, open) in open {
            for end in open.into_iter().rev() {
                writer.end(thread, None, Nanoseconds(end));
            }
        }
        let (log, _) = writer.finish().unwrap();
        let thresholds = CallThresholds::default();
        let mut paths = CallPaths::default();
        let mut durations = RunDurations::default();
        for no in log.threads() {
            let (begin, end) = log.time(no);
            let time = Nanoseconds(end.0 - begin.0);
            let compressed = compress_calls(log.calls(no), &thresholds, time, &mut paths);
            let same: Vec<CallPathIx> = paths.iter().collect();
            durations.add(&compressed.durations, &same);
        }
        let moments =
            find_notable_calls(&log, &mut paths, &durations, &thresholds, &NAMES).unwrap();
        (moments, paths)
    }

    /// A thread that handles 100 requests, each with a lock. In request 60 it waits for a flush of another thread.
    fn server() -> Vec<(u32, TraceFunctionIx, u64, u64)> {
        let mut calls = vec![(1, SERVE, 0, 250_000)];
        let mut now = 0;
        for number in 0..100 {
            let waits = if number == 60 { 50_000 } else { 10 };
            calls.push((1, HANDLE, now, now + waits + 90));
            calls.push((1, LOCK, now + 5, now + 5 + waits));
            if number == 60 {
                calls.push((2, FLUSH, now - 100, now + waits));
                calls.push((2, WRITE, now - 50, now + waits - 1_000));
                calls.push((2, UNLOCK, now + waits + 1, now + waits + 4));
                calls.push((3, FLUSH, now + 1_000, now + 200_000));
            }
            now += waits + 100;
        }
        calls
    }

    #[test]
    fn outlier_has_the_activity_of_each_thread() {
        let (found, paths) = found(&server());
        let [outlier] = &found.outliers[..] else {
            panic!("{:?}", found.outliers)
        };
        assert_eq!(paths.function(outlier.call.stack), LOCK);
        assert_eq!(
            (outlier.thread, outlier.typical, outlier.calls),
            (0, Nanoseconds(10), 100)
        );
        let meanwhile = outlier.activities.iter().map(|activity| {
            let function = activity.stack.map(|stack| paths.function(stack));
            let name = function.map(|function| NAMES[function.get()]);
            (activity.thread, name, activity.time.0)
        });
        let meanwhile: Vec<_> = meanwhile.collect();
        assert_eq!(
            meanwhile,
            [
                (0, Some("pthread_mutex_lock"), 50_000),
                (1, Some("write"), 48_995),
                (1, Some("flush"), 1_000),
                (1, Some("pthread_mutex_unlock"), 3),
                (2, Some("flush"), 49_005),
                (2, None, 995),
            ]
        );
    }

    #[test]
    fn wait_is_ended_by_a_call_that_wakes() {
        let (found, paths) = found(&server());
        let longest = &found.waits[0];
        assert_eq!(longest.call.end.0 - longest.call.begin.0, 50_000);
        let (thread, by) = longest.ended_by.unwrap();
        assert_eq!((thread, paths.function(by.stack)), (1, UNLOCK));
        let waiting: Vec<_> = found
            .waits
            .iter()
            .map(|wait| paths.function(wait.call.stack))
            .collect();
        let writes = waiting.iter().filter(|&&function| function == WRITE);
        assert_eq!(writes.count(), 1);
        assert!(!waiting.contains(&FLUSH) && !waiting.contains(&UNLOCK));
    }

    #[test]
    fn nested_waits_are_part_of_the_outer_wait() {
        let (found, _) = found(&[(1, LOCK, 0, 100), (1, WRITE, 10, 90), (1, WRITE, 110, 120)]);
        let lengths: Vec<u64> = found
            .waits
            .iter()
            .map(|wait| wait.call.end.0 - wait.call.begin.0)
            .collect();
        assert_eq!(lengths, [100, 10]);
    }

    /// Two threads wait for a lock, for longer than the duration of the call that held it.
    #[test]
    fn cause_ranks_before_waits_for_it() {
        let mut calls = Vec::new();
        for number in 0..100 {
            let now = number * 1_000;
            calls.push((1, HANDLE, now, now + 10));
            calls.push((2, LOCK, now, now + 10));
            calls.push((3, FLUSH, now, now + 10));
            calls.push((3, LOCK, now, now + 5));
        }
        calls.push((1, HANDLE, 200_100, 230_000));
        calls.push((2, LOCK, 200_000, 230_001));
        calls.push((3, FLUSH, 200_000, 231_000));
        calls.push((3, LOCK, 200_001, 230_002));
        let (found, paths) = found(&calls);
        let outliers = found.outliers.iter();
        let named: Vec<_> = outliers
            .map(|outlier| {
                let function = paths.function(outlier.call.stack);
                (outlier.thread, NAMES[function.get()])
            })
            .collect();
        let waited = [(2, "pthread_mutex_lock"), (1, "pthread_mutex_lock")];
        assert_eq!(named, [vec![(0, "handle")], waited.to_vec()].concat());
    }

    /// No name shows that the first thread waits for the second.
    #[test]
    fn nearly_as_long_outlier_of_another_thread_ranks_first() {
        let mut calls = Vec::new();
        for number in 0..100 {
            let now = number * 1_000;
            calls.push((1, SERVE, now, now + 100));
            calls.push((2, HANDLE, now + 10, now + 20));
        }
        calls.push((1, SERVE, 200_000, 231_000));
        calls.push((2, HANDLE, 200_500, 230_000));
        // The call of the second thread is too short to be the cause.
        calls.push((1, SERVE, 300_000, 400_000));
        calls.push((2, HANDLE, 310_000, 330_000));
        let (found, paths) = found(&calls);
        let outliers = found.outliers.iter();
        let named: Vec<_> = outliers
            .map(|outlier| {
                let function = paths.function(outlier.call.stack);
                (NAMES[function.get()], outlier.call.begin.0)
            })
            .collect();
        let handles = [("handle", 200_500), ("handle", 310_000)];
        let serves = [("serve", 300_000), ("serve", 200_000)];
        assert_eq!(named, [serves[0], handles[0], handles[1], serves[1]]);
    }

    /// `flush` calls more than usual, `serve` is slow itself.
    #[test]
    fn slow_call_ranks_before_call_with_more_callees() {
        let mut calls = Vec::new();
        for number in 0..200 {
            let now = number * 1_000;
            calls.push((1, SERVE, now, now + 10));
            calls.push((1, FLUSH, now + 20, now + 40));
            calls.push((1, HANDLE, now + 22, now + 30));
        }
        calls.push((1, SERVE, 300_000, 320_000));
        calls.push((1, FLUSH, 400_000, 430_000));
        calls.extend(
            (0..2_990).map(|number| (1, HANDLE, 400_000 + number * 10, 400_008 + number * 10)),
        );
        let (found, paths) = found(&calls);
        let functions = found
            .outliers
            .iter()
            .map(|outlier| NAMES[paths.function(outlier.call.stack).get()]);
        assert_eq!(functions.collect::<Vec<_>>(), ["serve", "flush"]);
    }
}
