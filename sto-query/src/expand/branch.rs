//! A function in the context of some of its callers, or callees.

use crate::history::{FunctionIx, History};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use sto_core::tree::NodeIx;

/// Where branches grow to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From a function to what calls it.
    #[default]
    Callers,
    /// From a function to what it calls.
    Callees,
}

/// A function in the context of some of its callers, or callees.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The function that it started at, and those that it grew by.
    pub functions: Vec<FunctionIx>,
    /// By run, samples of the function that it started at, in this context: where it is called by the
    /// others, or in those of its calls that have samples of the others.
    pub first: Vec<f64>,
    /// By run, samples of the function that it grew by last, in this context, with all that it calls.
    pub last: Vec<f64>,
    /// By run, samples whose stack has the whole branch: `first` where it grew to callers, `last` where it
    /// grew to callees. This is what branches are judged by; the thesis judges callees by `first`
    /// too, which is nearly the same for all that a function calls.
    pub samples: Vec<f64>,
    /// Where the function that it started at stands, and where it grew to from there.
    pub(super) nodes: Vec<(NodeIx, NodeIx)>,
}

impl Branch {
    /// Number of functions beyond the first.
    pub(crate) fn depth(&self) -> usize {
        self.functions.len() - 1
    }

    /// The stacks that the function that it grew by last ends, in this context.
    pub(crate) fn ends(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.nodes.iter().map(|&(_, end)| end)
    }
}

/// What branches of one function and direction grow in.
pub(super) struct Runs<'h> {
    history: &'h History,
    function: FunctionIx,
    direction: Direction,
}

impl<'h> Runs<'h> {
    pub(super) fn of(history: &'h History, function: FunctionIx, direction: Direction) -> Self {
        Runs {
            history,
            function,
            direction,
        }
    }

    /// The function alone.
    pub(super) fn start(&self) -> Branch {
        let nodes = self.history.outermost(self.function);
        self.branch(
            vec![self.function],
            nodes.map(|node| (node, node)).collect(),
        )
    }

    /// The branches that are longer by one, by function.
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

    /// Samples of the start of each node pair, once, where the context has samples.
    fn first(&self, run: usize, nodes: &[(NodeIx, NodeIx)]) -> u64 {
        let mut starts: Vec<NodeIx> = match self.direction {
            // The context has all samples that the start has.
            Direction::Callers => nodes.iter().map(|&(start, _)| start).collect(),
            // Ends stand equally far below their starts, so that none is below another.
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

    /// Samples of these nodes, of which none is below another, together.
    fn below(&self, run: usize, nodes: &[NodeIx]) -> u64 {
        let mut sum = 0;
        let add = |_, samples| sum += samples;
        self.history.for_each_below(run, nodes, add);
        sum
    }

    /// These nodes in order, without those that are below others.
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
