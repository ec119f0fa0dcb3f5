//! Contexts of a function: chains of callers or callees.

use crate::history::{FunctionIx, History};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use sto_core::tree::NodeIx;

/// Direction in which branches grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From a function to its callers.
    #[default]
    Callers,
    /// From a function to its callees.
    Callees,
}

/// A function in the context of some callers or callees.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The starting function, followed by the functions added.
    pub functions: Vec<FunctionIx>,
    /// Samples of the starting function in this context, by run: in calls by the other functions, or in calls that
    /// contain them.
    pub first: Vec<f64>,
    /// Total samples of the last function in this context, by run.
    pub last: Vec<f64>,
    /// Samples whose stack contains the whole branch, by run: `first` for callers, `last` for callees. Branches are
    /// judged by these. The thesis judges callees by `first`, too, which is nearly the same for all callees of a
    /// function.
    pub samples: Vec<f64>,
    /// Pairs of a node of the starting function and the corresponding node of the last one.
    pub(super) nodes: Vec<(NodeIx, NodeIx)>,
}

impl Branch {
    /// Number of functions without the first.
    pub(crate) fn depth(&self) -> usize {
        self.functions.len() - 1
    }

    /// Returns the nodes of the last function in this context.
    pub(crate) fn ends(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.nodes.iter().map(|&(_, end)| end)
    }
}

/// Context for growing branches of one function in one direction.
pub(super) struct BranchGrower<'h> {
    history: &'h History,
    function: FunctionIx,
    direction: Direction,
}

impl<'h> BranchGrower<'h> {
    pub(super) fn new(history: &'h History, function: FunctionIx, direction: Direction) -> Self {
        BranchGrower {
            history,
            function,
            direction,
        }
    }

    /// Returns the branch of only the function.
    pub(super) fn start(&self) -> Branch {
        let nodes = self.history.outermost(self.function);
        self.branch(
            vec![self.function],
            nodes.map(|node| (node, node)).collect(),
        )
    }

    /// Returns the branches with one more function, by function.
    pub(super) fn extensions(&self, branch: &Branch) -> Vec<Branch> {
        let mut by_function: BTreeMap<FunctionIx, Vec<(NodeIx, NodeIx)>> = BTreeMap::new();
        for &(start, end) in &branch.nodes {
            let grow = |next| {
                let nodes = by_function.entry(self.history.function(next)).or_default();
                nodes.push((start, next));
            };
            match self.direction {
                Direction::Callers => self.history.tree.parent(end).into_iter().for_each(grow),
                Direction::Callees => self.history.children(end).for_each(grow),
            }
        }
        let extended = by_function.into_iter().map(|(function, nodes)| {
            let mut functions = branch.functions.clone();
            functions.push(function);
            self.branch(functions, nodes)
        });
        extended.collect()
    }

    fn branch(&self, functions: Vec<FunctionIx>, nodes: Vec<(NodeIx, NodeIx)>) -> Branch {
        let ends = self.outermost(nodes.iter().map(|&(_, end)| end).collect());
        let runs = (0..self.history.runs.len()).into_par_iter();
        let of_run = |run| {
            let first = self.first(run, &nodes);
            (first as f64, self.below(run, &ends) as f64)
        };
        let (first, last): (Vec<f64>, Vec<f64>) = runs.map(of_run).unzip();
        Branch {
            functions,
            samples: match self.direction {
                Direction::Callers => first.clone(),
                Direction::Callees => last.clone(),
            },
            first,
            last,
            nodes,
        }
    }

    /// Returns the samples of the starts, each counted once, if the context has samples.
    fn first(&self, run: usize, nodes: &[(NodeIx, NodeIx)]) -> u64 {
        let mut starts: Vec<NodeIx> = match self.direction {
            // The context has all samples of its start.
            Direction::Callers => nodes.iter().map(|&(start, _)| start).collect(),
            // Ends have the same distance from their starts, so none is below another.
            Direction::Callees => {
                let ends: Vec<NodeIx> = nodes.iter().map(|&(_, end)| end).collect();
                let mut starts = Vec::new();
                let add = |ix: usize, _| starts.push(nodes[ix].0);
                self.history.for_each_below(run, &ends, add);
                starts
            }
        };
        starts.dedup();
        self.below(run, &starts)
    }

    /// Returns the total samples of these nodes. No node may be below another.
    fn below(&self, run: usize, nodes: &[NodeIx]) -> u64 {
        let mut sum = 0;
        let add = |_, samples| sum += samples;
        self.history.for_each_below(run, nodes, add);
        sum
    }

    /// Sorts nodes, and removes those below others.
    fn outermost(&self, mut nodes: Vec<NodeIx>) -> Vec<NodeIx> {
        nodes.sort_unstable();
        let mut within_until = 0;
        nodes.retain(|&node| {
            let is_outermost = node.0 >= within_until;
            if is_outermost {
                within_until = self.history.subtree_end(node);
            }
            is_outermost
        });
        nodes
    }
}
