//! Finding a profile's tree among an executable's nodes, and adding what is missing.

use super::codec::{NO_PARENT, NodeColumns};
use crate::intern::{NodeIx, StackTree};

/// A search for the nodes of a profile's tree among those of the store, which pass by once, in
/// their order.
///
/// Nothing is hashed. Of each stored node it is known at once whether its parent was found, and
/// whether the profile has its frame at all; only if both are so, it is looked for among the
/// children of that parent. Memory is 4 bytes a stored node, touched only where nodes are found.
pub(super) struct Graft<'a> {
    tree: &'a StackTree,
    /// By frame of the profile, its number in the store.
    frames: &'a [u32],
    /// By frame of the store, its place in the profile, plus one.
    frame_of: Vec<u32>,
    children: Children,
    /// By node of the profile, its number in the store.
    numbers: Vec<u32>,
    /// By node of the store, its place in the profile, plus one.
    node_of: Vec<u32>,
}

const MISSING: u32 = u32::MAX;

impl<'a> Graft<'a> {
    /// A search among `nodes` nodes with `frame_count` frames. `frames` are the store's numbers of
    /// the tree's frames; those from `frame_count` on are new.
    pub(super) fn new(
        tree: &'a StackTree,
        frames: &'a [u32],
        frame_count: u32,
        nodes: u32,
    ) -> Self {
        let mut frame_of = vec![0; frame_count as usize];
        for (place, &number) in (1..).zip(frames) {
            if let Some(frame) = frame_of.get_mut(number as usize) {
                *frame = place;
            }
        }
        Graft {
            tree,
            frames,
            frame_of,
            children: Children::new(tree),
            numbers: vec![MISSING; tree.len()],
            node_of: vec![0; nodes as usize],
        }
    }

    /// Looks at the next nodes of the store, the first of which has this number.
    pub(super) fn pass(&mut self, first: u32, nodes: &NodeColumns) {
        for ((&parent, &frame), number) in nodes.parents.iter().zip(&nodes.frames).zip(first..) {
            let slot = match parent {
                NO_PARENT => 0,
                parent => match self.node_of[parent as usize] {
                    0 => continue,
                    found => found,
                },
            };
            let frame = self.frame_of[frame as usize];
            if frame == 0 {
                continue;
            }
            if let Some(node) = self.children.find(slot, frame - 1) {
                self.numbers[node as usize] = number;
                self.node_of[number as usize] = node + 1;
            }
        }
    }

    /// How many nodes were not found.
    pub(super) fn missing(&self) -> u32 {
        self.numbers
            .iter()
            .filter(|&&number| number == MISSING)
            .count() as u32
    }

    /// Gives the nodes that were not found the next numbers, in preorder.
    ///
    /// Returns the number of every node of the profile's tree, and the new nodes; the error says
    /// why they cannot be added.
    pub(super) fn finish(self) -> Result<(Vec<u32>, NodeColumns), &'static str> {
        let stored = self.node_of.len();
        if stored + self.missing() as usize >= MISSING as usize {
            return Err("its executable would have more than 2^32 - 2 stacks");
        }
        let mut numbers = self.numbers;
        let mut new = NodeColumns::default();
        for node in self.tree.nodes() {
            if numbers[node.get()] == MISSING {
                numbers[node.get()] = (stored + new.len()) as u32;
                let parent = self
                    .tree
                    .parent(node)
                    .map_or(NO_PARENT, |p| numbers[p.get()]);
                new.parents.push(parent);
                new.frames.push(self.frames[self.tree.frame(node).get()]);
            }
        }
        Ok((numbers, new))
    }
}

/// The children of every node of a tree, with their frames, in the order of those.
struct Children {
    /// Slot 0 is for roots, slot `n + 1` for the children of node `n`.
    starts: Vec<u32>,
    frames: Vec<u32>,
    nodes: Vec<u32>,
}

/// Most children that are looked through one by one; more are halved.
const FEW: usize = 16;

impl Children {
    fn new(tree: &StackTree) -> Self {
        let slot = |node: NodeIx| tree.parent(node).map_or(0, |parent| parent.get() + 1);
        let mut starts = vec![0u32; tree.len() + 2];
        for node in tree.nodes() {
            starts[slot(node) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut frames = vec![0; tree.len()];
        let mut nodes = vec![0; tree.len()];
        for node in tree.nodes() {
            let place = &mut next[slot(node)];
            frames[*place as usize] = tree.frame(node).0;
            nodes[*place as usize] = node.0;
            *place += 1;
        }
        Children {
            starts,
            frames,
            nodes,
        }
    }

    fn find(&self, slot: u32, frame: u32) -> Option<u32> {
        let slot = slot as usize;
        let start = self.starts[slot] as usize;
        let frames = &self.frames[start..self.starts[slot + 1] as usize];
        let place = if frames.len() <= FEW {
            frames.iter().position(|&found| found == frame)
        } else {
            frames.binary_search(&frame).ok()
        };
        place.map(|place| self.nodes[start + place])
    }
}
