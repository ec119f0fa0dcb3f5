//! Tests of the rules by which events become nested calls.

use super::spool::Spool;
use super::*;
use crate::trace::CallThread;
use proptest::prelude::*;

fn thread(tid: u32) -> CallThread {
    CallThread {
        pid: 1,
        program: "app".to_owned(),
        tid,
        name: String::new(),
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Begin(u32, u64),
    End(u32, u64),
    /// The end of the innermost call.
    EndInnermost(u64),
    Lost(LostEvents),
}
use Event::{Begin, End, EndInnermost};

fn write_log(mut writer: CallLogWriter, events: &[Event]) -> (CallLog, Vec<String>) {
    let thread = writer.intern_thread(thread(1));
    for &event in events {
        match event {
            Begin(function, time) => writer
                .begin(thread, TraceFunctionIx(function), Nanoseconds(time))
                .unwrap(),
            End(function, time) => {
                writer.end(thread, Some(TraceFunctionIx(function)), Nanoseconds(time));
            }
            EndInnermost(time) => writer.end(thread, None, Nanoseconds(time)),
            Event::Lost(lost) => writer.record_loss(thread, lost),
        }
    }
    writer.finish().unwrap()
}

type Row = (u32, u32, u64, u64);

/// Depth, function, begin and duration of each call of a thread.
fn rows(log: &CallLog, thread: TraceThreadIx) -> Vec<Row> {
    let mut calls = log.calls(thread);
    let rows = calls
        .by_ref()
        .map(|call| (call.depth, call.function.0, call.begin.0, call.duration.0))
        .collect();
    calls.check().unwrap();
    rows
}

/// The calls that events become, and the warnings.
fn calls_of(events: &[Event]) -> (Vec<Row>, Vec<String>) {
    let (log, warnings) = write_log(CallLogWriter::new(None), events);
    (rows(&log, TraceThreadIx(0)), warnings)
}

#[test]
fn calls_are_in_preorder() {
    let events = [
        Begin(0, 10),
        Begin(1, 20),
        End(1, 30),
        Begin(2, 30),
        EndInnermost(35),
        End(0, 40),
        Begin(1, 50),
        End(1, 50),
    ];
    let (calls, warnings) = calls_of(&events);
    assert_eq!(
        calls,
        [(0, 0, 10, 30), (1, 1, 20, 10), (1, 2, 30, 5), (0, 1, 50, 0)]
    );
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn backward_steps_of_the_clock_count_as_no_time() {
    let (calls, warnings) = calls_of(&[Begin(0, 100), Begin(1, 90), End(1, 70), End(0, 110)]);
    assert_eq!(calls, [(0, 0, 100, 10), (1, 1, 100, 0)]);
    assert_eq!(
        warnings,
        [
            "The clock of a thread went backwards 2 times, by up to 30 ns; these steps are read as no time."
        ]
    );
}

#[test]
fn ignores_ends_without_a_begin() {
    let (calls, warnings) = calls_of(&[
        End(3, 5),
        EndInnermost(6),
        Begin(0, 10),
        End(1, 15),
        End(0, 20),
    ]);
    assert_eq!(calls, [(0, 0, 10, 10)]);
    assert_eq!(warnings, ["3 calls ended without a begin; left out."]);
}

#[test]
fn end_of_a_caller_ends_its_callees() {
    let (calls, warnings) = calls_of(&[
        Begin(0, 0),
        Begin(1, 1),
        Begin(2, 2),
        End(0, 9),
        EndInnermost(9),
    ]);
    assert_eq!(calls, [(0, 0, 0, 9), (1, 1, 1, 8), (2, 2, 2, 7)]);
    assert_eq!(
        warnings,
        [
            "1 call ended without a begin; left out.",
            "2 calls had not ended when a caller did; they end with the caller."
        ]
    );
}

#[test]
fn unended_calls_end_at_the_last_event_of_their_thread() {
    let (calls, warnings) = calls_of(&[Begin(0, 0), Begin(1, 1), Begin(2, 2), End(2, 7)]);
    assert_eq!(calls, [(0, 0, 0, 7), (1, 1, 1, 6), (2, 2, 2, 5)]);
    assert_eq!(
        warnings,
        ["2 calls did not end; they end at the last event of their thread."]
    );
}

#[test]
fn irregular_events_after_a_loss_are_counted_separately() {
    let events = [
        Begin(0, 0),
        Begin(1, 1),
        Event::Lost(LostEvents::Count(12)),
        // The end of 1 and the begin of 2 were lost.
        End(2, 5),
        Begin(3, 6),
        End(3, 7),
        End(0, 9),
    ];
    let (calls, warnings) = calls_of(&events);
    assert_eq!(calls, [(0, 0, 0, 9), (1, 1, 1, 8), (2, 3, 6, 1)]);
    assert_eq!(
        warnings,
        ["At least 12 events were lost; repaired 2 calls whose begin or end is missing."]
    );
    let (_, warnings) = calls_of(&[Begin(0, 0), Event::Lost(LostEvents::Unknown), End(0, 1)]);
    assert_eq!(warnings, ["Events were lost once."]);
}

#[test]
fn finds_ends_of_outer_calls_fast() {
    let mut events: Vec<Event> = (0..10_000).map(|ix| Begin(ix, u64::from(ix))).collect();
    // These functions are not open. Searching all open calls for each would take minutes.
    events.extend((0..1_000_000).map(|ix| End(20_000 + ix, 10_000)));
    events.extend([End(7, 10_001), Begin(7, 10_002), End(6, 10_003)]);
    let (calls, _) = calls_of(&events);
    assert_eq!(calls.len(), 10_001);
    assert_eq!(calls[7], (7, 7, 7, 9994));
    assert_eq!(calls[10_000], (7, 7, 10_002, 1));
    assert_eq!(calls[6], (6, 6, 6, 9997));
    assert_eq!(calls[5], (5, 5, 5, 9998));
}

#[test]
fn threads_are_ordered_by_their_first_call() {
    let mut writer = CallLogWriter::new(None);
    let [late, early, none] = [7, 9, 8].map(|tid| writer.intern_thread(thread(tid)));
    assert_eq!(writer.intern_thread(thread(9)), early);
    let f = TraceFunctionIx(0);
    writer.begin(late, f, Nanoseconds(5)).unwrap();
    writer.begin(early, f, Nanoseconds(1)).unwrap();
    writer.end(early, None, Nanoseconds(2));
    writer.end(none, None, Nanoseconds(0));
    let (log, _) = writer.finish().unwrap();
    let tids: Vec<u32> = log.threads().map(|no| log.thread(no).tid).collect();
    assert_eq!(tids, [9, 7]);
    assert_eq!(log.time_range(), Some((Nanoseconds(1), Nanoseconds(5))));
    assert_eq!(log.calls(TraceThreadIx(0)).count(), 1);
}

/// One outermost call with calls in it that each have many callees.
fn loops(calls: u32) -> Vec<Event> {
    let mut events = vec![Begin(0, 0)];
    let time = |ix: u32| u64::from(ix) * 100;
    for ix in 1..=calls {
        let outer = ix % 1000 == 1;
        if outer && ix > 1 {
            events.push(End(1, time(ix)));
        }
        if outer {
            events.push(Begin(1, time(ix)));
        }
        events.extend([Begin(2 + ix % 7, time(ix) + 3), EndInnermost(time(ix) + 90)]);
    }
    events
}

#[test]
fn reads_the_same_calls_from_file_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let events = loops(100_000);
    let spool = Spool::with_max_in_memory(Some(folder.path()), 1 << 17);
    let in_file = write_log(CallLogWriter::with_spool(spool), &events);
    let in_memory = write_log(CallLogWriter::new(None), &events);
    let calls = rows(&in_file.0, TraceThreadIx(0));
    assert_eq!(calls.len(), 100_101);
    assert!(calls == rows(&in_memory.0, TraceThreadIx(0)));
    assert_eq!(in_file.1, in_memory.1);
    assert_eq!(calls[0], (0, 0, 0, 10_000_090));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "the temporary file has no name");
}

