//! Potentials with the correction for recursion.

use crate::views::{Stacks, assert_fits, assert_golden, demo, folded, frame, view};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_query::internal::potential::{potential, potentials};
use sto_query::internal::tree::function_numbers;
use sto_query::questions::{Degree, KeyOptions};
use sto_query::render;
use sto_query::results::{Potentials, View};

fn potential_of(report: &Potentials, function: &str) -> f64 {
    let found = report
        .functions
        .iter()
        .find(|f| f.frame.function == function);
    found.unwrap().potential
}

/// Lundberg and Rettig 2024, section 5.2: A calls itself and B; without the correction A would have
/// 150 %.
#[test]
fn worked_example_of_recursion_has_potential_one() {
    let example = view("v1", &folded("A 0\nA;A 2\nA;B 2", 1));
    let report = potential(&[example], KeyOptions::default(), 0, Degree(1), None);
    assert_eq!(potential_of(&report, "A"), 1.0);
    assert_eq!(potential_of(&report, "B"), 0.5);
}

#[test]
fn potential_of_degree_0_is_self_cost() {
    let stacks = folded("main 1\nmain;a 2\nmain;a;b 3\nmain;b 4", 10);
    let report = potential(
        &[view("v1", &stacks)],
        KeyOptions::default(),
        0,
        Degree(0),
        None,
    );
    for function in &report.functions {
        assert_eq!(function.cost, function.self_cost, "{function:?}");
    }
    assert_eq!(potential_of(&report, "b"), 0.7);
}

#[test]
fn potential_beyond_the_deepest_stack_is_total_cost() {
    let stacks = folded("main;a;b;a 5\nmain;b 4\nmain;a 1", 10);
    let report = potential(
        &[view("v1", &stacks)],
        KeyOptions::default(),
        0,
        Degree(u32::MAX),
        None,
    );
    for function in &report.functions {
        assert_eq!(function.cost, function.total, "{function:?}");
    }
}

#[test]
fn selections_are_summed_by_function() {
    let one = view("v1", &folded("main;a 3\nmain;b 1", 1));
    let two = view("v2", &folded("main;a 2\nmain;c 2", 1));
    let report = potential(&[one, two], KeyOptions::default(), 0, Degree(0), Some(2));
    assert_eq!((report.samples, report.omitted), (8, 2));
    assert_eq!(potential_of(&report, "a"), 5.0 / 8.0);
    assert_eq!(potential_of(&report, "c"), 2.0 / 8.0);
}

#[test]
fn functions_of_several_builds_are_matched() {
    let one = view("v1", &folded("main;a::{{closure}}.llvm.1 3\nmain;b 1", 1));
    let two = view("v2", &folded("main;a::{{closure}}.llvm.2 4", 1));
    let both = [one, two];
    let report = potential(&both, KeyOptions::default(), 0, Degree(0), None);
    assert_eq!(potential_of(&report, "a::{closure}"), 7.0 / 8.0);
    let exact = with!(KeyOptions {
        exact_symbols: true,
    });
    let report = potential(&both, exact, 0, Degree(0), None);
    assert_eq!(potential_of(&report, "a::{{closure}}.llvm.2"), 4.0 / 8.0);
    // Functions of a single build are not matched.
    let report = potential(&both[..1], KeyOptions::default(), 0, Degree(0), None);
    assert_eq!(potential_of(&report, "a::{{closure}}.llvm.1"), 3.0 / 4.0);
}

#[test]
fn recursion_a_million_deep_takes_linear_time() {
    let fib = frame("fib", "demo", sto_core::model::FrameKind::User);
    let stacks = (0..3).map(|cut| (vec![fib; 1_000_000 - cut], folded("x 1", 1)[0].1));
    let view = view("v1", &stacks.collect());
    assert_eq!(potentials(&view, 0, Degree(10))[0].samples, 3);
}

#[test]
fn table_fits_a_terminal() {
    let report = potential(&[demo().0], KeyOptions::default(), 0, Degree(2), Some(8));
    assert_fits("potential", |style| render::potential::text(&report, style));
    assert_golden(
        "potential.json",
        &sto_query::results::json(&report).unwrap(),
    );
}

fn any_stacks() -> impl Strategy<Value = Stacks> {
    let symbol = prop::sample::select(vec!["a", "b", "c", "d"]);
    let any_frame = symbol.prop_map(|s| frame(s, "demo", sto_core::model::FrameKind::User));
    let stack = prop::collection::vec(any_frame, 1..10);
    let cost = folded("x 1\nx 5\nx 0", 3).into_iter().map(|(_, cost)| cost);
    let cost = prop::sample::select(cost.collect::<Vec<_>>());
    prop::collection::vec((stack, cost), 1..30)
}

/// Potentials by definition: the cost of the union of the nodes within `degree` of any node of the function.
fn by_sets(view: &View, degree: u32) -> BTreeMap<u32, u64> {
    let numbers = function_numbers(view);
    let self_costs = view.self_costs(0);
    let mut reached: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for node in view.tree.nodes() {
        for ancestor in view.tree.ancestors(node).take(degree as usize + 1) {
            let function = numbers[view.tree.frame(ancestor).get()];
            reached.entry(function).or_default().insert(node.get());
        }
    }
    let sum = |nodes: BTreeSet<usize>| nodes.into_iter().map(|n| self_costs[n].samples).sum();
    reached
        .into_iter()
        .map(|(f, nodes)| (f, sum(nodes)))
        .collect()
}

/// The published formula: the sum of p_n - c_n over the nodes of a function.
fn by_formula(view: &View, degree: u32) -> BTreeMap<u32, u64> {
    let numbers = function_numbers(view);
    let function = |node| numbers[view.tree.frame(node).get()];
    let self_costs = view.self_costs(0);
    let mut p: Vec<Vec<u64>> = vec![self_costs.iter().map(|cost| cost.samples).collect()];
    for n in 1..=degree as usize {
        let mut next = p[0].clone();
        for node in view.tree.nodes() {
            if let Some(parent) = view.tree.parent(node) {
                next[parent.get()] += p[n - 1][node.get()];
            }
        }
        p.push(next);
    }
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for node in view.tree.nodes() {
        *sums.entry(function(node)).or_default() += p[degree as usize][node.get()];
    }
    for node in view.tree.nodes() {
        // The recursion edge that ends here: from the nearest caller of the same function.
        let mut callers = (1u32..).zip(view.tree.ancestors(node).skip(1));
        let edge = callers.find(|&(_, caller)| function(caller) == function(node));
        if let Some((distance, _)) = edge.filter(|&(distance, _)| distance <= degree) {
            *sums.entry(function(node)).or_default() -= p[(degree - distance) as usize][node.get()];
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn potentials_are_the_union_of_the_nodes_within_reach(stacks in any_stacks(), degree in 0..6u32) {
        let view = view("v1", &stacks);
        let whole: u64 = view.self_costs(0).iter().map(|cost| cost.samples).sum();
        let found = potentials(&view, 0, Degree(degree));
        let expected = by_sets(&view, degree);
        prop_assert_eq!(&expected, &by_formula(&view, degree));
        prop_assert_eq!(found.len(), expected.len());
        for (function, cost) in found.iter().enumerate() {
            prop_assert_eq!(cost.samples, expected[&(function as u32)]);
            prop_assert!(cost.samples <= whole);
        }
    }
}
