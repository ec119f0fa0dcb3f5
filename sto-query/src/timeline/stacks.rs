//! Stacks with costs by slice, reduced to a number that a web page can handle.

use super::rows::NONE;
use super::{Grid, RunOverTime};
use hashbrown::HashMap;
use sto_core::tree::NodeIx;

/// Number of parts of the time in which the importance of a stack is measured.
const PARTS: usize = 50;
/// Minimum share of a part for a stack to be kept, unless there are too many.
const LEAST_SHARE: f64 = 0.001;

/// Stacks merged by label and caller, with self costs by slice.
pub(crate) struct StacksOverTime {
    /// Parent of each stack, in preorder; `None` for roots.
    pub(crate) parents: Vec<Option<u32>>,
    /// Label of each stack's last frame.
    pub(crate) labels: Vec<u32>,
    /// Stacks with a cost in each slice of the grid, ascending, with their costs.
    pub(crate) slices: Vec<Vec<(u32, f64)>>,
    /// Share of a [fiftieth](PARTS) of the time that no omitted stack exceeds.
    pub(crate) least_share: f64,
    /// Number of omitted stacks, whose cost is in the stacks with the label of others.
    pub(crate) omitted: usize,
}

impl RunOverTime {
    /// Returns about `most` stacks that are most important in some part of the time, merged by the labels of their
    /// frames. All others with the same caller become one stack with the label `others`.
    pub(crate) fn stacks(
        &self,
        sample_type: usize,
        (label_of, others): (&[u32], u32),
        grid: Grid,
        most: usize,
    ) -> StacksOverTime {
        let mut merged = Merged::new(self, label_of);
        let importance = self.importance(sample_type, &merged);
        let mut least_share = LEAST_SHARE;
        let is_kept = |share: f64| importance.iter().filter(|&&i| i >= share).count() <= most;
        while !is_kept(least_share) {
            least_share *= 1.5;
        }
        let omitted = importance.iter().filter(|&&i| i < least_share).count();
        merged.add_others(&importance, least_share, others);
        let (parents, labels) = merged.in_preorder();
        StacksOverTime {
            slices: self.by_slice(sample_type, &merged.of_node, grid),
            parents,
            labels,
            least_share,
            omitted,
        }
    }

    /// Returns for each merged stack the highest share of its total in a part of the time.
    fn importance(&self, sample_type: usize, merged: &Merged) -> Vec<f64> {
        let counted = self.cost_number(sample_type);
        let slices = self.taken.len();
        let part = |slice: u32| (slice - self.taken.start) as usize * PARTS / slices;
        let mut parts: Vec<Vec<(u32, f64)>> = vec![Vec::new(); PARTS];
        for cost in self.costs(sample_type) {
            let node = merged.of_node[cost.node.get()];
            parts[part(cost.slice.0)].push((node, counted(cost.cost)));
        }
        let wholes = parts.iter().map(|costs| costs.iter().map(|(_, c)| c).sum());
        let wholes: Vec<f64> = wholes.collect();
        // Parts with little activity are not informative.
        let least = wholes.iter().sum::<f64>() / PARTS as f64 / 10.0;
        let mut importance = vec![0.0_f64; merged.parents.len()];
        let mut totals = vec![0.0; merged.parents.len()];
        for (costs, whole) in parts.into_iter().zip(wholes) {
            totals.fill(0.0);
            for (node, cost) in costs {
                totals[node as usize] += cost;
            }
            for node in (0..totals.len()).rev() {
                if let Some(parent) = merged.parents[node] {
                    totals[parent as usize] += totals[node];
                }
                importance[node] = importance[node].max(totals[node] / f64::max(whole, least));
            }
        }
        importance
    }

