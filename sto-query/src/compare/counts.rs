//! Samples per function and run, and per node and side.

use super::functions::Functions;
use super::pair::Pair;
use super::union::UnionTree;
use rayon::prelude::*;
use std::borrow::Cow;
use sto_core::tree::SelfCosts;

/// Samples of each function in each run: `runs[run][function]`, baseline runs first.
pub(super) struct Counts {
    pub(super) runs: Vec<Vec<u64>>,
    /// Number of baseline runs.
    pub(super) split: usize,
}

impl Counts {
    /// Returns the samples of a function by run, for each side.
    pub(super) fn samples_by_side(
        &self,
        function: usize,
    ) -> Pair<impl Iterator<Item = u64> + Clone + '_> {
        let (baseline, candidate) = self.runs.split_at(self.split);
        Pair::new(baseline, candidate).map(|runs| runs.iter().map(move |run| run[function]))
    }

    /// Returns the samples of a function by run, baseline runs first.
    pub(super) fn samples_by_run(&self, function: usize) -> Vec<f64> {
        self.runs.iter().map(|run| run[function] as f64).collect()
    }

    /// Returns the sum of the samples of all functions, by run.
    pub(super) fn totals(&self) -> Vec<f64> {
        let sum = |run: &Vec<u64>| run.iter().map(|&count| count as f64).sum();
        self.runs.iter().map(sum).collect()
    }

    /// Returns the number of functions.
    pub(super) fn functions(&self) -> usize {
        self.runs.first().map_or(0, Vec::len)
    }

    /// Returns the samples of a function in all runs of each side.
    pub(super) fn sums(&self, function: usize) -> Pair<u64> {
        self.samples_by_side(function)
            .map(|runs| runs.fold(0, u64::saturating_add))
    }
}

/// The three counts of functions that are tested.
pub(super) struct FunctionCounts {
    /// Samples that ended in the function.
    pub(super) self_: Counts,
    /// Samples that ended in the function, or in callees whose cost is attributed to it.
    pub(super) attributed: Counts,
    /// Samples whose stack contains the function, each counted once.
    pub(super) total: Counts,
}

/// Samples by node of the union tree, in all runs of each side.
pub(super) struct NodeCounts {
    /// Attributed self.
    pub(super) attributed: Pair<Vec<u64>>,
    /// Total: the node and everything below it.
    pub(super) total: Pair<Vec<u64>>,
}

/// Returns, for each node, the node that its self cost is attributed to.
///
/// For unchanged modules and library code, that is the nearest caller that is neither, if there is
/// one; otherwise the node itself.
pub(super) fn attribute_nodes(tree: &UnionTree, functions: &Functions) -> Vec<u32> {
    let is_attributed =
        |node: usize| functions.list[tree.function(node).get()].is_attributed_to_caller();
    let mut owners: Vec<u32> = Vec::with_capacity(tree.len());
    for node in 0..tree.len() {
        let callers = tree.parent(node).map(|parent| owners[parent]);
        let owner =
            callers.filter(|&caller| is_attributed(node) && !is_attributed(caller as usize));
        owners.push(owner.unwrap_or(node as u32));
    }
    owners
}

/// Counts the samples of both sides.
pub(super) fn count(
    runs: Pair<&[Cow<SelfCosts>]>,
    tree: &UnionTree,
    owners: &[u32],
    functions: usize,
) -> (FunctionCounts, NodeCounts) {
    let side = |runs: &[Cow<SelfCosts>], of_node: &[u32]| {
        let count = |subtrees: &mut Vec<u64>, run: &Cow<SelfCosts>| {
            count_run(run, subtrees, of_node, tree, owners, functions)
        };
        rayon::join(
            || -> Vec<[Vec<u64>; 3]> { runs.par_iter().map_init(Vec::new, count).collect() },
            || node_counts(runs, of_node, tree, owners),
        )
    };
    let ((baseline, of_baseline), (candidate, of_candidate)) = rayon::join(
        || side(runs.baseline, &tree.of_node.baseline),
        || side(runs.candidate, &tree.of_node.candidate),
    );
    let nodes = NodeCounts {
        attributed: Pair::new(of_baseline.0, of_candidate.0),
        total: Pair::new(of_baseline.1, of_candidate.1),
    };

    let split = baseline.len();
    let mut by_count: [Vec<Vec<u64>>; 3] = Default::default();
    for run in baseline.into_iter().chain(candidate) {
        for (runs, count) in by_count.iter_mut().zip(run) {
            runs.push(count);
        }
    }
    let [self_, attributed, total] = by_count.map(|runs| Counts { runs, split });
    let counts = FunctionCounts {
        self_,
        attributed,
        total,
    };
    (counts, nodes)
}

/// Returns the samples by node in all runs of a side: attributed self, and total.
fn node_counts(
    runs: &[Cow<SelfCosts>],
    of_node: &[u32],
    tree: &UnionTree,
    owners: &[u32],
) -> (Vec<u64>, Vec<u64>) {
    let (mut attributed, mut total) = (vec![0; tree.len()], vec![0; tree.len()]);
    for (node, cost) in runs.iter().flat_map(|run| run.iter()) {
        add(&mut total[of_node[node.get()] as usize], cost.samples);
    }
    for (&owner, &samples) in owners.iter().zip(&total) {
        add(&mut attributed[owner as usize], samples);
    }
    tree.add_up(&mut total, u64::saturating_add);
    (attributed, total)
}

/// Returns the samples of each function in one run: self, attributed self, and total. `subtrees` is
/// a scratch buffer.
fn count_run(
    run: &SelfCosts,
    subtrees: &mut Vec<u64>,
    of_node: &[u32],
    tree: &UnionTree,
    owners: &[u32],
    functions: usize,
) -> [Vec<u64>; 3] {
    let [mut self_, mut attributed, mut total] = [(); 3].map(|()| vec![0; functions]);
    subtrees.clear();
    subtrees.resize(tree.len(), 0);
    for (node, cost) in run {
        let node = of_node[node.get()] as usize;
        let owner = owners[node] as usize;
        add(&mut subtrees[node], cost.samples);
        add(&mut self_[tree.function(node).get()], cost.samples);
        add(&mut attributed[tree.function(owner).get()], cost.samples);
    }
    for node in (0..tree.len()).rev() {
        let samples = subtrees[node];
        if samples == 0 {
            continue;
        }
        if let Some(parent) = tree.parent(node) {
            add(&mut subtrees[parent], samples);
        }
        if tree.is_outermost(node) {
            add(&mut total[tree.function(node).get()], samples);
        }
    }
    [self_, attributed, total]
}

fn add(sum: &mut u64, samples: u64) {
    *sum = sum.saturating_add(samples);
}
