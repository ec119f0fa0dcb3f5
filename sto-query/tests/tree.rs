//! The pruned call tree.

use crate::views;
use crate::views::{Stacks, folded, frame, view};
use crate::words::WORDS;
use proptest::prelude::*;
use sto_core::model::{Frame, FrameKind};
use sto_core::units::Cost;
use sto_query::internal::tree::call_tree;
use sto_query::questions::Prune;
use sto_query::render;
use sto_query::results::CallTree;
use sto_query::text::Style;

fn everything() -> Prune {
    with!(Prune {
        min_share: 0.0,
        max_depth: usize::MAX,
    })
}

fn names(report: &CallTree) -> Vec<&str> {
    report
        .nodes
        .iter()
        .map(|node| node.frame.function.as_str())
        .collect()
}

#[test]
fn siblings_are_sorted_by_total_below_their_caller() {
    let stacks = folded("main;a 1\nmain;b;c 5\nmain;b;d 4\nmain;e 1\nother 20", 1);
    let report = call_tree(&view("v1", &stacks), 0, &everything());
    assert_eq!(names(&report), ["other", "main", "b", "c", "d", "a", "e"]);
    let parents: Vec<_> = report.nodes.iter().map(|node| node.parent).collect();
    assert_eq!(
        parents,
        [None, None, Some(1), Some(2), Some(2), Some(1), Some(1)]
    );
    assert_eq!(report.cut.stacks, 0);
}

#[test]
fn pruned_costs_are_summed_per_node_and_overall() {
    let stacks = folded("main 50\nmain;big 40\nmain;s;t 3\nmain;u 2\nsmall 5", 1);
    let report = call_tree(
        &view("v1", &stacks),
        0,
        &with!(Prune {
            min_share: 0.1,
            ..everything()
        }),
    );
    assert_eq!(names(&report), ["main", "big"]);
    let cut = report.nodes[0].cut;
    assert_eq!((cut.stacks, cut.cost.samples, cut.cost.share), (3, 5, 0.05));
    assert_eq!((report.cut.stacks, report.cut.cost.samples), (4, 10));

    let flat = call_tree(
        &view("v1", &stacks),
        0,
        &with!(Prune {
            max_depth: 1,
            ..everything()
        }),
    );
    assert_eq!(names(&flat), ["main", "small"]);
    assert_eq!(flat.cut.cost.samples, 45);
}

#[test]
fn stacks_of_other_events_are_not_counted_as_pruned() {
    let event = |event: &str| sto_core::units::SampleType {
        event: event.to_owned(),
        unit: sto_core::units::Unit::Events,
    };
    let (cycles, faults) = (folded("main;a 9", 1), folded("main;b 1", 1));
    let runs = [vec![(event("cycles"), &cycles), (event("faults"), &faults)]];
    let report = call_tree(&views::view_of("v1", &runs), 0, &Prune::default());
    assert_eq!(names(&report), ["main", "a"]);
    assert_eq!(report.cut.stacks, 0);
}

#[test]
fn recursion_a_million_deep_is_cut_at_the_maximum_depth() {
    let fib = frame("fib", "demo", FrameKind::User);
    let stacks = vec![(
        vec![fib; 1_000_000],
        Cost {
            samples: 3,
            value: 3,
        },
    )];
    let view = view("v1", &stacks);
    let report = call_tree(
        &view,
        0,
        &with!(Prune {
            max_depth: 50,
            ..everything()
        }),
    )
    .unfolded();
    assert_eq!(report.nodes.len(), 50);
    assert_eq!(report.cut.stacks, 999_950);
    let text = render::tree::text(
        &report,
        Style {
            width: Some(80),
            colors: None,
            full_names: false,
            words: WORDS,
        },
    );
    assert_eq!(
        text.lines().filter(|line| line.ends_with("fib")).count(),
        48
    );
    assert!(text.contains("fib  …\n"), "{text}");
}

#[test]
fn equal_rows_are_shown_once_with_their_number() {
    let main = frame("main", "demo", FrameKind::User);
    let worker = |file| Frame {
        file,
        ..frame("worker", "demo", FrameKind::User)
    };
    let cost = Cost {
        samples: 1,
        value: 1,
    };
    let files = ["a.c", "b.c", "c.c", "d.c", "e.c"];
    let stacks: Stacks = files.map(|file| (vec![main, worker(file)], cost)).into();
    let report = call_tree(&view("v1", &stacks), 0, &everything());
    let text = render::tree::text(&report, crate::words::plain());
    assert!(text.contains("└─ worker  (5 times)\n"), "{text}");
    let text = render::tree::text(&report.unfolded(), crate::words::plain());
    assert_eq!(text.matches("worker").count(), 5, "{text}");
}

