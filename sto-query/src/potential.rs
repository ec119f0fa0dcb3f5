//! Potentials: what could be saved at most if a function, or a function with what it calls, took no
//! time.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), chapter 5. Their
//! *code path potential* is the potential of degree 0, their *subtree potential* that of degree n
//! with the correction for recursion.
//!
#![doc = include_str!("potential.md")]

use crate::tree::{View, function_numbers};
use sto_core::units::Cost;

/// How far below a function its potential reaches, in calls: 0 is the function alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Degree(pub u32);

/// The potential of every function of a view in one sample type, by
/// [function number](crate::tree::function_numbers).
///
/// The potential of degree n of a function is the self cost of all nodes that are at most n calls
/// below a node of that function: of their union, so that a node between two calls of a recursion
/// counts once, and no potential is over the whole. The published formula sums p_n, the self cost of
/// the n levels below each node, and takes off c_n, what the n levels below a node share with those
/// below the next node of its function further down; that is the same sum, since of k nodes of the
/// function above a node k - 1 have such a next one. Here each node's self cost goes, once, to each
/// distinct function among its n + 1 innermost frames, which needs neither p nor c.
pub fn potentials(view: &View, sample_type: usize, degree: Degree) -> Vec<Cost> {
    let function_of = function_numbers(view);
    let count = function_of
        .iter()
        .max()
        .map_or(0, |&last| last as usize + 1);
    let self_costs = view.self_costs(sample_type);
    let mut potentials = vec![Cost::ZERO; count];
    // The node that a function was last given the cost of.
    let mut given = vec![u32::MAX; count];
    // The functions of the stack of the node that the walk is at, root first.
    let mut stack: Vec<u32> = Vec::new();
    let mut depths: Vec<u32> = Vec::with_capacity(view.tree.len());
    for node in view.tree.nodes() {
        let parent = view.tree.parent(node);
        let depth = parent.map_or(0, |parent| depths[parent.get()] + 1);
        depths.push(depth);
        stack.truncate(depth as usize);
        stack.push(function_of[view.tree.frame(node).get()]);

        let cost = self_costs[node.get()];
        if cost.is_zero() {
            continue;
        }
        let outermost = depth.saturating_sub(degree.0) as usize;
        for &function in &stack[outermost..] {
            let given = &mut given[function as usize];
            if *given != node.0 {
                *given = node.0;
                potentials[function as usize] += cost;
            }
        }
    }
    potentials
}
