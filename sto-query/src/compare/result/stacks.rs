//! The stacks of both sides with their costs.

use super::FunctionName;

/// The stacks of both sides as one tree of functions, in preorder: callers before callees, siblings
/// by name.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stacks {
    /// Functions by index, in the order of symbol and module.
    pub functions: Vec<FunctionName>,
    /// All stacks that have samples.
    pub nodes: Vec<StackNode>,
    /// Normalised cost of a sample of the baseline, as a multiple of the mean cost of a baseline
    /// run. All of the baseline costs 1.
    pub baseline_cost: f64,
    /// Normalised cost of a sample of the candidate, in the same unit.
    pub candidate_cost: f64,
}

impl Stacks {
    /// Returns the index of each node's caller.
    pub(crate) fn parents(&self) -> Vec<Option<u32>> {
        let mut callers: Vec<u32> = Vec::new();
        let nodes = self.nodes.iter().zip(0..);
        nodes
            .map(|(node, ix)| {
                callers.truncate(node.depth);
                let parent = callers.last().copied();
                callers.push(ix);
                parent
            })
            .collect()
    }

    /// Returns the samples of each stack by itself, of the baseline and of the candidate.
    pub(crate) fn self_samples(&self, parents: &[Option<u32>]) -> Vec<[u64; 2]> {
        let totals = self.nodes.iter().map(StackNode::samples);
        let mut own: Vec<[u64; 2]> = totals.collect();
        for (node, parent) in self.nodes.iter().zip(parents) {
            if let Some(parent) = *parent {
                // Totals that are too large for their type are cut off.
                for (own, total) in own[parent as usize].iter_mut().zip(node.samples()) {
                    *own = own.saturating_sub(total);
                }
            }
        }
        own
    }

    /// Replaces the samples of each stack by itself, and computes their totals.
    pub(crate) fn set_self_samples(&mut self, parents: &[Option<u32>], own: Vec<[u64; 2]>) {
        let mut totals = own;
        for ix in (0..totals.len()).rev() {
            let total = totals[ix];
            [
                self.nodes[ix].baseline_samples,
                self.nodes[ix].candidate_samples,
            ] = total;
            if let Some(parent) = parents[ix] {
                for (sum, total) in totals[parent as usize].iter_mut().zip(total) {
                    *sum = sum.saturating_add(total);
                }
            }
        }
    }
}

impl StackNode {
    /// Returns the samples of the baseline and of the candidate.
    pub(crate) fn samples(&self) -> [u64; 2] {
        [self.baseline_samples, self.candidate_samples]
    }
}

/// A stack, with its total samples: its own, and the samples of all stacks below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackNode {
    /// Number of callers.
    pub depth: usize,
    /// Index of the stack's last function in [`Stacks::functions`].
    pub function: usize,
    /// Samples in all runs of the baseline.
    pub baseline_samples: u64,
    /// Samples in all runs of the candidate.
    pub candidate_samples: u64,
}
