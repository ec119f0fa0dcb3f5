//! Nodes: a parent and a frame each, in about one byte.
//!
//! Two packs hold them: their runs, and the steps from node to node within these. No pack is needed
//! to read those of other nodes.

use super::Flaw;
use super::runs::{Runs, pack_runs};
use super::steps::{RunUnpacker, Steps, pack_steps};
use crate::intern::StackTree;
use std::ops::Range;

/// In place of a parent: the node is a root.
pub(in crate::store) const NO_PARENT: u32 = u32::MAX;

/// Nodes of one executable, in the order of their numbers; parents stand before their children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct NodeColumns {
    pub(in crate::store) parents: Vec<u32>,
    pub(in crate::store) frames: Vec<u32>,
}

impl NodeColumns {
    /// The nodes of a tree, whose frames have their numbers already.
    pub(in crate::store) fn of(tree: &StackTree) -> Self {
        let parents = tree
            .nodes()
            .map(|node| tree.parent(node).map_or(NO_PARENT, |p| p.0));
        NodeColumns {
            parents: parents.collect(),
            frames: tree.frames().iter().map(|frame| frame.0).collect(),
        }
    }

    /// All nodes of a pack.
    pub(in crate::store) fn unpack(runs: &Runs, steps: &Steps) -> Result<Self, Flaw> {
        let mut nodes = NodeColumns::zeroed(runs.nodes());
        let mut unpacker = RunUnpacker::new(runs, steps);
        for run in 0..runs.len() {
            let Range { start, end } = runs.range(run);
            let places = (start - runs.first()) as usize..(end - runs.first()) as usize;
            unpacker.unpack(
                run,
                (start, runs.anchor(run)),
                &mut nodes.parents[places.clone()],
                &mut nodes.frames[places],
            )?;
        }
        Ok(nodes)
    }

    /// So many nodes, to be filled in.
    pub(in crate::store) fn zeroed(len: usize) -> Self {
        NodeColumns {
            parents: vec![0; len],
            frames: vec![0; len],
        }
    }

    /// Makes them so many, to be filled in.
    pub(in crate::store) fn resize(&mut self, len: usize) {
        self.parents.resize(len, 0);
        self.frames.resize(len, 0);
    }

    pub(in crate::store) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Appends the nodes behind these.
    pub(in crate::store) fn append(&mut self, mut next: NodeColumns) {
        self.parents.append(&mut next.parents);
        self.frames.append(&mut next.frames);
    }

    /// Some of these nodes.
    pub(in crate::store) fn part(&self, places: Range<usize>) -> NodeColumns {
        NodeColumns {
            parents: self.parents[places.clone()].to_vec(),
            frames: self.frames[places].to_vec(),
        }
    }

    /// The runs of these nodes, which have the numbers from `first` on.
    fn runs(&self, first: u32) -> Runs {
        let mut runs = Runs::from(first);
        let mut path: Vec<u32> = Vec::new();
        for (node, (&parent, &frame)) in (first..).zip(self.parents.iter().zip(&self.frames)) {
            while path.last().is_some_and(|&open| open != parent) {
                path.pop();
            }
            if path.is_empty() {
                runs.push(parent, frame);
            } else {
                runs.lengthen();
            }
            path.push(node);
        }
        runs
    }
}

/// The two packs of some nodes.
pub(in crate::store) struct NodePacks {
    pub(in crate::store) runs: Vec<u8>,
    pub(in crate::store) steps: Vec<u8>,
}

/// Packs the nodes with the numbers from `first` on, each below a node with a lower number. Nodes
/// whose parent is the node before them or one of its ancestors pack best.
pub(in crate::store) fn pack_nodes(first: u32, nodes: &NodeColumns) -> Result<NodePacks, Flaw> {
    let runs = nodes.runs(first);
    Ok(NodePacks {
        steps: pack_steps(&runs, nodes)?,
        runs: pack_runs(&runs)?,
    })
}
