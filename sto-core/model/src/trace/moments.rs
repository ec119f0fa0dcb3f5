//! The moments of a run that are looked at first: calls that took unusually long, and waits, with what other threads
//! did then.

use super::calls::{LongCall, Meanwhile, Outlier, Wait};
use super::log::{CallLog, SpoolError};
use super::meanwhile::{At, Did, Times};
use super::outliers::RunDurations;
use super::paths::{PathNo, Paths};
use super::thresholds::CallThresholds;
use super::waits::{WaitsFor, callers_wait, is_wake_function, waits, waits_for};
use crate::units::Nanoseconds;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many outliers of a run are kept.
const MOST: usize = 256;

/// How many times less time counts in the order of outliers in which a thread waited for others: what these did is
/// more likely to be the cause.
const WAITED: u64 = 10;

/// The part of what an outlier lost that one of another thread has to lose within it to be the likelier cause.
const HOLDS_UP: f64 = 0.8;

/// How many times less time in what an outlier called counts, as that may only have been more than usual.
const CALLED: u64 = 3;

/// How many stacks of a thread are said of the time of an outlier.
const STACKS: usize = 3;

/// By this part of what its path's calls have to be longer than to be kept each, a call has to lose time to be an
/// outlier.
const LEAST: u64 = 100;

/// A run's calls that took unusually long, and in which threads waited.
#[derive(Debug, Default)]
pub struct Moments {
    /// See [`RunCalls::outliers`](super::RunCalls::outliers).
    pub outliers: Vec<Outlier<PathNo>>,
    /// See [`RunCalls::waits`](super::RunCalls::waits).
    pub waits: Vec<Wait<PathNo>>,
}

/// Finds them. `names` are those of the functions, by their numbers.
///
/// # Errors
/// Where the log cannot be read.
pub fn moments(
    log: &CallLog,
    paths: &mut Paths,
    durations: &RunDurations,
    thresholds: &CallThresholds,
    names: &[&str],
) -> Result<Moments, SpoolError> {
    let threads: Vec<_> = log.threads().collect();
    let least = threads.iter().map(|&no| {
        let (begin, end) = log.time(no);
        Nanoseconds(thresholds.call_duration.of(Nanoseconds(end.0 - begin.0)).0 / LEAST)
    });
    let functions: Vec<Option<WaitsFor>> = names.iter().map(|name| waits_for(name)).collect();
    let waiting = paths
        .iter()
        .map(|path| functions[paths.function(path).get()]);
    let waiting: Vec<Option<WaitsFor>> = waiting.collect();
    let within = callers_wait(paths, &waiting);
    let wakes: Vec<bool> = names.iter().map(|name| is_wake_function(name)).collect();
    let outliers = durations.outliers(paths, &waiting, &least.collect::<Vec<_>>());
    let mut waits = waits(durations.longest(), paths, |path| {
        waiting[path.get()].is_some() && !within[path.get()]
    });
    if outliers.is_empty() && waits.is_empty() {
        return Ok(Moments::default());
    }
    let spans: Vec<_> = outliers
        .iter()
        .map(|(of, _)| (of.call.begin, of.call.end))
        .collect();
    let times = Times::new(&spans, waits.iter().map(|wait| wait.call.end));
    let ask = |no| {
        let mut calls = log.calls(no);
        let did = times.ask(calls.by_ref(), &wakes);
        calls.check()?;
        Ok((log.time(no), did))
    };
    let threads = threads
        .into_par_iter()
        .map(ask)
        .collect::<Result<Vec<_>, SpoolError>>()?;
    let threads = threads.into_iter().map(|(time, did)| Thread {
        time,
        here: paths.append(&did.paths),
        did,
    });
    let threads: Vec<Thread> = threads.collect();
    let counted = |(of, explained): &(Outlier<PathNo>, Nanoseconds)| {
        let thread = &threads[of.thread as usize];
        let counted = thread.counted(&of.call, *explained, &times, paths, &waiting);
        let counted = counted.min(lost(of));
        match outliers.iter().any(|(other, _)| holds_up(other, of)) {
            true => counted / WAITED,
            false => counted,
        }
    };
    let counted: Vec<u64> = outliers.iter().map(counted).collect();
    let mut ordered: Vec<(u64, Outlier<PathNo>)> = counted
        .into_iter()
        .zip(outliers)
        .map(|(counted, (of, _))| (counted, of))
        .collect();
    // Equal ones stay in order.
    ordered.sort_by_key(|(counted, _)| Reverse(*counted));
    ordered.truncate(MOST);
    let mut outliers: Vec<Outlier<PathNo>> = ordered.into_iter().map(|(_, of)| of).collect();
    outliers.par_iter_mut().for_each(|outlier| {
        let of_thread =
            |(ix, thread): (usize, &Thread)| thread.meanwhile(ix as u32, &outlier.call, &times);
        outlier.meanwhile = threads.iter().enumerate().flat_map(of_thread).collect();
    });
    let wakes_others: Vec<bool> = paths
        .iter()
        .map(|path| wakes[paths.function(path).get()])
        .collect();
    let wakes_others = |path: PathNo| wakes_others[path.get()];
    let stands = |path: PathNo| waiting[path.get()].is_some() || within[path.get()];
    for wait in &mut waits {
        let others = threads
            .iter()
            .enumerate()
            .filter(|&(ix, _)| ix as u32 != wait.thread);
        let calls = others.filter_map(|(ix, of)| {
            let (is_sure, call) = of.ending(&wait.call, &times, &wakes_others, &stands)?;
            let distance = call.end.0.abs_diff(wait.call.end.0);
            Some(((!is_sure, distance, ix as u32), call))
        });
        let nearest = calls.min_by_key(|&(order, _)| order);
        wait.ended_by = nearest.map(|((_, _, thread), call)| (thread, call));
    }
    Ok(Moments { outliers, waits })
}

