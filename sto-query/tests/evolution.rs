//! The call tree over the builds of a program.

use crate::ask;
use crate::history::add;
use sto_core::store::Store;
use sto_query::questions::EvolveRequest;
use sto_query::results::Evolution;
use sto_query::sources::Sources;

/// Returns the call tree over builds of a program with these runs.
fn evolution(runs: &[(&str, &str)], min_share: f64) -> Evolution {
    let store = Store::in_memory().unwrap();
    for (day, (build, folded)) in (0..).zip(runs) {
        add(&store, "app", build, "", day, folded);
    }
    let mut request = EvolveRequest::default();
    request.prune.min_share = min_share;
    ask(&Sources::from_snapshot(store.snapshot().unwrap()), &request).unwrap()
}

fn rows(report: &Evolution) -> Vec<(&str, Option<usize>, &[f64])> {
    let row = report.stacks.iter();
    row.map(|stack| (&*stack.frame.function, stack.parent, &*stack.costs))
        .collect()
}

#[test]
fn stacks_have_their_mean_cost_in_each_build() {
    let report = evolution(
        &[
            ("v1", "main;parse 60\nmain;io 40"),
            ("v1", "main;parse 40\nmain;io 40"),
            ("v2", "main;parse 10\nmain;io 40\nmain;log 50"),
        ],
        0.01,
    );
    let builds = report.builds.iter();
    let builds = builds.map(|build| (&*build.build, build.runs, build.cost));
    assert_eq!(Vec::from_iter(builds), [("v1", 2, 90.0), ("v2", 1, 100.0)]);
    let expected: [(_, _, &[f64]); 4] = [
        ("main", None, &[90.0, 100.0]),
        ("log", Some(0), &[0.0, 50.0]),
        ("io", Some(0), &[40.0, 40.0]),
        ("parse", Some(0), &[50.0, 10.0]),
    ];
    assert_eq!(rows(&report), expected);
}

#[test]
fn function_whose_symbol_changed_is_one_stack() {
    let report = evolution(
        &[
            ("v1", "main;app::run::h0123456789abcdef 3"),
            ("v2", "main;app::run::hfedcba9876543210 5"),
        ],
        0.01,
    );
    let costs: Vec<&[f64]> = rows(&report).iter().map(|row| row.2).collect();
    assert_eq!(costs, [[3.0, 5.0], [3.0, 5.0]]);
}

#[test]
fn function_that_was_inlined_in_one_build_only_counts_with_its_caller() {
    let runs = [("v1", "main;read_[i];scan 3"), ("v2", "main;scan 5")];
    let report = evolution(&runs, 0.01);
    let expected: [(_, _, &[f64]); 2] =
        [("main", None, &[3.0, 5.0]), ("scan", Some(0), &[3.0, 5.0])];
    assert_eq!(rows(&report), expected);
}

#[test]
fn stack_that_is_large_in_one_build_is_kept() {
    let runs = [
        ("v1", "main 99\nmain;a 1"),
        ("v2", "main 90\nmain;a 9\nmain;b 1"),
    ];
    let report = evolution(&runs, 0.05);
    let names: Vec<&str> = rows(&report).iter().map(|row| row.0).collect();
    assert_eq!(names, ["main", "a"]);
    assert_eq!(report.cut, 1);
}
