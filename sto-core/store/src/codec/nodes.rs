//! Nodes: a parent and a frame each, in about one byte.
//!
//! They are stored in segments. A segment is a subtree in preorder that one profile added; its parent, the
//! *attach point*, is an earlier node, or none for a root.

use super::DecodeError;
use super::bytes::{MAX_VARINT_32, Packer, Unpacker, add_difference, difference};
use crate::numbers::{FrameNo, NodeNo, Number};
use crate::tables::MAX_PACK_NODES;
use std::ops::Range;
use sto_model::tree::StackTree;

/// Nodes of one executable, in the order of their numbers; parents come before their children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeColumns<Parent = NodeNo> {
    /// [`Number::NONE`] for roots.
    pub(crate) parents: Vec<Parent>,
    pub(crate) frames: Vec<FrameNo>,
}

impl NodeColumns {
    /// The nodes of a tree whose nodes and frames already have the store's numbers.
    pub(crate) fn from_tree(tree: &StackTree) -> Self {
        let parent = |node| tree.parent(node).map_or(NodeNo::NONE, |p| NodeNo(p.0));
        NodeColumns {
            parents: tree.nodes().map(parent).collect(),
            frames: tree.frames().iter().map(|f| FrameNo(f.0)).collect(),
        }
    }

    pub(crate) fn with_capacity(len: usize) -> Self {
        NodeColumns {
            parents: Vec::with_capacity(len),
            frames: Vec::with_capacity(len),
        }
    }

    /// Appends a node.
    #[inline]
    pub(crate) fn push(&mut self, parent: NodeNo, frame: FrameNo) {
        self.parents.push(parent);
        self.frames.push(frame);
    }

    /// Appends the nodes that follow these.
    pub(crate) fn append(&mut self, mut next: NodeColumns) {
        self.parents.append(&mut next.parents);
        self.frames.append(&mut next.frames);
    }

    /// A range of these nodes.
    pub(crate) fn part(&self, range: Range<usize>) -> NodeColumns {
        NodeColumns {
            parents: self.parents[range.clone()].to_vec(),
            frames: self.frames[range].to_vec(),
        }
    }
}

impl<Parent> NodeColumns<Parent> {
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }
}

/// Packs nodes that are numbered from `first`, each with a lower-numbered parent. Nodes whose parent is the
/// previous node or one of its ancestors compress best.
pub(crate) fn pack_nodes(first: NodeNo, nodes: &NodeColumns) -> Result<Vec<u8>, DecodeError> {
    let [mut attach_points, mut roots, mut ups] = [(); 3].map(|()| Packer::default());
    let mut segments = 0u32;
    let mut frames = Vec::with_capacity(nodes.len());
    let (mut last_attach, mut last_root) = (0, 0);
    let mut path: Vec<NodeNo> = Vec::new();
    for (node, (&parent, &frame)) in first.onward().zip(nodes.parents.iter().zip(&nodes.frames)) {
        let depth = path.len();
        while path.last().is_some_and(|&open| open != parent) {
            path.pop();
        }
        if path.is_empty() {
            segments += 1;
            let attach = parent.0.wrapping_add(1);
            attach_points.number(difference(attach, last_attach));
            roots.number(difference(frame.0, last_root));
            (last_attach, last_root) = (attach, frame.0);
            ups.number(0u32);
        } else {
            ups.number((depth - path.len()) as u64 + 1);
            frames.push(frame.0);
        }
        path.push(node);
    }
    let mut pack = Packer::default();
    pack.number(nodes.len() as u64);
    pack.number(segments);
    pack.columns([attach_points, roots, ups]);
    pack.numbers(&frames);
    pack.finish()
}

/// The segments of a pack of nodes, for unpacking only the needed ones.
pub(crate) struct Segments<'a> {
    first: NodeNo,
    /// Number of nodes.
    len: u32,
    /// The end of the store's frame numbers.
    frames_end: FrameNo,
    /// The parent (or [`Number::NONE`]) and the frame of each segment's root.
    pub(crate) roots: Vec<(NodeNo, FrameNo)>,
    /// The columns of all other nodes.
    rest: Unpacker<'a>,
}

impl<'a> Segments<'a> {
    /// Unpacks the roots of nodes that are numbered from `first`, with frames below `frames_end`.
    pub(crate) fn unpack(
        pack: &'a [u8],
        first: NodeNo,
        frames_end: FrameNo,
    ) -> Result<Self, DecodeError> {
        let mut pack = Unpacker::new(pack);
        let len = pack.number32()?;
        if len > MAX_PACK_NODES || first.0.checked_add(len).is_none_or(|end| end == u32::MAX) {
            return Err(DecodeError("it has more nodes than there can be"));
        }
        let count = pack.number32()?;
        if count > len {
            return Err(NOT_ALL_SEGMENTS);
        }
        let longest = count as usize * MAX_VARINT_32;
        let columns = [pack.column_within(longest)?, pack.column_within(longest)?];
        let [mut attach_points, mut frames] = columns.each_ref().map(|c| Unpacker::new(c));
        let mut roots = Vec::with_capacity(count as usize);
        let (mut attach, mut frame) = (0, 0);
        for _ in 0..count {
            attach = add_difference(attach, attach_points.number32()?);
            frame = add_difference(frame, frames.number32()?);
            if FrameNo(frame) >= frames_end {
                return Err(NO_FRAME);
            }
            roots.push((NodeNo(attach.wrapping_sub(1)), FrameNo(frame)));
        }
        attach_points.finish()?;
        frames.finish()?;
        Ok(Segments {
            first,
            len,
            frames_end,
            roots,
            rest: pack,
        })
    }