/// How much longer a call took than is typical.
fn lost(of: &Outlier<PathNo>) -> u64 {
    of.call.end.0 - of.call.begin.0 - of.typical.0
}

/// Whether the second outlier's thread may only have waited for the first one's: that began and ended meanwhile, and
/// lost nearly as much.
fn holds_up(first: &Outlier<PathNo>, second: &Outlier<PathNo>) -> bool {
    first.thread != second.thread
        && first.call.begin >= second.call.begin
        && first.call.end <= second.call.end
        && lost(first) as f64 >= HOLDS_UP * lost(second) as f64
}

/// What a thread did at the times that were asked for, by the paths of the run.
struct Thread {
    time: (Nanoseconds, Nanoseconds),
    did: Did,
    /// The numbers of the paths of `did` among those of the run.
    here: Vec<PathNo>,
}

impl Thread {
    /// What it was in longest during a call; nothing of a thread that was not there all that time.
    fn meanwhile(
        &self,
        thread: u32,
        call: &LongCall<PathNo>,
        times: &Times,
    ) -> Vec<Meanwhile<PathNo>> {
        let mut sums: BTreeMap<PathNo, u64> = BTreeMap::new();
        for (path, time) in self.did.spent(times, call.begin, call.end) {
            *sums.entry(self.here[path.get()]).or_default() += time;
        }
        let length = call.end.0 - call.begin.0;
        let idle = length.saturating_sub(sums.values().sum());
        let is_there = call.begin < self.time.1 && call.end > self.time.0;
        let idle = (is_there && idle > 0).then_some((None, idle));
        let stacks = sums.into_iter().map(|(path, time)| (Some(path), time));
        let mut all: Vec<(Option<PathNo>, u64)> = stacks.chain(idle).collect();
        all.sort_by_key(|&(path, time)| (Reverse(time), path));
        all.truncate(STACKS);
        let meanwhile = all.into_iter().map(|(stack, time)| Meanwhile {
            thread,
            stack,
            time: Nanoseconds(time),
        });
        meanwhile.collect()
    }

