//! Putting chosen nodes into an order that depends on them alone.

use super::codec::{NO_PARENT, NodeColumns};
use crate::intern::{NodeIx, StackTree};
use crate::model::FrameIx;

/// Marks the callers of every marked node.
pub(super) fn mark_callers(nodes: &NodeColumns, marked: &mut [bool]) {
    for (node, &parent) in nodes.parents.iter().enumerate().rev() {
        if marked[node] && parent != NO_PARENT {
            marked[parent as usize] = true;
        }
    }
}

/// The tree of the marked nodes, whose callers are marked too, in preorder, siblings in the order
/// of their frames; and for each marked node its place there.
///
/// `frames` gives the tree's frame for each of the store's, `frame_count` is how many there are.
pub(super) fn preorder(
    nodes: &NodeColumns,
    marked: &[bool],
    frames: &[FrameIx],
    frame_count: usize,
) -> (StackTree, Vec<NodeIx>) {
    let frame_of = |node: u32| frames[nodes.frames[node as usize] as usize];

    // Lists of siblings, linked from the last frame to the first, so that each list begins with
    // its first frame.
    let mut first_child = vec![NONE; nodes.len()];
    let mut next_sibling = vec![NONE; nodes.len()];
    let mut first_root = NONE;
    for &node in by_frame(nodes, marked, frame_of, frame_count).iter().rev() {
        let first = match nodes.parents[node as usize] {
            NO_PARENT => &mut first_root,
            parent => &mut first_child[parent as usize],
        };
        next_sibling[node as usize] = std::mem::replace(first, node);
    }

    let mut tree = StackTree::new();
    let mut places = vec![NodeIx(NONE); nodes.len()];
    let mut next = vec![first_root];
    while let Some(node) = next.pop() {
        if node == NONE {
            continue;
        }
        let parent = match nodes.parents[node as usize] {
            NO_PARENT => None,
            parent => Some(places[parent as usize]),
        };
        places[node as usize] = tree.push(parent, frame_of(node));
        next.push(next_sibling[node as usize]);
        next.push(first_child[node as usize]);
    }
    (tree, places)
}

const NONE: u32 = u32::MAX;

/// The marked nodes in the order of their frames (a counting sort).
fn by_frame(
    nodes: &NodeColumns,
    marked: &[bool],
    frame_of: impl Fn(u32) -> FrameIx,
    frame_count: usize,
) -> Vec<u32> {
    let chosen = || (0..nodes.len() as u32).filter(|&node| marked[node as usize]);
    let mut ends = vec![0u32; frame_count + 1];
    for node in chosen() {
        ends[frame_of(node).get() + 1] += 1;
    }
    for frame in 0..frame_count {
        ends[frame + 1] += ends[frame];
    }
    let mut sorted = vec![0; ends[frame_count] as usize];
    for node in chosen() {
        let end = &mut ends[frame_of(node).get()];
        sorted[*end as usize] = node;
        *end += 1;
    }
    sorted
}
