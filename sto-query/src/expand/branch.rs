//! A function in the context of some of its callers, or callees.

use crate::history::{FunctionIx, History};
use hashbrown::HashMap;
use rayon::prelude::*;
use std::collections::BTreeMap;
use sto_core::intern::NodeIx;

/// Where branches grow to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a function to what calls it.
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
    pub fn depth(&self) -> usize {
        self.functions.len() - 1
    }

    /// The stacks that the function that it grew by last ends, in this context.
    pub fn ends(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.nodes.iter().map(|&(_, end)| end)
    }
}

/// What branches of one function and direction grow in.
pub(super) struct Runs<'h> {
    history: &'h History,
    function: FunctionIx,
    direction: Direction,
    /// By node: its children, where branches grow to callees.
    children: HashMap<NodeIx, Vec<NodeIx>>,
}

impl<'h> Runs<'h> {
    pub(super) fn of(history: &'h History, function: FunctionIx, direction: Direction) -> Self {
        let mut children: HashMap<NodeIx, Vec<NodeIx>> = HashMap::new();
        if direction == Direction::Callees {
            let below = history
                .outermost(function)
                .flat_map(|start| (start.0 + 1..history.subtree_end(start)).map(NodeIx));
            for node in below {
                if let Some(parent) = history.tree.parent(node) {
                    children.entry(parent).or_default().push(node);
                }
            }
        }
        Runs {
            history,
            function,
            direction,
            children,
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
            let parent;
            let next: &[NodeIx] = match self.direction {
                Direction::Callers => {
                    parent = self.history.tree.parent(end);
                    parent.as_slice()
                }
                Direction::Callees => self.children.get(&end).map_or(&[], Vec::as_slice),
            };
            for &next in next {
                let nodes = by_function.entry(self.history.function(next)).or_default();
                nodes.push((start, next));
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
        let starts: Vec<NodeIx> = nodes.iter().map(|&(start, _)| start).collect();
        let ends: Vec<NodeIx> = nodes.iter().map(|&(_, end)| end).collect();
        let runs = (0..self.history.runs.len()).into_par_iter();
        let of_run = |run| {
            let at_starts = self.history.samples_below(run, &starts);
            let at_ends = self.history.samples_below(run, &ends);
            let first = self.first(&nodes, &at_starts, &at_ends) as f64;
            (first, self.last(&ends, &at_ends) as f64)
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
    fn first(&self, nodes: &[(NodeIx, NodeIx)], starts: &[u64], ends: &[u64]) -> u64 {
        let mut sum = 0;
        let mut counted = None;
        for (&(start, _), (&samples, &below)) in nodes.iter().zip(starts.iter().zip(ends)) {
            if below > 0 && counted != Some(start) {
                counted = Some(start);
                sum += samples;
            }
        }
        sum
    }

    /// Samples of the ends, those below another counted once.
    fn last(&self, ends: &[NodeIx], samples: &[u64]) -> u64 {
        let mut order: Vec<(NodeIx, u64)> =
            ends.iter().copied().zip(samples.iter().copied()).collect();
        order.sort_unstable();
        let mut within_until = 0;
        let mut sum = 0;
        for (node, samples) in order {
            if node.0 >= within_until {
                within_until = self.history.subtree_end(node);
                sum += samples;
            }
        }
        sum
    }
}
