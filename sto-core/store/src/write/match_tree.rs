//! Finds a profile's tree in an executable's nodes, and adds the missing nodes.

use crate::codec::{DecodeError, NodeColumns, OtherNodes, Segments};
use crate::numbers::{FrameNo, NodeNo, Number};
use sto_model::FrameIx;
use sto_model::tree::{NodeIx, StackTree};

/// A search for the nodes of a profile's tree in the store's packs, which are visited once, in
/// order.
///
/// Only segments whose root the profile contains are unpacked, and packs without such segments are not. Memory
/// is a few bytes per node of the profile and of one pack.
pub(crate) struct TreeMatch<'a> {
    tree: &'a StackTree,
    /// The store's frame number by the profile's frame index.
    frames: &'a [FrameNo],
    /// The profile's frame index by the store's frame number, if the profile has the frame.
    frame_of: Vec<FrameIx>,
    children: Children,
    /// The end of the store's node numbers.
    stored_end: NodeNo,
    /// The store's node number by the profile's node index.
    numbers: Vec<NodeNo>,
    /// The store's numbers of found nodes, ascending, with the slots of their children.
    found: Vec<(NodeNo, Slot)>,
    /// The children that are expected below found nodes.
    expected: Filter,
    /// Number of missing nodes when the filter was built.
    expected_for: u32,
}

const NO_FRAME: FrameIx = FrameIx(u32::MAX);

impl<'a> TreeMatch<'a> {
    /// Starts a search in nodes below `stored_end` with frames below `frames_end`. `frames` are the store's
    /// numbers of the tree's frames; those from `frames_end` are new.
    pub(crate) fn new(
        tree: &'a StackTree,
        frames: &'a [FrameNo],
        frames_end: FrameNo,
        stored_end: NodeNo,
    ) -> Self {
        let mut frame_of = vec![NO_FRAME; frames_end.get()];
        for (index, &number) in (0..).zip(frames) {
            if let Some(frame) = frame_of.get_mut(number.get()) {
                *frame = FrameIx(index);
            }
        }
        let mut search = TreeMatch {
            tree,
            frames,
            frame_of,
            children: Children::new(tree),
            stored_end,
            numbers: vec![NodeNo::NONE; tree.len()],
            found: Vec::new(),
            expected: Filter::new(tree.len()),
            expected_for: tree.len() as u32,
        };
        search.expect_below(NodeNo::NONE, ROOTS);
        search
    }

    /// Rebuilds the filter without the found nodes, which cannot occur again, if that makes it much smaller.
    pub(crate) fn rebuild_filter(&mut self) {
        let missing = self.missing_nodes();
        if missing > self.expected_for / 2 {
            return;
        }
        (self.expected, self.expected_for) = (Filter::new(missing as usize), missing);
        for node in self.tree.nodes() {
            let parent = self.tree.parent(node);
            let parent = parent.map(|parent| self.numbers[parent.get()]);
            if self.numbers[node.get()] == NodeNo::NONE && parent != Some(NodeNo::NONE) {
                let frame = self.frames[self.tree.frame(node).get()];
                self.expected.insert(parent.unwrap_or(NodeNo::NONE), frame);
            }
        }
    }

    /// Whether the profile may contain one of these roots, given the nodes found so far.
    pub(crate) fn may_contain_roots(&self, roots: &[(NodeNo, FrameNo)]) -> bool {
        roots
            .iter()
            .any(|&(attach, frame)| self.find_below(attach, frame).is_some())
    }

    /// Visits the next nodes of the store. `others` are the other nodes of the segments, if the caller has already
    /// decompressed them.
    pub(crate) fn visit_segments(
        &mut self,
        segments: &Segments<'_>,
        mut others: Option<OtherNodes>,
    ) -> Result<(), DecodeError> {
        if others.is_none() && self.may_contain_roots(&segments.roots) {
            others = Some(segments.decompress_others()?);
        }
        let Some(others) = others else { return Ok(()) };
        let mut reader = segments.reader(&others);
        for (segment, &(attach, frame)) in segments.roots.iter().enumerate() {
            let Some(root) = self.find_below(attach, frame) else {
                continue;
            };
            let root = Some(self.set(root, reader.begin(segment)?));
            reader.read(root, |number, slot, frame| {
                let node = self.find(slot?, frame)?;
                Some(self.set(node, number))
            })?;
        }
        Ok(())
    }

    /// Sets the number of a found node; returns the slot of its children.
    fn set(&mut self, node: NodeIx, number: NodeNo) -> Slot {
        let slot = Slot(node.0 + 1);
        self.numbers[node.get()] = number;
        self.found.push((number, slot));
        self.expect_below(number, slot);
        slot
    }

    /// The node of the profile with this frame below an earlier node of the store, or below none.
    fn find_below(&self, parent: NodeNo, frame: FrameNo) -> Option<NodeIx> {
        if !self.expected.may_have(parent, frame) {
            return None;
        }
        let slot = match parent {
            NodeNo::NONE => ROOTS,
            _ => {
                let found = &self.found;
                let at = found.binary_search_by_key(&parent, |&(number, _)| number);
                found[at.ok()?].1
            }
        };
        self.find(slot, frame)
    }

