//! Content addresses as text.

use std::sync::OnceLock;
use sto_core::id::{ExecutableId, FrameId, NodeId};
use sto_core::model::FrameTable;
use sto_core::tree::{NodeIx, StackTree};

/// An id in hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hex([u8; 32]);

impl Hex {
    /// Formats the bytes of an id.
    pub(super) fn from_bytes(id: [u8; 16]) -> Hex {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 32];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(id) {
            pair.copy_from_slice(&[
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]);
        }
        Hex(hex)
    }

    /// The digits as text.
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The ids of a tree's nodes and frames, computed on first use.
pub(super) struct Ids {
    executable: ExecutableId,
    nodes: OnceLock<Vec<NodeId>>,
    frames: OnceLock<Vec<Hex>>,
}

impl Ids {
    /// Creates the ids for a tree of this executable.
    pub(super) fn new(executable: ExecutableId) -> Ids {
        Ids {
            executable,
            nodes: OnceLock::new(),
            frames: OnceLock::new(),
        }
    }

    /// Ids of all nodes.
    pub(super) fn nodes(&self, tree: &StackTree, frames: &FrameTable) -> &[NodeId] {
        let ids = || tree.node_ids(self.executable, frames);
        self.nodes.get_or_init(ids)
    }

    /// Id of a node.
    pub(super) fn node(&self, tree: &StackTree, frames: &FrameTable, node: NodeIx) -> Hex {
        Hex::from_bytes(self.nodes(tree, frames)[node.get()].0)
    }

    /// Id of a node's frame.
    pub(super) fn frame(&self, tree: &StackTree, frames: &FrameTable, node: NodeIx) -> &str {
        self.frames(frames)[tree.frame(node).get()].as_str()
    }

    /// Ids of all frames.
    pub(super) fn frames(&self, frames: &FrameTable) -> &[Hex] {
        self.frames.get_or_init(|| {
            let frames = frames.iter();
            frames
                .map(|(_, frame)| Hex::from_bytes(FrameId::from_frame(frame).0))
                .collect()
        })
    }
}
