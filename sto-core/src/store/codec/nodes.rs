//! Nodes: a parent and a frame each, in well under one byte.
//!
//! A pack holds nodes in runs: subtrees, each in preorder below any node before it, or below none.
//! Few functions call many others, so a pack first says which frames stand below which: the calls.
//! Then a node's children are some of the callees of its frame, in ascending order, and mostly go on
//! as they did the last time. A node whose frame calls nothing takes nothing.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::calls::{Difference, decode_calls, decode_frames, encode_calls, encode_frames, length};
use super::coder::{Decoder, Encoder, Flag, Number, can_hold};
use crate::intern::StackTree;
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
            .map(|node| tree.parent(node).map_or(NO_PARENT, |parent| parent.0));
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
}

/// Most nodes of one pack: what hostile bytes can make a reader reserve.
const MOST_NODES: u32 = 1 << 27;

/// Packs the nodes with the numbers from `first` on, each below a node with a lower number. Nodes
/// in preorder, siblings in the order of their frames, pack best.
pub(in crate::store) fn pack_nodes(first: u32, nodes: &NodeColumns) -> Result<Vec<u8>, Flaw> {
    let mut frames = nodes.frames.clone();
    frames.sort_unstable();
    frames.dedup();
    // By frame, its place among those of the pack.
    let mut places = vec![0; frames.last().map_or(0, |&last| last as usize + 1)];
    for (place, &frame) in (0..).zip(&frames) {
        places[frame as usize] = place;
    }
    let place = |i: usize| places[nodes.frames[i] as usize];
    let parent_in_pack = |i: usize| match nodes.parents[i] {
        NO_PARENT => None,
        parent => parent.checked_sub(first).map(|parent| parent as usize),
    };
    let mut calls: Vec<(u32, u32)> = (0..nodes.len())
        .filter_map(|i| parent_in_pack(i).map(|parent| (place(i), place(parent))))
        .collect();
    calls.sort_unstable();
    calls.dedup();

    let mut coder = Encoder::default();
    encode_frames(&mut coder, &frames);
    encode_calls(&mut coder, &calls, frames.len());
    let mut callees = Callees::new(calls, frames.len());
    let mut models = ChildModels::default();
    let mut heads = HeadModels::default();
    let mut open: Vec<(u32, Position)> = Vec::new();
    for (i, &parent) in nodes.parents.iter().enumerate() {
        let frame = place(i);
        let mut found = false;
        while let Some((node, position)) = open.pop() {
            let step = Some(position)
                .filter(|_| node == parent)
                .and_then(|position| callees.find(position, frame));
            models.encode(&mut coder, &mut callees, position, step);
            if let Some(step) = step {
                open.extend(position.after(step).map(|position| (node, position)));
                found = true;
                break;
            }
        }
        if !found {
            let caller = parent_in_pack(i).and_then(|parent| callees.of(place(parent)));
            let rank = caller.and_then(|position| callees.find(position, frame));
            heads.encode(&mut coder, parent, frame, caller.zip(rank));
        }
        let children = callees.of(frame);
        open.extend(children.map(|position| (first + i as u32, position)));
    }

    if nodes.len() > MOST_NODES as usize {
        return Err(Flaw("it adds more than 2^27 stacks"));
    }
    let mut pack = Packer::default();
    pack.number(nodes.len() as u64);
    pack.number(frames.len() as u64);
    pack.raw(&coder.finish());
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
    let distinct = pack.number32()?;
    if count > MOST_NODES || distinct > count || !can_hold(pack.left(), count) {
        return Err(Flaw("it announces more nodes than it can hold"));
    }
    let end = first
        .checked_add(count)
        .filter(|&end| end < NO_PARENT)
        .ok_or(Flaw("there are more than 2^32 - 2 nodes"))?;
    let mut coder = Decoder::new(pack.rest())?;
    let frames = decode_frames(&mut coder, distinct, frame_count)?;
    let calls = decode_calls(&mut coder, distinct, count)?;
    let mut callees = Callees::new(calls, frames.len());
    let mut models = ChildModels::default();
    let mut heads = HeadModels::default();
    let mut nodes = NodeColumns::default();
    nodes.parents.reserve_exact(count as usize);
    nodes.frames.reserve_exact(count as usize);
    let mut open: Vec<(u32, Position)> = Vec::new();
    // By node, the place of its frame.
    let mut places: Vec<u32> = Vec::with_capacity(count as usize);
    for number in first..end {
        let child = loop {
            let Some((node, position)) = open.pop() else {
                break None;
            };
            if let Some(step) = models.decode(&mut coder, &mut callees, position)? {
                let callee = callees.get(position, step)?;
                if let Some(position) = position.after(step) {
                    open.push((node, position));
                }
                break Some((node, callee.frame, callee.children()));
            }
        };
        let (parent, frame, children) = match child {
            Some(child) => child,
            None => {
                let parent = heads.decode_parent(&mut coder, number)?;
                let caller = parent.checked_sub(first);
                let frame = match caller.and_then(|caller| places.get(caller as usize)) {
                    Some(&caller) => {
                        heads.decode_callee(&mut coder, &callees, callees.of(caller))?
                    }
                    None => heads.decode_frame(&mut coder, distinct)?,
                };
                (parent, frame, callees.of(frame))
            }
        };
        nodes.parents.push(parent);
        nodes.frames.push(frames[frame as usize]);
        places.push(frame);
        open.extend(children.map(|position| (number, position)));
    }
    coder.finish()?;
    Ok(nodes)
}

