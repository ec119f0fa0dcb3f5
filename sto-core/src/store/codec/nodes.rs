//! Nodes: a parent and a frame each, in about one byte.
//!
//! A pack holds nodes in runs: subtrees, each in preorder below any node before it, or below none.
//! So within a run a parent is told by how many levels the path goes back up from the node before.
//! And as few functions call many others, a frame is told by its place among those that this pack
//! has already seen below the parent's frame: only the first time it is written out. No pack is
//! needed to read another.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use crate::intern::StackTree;
use hashbrown::HashMap;
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
    pub(in crate::store) fn with_capacity(nodes: usize) -> Self {
        NodeColumns {
            parents: Vec::with_capacity(nodes),
            frames: Vec::with_capacity(nodes),
        }
    }

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

    /// The frame of a parent, where it is one of these nodes, whose numbers begin at `first`.
    fn caller(&self, first: u32, parent: u32) -> Option<u32> {
        let place = parent.checked_sub(first)?;
        self.frames.get(place as usize).copied()
    }
}

/// Packs the nodes with the numbers from `first` on, each below a node with a lower number. Nodes
/// whose parent is the node before them or one of its ancestors pack best.
pub(in crate::store) fn pack_nodes(first: u32, nodes: &NodeColumns) -> Result<Vec<u8>, Flaw> {
    let mut ups = Packer::default();
    let mut anchors = Packer::default();
    let mut ranks = Packer::default();
    let mut written = Packer::default();
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let mut fan_out: HashMap<u32, u32> = HashMap::new();
    let mut path: Vec<u32> = Vec::new();
    let (mut last_anchor, mut last_written) = (0, 0);

    for (node, (&parent, &frame)) in (first..).zip(nodes.parents.iter().zip(&nodes.frames)) {
        let depth = path.len();
        while path.last().is_some_and(|&open| open != parent) {
            path.pop();
        }
        ups.number((depth - path.len()) as u64);
        if path.is_empty() {
            let anchor = parent.wrapping_add(1);
            anchors.difference(anchor, last_anchor);
            last_anchor = anchor;
        }
        path.push(node);

        let caller = nodes.caller(first, parent).unwrap_or(NO_CALLER);
        if let Some(&rank) = known.get(&(caller, frame)) {
            ranks.number(rank);
        } else {
            let rank = fan_out.entry(caller).or_default();
            *rank += 1;
            known.insert((caller, frame), *rank);
            ranks.number(0u32);
            written.difference(frame, last_written);
            last_written = frame;
        }
    }

    let mut pack = Packer::default();
    pack.number(nodes.len() as u64);
    for column in [ups, anchors, ranks, written] {
        pack.column(column);
    }
    pack.finish()
}

/// Unpacks nodes that have the numbers from `first` on and frames below `frame_count`.
pub(in crate::store) fn unpack_nodes(
    pack: &[u8],
    first: u32,
    frame_count: u32,
) -> Result<NodeColumns, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()?;
    let columns = [
        pack.column()?,
        pack.column()?,
        pack.column()?,
        pack.column()?,
    ];
    pack.finish()?;
    let [mut ups, mut anchors, mut ranks, mut written] =
        columns.each_ref().map(|c| Unpacker::new(c));
    if count as usize > ups.left() {
        return Err(Flaw("there are fewer nodes than announced"));
    }
    let end = first
        .checked_add(count)
        .filter(|&end| end < NO_PARENT)
        .ok_or(Flaw("there are more than 2^32 - 2 nodes"))?;
    let mut nodes = NodeColumns::default();
    nodes.parents.reserve_exact(count as usize);
    nodes.frames.reserve_exact(count as usize);
    let mut callees = Callees::new(frame_count);
    let mut path: Vec<u32> = Vec::new();
    let (mut last_anchor, mut last_written) = (0, 0);

    for node in first..end {
        let depth = usize::try_from(ups.number()?)
            .ok()
            .and_then(|up| path.len().checked_sub(up))
            .ok_or(Flaw("a node's path goes up above its root"))?;
        path.truncate(depth);
        let parent = match path.last() {
            Some(&parent) => parent,
            None => {
                last_anchor = anchors.difference(last_anchor)?;
                if last_anchor > node {
                    return Err(Flaw("a node's parent does not stand before it"));
                }
                last_anchor.wrapping_sub(1)
            }
        };
        path.push(node);

        let caller = nodes.caller(first, parent).unwrap_or(frame_count);
        let frame = match ranks.number32()? {
            0 => {
                last_written = written.difference(last_written)?;
                callees.add(caller, last_written)?;
                last_written
            }
            rank => callees.get(caller, rank)?,
        };
        nodes.parents.push(parent);
        nodes.frames.push(frame);
    }
    [ups, anchors, ranks, written]
        .into_iter()
        .try_for_each(Unpacker::finish)?;
    Ok(nodes)
}

/// Stands for every caller outside the pack, and for none: so packs do not depend on one another.
const NO_CALLER: u32 = u32::MAX;

/// The frames that a pack has below each frame, in the order in which they came up.
struct Callees {
    /// By caller, its place in `lists`, counted from 1; last for [`NO_CALLER`].
    list_of: Vec<u32>,
    lists: Vec<Vec<u32>>,
}

impl Callees {
    fn new(frame_count: u32) -> Self {
        Callees {
            list_of: vec![0; frame_count as usize + 1],
            lists: Vec::new(),
        }
    }

    fn add(&mut self, caller: u32, frame: u32) -> Result<(), Flaw> {
        if frame as usize >= self.list_of.len() - 1 {
            return Err(Flaw("a node's frame does not exist"));
        }
        let list = &mut self.list_of[caller as usize];
        if *list == 0 {
            self.lists.push(Vec::new());
            *list = self.lists.len() as u32;
        }
        self.lists[*list as usize - 1].push(frame);
        Ok(())
    }

    fn get(&self, caller: u32, rank: u32) -> Result<u32, Flaw> {
        (self.list_of[caller as usize] as usize)
            .checked_sub(1)
            .and_then(|list| self.lists[list].get(rank as usize - 1))
            .copied()
            .ok_or(Flaw("a node's frame was not seen before"))
    }
}