    /// How long a call took, for the order of outliers, where this much was lost in outliers that it called.
    fn counted(
        &self,
        call: &LongCall<PathNo>,
        explained: Nanoseconds,
        times: &Times,
        paths: &Paths,
        waiting: &[Option<WaitsFor>],
    ) -> u64 {
        let (mut own, mut waited, mut called) = (0, 0, 0);
        for (path, time) in self.did.spent(times, call.begin, call.end) {
            let innermost = self.here[path.get()];
            let up = std::iter::successors(Some(innermost), |&path| paths.caller(path));
            let of_call: Vec<PathNo> = up.take_while(|&path| path != call.stack).collect();
            let waits = |path: &PathNo| waiting[path.get()];
            // The outermost wait is what it waited for.
            match waiting[call.stack.get()].or(of_call.iter().rev().find_map(waits)) {
                Some(WaitsFor::Others) => waited += time,
                Some(WaitsFor::Time) if of_call.last().and_then(waits).is_some() => own += time,
                _ if of_call.is_empty() => own += time,
                _ => called += time,
            }
        }
        own + waited / WAITED + called.saturating_sub(explained.0) / CALLED
    }

    /// The call in which it was when this wait of another thread ended, if it did not wait itself; and whether that
    /// is of a function that ends waits.
    fn ending(
        &self,
        wait: &LongCall<PathNo>,
        times: &Times,
        wakes: &impl Fn(PathNo) -> bool,
        waits: &impl Fn(PathNo) -> bool,
    ) -> Option<(bool, LongCall<PathNo>)> {
        let At { innermost, woke } = self.did.at(times, wait.end);
        let here = |call: LongCall<PathNo>| LongCall {
            stack: self.here[call.stack.get()],
            ..call
        };
        let innermost = innermost.map(here);
        if let Some(call) = innermost.filter(|call| wakes(call.stack)) {
            return Some((true, call));
        }
        if let Some(call) = woke.map(here).filter(|woke| woke.end > wait.begin) {
            return Some((true, call));
        }
        let call = innermost.filter(|call| !waits(call.stack))?;
        Some((false, call))
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::CallThread;
    use super::super::log::{CallLogWriter, ThreadNo};
    use super::super::paths::FunctionNo;
    use super::super::regtime::compress;
    use super::*;
    use std::collections::BTreeMap;

    const NAMES: [&str; 6] = [
        "serve",
        "handle",
        "pthread_mutex_lock",
        "flush",
        "pthread_mutex_unlock",
        "write",
    ];
    const SERVE: FunctionNo = FunctionNo(0);
    const HANDLE: FunctionNo = FunctionNo(1);
    const LOCK: FunctionNo = FunctionNo(2);
    const FLUSH: FunctionNo = FunctionNo(3);
    const UNLOCK: FunctionNo = FunctionNo(4);
    const WRITE: FunctionNo = FunctionNo(5);

    /// A log of threads; each call as (thread, function, begin, end), those of a thread in order, callers first.
    fn found(calls: &[(u32, FunctionNo, u64, u64)]) -> (Moments, Paths) {
        let mut writer = CallLogWriter::new(None);
        let mut open: BTreeMap<ThreadNo, Vec<u64>> = BTreeMap::new();
        for &(tid, function, begin, end) in calls {
            let thread: ThreadNo = writer.thread(CallThread {
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
        let mut paths = Paths::default();
        let mut durations = RunDurations::default();
        for no in log.threads() {
            let (begin, end) = log.time(no);
            let time = Nanoseconds(end.0 - begin.0);
            let compressed = compress(log.calls(no), &thresholds, time, &mut paths);
            let here: Vec<PathNo> = paths.iter().collect();
            durations.add(&compressed.durations, &here);
        }
        let moments = moments(&log, &mut paths, &durations, &thresholds, &NAMES).unwrap();
        (moments, paths)
    }

    /// A thread that handles a hundred requests, each with a lock; in the 60th it waits for a flush of another one.
    fn server() -> Vec<(u32, FunctionNo, u64, u64)> {
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
    fn an_outlier_says_what_every_thread_did_meanwhile() {
        let (found, paths) = found(&server());
        let [outlier] = &found.outliers[..] else {
            panic!("{:?}", found.outliers)
        };
        assert_eq!(paths.function(outlier.call.stack), LOCK);
        assert_eq!(
            (outlier.thread, outlier.typical, outlier.calls),
            (0, Nanoseconds(10), 100)
        );
        let meanwhile = outlier.meanwhile.iter().map(|of| {
            let function = of.stack.map(|stack| NAMES[paths.function(stack).get()]);
            (of.thread, function, of.time.0)
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
    fn a_wait_ends_during_the_call_of_another_thread_that_wakes_it() {
        let (found, paths) = found(&server());
        let longest = &found.waits[0];
        assert_eq!(longest.call.end.0 - longest.call.begin.0, 50_000);
        let (thread, by) = longest.ended_by.unwrap();
        assert_eq!((thread, paths.function(by.stack)), (1, UNLOCK));
        let waiting: Vec<_> = found
            .waits
            .iter()
            .map(|of| paths.function(of.call.stack))
            .collect();
        assert_eq!(waiting.iter().filter(|&&of| of == WRITE).count(), 1);
        assert!(!waiting.contains(&FLUSH) && !waiting.contains(&UNLOCK));
    }

    #[test]
    fn a_wait_within_another_is_not_one_by_itself() {
        let (found, _) = found(&[(1, LOCK, 0, 100), (1, WRITE, 10, 90), (1, WRITE, 110, 120)]);
        let lengths: Vec<u64> = found
            .waits
            .iter()
            .map(|of| of.call.end.0 - of.call.begin.0)
            .collect();
        assert_eq!(lengths, [100, 10]);
    }

    /// Two wait for the lock for longer than the call took that held it.
    #[test]
    fn what_held_others_up_is_before_those_who_waited_for_it() {
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
            .map(|of| (of.thread, NAMES[paths.function(of.call.stack).get()]))
            .collect();
        let waited = [(2, "pthread_mutex_lock"), (1, "pthread_mutex_lock")];
        assert_eq!(named, [vec![(0, "handle")], waited.to_vec()].concat());
    }

    /// No name says that the first thread waits for the second.
    #[test]
    fn what_took_nearly_as_long_in_another_thread_meanwhile_is_before_what_lasted_longer() {
        let mut calls = Vec::new();
        for number in 0..100 {
            let now = number * 1_000;
            calls.push((1, SERVE, now, now + 100));
            calls.push((2, HANDLE, now + 10, now + 20));
        }
        calls.push((1, SERVE, 200_000, 231_000));
        calls.push((2, HANDLE, 200_500, 230_000));
        // That it lost less is chance, and not why the other took long.
        calls.push((1, SERVE, 300_000, 400_000));
        calls.push((2, HANDLE, 310_000, 330_000));
        let (found, paths) = found(&calls);
        let outliers = found.outliers.iter();
        let named: Vec<_> = outliers
            .map(|of| (NAMES[paths.function(of.call.stack).get()], of.call.begin.0))
            .collect();
        let handles = [("handle", 200_500), ("handle", 310_000)];
        let serves = [("serve", 300_000), ("serve", 200_000)];
        assert_eq!(named, [serves[0], handles[0], handles[1], serves[1]]);
    }

    /// The first call calls more than usual, the second one is slow by itself.
    #[test]
    fn what_is_slow_by_itself_is_before_what_called_more() {
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
            .map(|of| NAMES[paths.function(of.call.stack).get()]);
        assert_eq!(functions.collect::<Vec<_>>(), ["serve", "flush"]);
    }
}
