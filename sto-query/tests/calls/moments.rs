//! Calls of unusual duration, and waits.

use super::stacks;
use crate::views::{assert_fits, assert_golden, folded, view_of};
use sto_core::trace::{
    CallRecord, CallThread, CallThresholds, LongCall, Outlier, RunCalls, ThreadActivity,
    ThreadCalls, Wait,
};
use sto_core::tree::NodeIx;
use sto_core::units::{Nanoseconds, SampleType, Unit};
use sto_query::internal::calls::{outliers, waits};
use sto_query::render::calls as render;
use sto_query::results::{CallTrace, json};
use sto_query::text::Style;

/// Three workers and an idle thread: one worker holds a lock during a slow read, and the others wait for it.
fn pool() -> CallTrace {
    let time = folded(
        "worker;answer;lookup;read_block 600\nworker;answer;lookup;lock_cache 400\nworker;answer 50\n\
         flusher;wait_until_dirty;pthread_cond_wait 900",
        100,
    );
    let calls = folded(
        "worker;answer;lookup;read_block 40\nworker;answer;lookup;lock_cache 40\nworker;answer 40\n\
         flusher;wait_until_dirty 9\nflusher;wait_until_dirty;pthread_cond_wait 9",
        1,
    );
    let of = |event: &str, unit| SampleType {
        event: event.to_owned(),
        unit,
    };
    let wall = (of("wall", Unit::Nanoseconds), &time);
    let view = view_of("v1", &[vec![wall, (of("calls", Unit::Events), &calls)]]);
    let stacks = stacks(&view);
    let node = |path: &str| stacks[path];
    let call = |path, begin, end| LongCall {
        stack: node(path),
        begin: Nanoseconds(begin),
        end: Nanoseconds(end),
    };
    let thread = |name: &str, tid, root| ThreadCalls {
        thread: CallThread {
            pid: 7,
            program: "demo".to_owned(),
            tid,
            name: name.to_owned(),
        },
        begin: Nanoseconds(1_000),
        end: Nanoseconds(101_000),
        calls: 40,
        records: vec![CallRecord::Call(call(root, 1_000, 101_000))],
    };
    let (read, lock) = (
        "worker;answer;lookup;read_block",
        "worker;answer;lookup;lock_cache",
    );
    let wait = "flusher;wait_until_dirty";
    let did = |thread, path: Option<&str>, time| ThreadActivity {
        thread,
        stack: path.map(node),
        time: Nanoseconds(time),
    };
    let outlier =
        |thread, call: LongCall<NodeIx>, typical, meanwhile: &[ThreadActivity<NodeIx>]| Outlier {
            thread,
            call,
            typical: Nanoseconds(typical),
            calls: 40,
            activities: meanwhile.to_vec(),
        };
    let waited = |thread, call: LongCall<NodeIx>, ended_by| Wait {
        thread,
        call,
        ended_by,
    };
    let blocked = [
        did(0, Some(read), 50_000),
        did(1, Some(lock), 49_000),
        did(1, Some("worker;answer"), 1_000),
        did(2, Some(lock), 47_000),
        did(
            3,
            Some("flusher;wait_until_dirty;pthread_cond_wait"),
            50_000,
        ),
    ];
    let calls = RunCalls {
        arguments: Vec::new(),
        thresholds: CallThresholds::default(),
        threads: vec![
            thread("worker", 8, "worker"),
            thread("worker", 9, "worker"),
            thread("worker", 10, "worker"),
            thread("flusher", 11, "flusher"),
        ],
        outliers: vec![
            outlier(0, call(read, 20_000, 70_000), 200, &blocked),
            outlier(
                2,
                call("worker;answer", 80_000, 90_000),
                0,
                &[did(0, None, 9_000)],
            ),
            outlier(1, call(read, 75_000, 79_000), 200, &[]),
        ],
        waits: vec![
            waited(
                3,
                call(wait, 1_000, 91_000),
                Some((2, call("worker;answer", 80_000, 91_000))),
            ),
            waited(
                1,
                call(lock, 21_000, 70_000),
                Some((0, call(read, 20_000, 70_000))),
            ),
            waited(2, call(lock, 23_000, 70_000), None),
        ],
    };
    CallTrace::new(view, 1, calls)
}

