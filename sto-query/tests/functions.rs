//! Self and total of functions.

use crate::views::{Stacks, folded, frame, view};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{Frame, FrameKind};
use sto_core::units::Cost;
use sto_query::internal::tree::{functions, totals};
use sto_query::results::View;

type ByFunction = BTreeMap<(String, String), (Cost, Cost)>;

fn by_function(view: &View) -> ByFunction {
    let row = |function: &sto_query::internal::tree::Function| {
        let frame = view.frames.frame(function.frame);
        let key = (frame.module.to_owned(), frame.symbol.to_owned());
        (key, (function.self_cost, function.total))
    };
    functions(view, 0).iter().map(row).collect()
}

#[test]
fn counts_recursion_once_in_reviewed_cases() {
    let cases = include_str!("recursion.txt").split("case: ").skip(1);
    let mut count = 0;
    for case in cases {
        let (name, body) = case.split_once('\n').unwrap();
        let (stacks, expected) = body.split_once("=\n").unwrap();
        let actual = by_function(&view("v1", &folded(stacks, 10)));
        let expected: ByFunction = expected
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| {
                let [symbol, own, total] = line.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{name}: {line}");
                };
                let cost = |samples: &str| {
                    let samples = samples.parse().unwrap();
                    Cost {
                        samples,
                        value: samples * 10,
                    }
                };
                (
                    ("demo".to_owned(), symbol.to_owned()),
                    (cost(own), cost(total)),
                )
            })
            .collect();
        assert_eq!(actual, expected, "{name}");
        count += 1;
    }
    assert_eq!(count, 10);
}

#[test]
fn frames_that_differ_only_in_kind_file_or_line_are_one_function() {
    let called = Frame {
        file: "src/log.c",
        line: 7,
        ..frame("log", "demo", FrameKind::User)
    };
    let inlined = frame("log", "demo", FrameKind::Inlined);
    let elsewhere = frame("log", "libc.so.6", FrameKind::User);
    let cost = |samples| Cost {
        samples,
        value: samples,
    };
    let stacks = vec![
        (vec![called], cost(1)),
        (vec![called, inlined], cost(5)),
        (vec![called, elsewhere], cost(2)),
    ];
    let view = view("v1", &stacks);
    let found = functions(&view, 0);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].self_cost, found[0].total), (cost(6), cost(8)));
    assert_eq!((found[1].self_cost, found[1].total), (cost(2), cost(2)));
    // The frame with the highest self cost represents the function.
    assert_eq!(view.frames.frame(found[0].frame), inlined);
}

#[test]
fn deep_recursion_needs_no_deep_stack() {
    let fib = frame("fib", "demo", FrameKind::User);
    let stacks = vec![(
        vec![fib; 1_000_000],
        Cost {
            samples: 3,
            value: 3,
        },
    )];
    let found = functions(&view("v1", &stacks), 0);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].total.samples, 3);
}

fn any_stacks() -> impl Strategy<Value = Stacks> {
    let symbol = prop::sample::select(vec!["a", "b", "c", "d"]);
    let module = prop::sample::select(vec!["demo", "libc.so.6"]);
    let kind = prop::sample::select(vec![FrameKind::User, FrameKind::Inlined]);
    let any_frame = (symbol, module, kind).prop_map(|(s, m, k)| frame(s, m, k));
    let stack = prop::collection::vec(any_frame, 1..8);
    let cost = (1..100u64, 0..1000u64).prop_map(|(samples, value)| Cost { samples, value });
    prop::collection::vec((stack, cost), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The reference collects the functions of each stack separately.
    #[test]
    fn functions_agree_with_a_walk_over_each_stack(stacks in any_stacks()) {
        let mut expected = ByFunction::new();
        for (frames, cost) in &stacks {
            let key = |frame: &Frame<'_>| (frame.module.to_owned(), frame.symbol.to_owned());
            for on_stack in frames.iter().map(key).collect::<BTreeSet<_>>() {
                expected.entry(on_stack).or_default().1 += *cost;
            }
            expected.entry(key(frames.last().unwrap())).or_default().0 += *cost;
        }
        prop_assert_eq!(by_function(&view("v1", &stacks)), expected);
    }

    #[test]
    fn self_costs_sum_to_the_whole_and_no_total_exceeds_it(stacks in any_stacks()) {
        let view = view("v1", &stacks);
        let whole: Cost = stacks.iter().map(|(_, cost)| *cost).sum();
        let found = functions(&view, 0);
        prop_assert_eq!(found.iter().map(|f| f.self_cost).sum::<Cost>(), whole);
        for function in found {
            prop_assert!(function.self_cost.samples <= function.total.samples);
            prop_assert!(function.total.samples <= whole.samples);
            prop_assert!(function.total.value <= whole.value);
        }
    }

    #[test]
    fn totals_of_roots_sum_to_the_whole(stacks in any_stacks()) {
        let view = view("v1", &stacks);
        let self_costs = view.self_costs(0);
        let totals = totals(&view.tree, &self_costs);
        let roots = view.tree.nodes().filter(|node| view.tree.parent(*node).is_none());
        let of_roots: Cost = roots.map(|root| totals[root.get()]).sum();
        prop_assert_eq!(of_roots, stacks.iter().map(|(_, cost)| *cost).sum());
        for node in view.tree.nodes() {
            let of_children = view.tree.nodes().filter(|n| view.tree.parent(*n) == Some(node));
            let mut sum: Cost = of_children.map(|child| totals[child.get()]).sum();
            sum += self_costs[node.get()];
            prop_assert_eq!(sum, totals[node.get()]);
        }
    }
}

#[test]
fn cost_of_removed_inlined_frames_belongs_to_function_with_their_code() {
    let user = |symbol| frame(symbol, "demo", FrameKind::User);
    let inlined = |symbol| frame(symbol, "demo", FrameKind::Inlined);
    let cost = |samples| Cost {
        samples,
        value: 10 * samples,
    };
    let stacks: Stacks = vec![
        (vec![user("main"), inlined("step"), inlined("add")], cost(4)),
        (vec![user("main"), inlined("step"), user("call")], cost(2)),
        (vec![user("main"), user("call")], cost(1)),
        (vec![inlined("step"), user("call")], cost(8)),
    ];
    let merged = by_function(&view("v1", &stacks).without_inlined());
    let samples = |name: &str| {
        let (own, total) = merged[&("demo".to_owned(), name.to_owned())];
        (own.samples, total.samples)
    };
    assert_eq!(samples("main"), (4, 7));
    assert_eq!(samples("call"), (11, 11));
    assert_eq!(samples("step"), (0, 8), "a root has no caller");
    assert_eq!(merged.len(), 3);
}
