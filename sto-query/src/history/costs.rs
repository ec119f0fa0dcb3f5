//! Computes the costs of nodes and functions in the runs of a history.

use super::{FunctionIx, History};
use rayon::prelude::*;
use sto_core::tree::{NodeIx, SelfCosts, for_each_total};
use sto_core::units::Cost;

impl History {
    /// Returns the samples of nodes and everything below them in one run, in the order of `nodes`.
    pub fn samples_below(&self, run: usize, nodes: &[NodeIx]) -> Vec<u64> {
        let costs = &self.costs[run];
        let sums = self.sums[run].get_or_init(|| running_sums(costs));
        let mut last = (NodeIx(0), 0);
        let below = |&node: &NodeIx| {
            let from = if node < last.0 { 0 } else { last.1 };
            let start = first_from(costs, from, node.0);
            let end = first_from(costs, start, self.subtree_end(node));
            last = (node, start);
            sums[end] - sums[start]
        };
        nodes.iter().map(below).collect()
    }

    /// Calls `each` with the index and the total samples of every node that has samples in a run.
    /// Nodes must be in order, and none below another.
    pub(crate) fn for_each_below(
        &self,
        run: usize,
        nodes: &[NodeIx],
        mut each: impl FnMut(usize, u64),
    ) {
        let costs = &self.costs[run];
        let sums = self.sums[run].get_or_init(|| running_sums(costs));
        let (mut index, mut at) = (0, 0);
        while let Some(&(next, _)) = costs.get(at) {
            // A run has few of many nodes, and few of its costs are below them, so both are skipped
            // in large steps.
            index = skip(nodes, index, |&node| self.subtree_end(node) <= next.0);
            let Some(&node) = nodes.get(index) else {
                break;
            };
            let start = first_from(costs, at, node.0);
            at = first_from(costs, start, self.subtree_end(node));
            if at > start {
                each(index, sums[at] - sums[start]);
            }
            index += 1;
        }
    }

    /// Returns, for each run, the cost of the samples whose stacks contain one of these functions,
    /// each counted once.
    pub fn totals_of(&self, functions: &[FunctionIx]) -> Vec<Cost> {
        // In preorder, subtrees are contiguous, so those of the outermost nodes are ranges that do
        // not overlap.
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        let mut is_selected = vec![false; self.functions.len()];
        functions.iter().for_each(|f| is_selected[f.get()] = true);
        for node in self.tree.nodes() {
            let is_inside = pieces.last().is_some_and(|&(_, end)| node.0 < end);
            if !is_inside && is_selected[self.function_of[node.get()].get()] {
                pieces.push((node.0, self.subtree_end(node)));
            }
        }
        let sum = |costs: &SelfCosts| {
            let mut pieces = pieces.iter().peekable();
            let mut sum = Cost::ZERO;
            for &(node, cost) in costs {
                while pieces.next_if(|&&(_, end)| end <= node.0).is_some() {}
                match pieces.peek() {
                    None => break,
                    Some(&&(start, _)) if start <= node.0 => sum += cost,
                    Some(_) => {}
                }
            }
            sum
        };
        self.costs.par_iter().map(sum).collect()
    }

    /// Returns the total cost of each function in one run: the samples whose stacks contain it,
    /// each counted once.
    pub fn totals(&self, run: usize) -> Vec<Cost> {
        let mut totals = vec![Cost::ZERO; self.functions.len()];
        self.for_each_outermost(run, |function, cost| totals[function.get()] += cost);
        totals
    }

    /// Returns the self cost of each function in one run.
    pub(crate) fn self_costs(&self, run: usize) -> Vec<Cost> {
        let mut costs = vec![Cost::ZERO; self.functions.len()];
        self.for_each_self(run, |function, cost| costs[function.get()] += cost);
        costs
    }

    /// Calls `each` with the total costs of the outermost nodes of functions, which add up to
    /// [`History::totals`].
    pub(crate) fn for_each_outermost(&self, run: usize, mut each: impl FnMut(FunctionIx, Cost)) {
        self.for_each_total(run, |node, cost| {
            if self.outermost[node.get()] {
                each(self.function(node), cost);
            }
        });
    }

    /// Calls `each` with the self costs of nodes, which add up to [`History::self_costs`].
    pub(crate) fn for_each_self(&self, run: usize, mut each: impl FnMut(FunctionIx, Cost)) {
        for &(node, cost) in &self.costs[run] {
            each(self.function(node), cost);
        }
    }

    /// Returns the total samples of functions, by run and then in the order of `functions`.
    pub fn samples_of(&self, functions: &[FunctionIx]) -> Vec<Vec<f64>> {
        let mut wanted = vec![None; self.functions.len()];
        for (index, function) in functions.iter().enumerate() {
            wanted[function.get()] = Some(index);
        }
        // `outer` has, for each outermost node of these functions, the index of its function and
        // the next outermost node above. `within` has, for each node, the innermost outermost node
        // that it is or is below.
        let mut outer: Vec<(usize, Option<u32>)> = Vec::new();
        let mut within: Vec<Option<u32>> = Vec::with_capacity(self.tree.len());
        for node in self.tree.nodes() {
            let above = self
                .tree
                .parent(node)
                .and_then(|parent| within[parent.get()]);
            let function = wanted[self.function(node).get()];
            within.push(match function.filter(|_| self.outermost[node.get()]) {
                None => above,
                Some(function) => {
                    outer.push((function, above));
                    Some(outer.len() as u32 - 1)
                }
            });
        }
        let of_run = |costs: &SelfCosts| {
            let mut below = vec![0u64; outer.len()];
            for (node, cost) in costs {
                if let Some(index) = within[node.get()] {
                    below[index as usize] += cost.samples;
                }
            }
            let mut samples = vec![0u64; functions.len()];
            for (index, &(function, above)) in outer.iter().enumerate().rev() {
                samples[function] += below[index];
                if let Some(above) = above {
                    below[above as usize] += below[index];
                }
            }
            samples.into_iter().map(|samples| samples as f64).collect()
        };
        self.costs.par_iter().map(of_run).collect()
    }

    /// Calls `each` with the total cost of each node in one run, for nodes that have a cost,
    /// callees before callers.
    pub(crate) fn for_each_total(&self, run: usize, mut each: impl FnMut(NodeIx, Cost)) {
        for_each_total(&self.tree, &self.costs[run], |node, _, total| {
            each(node, total)
        });
    }
}

/// Returns the index of the first cost at or after `from` whose node is `node` or a later one.
fn first_from(costs: &SelfCosts, from: usize, node: u32) -> usize {
    skip(costs, from, |(known, _)| known.0 < node)
}

/// Returns the index of the first item at or after `from` for which the condition is false. It must
/// be true for all items before and false for all after. Close items are found in few steps
/// (exponential search).
fn skip<T>(items: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let (mut start, mut skip) = (from, 1);
    while start + skip <= items.len() && is_before(&items[start + skip - 1]) {
        start += skip;
        skip *= 2;
    }
    let end = (start + skip).min(items.len());
    start + items[start..end].partition_point(is_before)
}

/// Returns the cumulative samples before each node of a run, and then the samples of all nodes.
fn running_sums(costs: &SelfCosts) -> Vec<u64> {
    let mut sums = Vec::with_capacity(costs.len() + 1);
    let mut sum = 0u64;
    sums.push(sum);
    for (_, cost) in costs {
        sum = sum.saturating_add(cost.samples);
        sums.push(sum);
    }
    sums
}
