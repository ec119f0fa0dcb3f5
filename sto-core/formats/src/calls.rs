//! Conversion of a call log to a recording: costs by call path, and compressed calls over time.

use crate::error::{DecodeError, Decoded};
use crate::recording::{LocationIx, LoggedCalls, RecordingBuilder, StackIx, ThreadIx};
use crate::source::ReadOptions;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use sto_model::limits::MAX_CALL_STACKS;
use sto_model::trace::arguments::{CallGrouper, merge_to_limit};
use sto_model::trace::log::{CallLog, CallLogWriter, SpoolError, TraceThreadIx};
use sto_model::trace::outliers::RunDurations;
use sto_model::trace::paths::{CallPathIx, CallPaths, TraceFunctionIx};
use sto_model::trace::regtime::{CompressedCalls, compress_calls};
use sto_model::trace::{
    CALLS_EVENT, CallThread, CallsByArgument, RunCalls, ThreadCalls, WALL_EVENT,
};
use sto_model::tree::SliceGrid;
use sto_model::units::{Cost, Nanoseconds, Unit};

/// Adds the calls of a log to a recording: as samples of `wall` (self time) and `calls` (number of
/// calls), and as calls over time. `functions` are the locations of the log's functions, by number.
pub(super) fn finish(
    builder: RecordingBuilder,
    log: CallLogWriter,
    functions: &[LocationIx],
    options: &ReadOptions,
) -> Decoded<RecordingBuilder> {
    finish_as(WALL_EVENT, builder, log, functions, options)
}

/// Like [`finish`], with another event for the time. If threads also have samples, the time of
/// calls must not be added to theirs.
pub(super) fn finish_as(
    event: &str,
    mut builder: RecordingBuilder,
    log: CallLogWriter,
    functions: &[LocationIx],
    options: &ReadOptions,
) -> Decoded<RecordingBuilder> {
    let (log, warnings) = log.finish()?;
    builder.warnings.extend(warnings);
    builder.lost = builder.lost.saturating_add(log.lost());
    let Some((begin, end)) = log.time_range() else {
        return Ok(builder);
    };
    builder.origin().duration = Some(Nanoseconds(end.0 - begin.0));
    let grid = options
        .call_slices
        .and_then(|count| SliceGrid::new(begin, end, count));
    let threads = log.threads().collect::<Vec<_>>();
    let limit = (MAX_CALL_STACKS / threads.len().max(1)).max(MIN_STACKS_OF_THREAD);
    let threads = threads.into_par_iter().map(|no| {
        let mut calls = log.calls(no);
        let (begin, end) = log.time(no);
        let time = Nanoseconds(end.0 - begin.0);
        let mut paths = CallPaths::with_limit(limit);
        let mut gathered = CallGrouper::default();
        let arguments = log.arguments(no);
        let has_arguments = !arguments.is_empty();
        let seen = calls.by_ref().inspect(|call| {
            if has_arguments {
                gathered.add(call);
            }
        });
        let compressed = compress_calls(seen, &options.call_thresholds, time, &mut paths);
        calls.check()?;
        let gathered = gathered.finish(arguments);
        let costs = match grid {
            Some(grid) => costs_by_slice(&log, no, &mut paths, grid)?,
            None => costs(&compressed, &paths),
        };
        Ok((compressed, paths, costs, gathered))
    });
    let threads = threads.collect::<Result<Vec<_>, SpoolError>>()?;
    let sum =
        |count: fn(&CompressedCalls) -> u64| threads.iter().map(|of| count(&of.0)).sum::<u64>();
    let inlined = sum(|of| of.inlined);
    if inlined > 0 {
        builder.warnings.push(format!(
            "The calls have too many different stacks: {inlined} calls count as part of their callers."
        ));
    }
    let omitted = sum(|of| of.omitted_stacks);
    if omitted > 0 {
        builder.warnings.push(format!(
            "The short calls have too many different stacks over time: the {omitted} shortest count as their callers there."
        ));
    }
    let mut paths = CallPaths::with_limit(usize::MAX);
    let numbers: Vec<Vec<CallPathIx>> = threads
        .iter()
        .map(|(_, of_thread, ..)| paths.append(of_thread))
        .collect();
    paths.freeze();
    let stacks = stacks(&mut builder, &paths, functions)?;
    let wall = builder.sample_type(event, Unit::Nanoseconds);
    let calls = builder.sample_type(CALLS_EVENT, Unit::Events);
    let mut run = RunCalls {
        thresholds: options.call_thresholds,
        threads: Vec::with_capacity(threads.len()),
        outliers: Vec::new(),
        waits: Vec::new(),
        arguments: Vec::new(),
    };
    let mut durations = RunDurations::default();
    let threads = log.threads().zip(numbers).zip(threads);
    for ((no, numbers), (compressed, of_thread, costs, gathered)) in threads {
        durations.add(&compressed.durations, &numbers);
        let stack = |path: CallPathIx| stacks[numbers[path.get()].get()];
        let (thread, called) = thread_of(&mut builder, log.thread(no));
        for PathCost {
            path,
            time,
            called,
            value,
        } in costs
        {
            let stack = stack(path);
            let cost = |value| Cost {
                samples: called,
                value,
            };
            let costs = [(wall, cost(value)), (calls, cost(called))];
            for (sample_type, cost) in costs.into_iter().filter(|(_, cost)| !cost.is_zero()) {
                builder.push((thread, sample_type), stack, time, cost);
            }
        }
        let first = first_paths(&of_thread);
        run.arguments.extend(
            gathered
                .into_iter()
                .filter_map(|(function, argument, calls)| {
                    Some(CallsByArgument {
                        thread: run.threads.len() as u32,
                        stack: stack(*first.get(&function)?),
                        argument,
                        calls,
                    })
                }),
        );
        run.threads.push(ThreadCalls {
            thread: called,
            begin: compressed.begin,
            end: compressed.end,
            calls: compressed.calls,
            records: compressed
                .records
                .iter()
                .map(|record| record.map(stack))
                .collect(),
        });
    }
    few(&mut run.arguments);
    builder.calls = Some(run);
    builder.logged = Some(Box::new(LoggedCalls {
        log,
        paths,
        stacks,
        durations,
    }));
    Ok(builder)
}