    /// Decompresses the other nodes.
    pub(crate) fn decompress_others(&self) -> Result<OtherNodes, DecodeError> {
        let mut pack = self.rest;
        let ups = pack.column_within(self.len as usize * MAX_VARINT_32)?;
        let frames = pack.numbers(self.len as usize - self.roots.len())?;
        pack.finish()?;
        Ok(OtherNodes { ups, frames })
    }

    /// Reads the segments with these other nodes.
    pub(crate) fn reader<'o, T>(&self, others: &'o OtherNodes) -> SegmentReader<'o, T> {
        SegmentReader {
            ups: Unpacker::new(&others.ups),
            frames: &others.frames,
            next: self.first,
            left: self.len,
            passed: 0,
            frames_end: self.frames_end,
            path: Vec::new(),
        }
    }
}

/// The decompressed nodes of a pack that are not roots of segments.
pub(crate) struct OtherNodes {
    ups: Vec<u8>,
    frames: Vec<u32>,
}

/// Reads segments in order and can skip some. A `T` is the caller's data for a node, which its children
/// receive.
pub(crate) struct SegmentReader<'a, T> {
    ups: Unpacker<'a>,
    /// Frames of the remaining nodes.
    frames: &'a [u32],
    next: NodeNo,
    left: u32,
    /// Number of segments read or skipped.
    passed: usize,
    frames_end: FrameNo,
    path: Vec<T>,
}

impl<T: Copy> SegmentReader<'_, T> {
    /// Goes to a segment after those read before; returns the number of its root.
    #[inline]
    pub(crate) fn begin(&mut self, segment: usize) -> Result<NodeNo, DecodeError> {
        let between = segment - self.passed;
        let nodes = match (between, self.ups.peek()) {
            (0, Some(0)) => 0,
            _ => self.ups.skip_to_zero(between).ok_or(NOT_ALL_SEGMENTS)?,
        };
        // Each skipped segment's root is one of its nodes, but not in `frames`.
        let others = nodes.checked_sub(between).ok_or(NOT_ALL_SEGMENTS)?;
        self.frames = self.frames.get(others..).ok_or(NOT_ALL_SEGMENTS)?;
        self.take(nodes)?;
        self.ups.number32()?;
        self.passed = segment + 1;
        self.take(1)
    }

    /// Reads the other nodes of the segment. `root` is the caller's data for the root; `see` receives each
    /// node's number, its parent's data and its frame.
    #[inline]
    pub(crate) fn read(
        &mut self,
        root: T,
        mut see: impl FnMut(NodeNo, T, FrameNo) -> T,
    ) -> Result<(), DecodeError> {
        self.path.clear();
        self.path.push(root);
        while self.ups.peek().is_some_and(|up| up != 0) {
            let up = self.ups.number32()? as usize;
            self.path.truncate((self.path.len() + 1).saturating_sub(up));
            let &parent = self
                .path
                .last()
                .ok_or(DecodeError("a node's path leaves its segment"))?;
            let (&frame, frames) = self.frames.split_first().ok_or(NOT_ALL_SEGMENTS)?;
            let frame = FrameNo(frame);
            if frame >= self.frames_end {
                return Err(NO_FRAME);
            }
            self.frames = frames;
            let number = self.take(1)?;
            self.path.push(see(number, parent, frame));
        }
        Ok(())
    }

    /// Skips this number of nodes; returns the number of the first one.
    #[inline]
    fn take(&mut self, nodes: usize) -> Result<NodeNo, DecodeError> {
        let number = self.next;
        let left = (self.left as usize).checked_sub(nodes);
        self.left = left.ok_or(NOT_ALL_SEGMENTS)? as u32;
        self.next = number.plus(nodes);
        Ok(number)
    }

    /// Checks that nothing follows the last segment.
    fn finish(self) -> Result<(), DecodeError> {
        self.ups.finish()?;
        if self.left == 0 && self.frames.is_empty() {
            Ok(())
        } else {
            Err(NOT_ALL_SEGMENTS)
        }
    }
}

/// Unpacks nodes that are numbered from `first`, with frames below `frames_end`.
pub(crate) fn unpack_nodes(
    pack: &[u8],
    first: NodeNo,
    frames_end: FrameNo,
) -> Result<NodeColumns, DecodeError> {
    let segments = Segments::unpack(pack, first, frames_end)?;
    let others = segments.decompress_others()?;
    let mut reader = segments.reader(&others);
    let mut nodes = NodeColumns::with_capacity(segments.len as usize);
    for (segment, &(attach, frame)) in segments.roots.iter().enumerate() {
        if attach != NodeNo::NONE && attach >= reader.next {
            return Err(DecodeError("a node's parent does not come before it"));
        }
        nodes.push(attach, frame);
        let root = reader.begin(segment)?;
        reader.read(root, |node, parent, frame| {
            nodes.push(parent, frame);
            node
        })?;
    }
    reader.finish()?;
    Ok(nodes)
}

const NO_FRAME: DecodeError = DecodeError("a node's frame does not exist");
const NOT_ALL_SEGMENTS: DecodeError = DecodeError("its segments do not add up to its nodes");
