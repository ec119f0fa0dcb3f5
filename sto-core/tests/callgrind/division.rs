//! Dividing the costs of functions among the paths of calls to them.

use super::{file, folded, functions, read};
use proptest::prelude::*;
use std::fmt::Write;

#[track_caller]
fn assert_stacks(lines: &str, stacks: &[&str]) {
    assert_eq!(folded(&read(&file(lines)).unwrap()), stacks);
}

#[test]
fn divides_a_function_among_callers_by_call_cost() {
    let lines = "fn=main\n1 1\ncfn=a\ncalls=1 1\n1 30\ncfn=b\ncalls=9 1\n1 10\n\
                 fn=a\ncfn=work\ncalls=1 1\n1 30\nfn=b\ncfn=work\ncalls=9 1\n1 10\n\
                 fn=work\n1 4\ncfn=leaf\ncalls=10 1\n1 36\nfn=leaf\n1 36\n";
    let stacks = [
        "main 1",
        "main;a;work 3",
        "main;a;work;leaf 27",
        "main;b;work 1",
        "main;b;work;leaf 9",
    ];
    assert_stacks(lines, &stacks);
    let recording = read(&file(lines)).unwrap();
    let warning = &recording.warnings[0];
    assert!(
        warning.contains("for 97.6 % of the total cost the stacks are an estimate"),
        "{warning}"
    );
}

#[test]
fn leaf_functions_are_exact_by_caller() {
    let lines = "fn=main\n1 1\ncfn=a\ncalls=1 1\n1 30\ncfn=leaf\ncalls=9 1\n1 10\n\
                 fn=a\ncfn=leaf\ncalls=1 1\n1 30\nfn=leaf\n1 40\n";
    assert_stacks(lines, &["main 1", "main;a;leaf 30", "main;leaf 10"]);
    assert_eq!(read(&file(lines)).unwrap().warnings, [""; 0]);
}

#[test]
fn costs_without_known_caller_become_roots() {
    let lines = "fn=main\n1 1\ncfn=work\ncalls=1 1\n1 30\nfn=handler\n1 5\nfn=work\n1 40\n";
    assert_stacks(lines, &["handler 5", "main 1", "main;work 30", "work 10"]);
}

#[test]
fn recursion_appears_once_on_a_stack() {
    // `even` and `odd` call each other; the costs of calls include nested calls.
    let lines = "fn=main\ncfn=even\ncalls=1 1\n1 10\n\
                 fn=even\n1 6\ncfn=odd\ncalls=3 1\n1 16\nfn=odd\n1 4\ncfn=even\ncalls=2 1\n1 12\n";
    assert_stacks(lines, &["main;even 6", "main;even;odd 4"]);
    let own = "fn=main\ncfn=fib\ncalls=1 1\n1 10\nfn=fib\n1 10\ncfn=fib\ncalls=99 1\n1 70\n";
    assert_stacks(own, &["main;fib 10"]);
    let without_a_root = "fn=a\n1 6\ncfn=b\ncalls=3 1\n1 4\nfn=b\n1 4\ncfn=a\ncalls=2 1\n1 3\n";
    assert_stacks(without_a_root, &["a 6", "a;b 4"]);
}

#[test]
fn callers_in_names_make_stacks_exact() {
    let lines = "fn=main\n1 1\ncfn=a'main\ncalls=1 1\n1 30\ncfn=b'main\ncalls=9 1\n1 10\n\
                 fn=a'main\ncfn=work'a'main\ncalls=1 1\n1 30\n\
                 fn=b'main\ncfn=work'b'main\ncalls=9 1\n1 10\n\
                 fn=work'a'main\n1 2\ncfn=work'2'a'main\ncalls=1 1\n1 28\n\
                 fn=work'2'a'main\n1 28\nfn=work'b'main\n1 10\n";
    let stacks = [
        "main 1",
        "main;a;work 2",
        "main;a;work;work 28",
        "main;b;work 10",
    ];
    assert_stacks(lines, &stacks);
    assert_eq!(read(&file(lines)).unwrap().warnings, [""; 0]);
}

/// These calls make 2^60 paths.
#[test]
fn merges_small_paths_beyond_the_limit() {
    let mut lines = String::new();
    for level in 0..60 {
        for side in ["a", "b"] {
            writeln!(lines, "fn={side}{level}\n1 1000000").unwrap();
            let below = 2_000_000 * (59 - level);
            for (called, cost) in [("a", below - below / 3), ("b", below / 3)] {
                if level < 59 {
                    let cost = if side == "a" { cost * 2 / 3 } else { cost / 3 };
                    writeln!(lines, "cfn={called}{}\ncalls=1 1\n1 {cost}", level + 1).unwrap();
                }
            }
        }
    }
    let recording = read(&file(&lines)).unwrap();
    assert!(
        recording.samples.len() < 1 << 20,
        "{}",
        recording.samples.len()
    );
    assert!(
        functions(&recording)
            .values()
            .all(|&(own, _)| own == 1_000_000)
    );
    let moved = recording
        .warnings
        .iter()
        .any(|warning| warning.contains("moved to larger stacks"));
    assert!(moved, "{:?}", recording.warnings);
}

/// Calls from functions to later ones; each call has a share of the callee's total.
fn graphs() -> impl Strategy<Value = (Vec<u64>, Vec<(usize, usize)>)> {
    (2..8usize).prop_flat_map(|count| {
        let own = prop::collection::vec(0..1000u64, count);
        let edges: Vec<_> = (0..count)
            .flat_map(|to| (0..to).map(move |from| (from, to)))
            .collect();
        (
            own,
            prop::sample::subsequence(edges.clone(), 0..=edges.len()),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn self_costs_are_exact_and_totals_up_to_rounding((own, edges) in graphs()) {
        let count = own.len();
        // Totals from the last function to the first, divided among callers by index.
        let mut totals = own.clone();
        let mut calls = vec![Vec::new(); count];
        for callee in (0..count).rev() {
            let callers: Vec<_> = edges.iter().filter(|edge| edge.1 == callee).collect();
            let mut left = totals[callee];
            for (number, (caller, _)) in callers.iter().enumerate() {
                let last = number + 1 == callers.len();
                let cost = if last { left } else { left / 2 };
                left -= cost;
                totals[*caller] += cost;
                calls[*caller].push((callee, cost));
            }
        }
        prop_assume!(own.iter().any(|&cost| cost > 0));
        let mut lines = String::new();
        for function in 0..count {
            writeln!(lines, "fn=f{function}\n1 {}", own[function]).unwrap();
            for (callee, cost) in &calls[function] {
                writeln!(lines, "cfn=f{callee}\ncalls=1 1\n1 {cost}").unwrap();
            }
        }
        let recording = read(&file(&lines)).unwrap();
        let found = functions(&recording);
        for function in 0..count {
            let (found_own, found_total) =
                found.get(&format!("f{function}")).copied().unwrap_or_default();
            prop_assert_eq!(found_own, own[function]);
            // Each callee is rounded once for each of its stacks.
            let off = found_total.abs_diff(totals[function]);
            prop_assert!(off <= recording.stacks.len() as u64, "f{}: {} {}", function, found_total, totals[function]);
        }
    }
}