/// The first path of each function.
fn first_paths(paths: &CallPaths) -> HashMap<TraceFunctionIx, CallPathIx> {
    let mut first = HashMap::new();
    for path in paths.iter() {
        first.entry(paths.function(path)).or_insert(path);
    }
    first
}

/// Minimum number of different stacks that a thread may have, whatever their number is.
const MIN_STACKS_OF_THREAD: usize = 1024;

/// Limit to the calls kept with their arguments over all threads; beyond it they are thinned out.
const MOST_WITH_ARGUMENTS: usize = 1 << 20;

/// Thins out calls with arguments to the number that a run may have.
fn few(arguments: &mut [CallsByArgument<StackIx>]) {
    let all: usize = arguments.iter().map(|of| of.calls.len()).sum();
    if all > MOST_WITH_ARGUMENTS {
        let each = (MOST_WITH_ARGUMENTS / arguments.len()).max(64);
        arguments
            .par_iter_mut()
            .for_each(|of| merge_to_limit(&mut of.calls, each));
    }
}

/// The stack of each path.
fn stacks(
    builder: &mut RecordingBuilder,
    paths: &CallPaths,
    functions: &[LocationIx],
) -> Decoded<Vec<StackIx>> {
    let mut stacks: Vec<StackIx> = Vec::with_capacity(paths.path_count());
    for path in paths.iter() {
        let caller = paths.caller(path).map(|caller| stacks[caller.get()]);
        let function = functions[paths.function(path).get()];
        let stack = builder.call(caller, function);
        stacks.push(stack.map_err(DecodeError::at("its calls"))?);
    }
    Ok(stacks)
}

fn thread_of(builder: &mut RecordingBuilder, thread: &CallThread) -> (ThreadIx, CallThread) {
    let process = builder.process(thread.pid, &thread.program);
    let ix = builder.thread_unchecked(process, thread.tid, &thread.name);
    // The name is cut if it is long.
    let called = CallThread {
        program: builder.processes[process.get()].program.clone(),
        name: builder.threads[ix.get()].name.clone(),
        ..*thread
    };
    (ix, called)
}

/// Self time of a path and the number of its calls.
struct PathCost {
    path: CallPathIx,
    time: Option<Nanoseconds>,
    called: u64,
    value: u64,
}

