//! Stacks of a build grouped by their last frame.

use super::ids::Hex;
use std::ops::Range;
use sto_core::tree::{NodeIx, StackTree};

/// Nodes of a tree grouped by frame, sorted by frame id.
pub(super) struct ByFrame {
    nodes: Vec<NodeIx>,
    /// Frame ids, each with the index of its first node.
    starts: Vec<(Hex, usize)>,
}

impl ByFrame {
    /// Groups the nodes of a tree whose frames have these ids.
    pub(super) fn new(tree: &StackTree, ids: &[Hex]) -> ByFrame {
        let mut ends = vec![0; ids.len()];
        for frame in tree.frames() {
            ends[frame.get()] += 1;
        }
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_unstable_by_key(|&frame| ids[frame]);
        let mut end = 0;
        let starts = order.iter().map(|&frame| {
            let start = end;
            end += ends[frame];
            ends[frame] = end;
            (ids[frame], start)
        });
        let starts = starts.collect();
        let mut nodes = vec![NodeIx(0); tree.len()];
        for node in tree.nodes().rev() {
            let at = &mut ends[tree.frame(node).get()];
            *at -= 1;
            nodes[*at] = node;
        }
        ByFrame { nodes, starts }
    }

    /// All nodes, sorted by frame id.
    pub(super) fn nodes(&self) -> &[NodeIx] {
        &self.nodes
    }

    /// Returns the range of nodes with the frame of this id.
    pub(super) fn find(&self, id: &str) -> Range<usize> {
        let starts = &self.starts;
        match starts.binary_search_by(|(known, _)| known.as_str().cmp(id)) {
            Ok(at) => {
                let next = starts.get(at + 1);
                starts[at].1..next.map_or(self.nodes.len(), |&(_, start)| start)
            }
            Err(_) => 0..0,
        }
    }
}
