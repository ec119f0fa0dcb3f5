//! Finding a profile's tree among an executable's nodes, and adding what is missing.

use super::codec::{NO_PARENT, NodeColumns};
use crate::intern::{NodeIx, StackTree};

/// Finds the number that each node of a profile's tree has in the store, and appends those nodes
/// that the store lacks, in preorder.
///
/// `frames` are the store's numbers of the tree's frames, all below `frame_count`. No node is
/// hashed: below each stack that both trees have, the store's children are laid out by frame, and
/// the profile's children look there. The error says which rule the tree breaks.
pub(super) fn graft(
    tree: &StackTree,
    frames: &[u32],
    frame_count: u32,
    nodes: &mut NodeColumns,
) -> Result<Vec<u32>, &'static str> {
    let mut numbers = find(tree, frames, frame_count, nodes)?;
    for node in tree.nodes() {
        if numbers[node.get()] == MISSING {
            let number = u32::try_from(nodes.len()).ok().filter(|&n| n < MISSING);
            numbers[node.get()] =
                number.ok_or("its executable would have more than 2^32 - 2 stacks")?;
            let parent = tree.parent(node).map_or(NO_PARENT, |p| numbers[p.get()]);
            nodes.parents.push(parent);
            nodes.frames.push(frames[tree.frame(node).get()]);
        }
    }
    Ok(numbers)
}

const MISSING: u32 = u32::MAX;

fn find(
    tree: &StackTree,
    frames: &[u32],
    frame_count: u32,
    nodes: &NodeColumns,
) -> Result<Vec<u32>, &'static str> {
    let parents: Vec<u32> = tree
        .nodes()
        .map(|node| tree.parent(node).map_or(NO_PARENT, |parent| parent.0))
        .collect();
    let theirs = Children::new(&parents);
    let ours = Children::new(&nodes.parents);
    let mut numbers = vec![MISSING; tree.len()];
    // By frame: the turn in which it was laid out, and as which node. A turn is a parent.
    let mut laid_out = vec![(0u32, 0u32); frame_count as usize];
    let mut seen = vec![0u32; frame_count as usize];

    for parent in 0..=tree.len() as u32 {
        let turn = parent + 1;
        // The slot of a root's parent is 0 in both trees, that of node n is n + 1.
        let slot = match parent.checked_sub(1) {
            None => Some(0),
            Some(node) => numbers[node as usize].checked_add(1),
        };
        let children = theirs.of(parent);
        if let Some(slot) = slot.filter(|_| !children.is_empty()) {
            for &child in ours.of(slot) {
                laid_out[nodes.frames[child as usize] as usize] = (turn, child);
            }
        }
        for &child in children {
            let frame = frames[tree.frame(NodeIx(child)).get()] as usize;
            if std::mem::replace(&mut seen[frame], turn) == turn {
                return Err("two nodes of its tree are the same stack");
            }
            let (laid_out_in, number) = laid_out[frame];
            if laid_out_in == turn {
                numbers[child as usize] = number;
            }
        }
    }
    Ok(numbers)
}

/// The children of every node, in ascending order.
struct Children {
    /// Slot 0 is for roots, slot `n + 1` for the children of node `n`.
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Children {
    fn new(parents: &[u32]) -> Self {
        let slot = |parent: u32| parent.wrapping_add(1) as usize;
        let mut starts = vec![0u32; parents.len() + 2];
        for &parent in parents {
            starts[slot(parent) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; parents.len()];
        for (node, &parent) in (0..).zip(parents) {
            let place = &mut next[slot(parent)];
            nodes[*place as usize] = node;
            *place += 1;
        }
        Children { starts, nodes }
    }

    fn of(&self, slot: u32) -> &[u32] {
        let slot = slot as usize;
        &self.nodes[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}