#[test]
fn write_errors_name_the_folder() {
    let spool = Spool::with_max_in_memory(Some("/proc/nowhere".as_ref()), 0);
    let mut writer = CallLogWriter::with_spool(spool);
    let thread = writer.intern_thread(thread(1));
    let events = (0..100_000).try_for_each(|ix| {
        writer.begin(thread, TraceFunctionIx(0), Nanoseconds(ix))?;
        writer.end(thread, None, Nanoseconds(ix));
        Ok::<(), SpoolError>(())
    });
    let error = events.unwrap_err().to_string();
    assert!(error.contains("/proc/nowhere"), "{error}");
}

/// A simple implementation of the rules, in memory.
fn reference_calls(events: &[Event]) -> Vec<Row> {
    let mut calls: Vec<Row> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut now = 0;
    for &event in events {
        let (Begin(_, time) | End(_, time) | EndInnermost(time)) = event else {
            continue;
        };
        now = time.max(now);
        let innermost = open.len().checked_sub(1);
        let ended = match event {
            Begin(function, _) => {
                open.push(calls.len());
                calls.push((open.len() as u32 - 1, function, now, 0));
                None
            }
            End(function, _) => open.iter().rposition(|&call| calls[call].1 == function),
            _ => innermost,
        };
        for call in open.drain(ended.unwrap_or(open.len())..) {
            calls[call].3 = now - calls[call].2;
        }
    }
    for call in open {
        calls[call].3 = now - calls[call].2;
    }
    calls
}

