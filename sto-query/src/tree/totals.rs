//! Totals: what a stack cost together with everything it called.

use sto_core::intern::StackTree;
use sto_core::units::Cost;

/// The total cost of every node: its own and that of its subtree.
///
/// Nodes stand in preorder, so one pass backwards meets every child before its parent.
///
/// # Panics
/// If there is not one self cost a node.
pub fn totals(tree: &StackTree, self_costs: &[Cost]) -> Vec<Cost> {
    assert_eq!(tree.len(), self_costs.len(), "one self cost a node");
    let mut totals = self_costs.to_vec();
    for node in tree.nodes().rev() {
        if let Some(parent) = tree.parent(node) {
            let total = totals[node.get()];
            totals[parent.get()] += total;
        }
    }
    totals
}

/// What part of `whole` this is, from 0 to 1.
///
/// Shares are of the value; of the samples only where nothing has a value. A part of nothing is 0.
pub fn share(part: Cost, whole: Cost) -> f64 {
    match (whole.value, whole.samples) {
        (0, 0) => 0.0,
        (0, samples) => part.samples as f64 / samples as f64,
        (value, _) => part.value as f64 / value as f64,
    }
}
