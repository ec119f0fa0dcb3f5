//! Causes, and the data from which they are found.

use super::counts::NodeCounts;
use super::evidence::{Direction, Evidence, Tests};
use super::functions::{FunctionIx, Functions};
use super::normalise::SizeFactors;
use super::pair::Pair;
use super::result::Basis;
use super::union::{Callers, UnionTree};

/// A function that a change is attributed to.
#[derive(Debug)]
pub(super) struct Cause {
    pub(super) function: FunctionIx,
    pub(super) basis: Basis,
    pub(super) direction: Direction,
    /// The change that the cause explains: candidate minus baseline, as samples in a run of size 1.
    pub(super) explains: f64,
    /// Callers that inherit the change, innermost first.
    pub(super) affected: Vec<FunctionIx>,
    /// Callees that grew because the cause calls them more often, largest share first.
    pub(super) grown_callees: Vec<FunctionIx>,
    /// Samples of both sides whose difference the cause explains, by node.
    pub(super) at: Vec<(usize, Pair<f64>)>,
}

impl Cause {
    /// Creates a cause that does not explain anything yet.
    pub(super) fn new(function: FunctionIx, basis: Basis, direction: Direction) -> Cause {
        Cause {
            function,
            basis,
            direction,
            explains: 0.0,
            affected: Vec::new(),
            grown_callees: Vec::new(),
            at: Vec::new(),
        }
    }
}

/// The data that causes are found from.
pub(super) struct Evidences<'a> {
    pub(super) tree: &'a UnionTree,
    /// The nearest callers that cost can be attributed to.
    pub(super) callers: &'a Callers,
    pub(super) functions: &'a Functions,
    pub(super) nodes: &'a NodeCounts,
    pub(super) sizes: &'a SizeFactors,
    pub(super) tests: &'a Tests<'a>,
}

impl Evidences<'_> {
    /// Returns the samples attributed to a node: its own, and the samples of unchanged modules and
    /// library code that it called.
    pub(super) fn attributed(&self, node: usize) -> Pair<f64> {
        let attributed = &self.nodes.attributed;
        Pair::new(
            attributed.baseline[node] as f64,
            attributed.candidate[node] as f64,
        )
    }

    pub(super) fn total(&self, node: usize) -> Pair<f64> {
        let total = &self.nodes.total;
        Pair::new(total.baseline[node] as f64, total.candidate[node] as f64)
    }

    /// Returns how much more the candidate has, as samples in a run of size 1.
    pub(super) fn difference(&self, samples: Pair<f64>) -> f64 {
        let sizes = self.sizes.sums();
        samples.candidate / sizes.candidate - samples.baseline / sizes.baseline
    }
}

/// The outermost nodes of functions whose total shifted.
pub(super) struct OutermostNodes {
    pub(super) functions: Vec<FunctionIx>,
    pub(super) nodes: Vec<Vec<u32>>,
    pub(super) depths: Vec<u32>,
}

impl OutermostNodes {
    pub(super) fn new(tree: &UnionTree, total: &[Evidence]) -> OutermostNodes {
        let mut outermost = OutermostNodes {
            functions: Vec::new(),
            nodes: vec![Vec::new(); total.len()],
            depths: Vec::with_capacity(tree.len()),
        };
        for (function, evidence) in total.iter().enumerate() {
            if evidence.shifted.is_some() {
                outermost.functions.push(FunctionIx(function as u32));
            }
        }
        for node in 0..tree.len() {
            let function = tree.function(node).get();
            outermost.depths.push(
                tree.parent(node)
                    .map_or(0, |parent| outermost.depths[parent] + 1),
            );
            if total[function].shifted.is_some() && tree.is_outermost(node) {
                outermost.nodes[function].push(node as u32);
            }
        }
        outermost
    }

    pub(super) fn nodes_of_function(&self, function: FunctionIx) -> &[u32] {
        &self.nodes[function.get()]
    }

    /// Returns the total samples of a function by its outermost nodes.
    pub(super) fn totals(
        &self,
        evidences: &Evidences,
        function: FunctionIx,
    ) -> impl Iterator<Item = (usize, Pair<f64>)> {
        let nodes = self.nodes_of_function(function).iter();
        nodes.map(|&node| (node as usize, evidences.total(node as usize)))
    }

    /// Returns the number of samples whose stacks contain a function.
    pub(super) fn total(&self, evidences: &Evidences, function: FunctionIx) -> Pair<f64> {
        self.sum(function, |node| evidences.total(node))
    }

    pub(super) fn sum(
        &self,
        function: FunctionIx,
        samples: impl Fn(usize) -> Pair<f64>,
    ) -> Pair<f64> {
        sum(self
            .nodes_of_function(function)
            .iter()
            .map(|&node| samples(node as usize)))
    }

    /// Returns the mean depth of nodes weighted by their samples, in thousandths.
    pub(super) fn depth(&self, at: impl IntoIterator<Item = (usize, Pair<f64>)>) -> u64 {
        let (mut weighted, mut weight) = (0.0, 0.0);
        for (node, samples) in at {
            let samples = samples.baseline.abs() + samples.candidate.abs();
            weighted += samples * f64::from(self.depths[node]);
            weight += samples;
        }
        (1000.0 * weighted / f64::max(weight, 1.0)) as u64
    }
}

pub(super) fn sum(samples: impl Iterator<Item = Pair<f64>>) -> Pair<f64> {
    samples.fold(Pair::default(), add)
}

pub(super) fn add(a: Pair<f64>, b: Pair<f64>) -> Pair<f64> {
    Pair::new(a.baseline + b.baseline, a.candidate + b.candidate)
}

pub(super) fn subtract(a: Pair<f64>, b: Pair<f64>) -> Pair<f64> {
    Pair::new(a.baseline - b.baseline, a.candidate - b.candidate)
}