/// The costs of a thread's paths over the whole run.
fn costs(compressed: &CompressedCalls, paths: &CallPaths) -> Vec<PathCost> {
    let mut own = vec![0; paths.path_count()];
    for (path, of) in compressed.durations.iter() {
        let total = of.durations.total().0;
        // Callers precede callees.
        own[path.get()] = total;
        if let Some(caller) = paths.caller(path) {
            own[caller.get()] = own[caller.get()].saturating_sub(total);
        }
    }
    let paths = compressed.durations.iter();
    let costs = paths.map(|(path, of)| PathCost {
        path,
        time: None,
        called: of.durations.calls(),
        value: own[path.get()],
    });
    costs.collect()
}

/// The costs of a thread's paths by time slice, in order of time.
fn costs_by_slice(
    log: &CallLog,
    thread: TraceThreadIx,
    paths: &mut CallPaths,
    grid: SliceGrid,
) -> Result<Vec<PathCost>, SpoolError> {
    let first = grid.first().0;
    let slice_at = |time| {
        let slice = grid.slice_at(Nanoseconds(time));
        slice.expect("calls are within the log's time").0
    };
    let slice_start = |slice| first.saturating_add(grid.slice_start(slice).0);
    // The samples of all slices together span the whole run.
    let sample_time = |slice| {
        if slice + 1 == grid.count().get() {
            grid.last().0
        } else {
            slice_start(slice)
        }
    };
    let mut costs: BTreeMap<(u32, CallPathIx), (u64, u64)> = BTreeMap::new();
    let mut took = |path: CallPathIx, mut from: u64, to: u64| {
        while from < to {
            let slice = slice_at(from);
            let end = to.min(slice_start(slice + 1));
            costs.entry((slice, path)).or_default().1 += end - from;
            from = end;
        }
    };
    // The open calls with their ends, and the time up to which self time was assigned.
    let mut open: Vec<(CallPathIx, u64)> = Vec::new();
    let mut now = 0;
    let mut called: BTreeMap<(u32, CallPathIx), u64> = BTreeMap::new();
    let mut calls = log.calls(thread);
    for call in calls.by_ref() {
        while open.len() > call.depth as usize
            && let Some((path, end)) = open.pop()
        {
            took(path, now, end);
            now = now.max(end);
        }
        let caller = open.last().map(|&(path, _)| path);
        if let Some(caller) = caller {
            took(caller, now, call.begin.0);
        }
        now = call.begin.0;
        let path = paths.intern(caller, call.function);
        if caller != Some(path) {
            *called.entry((slice_at(now), path)).or_default() += 1;
        }
        open.push((path, call.end().0));
    }
    calls.check()?;
    while let Some((path, end)) = open.pop() {
        took(path, now, end);
        now = now.max(end);
    }
    for (key, called) in called {
        costs.entry(key).or_default().0 = called;
    }
    let costs = costs.into_iter();
    let costs = costs.map(|((slice, path), (called, value))| PathCost {
        path,
        time: Some(Nanoseconds(sample_time(slice))),
        called,
        value,
    });
    Ok(costs.collect())
}

