//! Selects the nodes with costs and their callers, unpacking only a few packs at a time.

use crate::codec::NodeColumns;
use crate::error::Result;
use crate::numbers::{NodeNo, Number, PickedNo};
use crate::read::counts::NodeCosts;
use crate::read::packs::NodePack;
use rayon::prelude::*;
use std::ops::Range;
use sto_model::memory;
use sto_model::units::Bytes;

/// A set of nodes of an executable.
pub(crate) struct NodeSet(Vec<u64>);

impl NodeSet {
    /// An empty set for the nodes below `end`.
    pub(crate) fn empty(end: NodeNo) -> Result<Self> {
        let words = end.get().div_ceil(64);
        // Includes the memory of [`SelectedNumbers`].
        memory::check_limit(Bytes((words * size_of::<(u64, u64, u32)>()) as u64))?;
        Ok(NodeSet(vec![0; words]))
    }

    /// The set of nodes with a cost.
    pub(crate) fn from_costs<'a>(
        costs: impl IntoIterator<Item = &'a NodeCosts>,
        end: NodeNo,
    ) -> Result<Self> {
        let mut marks = NodeSet::empty(end)?;
        marks.set_all(costs);
        Ok(marks)
    }

    /// Adds each node with a cost.
    pub(crate) fn set_all<'a>(&mut self, costs: impl IntoIterator<Item = &'a NodeCosts>) {
        for &(node, _) in costs.into_iter().flatten() {
            self.set(node);
        }
    }

    #[inline]
    fn set(&mut self, node: NodeNo) {
        self.0[node.get() / 64] |= 1 << (node.0 % 64);
    }

    #[inline]
    fn has(&self, node: NodeNo) -> bool {
        self.0[node.get() / 64] >> (node.0 % 64) & 1 == 1
    }

    /// Returns `false` only if no node of the range is in the set; works on words of 64 nodes.
    fn may_have_any(&self, nodes: Range<NodeNo>) -> bool {
        let words = nodes.start.get() / 64..nodes.end.get().div_ceil(64);
        self.0[words].iter().any(|&word| word != 0)
    }
}

/// Maps the nodes of a set to their numbers in the selection.
pub(crate) struct SelectedNumbers {
    /// For each 64 nodes: which are in the set, and the number of set nodes before them.
    words: Vec<(u64, u32)>,
}

impl SelectedNumbers {
    fn new(marks: NodeSet) -> Self {
        let mut before = 0;
        let words = marks.0.into_iter().map(|word| {
            let all = before;
            before += word.count_ones();
            (word, all)
        });
        SelectedNumbers {
            words: words.collect(),
        }
    }

    /// Converts back to the set.
    pub(crate) fn into_set(self) -> NodeSet {
        NodeSet(self.words.into_iter().map(|(word, _)| word).collect())
    }

    /// The number of a node, which must be in the set.
    #[inline]
    pub(crate) fn get(&self, node: NodeNo) -> PickedNo {
        let (word, before) = self.words[node.get() / 64];
        PickedNo(before + (word & ((1 << (node.0 % 64)) - 1)).count_ones())
    }

    /// Whether a node is in the set.
    pub(crate) fn has(&self, node: NodeNo) -> bool {
        self.words[node.get() / 64].0 >> (node.0 % 64) & 1 == 1
    }
}

/// The selected nodes of an executable and their callers.
pub(crate) struct SelectedNodes {
    /// In ascending order of their numbers.
    pub(crate) nodes: NodeColumns<PickedNo>,
    pub(crate) numbers: SelectedNumbers,
}

impl SelectedNodes {
    /// Selects the marked nodes and their callers, unpacking only the packs that contain some.
    pub(crate) fn new(packs: &[NodePack], mut marks: NodeSet) -> Result<Self> {
        let mut parts = Vec::new();
        let mut len = 0;
        // Backwards, as callers have lower numbers than their callees.
        for batch in packs.rchunks(2 * rayon::current_num_threads()) {
            let unpacked = batch.par_iter().map(|pack| {
                let is_needed = marks.may_have_any(pack.numbers());
                is_needed.then(|| pack.nodes()).transpose()
            });
            let unpacked: Vec<_> = unpacked.collect::<Result<_>>()?;
            for (pack, nodes) in batch.iter().zip(unpacked).rev() {
                let nodes = match nodes {
                    Some(nodes) => nodes,
                    None if marks.may_have_any(pack.numbers()) => pack.nodes()?,
                    None => continue,
                };
                let part = marked(pack.numbers().start, &nodes, &mut marks);
                len += part.len();
                parts.push(part);
            }
            // Five numbers per node: parent and frame here and in the tree, and the index there.
            memory::check_limit(Bytes(len as u64 * 5 * size_of::<u32>() as u64))?;
        }
        let numbers = SelectedNumbers::new(marks);
        let mut nodes = NodeColumns::with_capacity(len);
        for part in parts.into_iter().rev() {
            nodes.append(part);
        }
        let parents = nodes.parents.into_par_iter().map(|parent| match parent {
            NodeNo::NONE => PickedNo::NONE,
            parent => numbers.get(parent),
        });
        Ok(SelectedNodes {
            nodes: NodeColumns {
                parents: parents.collect(),
                frames: nodes.frames,
            },
            numbers,
        })
    }
}

/// Returns the marked nodes of a pack and their callers in it. Marks all callers.
fn marked(first: NodeNo, nodes: &NodeColumns, marks: &mut NodeSet) -> NodeColumns {
    for (i, &parent) in nodes.parents.iter().enumerate().rev() {
        if parent != NodeNo::NONE && marks.has(first.plus(i)) {
            marks.set(parent);
        }
    }
    let mut part = NodeColumns::default();
    for (node, (&parent, &frame)) in first.onward().zip(nodes.parents.iter().zip(&nodes.frames)) {
        if marks.has(node) {
            part.push(parent, frame);
        }
    }
    part
}
