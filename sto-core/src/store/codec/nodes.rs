//! Nodes: a parent and a frame each, in about one byte.
//!
//! They stand in segments. A segment is a subtree in preorder below a node that stands before it, its
//! *attach point*, or below none: what one profile added there.

use super::Flaw;
use super::bytes::{MOST_BYTES_32, Packer, Unpacker, add_difference, difference};
use crate::intern::StackTree;
use crate::store::tables::MOST_NODES;
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

    pub(in crate::store) fn with_capacity(len: usize) -> Self {
        NodeColumns {
            parents: Vec::with_capacity(len),
            frames: Vec::with_capacity(len),
        }
    }

    pub(in crate::store) fn len(&self) -> usize {
        self.parents.len()
    }

    /// Appends a node.
    #[inline]
    pub(in crate::store) fn push(&mut self, parent: u32, frame: u32) {
        self.parents.push(parent);
        self.frames.push(frame);
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
}

/// Packs the nodes with the numbers from `first` on, each below a node with a lower number. Nodes
/// whose parent is the node before them or one of its ancestors pack best.
pub(in crate::store) fn pack_nodes(first: u32, nodes: &NodeColumns) -> Result<Vec<u8>, Flaw> {
    let [mut attach_points, mut roots, mut ups] = [(); 3].map(|()| Packer::default());
    let mut segments = 0u32;
    let mut frames = Vec::with_capacity(nodes.len());
    let (mut last_attach, mut last_root) = (0, 0);
    let mut path: Vec<u32> = Vec::new();
    for (node, (&parent, &frame)) in (first..).zip(nodes.parents.iter().zip(&nodes.frames)) {
        let depth = path.len();
        while path.last().is_some_and(|&open| open != parent) {
            path.pop();
        }
        if path.is_empty() {
            segments += 1;
            let attach = parent.wrapping_add(1);
            attach_points.number(difference(attach, last_attach));
            roots.number(difference(frame, last_root));
            (last_attach, last_root) = (attach, frame);
            ups.number(0u32);
        } else {
            ups.number((depth - path.len()) as u64 + 1);
            frames.push(frame);
        }
        path.push(node);
    }
    let mut pack = Packer::default();
    pack.number(nodes.len() as u64);
    pack.number(segments);
    for column in [attach_points, roots, ups] {
        pack.column(column);
    }
    pack.numbers(&frames);
    pack.finish()
}

/// The roots of a pack's segments, in their order: what each stands below, or [`NO_PARENT`], and its frame.
pub(in crate::store) type Roots = Vec<(u32, u32)>;

/// Unpacks the roots alone.
pub(in crate::store) fn unpack_roots(pack: &[u8], frame_count: u32) -> Result<Roots, Flaw> {
    let mut pack = Unpacker::new(pack);
    pack.number32()?;
    take_roots(&mut pack, frame_count)
}

fn take_roots(pack: &mut Unpacker<'_>, frame_count: u32) -> Result<Roots, Flaw> {
    let count = pack.number32()? as usize;
    if count > MOST_NODES as usize {
        return Err(NOT_ALL_SEGMENTS);
    }
    let longest = count * MOST_BYTES_32;
    let (attach_points, frames) = (pack.column_within(longest)?, pack.column_within(longest)?);
    let (mut attach_points, mut frames) = (Unpacker::new(&attach_points), Unpacker::new(&frames));
    let mut roots = Vec::with_capacity(count);
    let (mut attach, mut frame) = (0, 0);
    for _ in 0..count {
        attach = add_difference(attach, attach_points.number32()?);
        frame = add_difference(frame, frames.number32()?);
        if frame >= frame_count {
            return Err(NO_FRAME);
        }
        roots.push((attach.wrapping_sub(1), frame));
    }
    attach_points.finish()?;
    frames.finish()?;
    Ok(roots)
}

/// Unpacks the nodes that have the numbers from `first` on and frames below `frame_count`.
pub(in crate::store) fn unpack_nodes(
    pack: &[u8],
    first: u32,
    frame_count: u32,
) -> Result<NodeColumns, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()?;
    if count > MOST_NODES || first.checked_add(count).is_none_or(|end| end == NO_PARENT) {
        return Err(Flaw("it has more nodes than there can be"));
    }
    let roots = take_roots(&mut pack, frame_count)?;
    let ups = pack.column_within(count as usize * MOST_BYTES_32)?;
    let others = (count as usize).checked_sub(roots.len());
    let frames = pack.numbers(others.ok_or(NOT_ALL_SEGMENTS)?)?;
    pack.finish()?;
    let (mut roots, mut frames) = (roots.into_iter(), frames.into_iter());
    let mut ups = Unpacker::new(&ups);
    let mut nodes = NodeColumns::with_capacity(count as usize);
    let mut path: Vec<u32> = Vec::new();
    for node in first..first + count {
        let (parent, frame) = match ups.number32()? {
            0 => {
                path.clear();
                roots.next().ok_or(NOT_ALL_SEGMENTS)?
            }
            up => {
                let depth = path.len().saturating_sub(up as usize - 1);
                path.truncate(depth);
                let &parent = path
                    .last()
                    .ok_or(Flaw("a node's path goes up above its segment"))?;
                (parent, frames.next().ok_or(NOT_ALL_SEGMENTS)?)
            }
        };
        if parent >= node && parent != NO_PARENT {
            return Err(Flaw("a node's parent does not stand before it"));
        }
        if frame >= frame_count {
            return Err(NO_FRAME);
        }
        nodes.push(parent, frame);
        path.push(node);
    }
    ups.finish()?;
    match (roots.next(), frames.next()) {
        (None, None) => Ok(nodes),
        _ => Err(NOT_ALL_SEGMENTS),
    }
}

const NO_FRAME: Flaw = Flaw("a node's frame does not exist");
const NOT_ALL_SEGMENTS: Flaw = Flaw("its segments do not add up to its nodes");
