//! The stack tree, as parallel columns in preorder.

use crate::id::{ExecutableId, FrameId, NodeId};
use crate::index_types;
use crate::units::Cost;
use crate::{FrameIx, FrameTable};

index_types! {
    /// Index of a node in one [`StackTree`].
    pub NodeIx;
}

/// Non-zero self costs of nodes, in ascending order of the nodes.
pub type SelfCosts = Vec<(NodeIx, Cost)>;

/// Computes the total cost of all stacks.
pub fn total_cost(costs: &[(NodeIx, Cost)]) -> Cost {
    costs.iter().map(|&(_, cost)| cost).sum()
}

/// Sorts a column by node, and adds up the costs of equal nodes.
pub fn merge_equal_nodes(column: &mut SelfCosts) {
    column.sort_by_key(|(node, _)| *node);
    column.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
}

/// Call stacks as a forest. A node represents a stack: its parent is the stack of the caller, and its frame is
/// the innermost frame.
///
/// Nodes are in preorder, so that each subtree is contiguous. Totals can be computed in one pass backwards,
/// depths and recursion in one pass forwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackTree {
    parents: Vec<u32>,
    frames: Vec<FrameIx>,
}

/// The parent of roots.
const NO_PARENT: u32 = u32::MAX;

impl StackTree {
    /// Creates an empty forest.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty forest with capacity for `nodes` nodes.
    pub fn with_capacity(nodes: usize) -> Self {
        StackTree {
            parents: Vec::with_capacity(nodes),
            frames: Vec::with_capacity(nodes),
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns `true` if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Appends a node.
    ///
    /// # Panics
    /// Panics if the parent is not the last node or one of its ancestors (in debug builds only), or if
    /// there are 2^32 - 1 nodes.
    pub fn push(&mut self, parent: Option<NodeIx>, frame: FrameIx) -> NodeIx {
        debug_assert!(
            parent.is_none_or(|p| self.is_open(p)),
            "nodes are added in preorder"
        );
        let ix = u32::try_from(self.len()).ok().filter(|&ix| ix != NO_PARENT);
        self.parents
            .push(parent.map_or(NO_PARENT, |parent| parent.0));
        self.frames.push(frame);
        NodeIx(ix.expect("fewer than 2^32 - 1 nodes"))
    }

    fn is_open(&self, node: NodeIx) -> bool {
        let mut open = self.len().checked_sub(1).map(|last| NodeIx(last as u32));
        while open.is_some_and(|open| open > node) {
            open = open.and_then(|open| self.parent(open));
        }
        open == Some(node)
    }

    /// The parent of a node, or `None` for a root.
    pub fn parent(&self, node: NodeIx) -> Option<NodeIx> {
        let parent = self.parents[node.get()];
        (parent != NO_PARENT).then_some(NodeIx(parent))
    }

    /// The frame of a node, which is the innermost frame of its stack.
    pub fn frame(&self, node: NodeIx) -> FrameIx {
        self.frames[node.get()]
    }

    /// The frame of each node.
    pub fn frames(&self) -> &[FrameIx] {
        &self.frames
    }

    /// Iterates over the nodes in preorder. In reverse, children come before their parents.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeIx> + DoubleEndedIterator + use<> {
        (0..self.len() as u32).map(NodeIx)
    }

    /// Iterates over a node and its callers, innermost first.
    pub fn ancestors(&self, node: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        std::iter::successors(Some(node), |&node| self.parent(node))
    }

    /// The end of each node's subtree: the subtree of `n` is `n..ends[n]`.
    pub fn subtree_ends(&self) -> Vec<u32> {
        let mut ends: Vec<u32> = (1..=self.len() as u32).collect();
        for node in self.nodes().rev() {
            if let Some(parent) = self.parent(node) {
                ends[parent.get()] = ends[parent.get()].max(ends[node.get()]);
            }
        }
        ends
    }

    /// The number of callers of each node.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.len());
        for node in self.nodes() {
            let caller = self.parent(node);
            depths.push(caller.map_or(0, |caller| depths[caller.get()] + 1));
        }
        depths
    }

    /// The content address of each node.
    pub fn node_ids(&self, executable: ExecutableId, frames: &FrameTable) -> Vec<NodeId> {
        let frame_ids: Vec<FrameId> = frames
            .iter()
            .map(|(_, frame)| FrameId::from_frame(frame))
            .collect();
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.len());
        for node in self.nodes() {
            let parent = self.parent(node).map(|parent| ids[parent.get()]);
            ids.push(NodeId::new(
                parent,
                executable,
                frame_ids[self.frame(node).get()],
            ));
        }
        ids
    }
}