#[test]
fn deep_recursion_is_shown_completely_on_request() {
    let fib = frame("fib", "demo", FrameKind::User);
    let stacks = vec![(
        vec![fib; 100_000],
        Cost {
            samples: 3,
            value: 3,
        },
    )];
    let report = call_tree(&view("v1", &stacks), 0, &everything());
    let text = render::tree::text(&report, crate::words::plain());
    assert!(text.contains("… 99997 frames: demo\n"), "{text}");
    let text = render::tree::text(&report.unfolded(), crate::words::plain());
    assert_eq!(
        text.lines().filter(|line| line.contains("fib")).count(),
        100_000
    );
}

#[test]
fn chain_is_one_line_in_text_and_complete_in_json() {
    let stacks = folded(
        "_start;std::rt::lang_start;std::rt::call;main;a;b;c;d;work;hot 90\n\
         _start;std::rt::lang_start;std::rt::call;main;a;b;c;d;work 10",
        1,
    );
    let report = call_tree(&view("v1", &stacks), 0, &everything());
    let json: serde_json::Value =
        serde_json::from_str(&sto_query::results::json(&report).unwrap()).unwrap();
    let nodes = json["nodes"].as_array().unwrap();
    let folded: Vec<bool> = nodes.iter().map(|node| node["folded"] == true).collect();
    assert_eq!(
        folded,
        [
            true, true, true, false, true, true, true, false, false, false
        ]
    );
    let text = render::tree::text(&report, crate::words::plain());
    let shown: Vec<&str> = text.lines().skip(3).collect();
    assert_eq!(shown.len(), 6, "{text}");
    assert!(shown[0].contains("… 3 frames: demo, std"), "{text}");
}

#[test]
fn tree_that_branches_at_every_level_stays_narrow() {
    let mut stacks = Stacks::new();
    let mut callers = Vec::new();
    for _ in 0..40 {
        callers.push(frame(
            "descend_into_the_next_level_of_the_tree",
            "demo",
            FrameKind::User,
        ));
        let leaf = frame("leaf", "demo", FrameKind::User);
        let stack = callers.iter().copied().chain([leaf]).collect();
        stacks.push((
            stack,
            Cost {
                samples: 1,
                value: 1,
            },
        ));
    }
    let report = call_tree(&view("v1", &stacks), 0, &everything());
    let text = render::tree::text(
        &report,
        Style {
            width: Some(80),
            colors: None,
            full_names: false,
            words: WORDS,
        },
    );
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{text}");
    assert!(
        text.contains("descend_into_the_next_level_of_the_tree"),
        "{text}"
    );
    assert!(
        text.contains("\n+N before a row: it is N levels further to the right\n"),
        "{text}"
    );
}

#[test]
fn interpreted_and_compiled_code_of_a_function_is_one_row() {
    let mut stacks = Stacks::new();
    for (kind, samples) in [
        (FrameKind::Interpreted, 1),
        (FrameKind::JitBaseline, 2),
        (FrameKind::Jit, 4),
    ] {
        let cost = Cost {
            samples,
            value: samples,
        };
        let stack = ["main", "parse", "scan"].map(|name| frame(name, "work.js", kind));
        stacks.push((stack[..2].to_vec(), cost));
        stacks.push((stack.to_vec(), cost));
    }
    let report = call_tree(&view("v1", &stacks), 0, &everything());
    assert_eq!(names(&report), ["main", "parse", "scan"]);
    let nodes = report.nodes.iter();
    let samples = nodes.map(|node| (node.self_cost.samples, node.total.samples));
    assert_eq!(Vec::from_iter(samples), [(0, 14), (7, 14), (7, 7)]);
}

fn any_stacks() -> impl Strategy<Value = Stacks> {
    let symbol = prop::sample::select(vec!["a", "b", "c"]);
    let stack = prop::collection::vec(symbol, 1..7).prop_map(|symbols| {
        symbols
            .into_iter()
            .map(|s| frame(s, "demo", FrameKind::User))
            .collect()
    });
    let cost = (1..100u64).prop_map(|samples| Cost {
        samples,
        value: samples * 7,
    });
    prop::collection::vec((stack, cost), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shown_and_pruned_costs_add_up_to_the_whole(
        stacks in any_stacks(),
        min_share in 0.0..0.5f64,
        max_depth in 1..8usize,
    ) {
        let whole: u64 = stacks.iter().map(|(_, cost)| cost.value).sum();
        let report = call_tree(&view("v1", &stacks), 0, &with!(Prune { min_share, max_depth }));
        let kept: u64 = report.nodes.iter().map(|node| node.self_cost.value).sum();
        prop_assert_eq!(kept + report.cut.cost.value, whole);
        for node in &report.nodes {
            prop_assert!(node.total.share >= min_share);
            prop_assert!(node.depth < max_depth);
            prop_assert_eq!(node.depth, node.parent.map_or(0, |p| report.nodes[p].depth + 1));
        }
    }
}