#[test]
fn outlier_lists_threads_that_did_not_wait_first() {
    let found = outliers(&pool(), None);
    let [first, rare, second] = &found.outliers[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(
        first.call.frames.join(";"),
        "worker;answer;lookup;read_block"
    );
    assert_eq!(first.call.thread, "worker (8)");
    assert_eq!(
        (first.call.start_ns, first.call.duration_ns),
        (19_000, 50_000)
    );
    assert_eq!((first.typical_ns, first.lost_ns), (200, 49_800));
    assert_eq!((rare.typical_ns, rare.lost_ns), (0, 10_000));
    assert_eq!(second.lost_ns, 3_800);
    assert_eq!(first.within.len(), 1);
    let meanwhile = first.meanwhile.iter();
    let meanwhile: Vec<_> = meanwhile
        .map(|of| (&*of.thread, of.waited, of.stacks[0].time_ns))
        .collect();
    assert_eq!(
        meanwhile,
        [
            ("flusher", true, 50_000),
            ("worker (9)", true, 49_000),
            ("worker (10)", true, 47_000)
        ]
    );
    assert!(!rare.meanwhile[0].waited && rare.meanwhile[0].stacks[0].frames.is_empty());
}

#[test]
fn limit_of_outliers_counts_stacks() {
    let found = outliers(&pool(), Some(1));
    assert_eq!((found.outliers.len(), found.omitted), (2, 1));
}

#[test]
fn waits_are_summed_by_function_and_caller() {
    let found = waits(&pool(), None);
    let functions = found.functions.iter();
    let functions: Vec<_> = functions
        .map(|of| {
            (
                &*of.function,
                of.caller.as_deref(),
                of.calls,
                of.total_ns,
                of.longest_ns,
            )
        })
        .collect();
    assert_eq!(
        functions,
        [
            ("wait_until_dirty", Some("flusher"), 9, 90_000, 90_000),
            ("lock_cache", Some("lookup"), 40, 40_000, 49_000),
        ]
    );
    assert_eq!((found.waited_ns, found.thread_time_ns), (130_000, 400_000));
    let by = found
        .longest
        .iter()
        .map(|of| of.ended_during.as_ref().map(|by| &*by.function));
    assert_eq!(
        by.collect::<Vec<_>>(),
        [Some("answer"), Some("read_block"), None]
    );
    let limited = waits(&pool(), Some(1));
    assert_eq!((limited.omitted_functions, limited.omitted_longest), (1, 2));
    assert_eq!(limited.waited_ns, 130_000);
}

#[test]
fn outliers_and_waits_are_sorted_by_importance() {
    let wide = Style::default();
    assert_golden(
        "outliers.txt",
        &render::outliers::text(&outliers(&pool(), None), wide),
    );
    assert_golden("outliers.json", &json(&outliers(&pool(), None)).unwrap());
    assert_golden(
        "waits.txt",
        &render::waits::text(&waits(&pool(), None), wide),
    );
    assert_golden("waits.json", &json(&waits(&pool(), None)).unwrap());
    assert_fits("outliers", |style| {
        render::outliers::text(&outliers(&pool(), Some(1)), style)
    });
    assert_fits("waits", |style| {
        render::waits::text(&waits(&pool(), Some(2)), style)
    });
}

#[test]
fn reports_absence_of_outliers_and_waits() {
    let mut run = pool();
    run.calls.outliers.clear();
    run.calls.waits.clear();
    run.view.runs = vec![Vec::new()];
    let text = render::outliers::text(&outliers(&run, None), Style::default());
    assert_eq!(
        text,
        "demo@v1: no call took unusually long, of 160 calls in 100 µs\n"
    );
}