    fn by_slice(&self, sample_type: usize, of_node: &[u32], grid: Grid) -> Vec<Vec<(u32, f64)>> {
        let counted = self.cost_number(sample_type);
        let per_slice = grid.count() as f64 / self.taken.len() as f64;
        let mut slices: Vec<Vec<(u32, f64)>> = vec![Vec::new(); grid.count()];
        for cost in self.costs(sample_type) {
            let node = of_node[cost.node.get()];
            let begin = f64::from(cost.slice.0 - self.taken.start) * per_slice;
            let end = begin + per_slice;
            // A slice of the run is at most as long as one of the grid, so it overlaps two at most.
            let last = (end.ceil() as usize).min(grid.count());
            for (slice, costs) in (begin as usize..last).zip(&mut slices[begin as usize..last]) {
                let length = end.min((slice + 1) as f64) - begin.max(slice as f64);
                if length > 1e-9 * per_slice {
                    costs.push((node, counted(cost.cost) * length / per_slice));
                }
            }
        }
        for costs in &mut slices {
            costs.sort_unstable_by_key(|(node, _)| *node);
            costs.dedup_by(|later, kept| {
                let is_same = later.0 == kept.0;
                if is_same {
                    kept.1 += later.1;
                }
                is_same
            });
        }
        slices
    }
}

/// Stacks merged by label, callers before callees.
struct Merged {
    parents: Vec<Option<u32>>,
    labels: Vec<u32>,
    /// Merged stack of each node of the view.
    of_node: Vec<u32>,
}

impl Merged {
    fn new(run: &RunOverTime, label_of: &[u32]) -> Merged {
        let tree = &run.view.tree;
        let mut known: HashMap<(Option<u32>, u32), u32> = HashMap::new();
        let mut merged = Merged {
            parents: Vec::new(),
            labels: Vec::new(),
            of_node: Vec::with_capacity(tree.len()),
        };
        for node in tree.nodes() {
            let of = |node: NodeIx| merged.of_node[node.get()];
            let parent = tree.parent(node).map(of);
            let label = label_of[tree.frame(node).get()];
            let stack = *known.entry((parent, label)).or_insert_with(|| {
                merged.parents.push(parent);
                merged.labels.push(label);
                merged.parents.len() as u32 - 1
            });
            merged.of_node.push(stack);
        }
        merged
    }

    /// Replaces less important stacks with one stack per caller.
    fn add_others(&mut self, importance: &[f64], least: f64, label: u32) {
        let mut moved_to: Vec<u32> = Vec::with_capacity(importance.len());
        let mut others: HashMap<Option<u32>, u32> = HashMap::new();
        let (mut parents, mut labels) = (Vec::new(), Vec::new());
        // A stack is at least as important as its callees, so removing it removes them.
        for (stack, &importance) in importance.iter().enumerate() {
            let caller = self.parents[stack];
            let parent = caller.map(|caller| moved_to[caller as usize]);
            let is_gone = parent.is_some_and(|parent| labels[parent as usize] == label);
            let moved = match parent.filter(|_| is_gone) {
                Some(others) => others,
                None if importance >= least => {
                    parents.push(parent);
                    labels.push(self.labels[stack]);
                    parents.len() as u32 - 1
                }
                None => *others.entry(parent).or_insert_with(|| {
                    parents.push(parent);
                    labels.push(label);
                    parents.len() as u32 - 1
                }),
            };
            moved_to.push(moved);
        }
        for stack in &mut self.of_node {
            *stack = moved_to[*stack as usize];
        }
        (self.parents, self.labels) = (parents, labels);
    }

    /// Sorts the stacks in preorder, siblings by label, and returns their parents and labels.
    fn in_preorder(&mut self) -> (Vec<Option<u32>>, Vec<u32>) {
        let mut callees: Vec<Vec<u32>> = vec![Vec::new(); self.parents.len()];
        let mut open = Vec::new();
        for (stack, parent) in (0..).zip(&self.parents) {
            match parent {
                Some(parent) => callees[*parent as usize].push(stack),
                None => open.push(stack),
            }
        }
        let by_label = |stacks: &mut Vec<u32>| {
            stacks.sort_by_key(|&stack| std::cmp::Reverse(self.labels[stack as usize]));
        };
        by_label(&mut open);
        callees.iter_mut().for_each(by_label);
        let mut number = vec![NONE; self.parents.len()];
        let (mut parents, mut labels) = (Vec::new(), Vec::new());
        while let Some(stack) = open.pop() {
            number[stack as usize] = parents.len() as u32;
            let parent = self.parents[stack as usize];
            parents.push(parent.map(|parent| number[parent as usize]));
            labels.push(self.labels[stack as usize]);
            open.append(&mut callees[stack as usize]);
        }
        for stack in &mut self.of_node {
            *stack = number[*stack as usize];
        }
        (parents, labels)
    }
}