/// The callees of each frame, in ascending order; frames by their place in the pack.
struct Callees {
    /// For each frame where its callees begin; after them, where the last ones end.
    starts: Vec<u32>,
    callees: Vec<Callee>,
}

/// A callee, in 16 bytes: unpacking waits for memory, and for nothing else twice.
#[derive(Clone, Copy, Default)]
struct Callee {
    frame: u32,
    /// Where the callees of its own frame begin and end.
    begin: u32,
    end: u32,
    /// See [`Callee::last`] and [`Callee::repeats`].
    state: u32,
}

impl Callee {
    /// Where the children of a node with its frame begin, if it calls any.
    fn children(self) -> Option<Position> {
        (self.begin < self.end).then_some(Position {
            begin: self.begin,
            next: self.begin,
            end: self.end,
        })
    }

    /// What came last where a node's children could go on with this one: 0 for nothing yet, 1 for
    /// the end, else 2 and how many callees were passed over.
    fn last(self) -> u32 {
        self.state >> 3
    }

    /// For the last three times, whether it was what came the time before; the latest lowest.
    fn repeats(self) -> usize {
        (self.state & 7) as usize
    }

    /// Remembers what came, and unless it was the first time, whether it was the same again.
    fn remember(&mut self, last: u32, is_repeated: bool) {
        let repeats = match self.last() {
            0 => 0,
            _ => (self.state << 1 | u32::from(is_repeated)) & 7,
        };
        self.state = last << 3 | repeats;
    }
}

/// Where among the callees of its frame a node's children can go on.
#[derive(Clone, Copy)]
struct Position {
    begin: u32,
    next: u32,
    end: u32,
}

impl Position {
    /// Behind the callee after so many that are passed over, if any are left there.
    fn after(self, step: u32) -> Option<Position> {
        let next = self.next + step + 1;
        (next < self.end).then_some(Position { next, ..self })
    }

    fn left(self) -> u32 {
        self.end - self.next
    }
}

impl Callees {
    /// Sorts calls, which are in the order of their callees, by caller.
    fn new(calls: Vec<(u32, u32)>, frames: usize) -> Self {
        let mut starts = vec![0; frames + 2];
        for &(_, caller) in &calls {
            starts[caller as usize + 2] += 1;
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut callees = vec![Callee::default(); calls.len()];
        for (frame, caller) in calls {
            let place = &mut starts[caller as usize + 1];
            callees[*place as usize].frame = frame;
            *place += 1;
        }
        for callee in &mut callees {
            callee.begin = starts[callee.frame as usize];
            callee.end = starts[callee.frame as usize + 1];
        }
        Callees { starts, callees }
    }

    /// Where the children of a node with this frame begin, if it calls any.
    fn of(&self, frame: u32) -> Option<Position> {
        let begin = self.starts[frame as usize];
        let end = self.starts[frame as usize + 1];
        (begin < end).then_some(Position {
            begin,
            next: begin,
            end,
        })
    }

    /// How many callees are to be passed over up to one, if it is still to come.
    fn find(&self, position: Position, frame: u32) -> Option<u32> {
        let callees = &self.callees[position.next as usize..position.end as usize];
        let step = callees.binary_search_by_key(&frame, |callee| callee.frame);
        step.ok().map(|step| step as u32)
    }

    /// The callee after so many that are passed over.
    fn get(&self, position: Position, step: u32) -> Result<Callee, Flaw> {
        let callees = &self.callees[position.next as usize..position.end as usize];
        callees.get(step as usize).copied().ok_or(NO_CALLEE)
    }
}

/// Models of a node's next child.
#[derive(Default)]
struct ChildModels {
    repeats: [[[Flag; 3]; 2]; 8],
    others: [[[Number; 3]; 2]; 8],
}

impl ChildModels {
    fn repeat(&mut self, position: Position, callee: Callee) -> &mut Flag {
        let left = position.left().min(3) as usize - 1;
        &mut self.repeats[callee.repeats()][usize::from(callee.last() == 1)][left]
    }

