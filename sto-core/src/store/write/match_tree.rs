//! Finding a profile's tree among an executable's nodes, and adding what is missing.

use crate::intern::{NodeIx, StackTree};
use crate::store::codec::{DecodeError, NO_PARENT, NodeColumns, Others, Segments};

/// A search for the nodes of a profile's tree among those of the store, whose packs pass by once, in
/// their order.
///
/// Only segments whose root the profile has are unpacked, and no pack where it has none. Memory is some
/// bytes a node of the profile and of one pack.
pub(in crate::store) struct TreeMatch<'a> {
    tree: &'a StackTree,
    /// By frame of the profile, its number in the store.
    frames: &'a [u32],
    /// By frame of the store, its place in the profile, plus one.
    frame_of: Vec<u32>,
    children: Children,
    /// How many nodes the store has.
    stored: u32,
    /// By node of the profile, its number in the store.
    numbers: Vec<u32>,
    /// Numbers in the store of what was found, ascending, with the slots of their children.
    found: Vec<(u32, u32)>,
    /// What is looked for below nodes that were found.
    expected: Filter,
    /// For how many nodes that was made.
    expected_for: u32,
}

const MISSING: u32 = u32::MAX;

impl<'a> TreeMatch<'a> {
    /// A search among `stored` nodes with `frame_count` frames. `frames` are the store's numbers of
    /// the tree's frames; those from `frame_count` on are new.
    pub(in crate::store) fn new(
        tree: &'a StackTree,
        frames: &'a [u32],
        frame_count: u32,
        stored: u32,
    ) -> Self {
        let mut frame_of = vec![0; frame_count as usize];
        for (place, &number) in (1..).zip(frames) {
            if let Some(frame) = frame_of.get_mut(number as usize) {
                *frame = place;
            }
        }
        let mut search = TreeMatch {
            tree,
            frames,
            frame_of,
            children: Children::new(tree),
            stored,
            numbers: vec![MISSING; tree.len()],
            found: Vec::new(),
            expected: Filter::new(tree.len()),
            expected_for: tree.len() as u32,
        };
        search.expect_below(NO_PARENT, 0);
        search
    }

    /// Expects no longer what was found, as no node stands in a store twice: a smaller filter is quicker.
    pub(in crate::store) fn forget_what_was_found(&mut self) {
        let missing = self.missing();
        if missing > self.expected_for / 2 {
            return;
        }
        (self.expected, self.expected_for) = (Filter::new(missing as usize), missing);
        for node in self.tree.nodes() {
            let parent = self.tree.parent(node);
            let parent = parent.map(|parent| self.numbers[parent.get()]);
            if self.numbers[node.get()] == MISSING && parent != Some(MISSING) {
                let frame = self.frames[self.tree.frame(node).get()];
                self.expected.insert(parent.unwrap_or(NO_PARENT), frame);
            }
        }
    }

    /// Whether the profile has one of these roots, by what was found so far.
    pub(in crate::store) fn expects(&self, roots: &[(u32, u32)]) -> bool {
        roots
            .iter()
            .any(|&(attach, frame)| self.find_below(attach, frame).is_some())
    }

    /// Looks at the next nodes of the store; `others` are those of the segments, where it was known already that
    /// they are needed.
    pub(in crate::store) fn pass(
        &mut self,
        segments: &Segments<'_>,
        mut others: Option<Others>,
    ) -> Result<(), DecodeError> {
        if others.is_none() && self.expects(&segments.roots) {
            others = Some(segments.others()?);
        }
        let Some(others) = others else { return Ok(()) };
        let mut reader = segments.reader(&others);
        for (segment, &(attach, frame)) in segments.roots.iter().enumerate() {
            let Some(root) = self.find_below(attach, frame) else {
                continue;
            };
            let root = self.set(root, reader.begin(segment)?);
            reader.read(root, |number, slot, frame| {
                let node = (slot != MISSING).then(|| self.find(slot, frame));
                node.flatten()
                    .map_or(MISSING, |node| self.set(node, number))
            })?;
        }
        Ok(())
    }

    /// Sets the number of a node that was found, and returns the slot of its children.
    fn set(&mut self, node: u32, number: u32) -> u32 {
        self.numbers[node as usize] = number;
        self.found.push((number, node + 1));
        self.expect_below(number, node + 1);
        node + 1
    }

