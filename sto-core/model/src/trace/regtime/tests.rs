//! What RegTime keeps: the paper's example, the rules that SPEC.md decides, and what holds for every trace.

use super::super::paths::FunctionNo;
use super::super::thresholds::Threshold;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A call of a test's trace: function, begin, end, and what it called.
#[derive(Debug)]
struct Made(u8, u64, u64, Vec<Made>);

fn call(function: char, begin: u64, end: u64) -> Made {
    Made(function as u8, begin, end, Vec::new())
}

fn calls(function: char, begin: u64, end: u64, made: Vec<Made>) -> Made {
    Made(function as u8, begin, end, made)
}

fn preorder(made: &[Made], depth: u32) -> Vec<Call> {
    let with_callees = |Made(function, begin, end, callees): &Made| {
        let this = Call {
            with: None,
            depth,
            function: FunctionNo(u32::from(*function)),
            begin: Nanoseconds(*begin),
            duration: Nanoseconds(end - begin),
        };
        [vec![this], preorder(callees, depth + 1)].concat()
    };
    made.iter().flat_map(with_callees).collect()
}

fn thresholds(call_duration: u64, call_gap: u64, total_time: u64) -> CallThresholds {
    CallThresholds {
        call_duration: Threshold::Time(Nanoseconds(call_duration)),
        call_gap: Threshold::Time(Nanoseconds(call_gap)),
        total_time: Threshold::Time(Nanoseconds(total_time)),
    }
}

/// Thresholds at which only long calls end an expression.
fn only_long() -> CallThresholds {
    thresholds(100, u64::MAX, u64::MAX)
}

/// A record a line: `call a>b 0-200`, `expression 0-90: a 2x 30, a>b 1x 4`.
fn written(made: &[Made], thresholds: &CallThresholds) -> Vec<String> {
    let calls = preorder(made, 0);
    let mut paths = Paths::default();
    let compressed = compress(calls, thresholds, Nanoseconds(0), &mut paths);
    let name = |path| name(&paths, path);
    let records = compressed.records.iter().map(|record| match record {
        Record::Call(of) => format!("call {} {}-{}", name(of.stack), of.begin.0, of.end.0),
        Record::Expression(of) => {
            let stacks = of.stacks.iter();
            let stacks =
                stacks.map(|of| format!("{} {}x {}", name(of.stack), of.calls, of.duration.0));
            let stacks = stacks.collect::<Vec<_>>().join(", ");
            format!("expression {}-{}: {stacks}", of.begin.0, of.end.0)
        }
    });
    records.collect()
}

fn name(paths: &Paths, path: PathNo) -> String {
    let function = char::from(paths.function(path).0 as u8);
    match paths.caller(path) {
        Some(caller) => format!("{}>{function}", name(paths, caller)),
        None => function.to_string(),
    }
}

/// Four stacks, of which the third is called three times, are merged in the order in which each is called first.
#[test]
fn figure_2_merges_equal_stacks_in_the_order_of_their_first_calls() {
    let trace = [
        call('A', 0, 2),
        calls('B', 3, 9, vec![call('C', 4, 6)]),
        calls('B', 10, 20, vec![call('C', 11, 14), call('D', 15, 19)]),
        call('A', 21, 25),
        calls('B', 26, 34, vec![call('D', 27, 28), call('C', 29, 33)]),
    ];
    assert_eq!(
        written(&trace, &only_long()),
        ["expression 0-34: A 2x 6, B 3x 24, B>C 3x 9, B>D 2x 5"]
    );
}

