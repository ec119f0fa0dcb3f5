//! The nodes that some costs need, out of packs of which a few are unpacked at a time.

use crate::memory;
use crate::store::codec::{NO_PARENT, NodeColumns};
use crate::store::error::Fault;
use crate::store::read::counts::NodeCosts;
use crate::store::read::packs::NodePack;
use crate::units::Bytes;
use rayon::prelude::*;
use std::ops::Range;

/// Marks on the nodes of an executable.
pub(in crate::store) struct Marks(Vec<u64>);

impl Marks {
    /// None on so many nodes.
    pub(in crate::store) fn none(nodes: u32) -> Result<Self, Fault> {
        let words = (nodes as usize).div_ceil(64);
        // With them, what `Places` has for each word.
        memory::check(Bytes((words * size_of::<(u64, u64, u32)>()) as u64))?;
        Ok(Marks(vec![0; words]))
    }

    /// One on each node that has a cost.
    pub(in crate::store) fn of<'a>(
        costs: impl IntoIterator<Item = &'a NodeCosts>,
        nodes: u32,
    ) -> Result<Self, Fault> {
        let mut marks = Marks::none(nodes)?;
        marks.set_all(costs);
        Ok(marks)
    }

    /// Marks each node that has a cost.
    pub(in crate::store) fn set_all<'a>(&mut self, costs: impl IntoIterator<Item = &'a NodeCosts>) {
        for &(node, _) in costs.into_iter().flatten() {
            self.set(node);
        }
    }

    #[inline]
    fn set(&mut self, node: u32) {
        self.0[node as usize / 64] |= 1 << (node % 64);
    }

    #[inline]
    fn has(&self, node: u32) -> bool {
        self.0[node as usize / 64] >> (node % 64) & 1 == 1
    }

    /// Whether any of these nodes may have one: a word has marks of 64.
    fn may_have_any(&self, nodes: Range<u32>) -> bool {
        let words = nodes.start as usize / 64..(nodes.end as usize).div_ceil(64);
        self.0[words].iter().any(|&word| word != 0)
    }
}

/// Marked nodes: their numbers have *places* from 0 on.
pub(in crate::store) struct Places {
    /// By 64 nodes: which of them are marked, and how many before them.
    words: Vec<(u64, u32)>,
}

impl Places {
    fn of(marks: Marks) -> Self {
        let mut before = 0;
        let words = marks.0.into_iter().map(|word| {
            let all = before;
            before += word.count_ones();
            (word, all)
        });
        Places {
            words: words.collect(),
        }
    }

    /// The marks.
    pub(in crate::store) fn into_marks(self) -> Marks {
        Marks(self.words.into_iter().map(|(word, _)| word).collect())
    }

    /// The place of a node that is marked.
    #[inline]
    pub(in crate::store) fn get(&self, node: u32) -> u32 {
        let (word, before) = self.words[node as usize / 64];
        before + (word & ((1 << (node % 64)) - 1)).count_ones()
    }

    /// Whether a node is marked.
    pub(in crate::store) fn has(&self, node: u32) -> bool {
        self.words[node as usize / 64].0 >> (node % 64) & 1 == 1
    }
}

/// The marked nodes of an executable and their callers.
pub(in crate::store) struct Picked {
    /// In the order of their numbers; parents are places.
    pub(in crate::store) nodes: NodeColumns,
    pub(in crate::store) places: Places,
}

impl Picked {
    /// Picks them out of the packs, of which those are unpacked that have any.
    pub(in crate::store) fn of(packs: &[NodePack], mut marks: Marks) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut len = 0;
        // Callers stand before what they call.
        for batch in packs.rchunks(2 * rayon::current_num_threads()) {
            let unpacked = batch.par_iter().map(|pack| {
                let is_needed = marks.may_have_any(pack.numbers());
                is_needed.then(|| pack.nodes()).transpose()
            });
            let unpacked: Vec<_> = unpacked.collect::<Result<_, Fault>>()?;
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
            // Each node's parent and frame here and in the tree, and its place there.
            memory::check(Bytes(len as u64 * 5 * size_of::<u32>() as u64))?;
        }
        let places = Places::of(marks);
        let mut nodes = NodeColumns::with_capacity(len);
        for part in parts.into_iter().rev() {
            nodes.append(part);
        }
        nodes.parents.par_iter_mut().for_each(|parent| {
            if *parent != NO_PARENT {
                *parent = places.get(*parent);
            }
        });
        Ok(Picked { nodes, places })
    }
}

/// The marked nodes of a pack and their callers there. Those become marked as others do.
fn marked(first: u32, nodes: &NodeColumns, marks: &mut Marks) -> NodeColumns {
    for (place, &parent) in nodes.parents.iter().enumerate().rev() {
        if parent != NO_PARENT && marks.has(first + place as u32) {
            marks.set(parent);
        }
    }
    let mut part = NodeColumns::default();
    for (node, (&parent, &frame)) in (first..).zip(nodes.parents.iter().zip(&nodes.frames)) {
        if marks.has(node) {
            part.push(parent, frame);
        }
    }
    part
}
