//! Runs: the pieces that an executable's nodes stand in.
//!
//! A run is a subtree in preorder below a node that stands before it, its anchor, or below none.
//! With its head, the first frame, that is all it takes to see whether a profile has anything of a
//! run. So runs stand in packs of their own, and the nodes of most need not be unpacked.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::nodes::NO_PARENT;
use super::planes::{Planes, add_difference, difference, pack_planes};
use std::ops::Range;

/// The runs of one pack of nodes, in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Runs {
    /// The number of each one's first node; behind them that of the next pack's.
    bounds: Vec<u32>,
    /// What each one stands below, or [`NO_PARENT`].
    anchors: Vec<u32>,
    /// The frame of each one's first node.
    heads: Vec<u32>,
}

impl Runs {
    /// No runs yet, of nodes from this number on.
    pub(super) fn from(first: u32) -> Self {
        Runs {
            bounds: vec![first],
            ..Runs::default()
        }
    }

    /// Appends a run of one node.
    pub(super) fn push(&mut self, anchor: u32, head: u32) {
        self.bounds.push(self.end() + 1);
        self.anchors.push(anchor);
        self.heads.push(head);
    }

    /// Appends a node to the last run.
    pub(super) fn lengthen(&mut self) {
        if let Some(end) = self.bounds.last_mut() {
            *end += 1;
        }
    }

    /// How many they are.
    pub(in crate::store) fn len(&self) -> usize {
        self.heads.len()
    }

    /// The number of the first node of all.
    pub(in crate::store) fn first(&self) -> u32 {
        self.bounds[0]
    }

    /// One more than the number of the last node of all.
    pub(in crate::store) fn end(&self) -> u32 {
        self.bounds[self.len()]
    }

    /// How many nodes they have together.
    pub(in crate::store) fn nodes(&self) -> usize {
        (self.end() - self.first()) as usize
    }

    /// The numbers of a run's nodes.
    pub(in crate::store) fn range(&self, run: usize) -> Range<u32> {
        self.bounds[run]..self.bounds[run + 1]
    }

    /// The run that has a node.
    pub(in crate::store) fn run_of(&self, node: u32) -> usize {
        self.bounds.partition_point(|&first| first <= node) - 1
    }

    /// What a run stands below, or [`NO_PARENT`].
    pub(in crate::store) fn anchor(&self, run: usize) -> u32 {
        self.anchors[run]
    }

    /// The frame of a run's first node.
    pub(in crate::store) fn head(&self, run: usize) -> u32 {
        self.heads[run]
    }

    /// The anchor and head of each.
    pub(in crate::store) fn tops(&self) -> impl Iterator<Item = (u32, u32)> {
        self.anchors.iter().copied().zip(self.heads.iter().copied())
    }
}

/// Packs runs, each below a node with a lower number than its own.
pub(super) fn pack_runs(runs: &Runs) -> Result<Vec<u8>, Flaw> {
    let lengths: Vec<u32> = (0..runs.len())
        .map(|run| runs.range(run).len() as u32 - 1)
        .collect();
    let mut anchors = Vec::with_capacity(runs.len());
    let mut heads = Vec::with_capacity(runs.len());
    let (mut last_anchor, mut last_head) = (0, 0);
    for (anchor, head) in runs.tops() {
        let anchor = anchor.wrapping_add(1);
        anchors.push(difference(anchor, last_anchor));
        heads.push(difference(head, last_head));
        (last_anchor, last_head) = (anchor, head);
    }
    let mut pack = Packer::default();
    pack.number(runs.nodes() as u64);
    pack.number(runs.len() as u64);
    for numbers in [lengths, anchors, heads] {
        pack_planes(&numbers, &mut pack);
    }
    pack.finish()
}

/// How many runs a pack claims to have.
pub(in crate::store) fn claimed_runs(pack: &[u8]) -> Result<u32, Flaw> {
    let mut pack = Unpacker::new(pack);
    pack.number32()?;
    pack.number32()
}

/// Unpacks the runs of nodes that have the numbers from `first` on and frames below `frame_count`.
pub(in crate::store) fn unpack_runs(
    pack: &[u8],
    first: u32,
    frame_count: u32,
) -> Result<Runs, Flaw> {
    let mut pack = Unpacker::new(pack);
    let nodes = pack.number32()?;
    let count = pack.number32()? as usize;
    let [lengths, mut anchors, mut heads] = [
        Planes::unpack(&mut pack, count)?.numbers(),
        Planes::unpack(&mut pack, count)?.numbers(),
        Planes::unpack(&mut pack, count)?.numbers(),
    ];
    pack.finish()?;
    let end = first
        .checked_add(nodes)
        .filter(|&end| end < NO_PARENT)
        .ok_or(Flaw("there are more than 2^32 - 2 nodes"))?;
    let mut bounds = Vec::with_capacity(count + 1);
    let mut next = first;
    let (mut last_anchor, mut last_head) = (0, 0);
    for ((anchor, head), length) in anchors.iter_mut().zip(&mut heads).zip(lengths) {
        bounds.push(next);
        last_anchor = add_difference(last_anchor, *anchor);
        if last_anchor > next {
            return Err(Flaw("a node's parent does not stand before it"));
        }
        *anchor = last_anchor.wrapping_sub(1);
        last_head = add_difference(last_head, *head);
        if last_head >= frame_count {
            return Err(Flaw("a node's frame does not exist"));
        }
        *head = last_head;
        next = (length.checked_add(1))
            .and_then(|length| next.checked_add(length))
            .filter(|&next| next <= end)
            .ok_or(NOT_ALL)?;
    }
    if next != end {
        return Err(NOT_ALL);
    }
    bounds.push(end);
    Ok(Runs {
        bounds,
        anchors,
        heads,
    })
}

const NOT_ALL: Flaw = Flaw("its runs do not add up to its nodes");