/// Asserts that each call lies within its caller, and after the caller's previous callee.
fn assert_nested(calls: &[Row]) {
    // Begin and end of the last call at each depth.
    let mut open: Vec<(u64, u64)> = Vec::new();
    for &(depth, _, begin, duration) in calls {
        assert!(depth as usize <= open.len());
        let before = open.get(depth as usize).map_or(0, |&(_, end)| end);
        open.truncate(depth as usize);
        assert!(before <= begin);
        if let Some(&(caller_begin, caller_end)) = open.last() {
            assert!(caller_begin <= begin && begin + duration <= caller_end);
        }
        open.push((begin, begin + duration));
    }
}

/// A log whose chunks are as small as with 20,000 threads. Few of them fit in memory.
fn writer_with_small_chunks(folder: &std::path::Path) -> CallLogWriter {
    let spool = Spool::with_max_in_memory(Some(folder), 4096);
    (0..20_000).for_each(|_| spool.add_thread());
    CallLogWriter::with_spool(spool)
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = (0..10_u8, 0..5_u32, 0..30_u64);
    prop::collection::vec(event, 0..4000).prop_map(|events| {
        let mut now = 0_u64;
        let event = |(kind, function, time)| {
            // One of ten events goes backwards.
            now = match kind {
                0 => now.saturating_sub(time),
                _ => now + time,
            };
            match kind {
                0..6 => Begin(function, now),
                6 | 7 => End(function, now),
                _ => EndInnermost(now),
            }
        };
        events.into_iter().map(event).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn calls_of_any_events_nest(events in events()) {
        let folder = tempfile::tempdir().unwrap();
        let expected = reference_calls(&events);
        assert_nested(&expected);
        for writer in [CallLogWriter::new(None), writer_with_small_chunks(folder.path())] {
            let (log, _) = write_log(writer, &events);
            if expected.is_empty() {
                assert_eq!(log.threads().len(), 0);
            } else {
                assert!(rows(&log, TraceThreadIx(0)) == expected);
            }
        }
    }
}