    fn other(&mut self, position: Position, callee: Callee) -> &mut Number {
        let is_first = usize::from(position.next == position.begin);
        &mut self.others[length(position.left(), 8)][is_first][callee.last().min(2) as usize]
    }

    fn encode(
        &mut self,
        coder: &mut Encoder,
        callees: &mut Callees,
        position: Position,
        step: Option<u32>,
    ) {
        let callee = &mut callees.callees[position.next as usize];
        let choice = step.map_or(0, |step| step + 1);
        let before = *callee;
        let is_repeated = before.last() == choice + 1;
        if before.last() > 0 {
            coder.flag(self.repeat(position, before), is_repeated);
        }
        if !is_repeated {
            coder.number(self.other(position, before), u64::from(choice));
        }
        callee.remember(choice + 1, is_repeated);
    }

    #[inline]
    fn decode(
        &mut self,
        coder: &mut Decoder<'_>,
        callees: &mut Callees,
        position: Position,
    ) -> Result<Option<u32>, Flaw> {
        let callee = &mut callees.callees[position.next as usize];
        let before = *callee;
        let is_repeated = before.last() > 0 && coder.flag(self.repeat(position, before));
        let last = if is_repeated {
            before.last()
        } else {
            let choice = coder.number(self.other(position, before));
            if choice > u64::from(position.left()) {
                return Err(NO_CALLEE);
            }
            choice as u32 + 1
        };
        callee.remember(last, is_repeated);
        Ok((last - 1).checked_sub(1))
    }
}

/// Models of a run's first node.
#[derive(Default)]
struct HeadModels {
    anchors: [Difference; 2],
    ranks: [Number; 8],
    frames: [Difference; 2],
    last_anchor: u32,
    last_frame: u32,
    is_same: bool,
}

impl HeadModels {
    /// `callee` is the list of the parent's callees and the place of the frame in it, if the parent
    /// is in the pack.
    fn encode(
        &mut self,
        coder: &mut Encoder,
        parent: u32,
        frame: u32,
        callee: Option<(Position, u32)>,
    ) {
        let anchor = parent.wrapping_add(1);
        self.anchors[usize::from(self.is_same)].encode(coder, anchor, self.last_anchor);
        self.is_same = anchor == self.last_anchor;
        self.last_anchor = anchor;
        if let Some((callees, rank)) = callee {
            coder.number(&mut self.ranks[length(callees.left(), 8)], u64::from(rank));
        } else {
            self.frames[usize::from(self.is_same)].encode(coder, frame, self.last_frame);
            self.last_frame = frame;
        }
    }

    fn decode_parent(&mut self, coder: &mut Decoder<'_>, number: u32) -> Result<u32, Flaw> {
        let anchor = self.anchors[usize::from(self.is_same)].decode(coder, self.last_anchor)?;
        if anchor > number {
            return Err(Flaw("a node's parent does not stand before it"));
        }
        self.is_same = anchor == self.last_anchor;
        self.last_anchor = anchor;
        Ok(anchor.wrapping_sub(1))
    }

    /// The frame below a parent in the pack, with such callees.
    fn decode_callee(
        &mut self,
        coder: &mut Decoder<'_>,
        callees: &Callees,
        position: Option<Position>,
    ) -> Result<u32, Flaw> {
        let position = position.ok_or(NO_CALLEE)?;
        let rank = coder.number(&mut self.ranks[length(position.left(), 8)]);
        let callee = callees.get(position, u32::try_from(rank).map_err(|_| NO_CALLEE)?);
        callee.map(|callee| callee.frame)
    }

    /// The frame of a root, or below a parent of an earlier pack.
    fn decode_frame(&mut self, coder: &mut Decoder<'_>, frames: u32) -> Result<u32, Flaw> {
        self.last_frame = self.frames[usize::from(self.is_same)].decode(coder, self.last_frame)?;
        Some(self.last_frame)
            .filter(|&frame| frame < frames)
            .ok_or(Flaw("a node's frame does not exist"))
    }
}

const NO_CALLEE: Flaw = Flaw("a callee does not exist");
