//! What nodes and functions cost in the runs of a history.

use super::{FunctionIx, History};
use rayon::prelude::*;
use sto_core::tree::{NodeIx, SelfCosts, for_each_total};
use sto_core::units::Cost;

impl History {
    /// Samples of some nodes with all below them, in one run: for each node in its order.
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

    /// Samples of those nodes that have any, with all below them, in one run: the indices of the nodes, and
    /// how many. The nodes are in order, and none is below another.
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
            // Of many nodes a run has few, and of its costs few are below them: both are leapt over.
            index = leap(nodes, index, |&node| self.subtree_end(node) <= next.0);
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

    /// What samples cost whose stack has one of these functions, by run; each counted once.
    pub fn totals_of(&self, functions: &[FunctionIx]) -> Vec<Cost> {
        // In preorder a subtree is one piece, so the outermost of these nodes are pieces that do
        // not overlap.
        let mut pieces: Vec<(u32, u32)> = Vec::new();
        let mut is_meant = vec![false; self.functions.len()];
        functions.iter().for_each(|f| is_meant[f.get()] = true);
        for node in self.tree.nodes() {
            let is_inside = pieces.last().is_some_and(|&(_, end)| node.0 < end);
            if !is_inside && is_meant[self.function_of[node.get()].get()] {
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

    /// What each function cost in one run: the samples whose stack has it, each counted once.
    pub fn totals(&self, run: usize) -> Vec<Cost> {
        let mut totals = vec![Cost::ZERO; self.functions.len()];
        self.for_each_outermost(run, |function, cost| totals[function.get()] += cost);
        totals
    }

    /// What each function cost by itself in one run.
    pub(crate) fn self_costs(&self, run: usize) -> Vec<Cost> {
        let mut costs = vec![Cost::ZERO; self.functions.len()];
        self.for_each_self(run, |function, cost| costs[function.get()] += cost);
        costs
    }

    /// The parts of [`History::totals`]: what the outermost nodes of functions cost, with all below them.
    pub(crate) fn for_each_outermost(&self, run: usize, mut each: impl FnMut(FunctionIx, Cost)) {
        self.for_each_total(run, |node, cost| {
            if self.outermost[node.get()] {
                each(self.function(node), cost);
            }
        });
    }

    /// The parts of [`History::self_costs`]: what nodes cost by themselves.
    pub(crate) fn for_each_self(&self, run: usize, mut each: impl FnMut(FunctionIx, Cost)) {
        for &(node, cost) in &self.costs[run] {
            each(self.function(node), cost);
        }
    }

    /// The samples that [`History::totals`] has of some functions, by run and then by their order.
    pub fn samples_of(&self, functions: &[FunctionIx]) -> Vec<Vec<f64>> {
        let mut wanted = vec![None; self.functions.len()];
        for (index, function) in functions.iter().enumerate() {
            wanted[function.get()] = Some(index);
        }
        // The outermost nodes of these functions: which one it is of, and which one is above it. And by
        // node the one that it is, or is below, innermost.
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

    /// What each node cost in one run with all below it: for each node that has a cost, after those below
    /// it.
    pub(crate) fn for_each_total(&self, run: usize, mut each: impl FnMut(NodeIx, Cost)) {
        for_each_total(&self.tree, &self.costs[run], |node, _, total| {
            each(node, total)
        });
    }
}

/// The index of the first cost, of those from an index on, whose node is this or a later one.
fn first_from(costs: &SelfCosts, from: usize, node: u32) -> usize {
    leap(costs, from, |(known, _)| known.0 < node)
}

/// The index of the first item, of those from an index on, of which this is not true: it is true of all before
/// it, and of none after it. What lies close is found in few steps.
fn leap<T>(items: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let (mut start, mut leap) = (from, 1);
    while start + leap <= items.len() && is_before(&items[start + leap - 1]) {
        start += leap;
        leap *= 2;
    }
    let end = (start + leap).min(items.len());
    start + items[start..end].partition_point(is_before)
}

/// The samples before each node of a run, and after them those of all.
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
