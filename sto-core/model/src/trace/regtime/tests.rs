//! Tests of RegTime: the paper's example, deviations from the paper, and properties of all traces.

use super::super::paths::TraceFunctionIx;
use super::super::thresholds::Threshold;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A call of a test trace: function, begin, end, callees.
#[derive(Debug)]
struct CallTree(u8, u64, u64, Vec<CallTree>);

fn call(function: char, begin: u64, end: u64) -> CallTree {
    CallTree(function as u8, begin, end, Vec::new())
}

fn calls(function: char, begin: u64, end: u64, callees: Vec<CallTree>) -> CallTree {
    CallTree(function as u8, begin, end, callees)
}

fn preorder(trees: &[CallTree], depth: u32) -> Vec<Call> {
    let with_callees = |CallTree(function, begin, end, callees): &CallTree| {
        let this = Call {
            arguments: None,
            depth,
            function: TraceFunctionIx(u32::from(*function)),
            begin: Nanoseconds(*begin),
            duration: Nanoseconds(end - begin),
        };
        [vec![this], preorder(callees, depth + 1)].concat()
    };
    trees.iter().flat_map(with_callees).collect()
}

fn thresholds(call_duration: u64, call_gap: u64, total_time: u64) -> CallThresholds {
    CallThresholds {
        call_duration: Threshold::Time(Nanoseconds(call_duration)),
        call_gap: Threshold::Time(Nanoseconds(call_gap)),
        total_time: Threshold::Time(Nanoseconds(total_time)),
    }
}

/// Thresholds with which only long calls end an expression.
fn only_long() -> CallThresholds {
    thresholds(100, u64::MAX, u64::MAX)
}

/// Formats each record: `call a>b 0-200`, `expression 0-90: a 2x 30, a>b 1x 4`.
fn records(trace: &[CallTree], thresholds: &CallThresholds) -> Vec<String> {
    records_up_to(CallPaths::default(), trace, thresholds)
}

fn records_up_to(
    mut paths: CallPaths,
    trace: &[CallTree],
    thresholds: &CallThresholds,
) -> Vec<String> {
    let calls = preorder(trace, 0);
    let compressed = compress_calls(calls, thresholds, Nanoseconds(0), &mut paths);
    let name = |path| name(&paths, path);
    let format_stack = |called: &CalledStack<CallPathIx>| {
        let CalledStack {
            stack,
            calls,
            duration,
        } = called;
        format!("{} {calls}x {}", name(*stack), duration.0)
    };
    let format_record = |record: &CallRecord<CallPathIx>| match record {
        CallRecord::Call(LongCall { stack, begin, end }) => {
            format!("call {} {}-{}", name(*stack), begin.0, end.0)
        }
        CallRecord::Expression(Expression { begin, end, stacks }) => {
            let stacks: Vec<String> = stacks.iter().map(format_stack).collect();
            format!("expression {}-{}: {}", begin.0, end.0, stacks.join(", "))
        }
    };
    compressed.records.iter().map(format_record).collect()
}

fn name(paths: &CallPaths, path: CallPathIx) -> String {
    let function = char::from(paths.function(path).0 as u8);
    match paths.caller(path) {
        Some(caller) => format!("{}>{function}", name(paths, caller)),
        None => function.to_string(),
    }
}

/// Figure 2 of the paper.
#[test]
fn merges_equal_stacks_in_the_order_of_their_first_calls() {
    let trace = [
        call('A', 0, 2),
        calls('B', 3, 9, vec![call('C', 4, 6)]),
        calls('B', 10, 20, vec![call('C', 11, 14), call('D', 15, 19)]),
        call('A', 21, 25),
        calls('B', 26, 34, vec![call('D', 27, 28), call('C', 29, 33)]),
    ];
    assert_eq!(
        records(&trace, &only_long()),
        ["expression 0-34: A 2x 6, B 3x 24, B>C 3x 9, B>D 2x 5"]
    );
}

#[test]
fn callees_of_a_long_call_are_a_separate_sequence() {
    let callees = vec![
        call('b', 21, 22),
        call('c', 23, 124),
        call('b', 125, 126),
        call('b', 127, 129),
    ];
    let trace = [
        call('a', 0, 20),
        calls('a', 20, 130, callees),
        call('a', 131, 133),
    ];
    assert_eq!(
        records(&trace, &only_long()),
        [
            "expression 0-20: a 1x 20",
            "call a 20-130",
            "expression 21-22: a>b 1x 1",
            "call a>c 23-124",
            "expression 125-129: a>b 2x 3",
            "expression 131-133: a 1x 2",
        ]
    );
}

#[test]
fn call_as_long_as_the_threshold_is_short() {
    assert_eq!(
        records(&[call('a', 0, 100)], &only_long()),
        ["expression 0-100: a 1x 100"]
    );
    assert_eq!(
        records(&[call('a', 0, 101)], &only_long()),
        ["call a 0-101"]
    );
}

#[test]
fn gap_as_long_as_the_threshold_does_not_end_an_expression() {
    let trace = [call('a', 0, 5), call('a', 15, 16), call('b', 27, 28)];
    assert_eq!(
        records(&trace, &thresholds(100, 10, u64::MAX)),
        ["expression 0-16: a 2x 6", "expression 27-28: b 1x 1"]
    );
}