#[test]
fn a_long_call_is_kept_and_what_it_calls_is_a_sequence_of_its_own() {
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
        written(&trace, &only_long()),
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
fn a_call_as_long_as_the_threshold_is_short() {
    assert_eq!(
        written(&[call('a', 0, 100)], &only_long()),
        ["expression 0-100: a 1x 100"]
    );
    assert_eq!(
        written(&[call('a', 0, 101)], &only_long()),
        ["call a 0-101"]
    );
}

#[test]
fn a_gap_as_long_as_the_threshold_does_not_end_an_expression() {
    let trace = [call('a', 0, 5), call('a', 15, 16), call('b', 27, 28)];
    assert_eq!(
        written(&trace, &thresholds(100, 10, u64::MAX)),
        ["expression 0-16: a 2x 6", "expression 27-28: b 1x 1"]
    );
}

/// Algorithm 2 takes the time since the end of the record before, which would be that of `b`.
#[test]
fn time_after_the_last_callee_of_a_short_call_is_its_own_and_no_gap() {
    let trace = [
        calls('a', 0, 50, vec![call('b', 1, 2), call('b', 40, 41)]),
        call('c', 52, 53),
    ];
    assert_eq!(
        written(&trace, &thresholds(100, 10, u64::MAX)),
        ["expression 0-53: a 1x 50, a>b 2x 2, c 1x 1"]
    );
}

/// Condition 3 says that it cannot take more; algorithm 2 asks once it has.
#[test]
fn an_expression_ends_before_the_call_that_follows_once_it_took_longer_than_the_total_time() {
    let trace = [
        call('a', 0, 6),
        call('a', 7, 10),
        call('a', 10, 18),
        call('a', 18, 19),
    ];
    assert_eq!(
        written(&trace, &thresholds(100, u64::MAX, 10)),
        ["expression 0-18: a 3x 17", "expression 18-19: a 1x 1"]
    );
}

/// Algorithm 2 returns nil where the calls end before the expression does.
#[test]
fn the_last_expression_of_a_thread_is_kept() {
    let trace = [call('a', 0, 200), call('b', 201, 202)];
    assert_eq!(
        written(&trace, &only_long()),
        ["call a 0-200", "expression 201-202: b 1x 1"]
    );
}

/// Algorithm 1 has the calls of a thread in a row, whoever made them.
#[test]
fn an_expression_ends_where_its_caller_does() {
    let trace = [
        calls('a', 0, 200, vec![call('c', 1, 2)]),
        call('c', 201, 202),
        calls('a', 203, 403, vec![call('c', 204, 205)]),
    ];
    assert_eq!(
        written(&trace, &only_long()),
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
fn one_short_call_between_long_ones_is_an_expression() {
    let trace = [call('a', 0, 200), call('b', 200, 201), call('a', 201, 401)];
    assert_eq!(
        written(&trace, &only_long()),
        [
            "call a 0-200",
            "expression 200-201: b 1x 1",
            "call a 201-401"
        ]
    );
}

#[test]
fn shares_are_of_the_time_of_the_thread() {
    let trace = preorder(
        &[call('a', 0, 10), call('b', 10, 21), call('a', 21, 1000)],
        0,
    );
    let compressed = compress(
        trace,
        &CallThresholds::default(),
        Nanoseconds(1000),
        &mut Paths::default(),
    );
    let is_call = |record: &Record<PathNo>| matches!(record, Record::Call(_));
    let kinds: Vec<bool> = compressed.records.iter().map(is_call).collect();
    assert_eq!(kinds, [false, true, true]);
}

#[test]
fn a_thread_without_calls_has_no_records() {
    assert_eq!(written(&[], &only_long()), [""; 0]);
}

/// Calls, (function, time before it, time in it before and after what it called, what it called).
fn any_trace(least: u64) -> impl Strategy<Value = Vec<Made>> {
    #[derive(Clone, Debug)]
    struct Shape(u8, u64, u64, Vec<Shape>);
    let leaf =
        (0..4u8, 0..40u64, least..60u64).prop_map(|(of, gap, own)| Shape(of, gap, own, Vec::new()));
    let shape = leaf.prop_recursive(5, 60, 6, |inner| {
        let made = prop::collection::vec(inner, 0..6);
        (0..4u8, 0..40u64, 0..60u64, made)
            .prop_map(|(of, gap, own, made)| Shape(of, gap, own, made))
    });
    fn timed(shapes: &[Shape], now: &mut u64) -> Vec<Made> {
        let made = |Shape(function, gap, own, made): &Shape| {
            *now += gap;
            let begin = *now;
            let callees = timed(made, now);
            *now += own;
            Made(b'a' + function, begin, *now, callees)
        };
        shapes.iter().map(made).collect()
    }
    prop::collection::vec(shape, 0..12).prop_map(|shapes| timed(&shapes, &mut 1000))
}

/// Each call that is a record, or that is directly in an expression: those of sequences.
fn sequences<'m>(made: &'m [Made], long: u64, all: &mut Vec<Vec<&'m Made>>) {
    all.push(made.iter().collect());
    for call in made.iter().filter(|call| call.2 - call.1 > long) {
        sequences(&call.3, long, all);
    }
}

proptest! {
    #[test]
    fn calls_and_time_are_conserved_by_path(made in any_trace(0), long in 0..80u64, gap in 0..50u64, total in 0..200u64) {
        let calls = preorder(&made, 0);
        let mut paths = Paths::default();
        let compressed = compress(calls.iter().copied(), &thresholds(long, gap, total), Nanoseconds(0), &mut paths);
        let mut kept: BTreeMap<PathNo, (u64, u64)> = BTreeMap::new();
        let mut add = |path, calls, time: u64| {
            let sum = kept.entry(path).or_default();
            *sum = (sum.0 + calls, sum.1 + time);
        };
        for record in &compressed.records {
            match record {
                Record::Call(of) => add(of.stack, 1, of.end.0 - of.begin.0),
                Record::Expression(of) => of.stacks.iter().for_each(|of| add(of.stack, of.calls, of.duration.0)),
            }
        }
        let mut traced: BTreeMap<PathNo, (u64, u64)> = BTreeMap::new();
        let mut open = Vec::new();
        for call in &calls {
            open.truncate(call.depth as usize);
            let path = paths.call(open.last().copied(), call.function);
            open.push(path);
            let sum = traced.entry(path).or_default();
            *sum = (sum.0 + 1, sum.1 + call.duration.0);
        }
        prop_assert_eq!(&kept, &traced);
        let durations = compressed.durations.iter();
        let durations = durations.map(|(path, of)| (path, (of.durations.calls(), of.durations.total().0)));
        prop_assert_eq!(durations.collect::<BTreeMap<_, _>>(), traced);
        prop_assert_eq!(compressed.calls, calls.len() as u64);
    }

    #[test]
    fn every_long_call_and_every_gap_survives(made in any_trace(0), long in 0..80u64, gap in 0..50u64) {
        let mut paths = Paths::default();
        let compressed = compress(preorder(&made, 0), &thresholds(long, gap, u64::MAX), Nanoseconds(0), &mut paths);
        let kept = |call: &Made| compressed.records.iter().any(|record| match record {
            Record::Call(of) => paths.function(of.stack).0 == u32::from(call.0)
                && (of.begin.0, of.end.0) == (call.1, call.2),
            Record::Expression(_) => false,
        });
        let mut all = Vec::new();
        sequences(&made, long, &mut all);
        for call in all.iter().flatten().filter(|call| call.2 - call.1 > long) {
            prop_assert!(kept(call), "{}-{} is not kept", call.1, call.2);
        }
        for pair in all.iter().flat_map(|sequence| sequence.windows(2)) {
            let (from, to) = (pair[0].2, pair[1].1);
            let is_within = |record: &Record<PathNo>| match record {
                Record::Expression(of) => of.begin.0 < to && of.end.0 > from,
                Record::Call(_) => false,
            };
            if to - from > gap {
                prop_assert!(!compressed.records.iter().any(is_within), "{from}-{to} is covered");
            }
        }
    }

    #[test]
    fn expressions_tile_the_short_calls_of_a_sequence(made in any_trace(1), long in 0..80u64, gap in 0..50u64, total in 0..200u64) {
        let mut paths = Paths::default();
        let compressed = compress(preorder(&made, 0), &thresholds(long, gap, total), Nanoseconds(0), &mut paths);
        let expressions: Vec<_> = compressed.records.iter().filter_map(|record| match record {
            Record::Expression(of) => Some((of.begin.0, of.end.0)),
            Record::Call(_) => None,
        }).collect();
        for pair in expressions.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap");
        }
        let mut all = Vec::new();
        sequences(&made, long, &mut all);
        let short = |call: &&&Made| call.2 - call.1 <= long;
        let mut left: Vec<&Made> = all.iter().flatten().filter(short).copied().collect();
        for (begin, end) in expressions {
            let is_in = |call: &&Made| begin <= call.1 && call.2 <= end;
            let (mut within, others): (Vec<&Made>, Vec<&Made>) = left.into_iter().partition(is_in);
            within.sort_by_key(|call| call.1);
            left = others;
            prop_assert_eq!(within.first().map(|call| call.1), Some(begin));
            prop_assert_eq!(within.last().map(|call| call.2), Some(end));
        }
        prop_assert!(left.is_empty(), "{left:?} are in none");
    }
}
