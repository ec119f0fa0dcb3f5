//! The stacks of a build by the frames that they end in.

use super::ids::Hex;
use std::ops::Range;
use sto_core::tree::{NodeIx, StackTree};

/// The nodes of a tree, those of one frame behind each other, in the order of the frames' ids.
pub(super) struct ByFrame {
    nodes: Vec<NodeIx>,
    /// The ids of the frames, and where the nodes of each begin.
    starts: Vec<(Hex, usize)>,
}

impl ByFrame {
    /// Of a tree whose frames have these ids.
    pub(super) fn of(tree: &StackTree, ids: &[Hex]) -> ByFrame {
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

    /// All nodes.
    pub(super) fn nodes(&self) -> &[NodeIx] {
        &self.nodes
    }

    /// Where those of the frame with this id stand among them.
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
