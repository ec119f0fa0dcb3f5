//! Orders selected nodes independently of their numbers in the store.

use crate::codec::NodeColumns;
use crate::numbers::{Number, PickedNo};
use sto_model::FrameIx;
use sto_model::tree::{NodeIx, StackTree};

/// The tree of the nodes in preorder, siblings in the order of their frames, and the index in the tree of each
/// node. `frames` maps the store's frame numbers to the tree's frames.
pub(crate) fn preorder(
    nodes: &NodeColumns<PickedNo>,
    frames: &[FrameIx],
) -> (StackTree, Vec<NodeIx>) {
    let siblings = Siblings::new(nodes, frames);
    let mut tree = StackTree::with_capacity(nodes.len());
    let mut indices = vec![NodeIx(NONE); nodes.len()];
    let mut next = vec![siblings.first[0]];
    while let Some(node) = next.pop() {
        if node == NONE {
            continue;
        }
        let i = node as usize;
        let parent = match nodes.parents[i] {
            PickedNo::NONE => None,
            parent => Some(indices[parent.get()]),
        };
        indices[i] = tree.push(parent, frames[nodes.frames[i].get()]);
        next.push(siblings.next[i]);
        next.push(siblings.first[i + 1]);
    }
    (tree, indices)
}

const NONE: u32 = u32::MAX;

/// Linked lists of siblings in the order of their frames.
struct Siblings {
    /// Slot 0 holds the first root, slot `n + 1` the first child of node `n`.
    first: Vec<u32>,
    /// By node, the next sibling.
    next: Vec<u32>,
}

impl Siblings {
    fn new(nodes: &NodeColumns<PickedNo>, frames: &[FrameIx]) -> Self {
        let mut siblings = Siblings {
            first: vec![NONE; nodes.len() + 1],
            next: vec![NONE; nodes.len()],
        };
        let frame_of = |node: u32| frames[nodes.frames[node as usize].get()];
        // Nodes of one profile are already in order; only lists with nodes of several need sorting.
        let mut unsorted = Vec::new();
        for node in (0..nodes.len() as u32).rev() {
            let slot = nodes.parents[node as usize].0.wrapping_add(1) as usize;
            let second = std::mem::replace(&mut siblings.first[slot], node);
            siblings.next[node as usize] = second;
            if second != NONE && frame_of(second) < frame_of(node) {
                unsorted.push(slot);
            }
        }
        unsorted.sort_unstable();
        unsorted.dedup();
        for slot in unsorted {
            siblings.sort(slot, frame_of);
        }
        siblings
    }

    fn sort(&mut self, slot: usize, frame_of: impl Fn(u32) -> FrameIx) {
        let list = std::iter::successors(Some(self.first[slot]), |&node| {
            Some(self.next[node as usize]).filter(|&next| next != NONE)
        });
        let mut list: Vec<u32> = list.collect();
        list.sort_unstable_by_key(|&node| frame_of(node));
        let mut next = NONE;
        for &node in list.iter().rev() {
            self.next[node as usize] = next;
            next = node;
        }
        self.first[slot] = next;
    }
}