/// Algorithm 2 uses the time since the end of the previous record, which would be `b`.
#[test]
fn time_after_the_last_callee_of_a_short_call_is_no_gap() {
    let trace = [
        calls('a', 0, 50, vec![call('b', 1, 2), call('b', 40, 41)]),
        call('c', 52, 53),
    ];
    assert_eq!(
        records(&trace, &thresholds(100, 10, u64::MAX)),
        ["expression 0-53: a 1x 50, a>b 2x 2, c 1x 1"]
    );
}

/// Condition 3 of the paper excludes longer expressions, but algorithm 2 only checks before the next call.
#[test]
fn expression_ends_after_the_call_that_exceeds_the_total_time() {
    let trace = [
        call('a', 0, 6),
        call('a', 7, 10),
        call('a', 10, 18),
        call('a', 18, 19),
    ];
    assert_eq!(
        records(&trace, &thresholds(100, u64::MAX, 10)),
        ["expression 0-18: a 3x 17", "expression 18-19: a 1x 1"]
    );
}

/// Algorithm 2 returns nil at the end of the calls.
#[test]
fn keeps_the_last_expression_of_a_thread() {
    let trace = [call('a', 0, 200), call('b', 201, 202)];
    assert_eq!(
        records(&trace, &only_long()),
        ["call a 0-200", "expression 201-202: b 1x 1"]
    );
}

/// Algorithm 1 does not distinguish calls by their callers.
#[test]
fn expression_ends_with_its_caller() {
    let trace = [
        calls('a', 0, 200, vec![call('c', 1, 2)]),
        call('c', 201, 202),
        calls('a', 203, 403, vec![call('c', 204, 205)]),
    ];
    assert_eq!(
        records(&trace, &only_long()),
        [
            "call a 0-200",
            "expression 1-2: a>c 1x 1",
            "expression 201-202: c 1x 1",
            "call a 203-403",
            "expression 204-205: a>c 1x 1",
        ]
    );
}

#[test]
fn single_short_call_is_an_expression() {
    let trace = [call('a', 0, 200), call('b', 200, 201), call('a', 201, 401)];
    assert_eq!(
        records(&trace, &only_long()),
        [
            "call a 0-200",
            "expression 200-201: b 1x 1",
            "call a 201-401"
        ]
    );
}

#[test]
fn shares_refer_to_the_time_of_the_thread() {
    let trace = preorder(
        &[call('a', 0, 10), call('b', 10, 21), call('a', 21, 1000)],
        0,
    );
    let compressed = compress_calls(
        trace,
        &CallThresholds::default(),
        Nanoseconds(1000),
        &mut CallPaths::default(),
    );
    let is_call = |record: &CallRecord<CallPathIx>| matches!(record, CallRecord::Call(_));
    let kinds: Vec<bool> = compressed.records.iter().map(is_call).collect();
    assert_eq!(kinds, [false, true, true]);
}

/// `d` would be the fourth path, and `e` the fifth, so they count as part of `c` and `a`. Of the stacks of all expressions,
/// the three longest are kept, and the others count as calls of their callers.
#[test]
fn stacks_beyond_the_limit_are_left_out() {
    let inner = calls('c', 12, 20, vec![call('d', 13, 19)]);
    let callees = vec![calls('b', 10, 25, vec![inner]), call('e', 26, 27)];
    let trace = [
        calls('a', 0, 30, callees),
        calls('a', 40, 45, vec![call('e', 41, 43)]),
        call('l', 50, 200),
        calls('a', 200, 210, vec![call('b', 201, 203)]),
    ];
    assert_eq!(
        records_up_to(CallPaths::with_limit(3), &trace, &only_long()),
        [
            "expression 0-45: a 4x 35, a>b 3x 15",
            "call l 50-200",
            "expression 200-210: a 2x 10"
        ]
    );
}

#[test]
fn thread_without_calls_has_no_records() {
    assert_eq!(records(&[], &only_long()), [""; 0]);
}

/// Any trace whose calls without callees take at least `min_duration`.
fn any_trace(min_duration: u64) -> impl Strategy<Value = Vec<CallTree>> {
    /// Function, time before the call, time in the call after its last callee, callees.
    #[derive(Clone, Debug)]
    struct Shape(u8, u64, u64, Vec<Shape>);
    let leaf = (0..4u8, 0..40u64, min_duration..60u64)
        .prop_map(|(function, gap, rest)| Shape(function, gap, rest, Vec::new()));
    let shape = leaf.prop_recursive(5, 60, 6, |inner| {
        let callees = prop::collection::vec(inner, 0..6);
        (0..4u8, 0..40u64, 0..60u64, callees)
            .prop_map(|(function, gap, rest, callees)| Shape(function, gap, rest, callees))
    });
    fn timed(shapes: &[Shape], now: &mut u64) -> Vec<CallTree> {
        let tree = |Shape(function, gap, rest, callees): &Shape| {
            *now += gap;
            let begin = *now;
            let callees = timed(callees, now);
            *now += rest;
            CallTree(b'a' + function, begin, *now, callees)
        };
        shapes.iter().map(tree).collect()
    }
    prop::collection::vec(shape, 0..12).prop_map(|shapes| timed(&shapes, &mut 1000))
}

