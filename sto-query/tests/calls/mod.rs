//! The calls of each thread of a run over time.

mod moments;
mod page;
mod tasks;
mod zoom;

use crate::views::{assert_fits, assert_golden, folded, view};
use std::collections::HashMap;
use sto_core::trace::{
    CallRecord, CallThread, CallThresholds, CalledStack, Expression, LongCall, Outlier, RunCalls,
    ThreadCalls, Threshold,
};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;
use sto_query::internal::calls::{call_timeline, prominence};
use sto_query::render::calls::text;
use sto_query::results::{CallTrace, View, json};
use sto_query::text::Style;

/// A hand-written run of a server whose worker waits while another thread holds a lock.
fn server() -> CallTrace {
    let view = view(
        "v1",
        &folded(
            "serve;handle;parse 1\nserve;handle;reply 1\nserve;wait 1\nwork;lock 1\nwork;step 1",
            1000,
        ),
    );
    let stacks = stacks(&view);
    let node = |path: &str| stacks[path];
    let call = |path, begin, end| LongCall {
        stack: node(path),
        begin: Nanoseconds(begin),
        end: Nanoseconds(end),
    };
    let expression = |begin, end, stacks: &[(&str, u64, u64)]| {
        CallRecord::Expression(Expression {
            begin: Nanoseconds(begin),
            end: Nanoseconds(end),
            stacks: stacks
                .iter()
                .map(|&(path, calls, duration)| CalledStack {
                    stack: node(path),
                    calls,
                    duration: Nanoseconds(duration),
                })
                .collect(),
        })
    };
    let thread = |name: &str, tid, calls, records: Vec<CallRecord<NodeIx>>| ThreadCalls {
        thread: CallThread {
            pid: 7,
            program: "demo".to_owned(),
            tid,
            name: name.to_owned(),
        },
        begin: Nanoseconds(1_000),
        end: Nanoseconds(101_000),
        calls,
        records,
    };
    let handled = [
        ("serve;handle", 40, 18_000),
        ("serve;handle;parse", 40, 6_000),
        ("serve;handle;reply", 80, 9_000),
    ];
    let calls = RunCalls {
        arguments: Vec::new(),
        thresholds: CallThresholds {
            call_gap: Threshold::Time(Nanoseconds(2_000)),
            ..CallThresholds::default()
        },
        threads: vec![
            thread(
                "server",
                8,
                203,
                vec![
                    CallRecord::Call(call("serve", 1_000, 101_000)),
                    expression(2_000, 21_000, &handled),
                    CallRecord::Call(call("serve;wait", 25_000, 75_000)),
                    expression(76_000, 78_000, &[("serve;wait", 2, 1_500)]),
                    // At the very end of its caller, with zero length.
                    expression(101_000, 101_000, &[("serve;wait", 1, 0)]),
                ],
            ),
            thread(
                "worker",
                9,
                13,
                vec![
                    expression(
                        1_000,
                        20_000,
                        &[("work", 10, 15_000), ("work;step", 1, 9_000)],
                    ),
                    CallRecord::Call(call("work", 30_000, 101_000)),
                    CallRecord::Call(call("work;lock", 30_000, 76_000)),
                ],
            ),
            thread(
                "worker",
                10,
                1,
                vec![CallRecord::Call(call("work", 1_000, 101_000))],
            ),
        ],
        outliers: vec![Outlier {
            thread: 0,
            call: call("serve;wait", 25_000, 75_000),
            typical: Nanoseconds(600),
            calls: 4,
            activities: Vec::new(),
        }],
        waits: Vec::new(),
    };
    CallTrace::new(view, 1, calls)
}

/// A thread with a long call, an expression of 200 stacks, and a short one of these stacks: `p` takes 43 %, and `x` in it
/// 21 %.
fn crowded() -> CallTrace {
    let short = [
        ("e", 100),
        ("e;p", 43),
        ("e;p;y", 22),
        ("e;p;x", 21),
        ("e;q", 57),
    ];
    let mut many: Vec<(String, u64)> = vec![("m".to_owned(), 30_000)];
    many.extend((0..200).map(|ix| (format!("m;f{ix}"), 150 - ix / 2)));
    let paths = many.iter().map(|(path, _)| &**path);
    let paths = paths
        .chain(short.iter().map(|(path, _)| *path))
        .chain(["long"]);
    let text: Vec<String> = paths.map(|path| format!("{path} 1")).collect();
    let view = view("v1", &folded(text.join("\n").leak(), 1000));
    let stacks = stacks(&view);
    let expression = |begin, end, of: &[(&str, u64)]| {
        let stacks = of.iter().map(|&(path, duration)| CalledStack {
            stack: stacks[path],
            calls: 1,
            duration: Nanoseconds(duration),
        });
        CallRecord::Expression(Expression {
            begin: Nanoseconds(begin),
            end: Nanoseconds(end),
            stacks: stacks.collect(),
        })
    };
    let many: Vec<(&str, u64)> = many.iter().map(|(path, time)| (&**path, *time)).collect();
    let long = LongCall {
        stack: stacks["long"],
        begin: Nanoseconds(40_000),
        end: Nanoseconds(100_000),
    };
    let thread = ThreadCalls {
        thread: CallThread {
            pid: 7,
            program: "demo".to_owned(),
            tid: 8,
            name: "main".to_owned(),
        },
        begin: Nanoseconds(1_000),
        end: Nanoseconds(100_000),
        calls: 207,
        records: vec![
            expression(1_000, 31_000, &many),
            expression(32_000, 32_100, &short),
            CallRecord::Call(long),
        ],
    };
    let calls = RunCalls {
        arguments: Vec::new(),
        thresholds: CallThresholds::default(),
        threads: vec![thread],
        outliers: Vec::new(),
        waits: Vec::new(),
    };
    CallTrace::new(view, 1, calls)
}