    /// The node of the profile that has this frame below a node that stands before, or below none.
    fn find_below(&self, parent: u32, frame: u32) -> Option<u32> {
        if !self.expected.may_have(parent, frame) {
            return None;
        }
        let slot = match parent {
            NO_PARENT => 0,
            _ => {
                let place = self
                    .found
                    .binary_search_by_key(&parent, |&(number, _)| number);
                self.found[place.ok()?].1
            }
        };
        self.find(slot, frame)
    }

    /// The node of the profile in this slot with this frame of the store.
    fn find(&self, slot: u32, frame: u32) -> Option<u32> {
        let frame = self.frame_of[frame as usize].checked_sub(1)?;
        self.children.find(slot, frame)
    }

    /// Expects the children in a slot below a number of the store.
    fn expect_below(&mut self, number: u32, slot: u32) {
        for &frame in self.children.frames(slot) {
            self.expected.insert(number, self.frames[frame as usize]);
        }
    }

    /// How many nodes were not found.
    pub(in crate::store) fn missing(&self) -> u32 {
        self.numbers
            .iter()
            .filter(|&&number| number == MISSING)
            .count() as u32
    }

    /// Gives the nodes that were not found the next numbers, in preorder.
    ///
    /// Returns the number of every node of the profile's tree, and the new nodes; the error says
    /// why they cannot be added.
    pub(in crate::store) fn finish(self) -> Result<(Vec<u32>, NodeColumns), &'static str> {
        let stored = self.stored as usize;
        if stored + self.missing() as usize >= MISSING as usize {
            return Err("its executable would have more than 2^32 - 2 stacks");
        }
        let mut numbers = self.numbers;
        let mut new = NodeColumns::default();
        for node in self.tree.nodes() {
            if numbers[node.get()] == MISSING {
                numbers[node.get()] = (stored + new.len()) as u32;
                let parent = self
                    .tree
                    .parent(node)
                    .map_or(NO_PARENT, |p| numbers[p.get()]);
                new.push(parent, self.frames[self.tree.frame(node).get()]);
            }
        }
        Ok((numbers, new))
    }
}

/// The children of every node of a tree, with their frames, in the order of those.
struct Children {
    /// Slot 0 is for roots, slot `n + 1` for the children of node `n`.
    starts: Vec<u32>,
    frames: Vec<u32>,
    nodes: Vec<u32>,
}

/// Most children that are looked through one by one; more are halved.
const FEW: usize = 16;

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
        let mut frames = vec![0; tree.len()];
        let mut nodes = vec![0; tree.len()];
        for node in tree.nodes() {
            let place = &mut next[slot(node)];
            frames[*place as usize] = tree.frame(node).0;
            nodes[*place as usize] = node.0;
            *place += 1;
        }
        Children {
            starts,
            frames,
            nodes,
        }
    }

    /// The frames of the children in a slot.
    fn frames(&self, slot: u32) -> &[u32] {
        let slot = slot as usize;
        &self.frames[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }

    fn find(&self, slot: u32, frame: u32) -> Option<u32> {
        let start = self.starts[slot as usize] as usize;
        let frames = self.frames(slot);
        let place = if frames.len() <= FEW {
            frames.iter().position(|&found| found == frame)
        } else {
            frames.binary_search(&frame).ok()
        };
        place.map(|place| self.nodes[start + place])
    }
}

/// Pairs of a parent and a frame: those that are in it are always found, others seldom.
struct Filter {
    words: Vec<u64>,
    shift: u32,
}

impl Filter {
    /// A filter for so many pairs, with 16 to 32 bits for each.
    fn new(pairs: usize) -> Self {
        let words = pairs.div_ceil(4).next_power_of_two().max(2);
        Filter {
            words: vec![0; words],
            shift: 64 - words.ilog2(),
        }
    }

    /// The word that is a pair's, and two bits of it: of a product (Knuth, volume 3, section 6.4).
    fn bits(&self, parent: u32, frame: u32) -> (usize, u64) {
        let pair = u64::from(parent) << 32 | u64::from(frame);
        let product = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = 1 << (product >> 32 & 63) | 1 << (product >> 38 & 63);
        ((product >> self.shift) as usize, bits)
    }

    fn insert(&mut self, parent: u32, frame: u32) {
        let (word, bits) = self.bits(parent, frame);
        self.words[word] |= bits;
    }

    fn may_have(&self, parent: u32, frame: u32) -> bool {
        let (word, bits) = self.bits(parent, frame);
        self.words[word] & bits == bits
    }
}