/// Collects the sequences of calls: the outermost calls, and the callees of each long call.
fn sequences<'t>(trace: &'t [CallTree], long: u64, all: &mut Vec<Vec<&'t CallTree>>) {
    all.push(trace.iter().collect());
    for call in trace.iter().filter(|call| call.2 - call.1 > long) {
        sequences(&call.3, long, all);
    }
}

proptest! {
    #[test]
    fn keeps_calls_and_time_of_each_path(trace in any_trace(0), long in 0..80u64, gap in 0..50u64, total in 0..200u64) {
        let calls = preorder(&trace, 0);
        let mut paths = CallPaths::default();
        let compressed = compress_calls(calls.iter().copied(), &thresholds(long, gap, total), Nanoseconds(0), &mut paths);
        let mut kept: BTreeMap<CallPathIx, (u64, u64)> = BTreeMap::new();
        let mut add = |path, calls, time: u64| {
            let sum = kept.entry(path).or_default();
            *sum = (sum.0 + calls, sum.1 + time);
        };
        for record in &compressed.records {
            match record {
                CallRecord::Call(call) => add(call.stack, 1, call.end.0 - call.begin.0),
                CallRecord::Expression(expression) => {
                    let stacks = expression.stacks.iter();
                    stacks.for_each(|called| add(called.stack, called.calls, called.duration.0));
                }
            }
        }
        let mut traced: BTreeMap<CallPathIx, (u64, u64)> = BTreeMap::new();
        let mut open = Vec::new();
        for call in &calls {
            open.truncate(call.depth as usize);
            let path = paths.intern(open.last().copied(), call.function);
            open.push(path);
            let sum = traced.entry(path).or_default();
            *sum = (sum.0 + 1, sum.1 + call.duration.0);
        }
        prop_assert_eq!(&kept, &traced);
        let durations = compressed.durations.iter().map(|(path, calls)| {
            (path, (calls.durations.calls(), calls.durations.total().0))
        });
        prop_assert_eq!(durations.collect::<BTreeMap<_, _>>(), traced);
        prop_assert_eq!(compressed.calls, calls.len() as u64);
    }

    #[test]
    fn keeps_long_calls_and_gaps(trace in any_trace(0), long in 0..80u64, gap in 0..50u64) {
        let mut paths = CallPaths::default();
        let compressed = compress_calls(preorder(&trace, 0), &thresholds(long, gap, u64::MAX), Nanoseconds(0), &mut paths);
        let is_kept = |call: &CallTree| compressed.records.iter().any(|record| match record {
            CallRecord::Call(kept) => paths.function(kept.stack).0 == u32::from(call.0)
                && (kept.begin.0, kept.end.0) == (call.1, call.2),
            CallRecord::Expression(_) => false,
        });
        let mut all = Vec::new();
        sequences(&trace, long, &mut all);
        for call in all.iter().flatten().filter(|call| call.2 - call.1 > long) {
            prop_assert!(is_kept(call), "{}-{} is not kept", call.1, call.2);
        }
        for pair in all.iter().flat_map(|sequence| sequence.windows(2)) {
            let (from, to) = (pair[0].2, pair[1].1);
            let is_within = |record: &CallRecord<CallPathIx>| match record {
                CallRecord::Expression(expression) => expression.begin.0 < to && expression.end.0 > from,
                CallRecord::Call(_) => false,
            };
            if to - from > gap {
                prop_assert!(!compressed.records.iter().any(is_within), "{from}-{to} is covered");
            }
        }
    }

    #[test]
    fn each_short_call_of_a_sequence_is_in_one_expression(trace in any_trace(1), long in 0..80u64, gap in 0..50u64, total in 0..200u64) {
        let mut paths = CallPaths::default();
        let compressed = compress_calls(preorder(&trace, 0), &thresholds(long, gap, total), Nanoseconds(0), &mut paths);
        let expressions: Vec<_> = compressed.records.iter().filter_map(|record| match record {
            CallRecord::Expression(expression) => Some((expression.begin.0, expression.end.0)),
            CallRecord::Call(_) => None,
        }).collect();
        for pair in expressions.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap");
        }
        let mut all = Vec::new();
        sequences(&trace, long, &mut all);
        let is_short = |call: &&&CallTree| call.2 - call.1 <= long;
        let mut left: Vec<&CallTree> = all.iter().flatten().filter(is_short).copied().collect();
        for (begin, end) in expressions {
            let is_in = |call: &&CallTree| begin <= call.1 && call.2 <= end;
            let (mut within, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_in);
            within.sort_by_key(|call| call.1);
            left = others;
            prop_assert_eq!(within.first().map(|call| call.1), Some(begin));
            prop_assert_eq!(within.last().map(|call| call.2), Some(end));
        }
        prop_assert!(left.is_empty(), "{left:?} are in no expression");
    }
}
