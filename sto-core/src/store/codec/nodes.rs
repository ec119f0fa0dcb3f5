//! Nodes: a parent and a frame each, in about one byte.
//!
//! A pack holds the nodes that one transaction added to an executable's tree: whole subtrees, each
//! in preorder under a parent that stood there before, or under none. So a parent is told by how
//! many levels the path goes back up from the node before. And as few functions call many others,
//! a frame is told by its place among those that this pack has already seen below the parent's
//! frame: only the first time it is written out.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use hashbrown::HashMap;

/// In place of a parent: the node is a root.
pub(in crate::store) const NO_PARENT: u32 = u32::MAX;

/// The nodes of one executable by their number in the store; parents stand before their children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct NodeColumns {
    pub(in crate::store) parents: Vec<u32>,
    pub(in crate::store) frames: Vec<u32>,
}

impl NodeColumns {
    pub(in crate::store) fn len(&self) -> usize {
        self.parents.len()
    }
}

/// Packs the nodes from `first` on. Each one's parent stands before `first`, or is the node before
/// it or one of that node's ancestors.
pub(in crate::store) fn pack_nodes(nodes: &NodeColumns, first: usize) -> Result<Vec<u8>, Flaw> {
    let mut ups = Packer::default();
    let mut anchors = Packer::default();
    let mut ranks = Packer::default();
    let mut written = Packer::default();
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let mut fan_out: HashMap<u32, u32> = HashMap::new();
    let mut path: Vec<u32> = Vec::new();
    let (mut last_anchor, mut last_written) = (0, 0);

    for (node, (&parent, &frame)) in
        (first..).zip(nodes.parents[first..].iter().zip(&nodes.frames[first..]))
    {
        let depth = path.len();
        while path.last().is_some_and(|&open| open != parent) {
            path.pop();
        }
        ups.number((depth - path.len()) as u64);
        let caller = match path.last() {
            Some(&parent) => nodes.frames[parent as usize],
            None => {
                let anchor = parent.wrapping_add(1);
                anchors.difference(anchor, last_anchor);
                last_anchor = anchor;
                NO_CALLER
            }
        };
        path.push(node as u32);

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
    pack.number((nodes.len() - first) as u64);
    for column in [ups, anchors, ranks, written] {
        pack.column(column);
    }
    pack.finish()
}

/// Unpacks nodes behind those that stand there already; `callees` is room to work in.
pub(in crate::store) fn unpack_nodes(
    pack: &[u8],
    nodes: &mut NodeColumns,
    callees: &mut Callees,
) -> Result<(), Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    let columns = [
        pack.column()?,
        pack.column()?,
        pack.column()?,
        pack.column()?,
    ];
    pack.finish()?;
    let [mut ups, mut anchors, mut ranks, mut written] =
        columns.each_ref().map(|c| Unpacker::new(c));
    if count > ups.left() {
        return Err(Flaw("there are fewer nodes than announced"));
    }
    let first = nodes.len();
    if first + count >= NO_PARENT as usize {
        return Err(Flaw("there are more than 2^32 - 2 nodes"));
    }
    nodes.parents.reserve_exact(count);
    nodes.frames.reserve_exact(count);
    callees.clear();
    let mut path: Vec<u32> = Vec::new();
    let (mut last_anchor, mut last_written) = (0, 0);

    for node in first..first + count {
        let depth = usize::try_from(ups.number()?)
            .ok()
            .and_then(|up| path.len().checked_sub(up))
            .ok_or(Flaw("a node's path goes up above its root"))?;
        path.truncate(depth);
        let (parent, caller) = match path.last() {
            Some(&parent) => (parent, nodes.frames[parent as usize]),
            None => {
                last_anchor = anchors.difference(last_anchor)?;
                if last_anchor as usize > first {
                    return Err(Flaw("a node's parent does not stand before it"));
                }
                (last_anchor.wrapping_sub(1), callees.no_caller())
            }
        };
        path.push(node as u32);

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
        .try_for_each(Unpacker::finish)
}

/// Stands for the caller of a subtree's first node, whatever it is: so packs do not depend on one
/// another.
const NO_CALLER: u32 = u32::MAX;

/// The frames that one pack has below each frame, in the order in which they came up.
pub(in crate::store) struct Callees {
    /// By caller, its place in `lists`, counted from 1.
    list_of: Vec<u32>,
    lists: Vec<Vec<u32>>,
    callers: Vec<u32>,
}

impl Callees {
    /// Room for packs whose frames are below a number.
    pub(in crate::store) fn new(frame_count: u32) -> Self {
        Callees {
            list_of: vec![0; frame_count as usize + 1],
            lists: Vec::new(),
            callers: Vec::new(),
        }
    }

    fn no_caller(&self) -> u32 {
        (self.list_of.len() - 1) as u32
    }

    fn clear(&mut self) {
        for caller in self.callers.drain(..) {
            self.list_of[caller as usize] = 0;
        }
        self.lists.clear();
    }

    fn add(&mut self, caller: u32, frame: u32) -> Result<(), Flaw> {
        if frame >= self.no_caller() {
            return Err(Flaw("a node's frame does not exist"));
        }
        let list = &mut self.list_of[caller as usize];
        if *list == 0 {
            self.lists.push(Vec::new());
            self.callers.push(caller);
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
