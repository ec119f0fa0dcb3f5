//! The nodes that some costs need, out of packs of which a few are unpacked at a time.

use crate::codec::NodeColumns;
use crate::error::Result;
use crate::numbers::{NodeNo, Number, PickedNo};
use crate::read::counts::NodeCosts;
use crate::read::packs::NodePack;
use rayon::prelude::*;
use std::ops::Range;
use sto_model::memory;
use sto_model::units::Bytes;

/// Marks on the nodes of an executable.
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    /// None on the nodes below this one.
    pub(crate) fn none(end: NodeNo) -> Result<Self> {
        let words = end.get().div_ceil(64);
        // With them, what [`PickedNos`] has for each word.
        memory::check(Bytes((words * size_of::<(u64, u64, u32)>()) as u64))?;
        Ok(Marks(vec![0; words]))
    }

    /// One on each node that has a cost.
    pub(crate) fn of<'a>(
        costs: impl IntoIterator<Item = &'a NodeCosts>,
        end: NodeNo,
    ) -> Result<Self> {
        let mut marks = Marks::none(end)?;
        marks.set_all(costs);
        Ok(marks)
    }

    /// Marks each node that has a cost.
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

    /// Whether any of these nodes may have one: a word has marks of 64.
    fn may_have_any(&self, nodes: Range<NodeNo>) -> bool {
        let words = nodes.start.get() / 64..nodes.end.get().div_ceil(64);
        self.0[words].iter().any(|&word| word != 0)
    }
}

/// The number among the picked nodes of each node that is marked.
pub(crate) struct PickedNos {
    /// By 64 nodes: which of them are marked, and how many before them.
    words: Vec<(u64, u32)>,
}

impl PickedNos {
    fn of(marks: Marks) -> Self {
        let mut before = 0;
        let words = marks.0.into_iter().map(|word| {
            let all = before;
            before += word.count_ones();
            (word, all)
        });
        PickedNos {
            words: words.collect(),
        }
    }

    /// The marks.
    pub(crate) fn into_marks(self) -> Marks {
        Marks(self.words.into_iter().map(|(word, _)| word).collect())
    }

    /// That of a node that is marked.
    #[inline]
    pub(crate) fn get(&self, node: NodeNo) -> PickedNo {
        let (word, before) = self.words[node.get() / 64];
        PickedNo(before + (word & ((1 << (node.0 % 64)) - 1)).count_ones())
    }

    /// Whether a node is marked.
    pub(crate) fn has(&self, node: NodeNo) -> bool {
        self.words[node.get() / 64].0 >> (node.0 % 64) & 1 == 1
    }
}

/// The marked nodes of an executable and their callers.
pub(crate) struct Picked {
    /// In the order of their numbers.
    pub(crate) nodes: NodeColumns<PickedNo>,
    pub(crate) numbers: PickedNos,
}

impl Picked {
    /// Picks them out of the packs, of which those are unpacked that have any.
    pub(crate) fn of(packs: &[NodePack], mut marks: Marks) -> Result<Self> {
        let mut parts = Vec::new();
        let mut len = 0;
        // Callers stand before what they call.
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
            // Each node's parent and frame here and in the tree, and its index there.
            memory::check(Bytes(len as u64 * 5 * size_of::<u32>() as u64))?;
        }
        let numbers = PickedNos::of(marks);
        let mut nodes = NodeColumns::with_capacity(len);
        for part in parts.into_iter().rev() {
            nodes.append(part);
        }
        let parents = nodes.parents.into_par_iter().map(|parent| match parent {
            NodeNo::NONE => PickedNo::NONE,
            parent => numbers.get(parent),
        });
        Ok(Picked {
            nodes: NodeColumns {
                parents: parents.collect(),
                frames: nodes.frames,
            },
            numbers,
        })
    }
}

/// The marked nodes of a pack and their callers there. Those become marked as others do.
fn marked(first: NodeNo, nodes: &NodeColumns, marks: &mut Marks) -> NodeColumns {
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