/// Every stack of a view by its path.
fn stacks(view: &View) -> HashMap<String, NodeIx> {
    let mut paths: HashMap<String, NodeIx> = HashMap::new();
    let mut of: Vec<String> = Vec::new();
    for node in view.tree.nodes() {
        let symbol = view.frames.frame(view.tree.frame(node)).symbol;
        let path = match view.tree.parent(node) {
            Some(caller) => format!("{};{symbol}", of[caller.get()]),
            None => symbol.to_owned(),
        };
        paths.insert(path.clone(), node);
        of.push(path);
    }
    paths
}

#[test]
fn records_nest_and_gaps_separate_siblings() {
    let timeline = call_timeline(&server(), None);
    assert_eq!((timeline.calls, timeline.records), (217, 12));
    assert_eq!(timeline.duration_ns, 100_000);
    let [server, worker, other] = &timeline.threads[..] else {
        panic!("{timeline:#?}");
    };
    let names = [&server.name, &worker.name, &other.name];
    assert_eq!(names, ["server", "worker (9)", "worker (10)"]);

    // 100 µs less 19 in an expression, 50 in a call, and 2 in another expression.
    let own: Vec<u64> = server.long_calls.iter().map(|call| call.self_ns).collect();
    assert_eq!(own, [29_000, 50_000]);
    let gaps = server.gaps.iter();
    let gaps: Vec<_> = gaps
        .map(|gap| (gap.start_ns, gap.end_ns, gap.frames.root_first().join(";")))
        .collect();
    let within = |begin, end| (begin, end, "serve".to_owned());
    assert_eq!(gaps, [within(20_000, 24_000), within(77_000, 100_000)]);
    let handled = &server.expressions[0];
    assert_eq!((handled.start_ns, handled.end_ns), (1_000, 20_000));
    let own = handled
        .stacks
        .iter()
        .map(|of| (of.frames.root_first().join(";"), of.self_ns));
    let own: Vec<_> = own.collect();
    let expected = [
        ("serve;handle", 3_000),
        ("serve;handle;parse", 6_000),
        ("serve;handle;reply", 9_000),
    ];
    assert_eq!(own, expected.map(|(stack, own)| (stack.to_owned(), own)));

    let outermost = &worker.gaps[0];
    assert_eq!((outermost.start_ns, outermost.end_ns), (19_000, 29_000));
    assert_eq!(
        (worker.gaps.len(), outermost.frames.root_first().len()),
        (1, 0)
    );
    assert!(other.gaps.is_empty() && other.expressions.is_empty());
    assert_eq!(
        call_timeline(&server_without_threads(), None).duration_ns,
        0
    );
}

fn server_without_threads() -> CallTrace {
    let mut run = server();
    run.calls.threads.clear();
    run.calls.outliers.clear();
    run
}

#[test]
fn prominent_functions_have_most_records_times_threads() {
    let found = prominence(&server());
    let found = found
        .iter()
        .map(|of| (&*of.name, of.appearances, of.threads));
    let found: Vec<_> = found.collect();
    let expected = [
        ("work", 3, 2),
        ("wait", 3, 1),
        ("handle", 1, 1),
        ("lock", 1, 1),
        ("parse", 1, 1),
        ("reply", 1, 1),
        ("serve", 1, 1),
        ("step", 1, 1),
    ];
    assert_eq!(found, expected);
}

#[test]
fn text_draws_threads_and_lists_longest_functions() {
    let timeline = call_timeline(&server(), None);
    assert_golden("calls.txt", &text(&timeline, false, Style::default()));
    assert_golden("calls.json", &json(&timeline).unwrap());
    let narrow = Style {
        width: Some(60),
        ..Style::default()
    };
    let one = call_timeline(&server(), Some(1));
    assert_golden("calls-narrow.txt", &text(&one, true, narrow));
    assert_fits("calls", |style| text(&timeline, true, style));
    let nothing = call_timeline(&server_without_threads(), None);
    assert_eq!(
        text(&nothing, false, Style::default()),
        "demo@v1: 0 threads made 0 calls in 0 s\n"
    );
}