    /// The node of the profile in this slot with this frame number of the store.
    fn find(&self, slot: Slot, frame: FrameNo) -> Option<NodeIx> {
        let frame = self.frame_of[frame.get()];
        (frame != NO_FRAME).then(|| self.children.find(slot, frame))?
    }

    /// Expects the children in a slot below a node of the store.
    fn expect_below(&mut self, number: NodeNo, slot: Slot) {
        for &frame in self.children.frames(slot) {
            self.expected.insert(number, self.frames[frame.get()]);
        }
    }

    /// Number of nodes not found so far.
    pub(crate) fn missing_nodes(&self) -> u32 {
        let missing = self.numbers.iter();
        missing.filter(|&&number| number == NodeNo::NONE).count() as u32
    }

    /// Gives the missing nodes the next numbers, in preorder.
    ///
    /// Returns the numbers of all nodes of the profile's tree and the new nodes, or the reason why they
    /// cannot be added.
    pub(crate) fn finish(self) -> Result<(Vec<NodeNo>, NodeColumns), &'static str> {
        if self.stored_end.get() + self.missing_nodes() as usize >= NodeNo::NONE.get() {
            return Err("its executable would have more than 2^32 - 2 stacks");
        }
        let mut numbers = self.numbers;
        let mut new = NodeColumns::default();
        for node in self.tree.nodes() {
            if numbers[node.get()] == NodeNo::NONE {
                numbers[node.get()] = self.stored_end.plus(new.len());
                let parent = self.tree.parent(node);
                let parent = parent.map_or(NodeNo::NONE, |parent| numbers[parent.get()]);
                new.push(parent, self.frames[self.tree.frame(node).get()]);
            }
        }
        Ok((numbers, new))
    }
}

/// The position of a node's children in [`Children`].
#[derive(Clone, Copy)]
struct Slot(u32);

const ROOTS: Slot = Slot(0);

/// The children of every node of a tree, in the order of their frames.
struct Children {
    /// Slot 0 is for roots, slot `n + 1` for the children of node `n`.
    starts: Vec<u32>,
    frames: Vec<FrameIx>,
    nodes: Vec<NodeIx>,
}

/// Maximum number of children for a linear search; more take a binary search.
const MAX_LINEAR_SEARCH: usize = 16;

impl Children {
    fn new(tree: &StackTree) -> Self {
        let slot = |node: NodeIx| tree.parent(node).map_or(0, |parent| parent.get() + 1);
        let mut starts = vec![0u32; tree.len() + 2];
        for node in tree.nodes() {
            starts[slot(node) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut frames = vec![NO_FRAME; tree.len()];
        let mut nodes = vec![NodeIx(0); tree.len()];
        for node in tree.nodes() {
            let at = &mut next[slot(node)];
            frames[*at as usize] = tree.frame(node);
            nodes[*at as usize] = node;
            *at += 1;
        }
        Children {
            starts,
            frames,
            nodes,
        }
    }

    /// The frames of the children in a slot.
    fn frames(&self, Slot(slot): Slot) -> &[FrameIx] {
        let slot = slot as usize;
        &self.frames[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }

    fn find(&self, slot: Slot, frame: FrameIx) -> Option<NodeIx> {
        let start = self.starts[slot.0 as usize] as usize;
        let frames = self.frames(slot);
        let at = if frames.len() <= MAX_LINEAR_SEARCH {
            frames.iter().position(|&found| found == frame)
        } else {
            frames.binary_search(&frame).ok()
        };
        at.map(|at| self.nodes[start + at])
    }
}

/// A Bloom filter of (parent, frame) pairs.
struct Filter {
    words: Vec<u64>,
    shift: u32,
}

impl Filter {
    /// A filter for this number of pairs, with 16 to 32 bits for each.
    fn new(pairs: usize) -> Self {
        let words = pairs.div_ceil(4).next_power_of_two().max(2);
        Filter {
            words: vec![0; words],
            shift: 64 - words.ilog2(),
        }
    }

    /// The index of a pair's word and its two bits in it, by multiplicative hashing (Knuth, volume 3, section 6.4).
    fn bits(&self, parent: NodeNo, frame: FrameNo) -> (usize, u64) {
        let pair = u64::from(parent.0) << 32 | u64::from(frame.0);
        let product = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = 1 << (product >> 32 & 63) | 1 << (product >> 38 & 63);
        ((product >> self.shift) as usize, bits)
    }

    fn insert(&mut self, parent: NodeNo, frame: FrameNo) {
        let (word, bits) = self.bits(parent, frame);
        self.words[word] |= bits;
    }

    fn may_have(&self, parent: NodeNo, frame: FrameNo) -> bool {
        let (word, bits) = self.bits(parent, frame);
        self.words[word] & bits == bits
    }
}