impl From<SpoolError> for DecodeError {
    fn from(error: SpoolError) -> DecodeError {
        DecodeError::unsupported(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Format, Recording};
    use sto_model::FrameKind;
    use sto_model::id::RecordingDigest;
    use sto_model::trace::paths::TraceFunctionIx;
    use sto_model::tree::SliceCount;
    use sto_model::units::Bytes;

    /// Two threads: `main`, which calls `work` twice for 20 of 100 ns each, and a thread that calls
    /// `work` for 10 ns.
    fn recording(options: &ReadOptions) -> Recording {
        let mut builder = RecordingBuilder::default();
        let functions = ["main", "work"]
            .map(|name| builder.function(FrameKind::User, name, "").unwrap())
            .to_vec();
        let mut log = CallLogWriter::new(None);
        let [first, second] = [1, 2].map(|tid| {
            log.intern_thread(CallThread {
                pid: 7,
                program: "app".to_owned(),
                tid,
                name: format!("worker {tid}"),
            })
        });
        let (main, work) = (TraceFunctionIx(0), TraceFunctionIx(1));
        let mut event = |thread, begins, function, time| {
            if begins {
                log.begin(thread, function, Nanoseconds(time)).unwrap()
            } else {
                log.end(thread, Some(function), Nanoseconds(time))
            };
        };
        event(first, true, main, 1000);
        event(first, true, work, 1010);
        event(first, false, work, 1030);
        event(first, true, work, 1060);
        event(first, false, work, 1080);
        event(first, false, main, 1099);
        event(second, true, work, 1050);
        event(second, false, work, 1060);
        let built = finish(builder, log, &functions, options).unwrap();
        built.finish(
            Format::Folded,
            RecordingDigest::hash_bytes(b"calls"),
            Bytes(0),
        )
    }

    /// Thread, event, stack depth, time, samples and value of a sample.
    type Row = (u32, &'static str, usize, Option<u64>, u64, u64);

    fn rows(recording: &Recording) -> Vec<Row> {
        let rows = recording.samples.iter().map(|sample| {
            let event = &recording.sample_types[sample.sample_type.get()].event;
            (
                recording.threads[sample.thread.get()].tid,
                ["wall", "calls"]
                    .into_iter()
                    .find(|of| of == event)
                    .unwrap(),
                recording.stacks.depth(sample.stack),
                sample.time.map(|time| time.0),
                sample.cost.samples,
                sample.cost.value,
            )
        });
        let mut rows: Vec<Row> = rows.collect();
        rows.sort_unstable();
        rows
    }

    #[test]
    fn calls_become_samples_of_self_time_and_count() {
        let recording = recording(&ReadOptions::default());
        assert_eq!(
            rows(&recording),
            [
                (1, "calls", 1, None, 1, 1),
                (1, "calls", 2, None, 2, 2),
                (1, "wall", 1, None, 1, 59),
                (1, "wall", 2, None, 2, 40),
                (2, "calls", 1, None, 1, 1),
                (2, "wall", 1, None, 1, 10),
            ]
        );
        assert_eq!(recording.origin.duration, Some(Nanoseconds(99)));
        let calls = recording.calls.as_ref().unwrap();
        let names: Vec<&str> = calls.threads.iter().map(|of| &*of.thread.name).collect();
        assert_eq!(names, ["worker 1", "worker 2"]);
        assert_eq!(calls.threads[0].calls, 3);
        assert_eq!(calls.threads[0].record_count(), 3);
    }

    #[test]
    fn divides_time_of_calls_among_slices() {
        let recording = recording(&ReadOptions {
            call_slices: SliceCount::new(4),
            ..ReadOptions::default()
        });
        assert_eq!(
            rows(&recording),
            [
                (1, "calls", 1, Some(1000), 1, 1),
                (1, "calls", 2, Some(1000), 1, 1),
                (1, "calls", 2, Some(1050), 1, 1),
                (1, "wall", 1, Some(1000), 1, 10),
                (1, "wall", 1, Some(1025), 0, 20),
                (1, "wall", 1, Some(1050), 0, 10),
                (1, "wall", 1, Some(1099), 0, 19),
                (1, "wall", 2, Some(1000), 1, 15),
                (1, "wall", 2, Some(1025), 0, 5),
                (1, "wall", 2, Some(1050), 1, 15),
                (1, "wall", 2, Some(1099), 0, 5),
                (2, "calls", 1, Some(1050), 1, 1),
                (2, "wall", 1, Some(1050), 1, 10),
            ]
        );
        assert_eq!(
            recording.time_range(),
            Some((Nanoseconds(1000), Nanoseconds(1099)))
        );
    }

    #[test]
    fn call_as_long_as_time_can_be_is_divided_among_slices() {
        let mut builder = RecordingBuilder::default();
        let function = builder.function(FrameKind::User, "main", "").unwrap();
        let mut log = CallLogWriter::new(None);
        let thread = log.intern_thread(CallThread {
            pid: 7,
            program: "app".to_owned(),
            tid: 7,
            name: "app".to_owned(),
        });
        log.begin(thread, TraceFunctionIx(0), Nanoseconds(0))
            .unwrap();
        log.end(thread, Some(TraceFunctionIx(0)), Nanoseconds(u64::MAX));
        let options = ReadOptions {
            call_slices: SliceCount::new(3),
            ..ReadOptions::default()
        };
        let built = finish(builder, log, &[function], &options).unwrap();
        let digest = RecordingDigest::hash_bytes(b"calls");
        let recording = built.finish(Format::Folded, digest, Bytes(0));
        let third = u64::MAX / 3;
        assert_eq!(
            rows(&recording),
            [
                (7, "calls", 1, Some(0), 1, 1),
                (7, "wall", 1, Some(0), 1, third + 1),
                (7, "wall", 1, Some(third + 1), 0, third),
                (7, "wall", 1, Some(u64::MAX), 0, third - 1),
            ]
        );
    }
}
