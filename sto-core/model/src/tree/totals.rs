//! Totals: what a stack cost together with everything it called.

use super::{NodeIx, SelfCosts, StackTree};
use crate::units::Cost;
use std::mem::replace;

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

/// The own and the total cost of every node that has one, each node after all that are below it, from self costs in
/// the order of their nodes: work for those nodes alone, however many others the tree has.
pub fn for_each_total(
    tree: &StackTree,
    self_costs: &SelfCosts,
    mut each: impl FnMut(NodeIx, Cost, Cost),
) {
    // Nodes with what is known of their totals, each below the one before: costs of nodes that stand
    // between them and what was last seen are still to come.
    let mut open: Vec<(NodeIx, Cost)> = Vec::new();
    let mut costs = self_costs.iter().rev().peekable();
    while let Some(&(node, cost)) = costs.next() {
        let next = costs.peek().map(|&&(next, _)| next);
        let mut at = Some(node);
        let (mut own, mut total) = (cost, cost);
        while let Some(node) = at {
            if let Some((_, known)) = open.pop_if(|(open, _)| *open == node) {
                total += known;
            }
            // In preorder, what stands after a node and before one below it is below it too.
            if next.is_some_and(|next| next >= node) {
                open.push((node, total));
                break;
            }
            each(node, replace(&mut own, Cost::ZERO), total);
            at = tree.parent(node);
        }
    }
}

/// Whether each node is the outermost of its number: no node above it has the same one. `number_of` has a number for
/// each frame.
///
/// A subtree is one piece of the preorder, so a node that comes after the last subtree of its number is in none of them.
pub fn outermost(tree: &StackTree, number_of: &[u32]) -> impl Iterator<Item = bool> {
    let numbers = number_of.iter().max().map_or(0, |&last| last as usize + 1);
    let ends = tree.subtree_ends();
    let mut seen_until = vec![0u32; numbers];
    tree.nodes().zip(ends).map(move |(node, end)| {
        let until = &mut seen_until[number_of[tree.frame(node).get()] as usize];
        let is_outermost = node.0 >= *until;
        if is_outermost {
            *until = end;
        }
        is_outermost
    })
}
