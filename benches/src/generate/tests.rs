//! The generated program resembles real ones.

use super::{EXECUTABLE, Program, Run};
use std::collections::HashSet;
use sto_core::id::{ExecutableId, NodeId};
use sto_core::store::{Added, Store};

const FUNCTIONS: u32 = 20_000;
const NODES: u32 = 10_000;

fn ids(run: &Run) -> HashSet<NodeId> {
    let interned = &run.interned;
    let ids = interned
        .tree
        .node_ids(ExecutableId::from_name(EXECUTABLE), &interned.frames);
    ids.into_iter().collect()
}

/// Returns the share of a run's nodes that no other run has.
fn own(run: &Run, others: &[&Run]) -> f64 {
    let known: HashSet<NodeId> = others.iter().flat_map(|run| ids(run)).collect();
    let ids = ids(run);
    ids.difference(&known).count() as f64 / ids.len() as f64
}

#[test]
fn run_has_the_shape_of_a_recording() {
    let Run { interned, .. } = Program::new(FUNCTIONS).run(0, 0, NODES);
    let nodes = interned.tree.len() as f64;
    let asked = nodes / f64::from(NODES);
    assert!(
        (0.9..1.1).contains(&asked),
        "{asked} of the nodes asked for"
    );

    let costs = &interned.costs[0];
    let with_costs = costs.len() as f64 / nodes;
    assert!((0.25..0.40).contains(&with_costs), "{with_costs}");

    let depth = |node| interned.tree.ancestors(node).count();
    let depths: usize = costs.iter().map(|&(node, _)| depth(node)).sum();
    let depth = depths / costs.len();
    assert!((20..35).contains(&depth), "{depth}");
}

#[test]
fn twentieth_of_a_run_is_unique() {
    let program = Program::new(FUNCTIONS);
    let runs: Vec<Run> = (0..4).map(|run| program.run(0, run, NODES)).collect();
    let share = own(&runs[3], &[&runs[0], &runs[1], &runs[2]]);
    assert!((0.04..0.06).contains(&share), "{share}");
}

#[test]
fn saturating_program_has_fewer_new_stacks_over_time() {
    let program = Program::new(FUNCTIONS).saturating();
    let mut known: HashSet<NodeId> = HashSet::new();
    let new = (0..100).map(|run| {
        let ids = ids(&program.run(0, run, NODES));
        let before = known.len();
        known.extend(&ids);
        (known.len() - before) as f64 / ids.len() as f64
    });
    let new: Vec<f64> = new.collect();
    let at = |run: usize| new[run - 5..run + 5].iter().sum::<f64>() / 10.0;
    let (tenth, ninetieth) = (at(10), at(90));
    assert!((0.01..0.1).contains(&tenth), "{tenth}");
    assert!(ninetieth < 0.9 * tenth, "{ninetieth} of {tenth}");
}

#[test]
fn build_keeps_most_stacks_of_the_previous_one() {
    let program = Program::new(FUNCTIONS);
    let (before, after) = (program.run(7, 0, NODES), program.run(8, 0, NODES));
    let share = own(&after, &[&before]);
    assert!((0.0005..0.03).contains(&share), "{share}");
}

#[test]
fn runs_are_reproducible() {
    let run = || Program::new(1_000).run(3, 5, 1_000);
    let store = Store::in_memory().unwrap();
    let add = |run: Run| {
        store
            .writer()
            .add(&run.build, &run.profile, &run.interned)
            .unwrap()
    };
    assert!(matches!(add(run()), Added::New { .. }));
    assert!(!add(run()).is_new());
    let costs = |run: Run| run.interned.costs;
    assert_eq!(ids(&run()), ids(&run()));
    assert_eq!(costs(run()), costs(run()));
}
