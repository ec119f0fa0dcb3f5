//! The stacks of both sides with what they cost.

use super::FunctionName;

/// The stacks of both sides as one tree of functions, in preorder: callers before what they call,
/// siblings by name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stacks {
    /// Functions by index, in the order of symbol and module.
    pub functions: Vec<FunctionName>,
    /// Every stack that has samples.
    pub nodes: Vec<StackNode>,
    /// What a sample of the baseline costs: normalised, in units of what a run of the baseline costs
    /// on average. All of the baseline costs 1.
    pub baseline_cost: f64,
    /// What a sample of the candidate costs, in the same unit.
    pub candidate_cost: f64,
}

/// A stack, and its samples with those of all stacks below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackNode {
    /// Number of callers.
    pub depth: usize,
    /// Index of its last function in [`Stacks::functions`].
    pub function: usize,
    /// Samples in all runs of the baseline.
    pub baseline_samples: u64,
    /// Samples in all runs of the candidate.
    pub candidate_samples: u64,
}
