//! The stacks of both sides with their costs.

use super::FunctionName;

/// The stacks of both sides as one tree of functions, in preorder: callers before callees, siblings
/// by name.
#[derive(Clone, Debug, PartialEq)]
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
