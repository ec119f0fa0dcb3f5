//! Steps: how a run goes on from each of its nodes to the next.
//!
//! A step goes up some levels of the path that leads to a node, and down again to a callee. Few
//! functions call many others, so a callee is told by its place among those that its caller has
//! anywhere in the pack. Both take one byte, so that any run can be unpacked without those before.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::nodes::NodeColumns;
use super::planes::{Planes, add_difference, difference, pack_planes};
use super::runs::Runs;
use std::collections::BTreeMap;

/// Packs the steps of these runs' nodes.
pub(super) fn pack_steps(runs: &Runs, nodes: &NodeColumns) -> Result<Vec<u8>, Flaw> {
    let mut callees = callees_of(runs, nodes);
    choose_favourites(&mut callees, runs, nodes);
    let mut ups = ShortPacker::default();
    let mut ranks = ShortPacker::default();
    each_step(runs, nodes, |up, open, frame| {
        let of_caller = &callees[&open.frame];
        let rank = of_caller.rank(frame);
        let fan = of_caller.frames.len();
        ups.number(up as u64);
        ranks.number(((rank + fan - open.next.unwrap_or(of_caller.favourite)) % fan) as u64);
        open.next = Some(rank + 1);
    });
    let mut pack = Packer::default();
    pack.number((runs.nodes() - runs.len()) as u64);
    ups.finish(&mut pack);
    pack_callees(&callees, &mut pack);
    ranks.finish(&mut pack);
    pack.finish()
}

/// A node on the path to the one that is packed.
struct Left {
    node: u32,
    frame: u32,
    /// One more than the rank of the callee that was packed last.
    next: Option<usize>,
}

/// Shows each step: how many levels it goes up, the node from which it goes down, and the frame that
/// it comes to.
fn each_step(runs: &Runs, nodes: &NodeColumns, mut see: impl FnMut(usize, &mut Left, u32)) {
    let mut path: Vec<Left> = Vec::new();
    for run in 0..runs.len() {
        path.clear();
        for number in runs.range(run) {
            let node = (number - runs.first()) as usize;
            let (parent, frame) = (nodes.parents[node], nodes.frames[node]);
            let depth = path.len();
            while path.last().is_some_and(|open| open.node != parent) {
                path.pop();
            }
            let up = depth - path.len();
            if let Some(open) = path.last_mut() {
                see(up, open, frame);
            }
            path.push(Left {
                node: number,
                frame,
                next: None,
            });
        }
    }
}

/// What a frame calls within the runs of a pack.
#[derive(Default)]
struct CalleesOf {
    /// In the order of their numbers.
    frames: Vec<u32>,
    /// The rank of the one that is most often the first child of a node.
    favourite: usize,
}

impl CalleesOf {
    fn rank(&self, callee: u32) -> usize {
        self.frames.partition_point(|&frame| frame < callee)
    }
}

fn callees_of(runs: &Runs, nodes: &NodeColumns) -> BTreeMap<u32, CalleesOf> {
    let first = runs.first();
    let mut calls: Vec<(u32, u32)> = Vec::with_capacity(nodes.len() - runs.len());
    for run in 0..runs.len() {
        let below_head = runs.range(run).skip(1);
        calls.extend(below_head.map(|number| {
            let node = (number - first) as usize;
            let caller = (nodes.parents[node] - first) as usize;
            (nodes.frames[caller], nodes.frames[node])
        }));
    }
    calls.sort_unstable();
    calls.dedup();
    let mut callees: BTreeMap<u32, CalleesOf> = BTreeMap::new();
    for (caller, callee) in calls {
        callees.entry(caller).or_default().frames.push(callee);
    }
    callees
}

fn choose_favourites(callees: &mut BTreeMap<u32, CalleesOf>, runs: &Runs, nodes: &NodeColumns) {
    let mut firsts: Vec<(u32, u32)> = Vec::with_capacity(nodes.len() - runs.len());
    each_step(runs, nodes, |_, open, frame| {
        if open.next.replace(0).is_none() {
            firsts.push((open.frame, frame));
        }
    });
    firsts.sort_unstable();
    let mut most = (None, 0);
    for same in firsts.chunk_by(|a, b| a == b) {
        let (caller, callee) = same[0];
        if most.0 != Some(caller) {
            most = (Some(caller), 0);
        }
        // Of some that are as many, the first.
        if let Some(of_caller) = callees.get_mut(&caller)
            && same.len() > most.1
        {
            most.1 = same.len();
            of_caller.favourite = of_caller.rank(callee);
        }
    }
}

fn pack_callees(callees: &BTreeMap<u32, CalleesOf>, pack: &mut Packer) {
    let mut callers = Vec::with_capacity(callees.len());
    let mut fans = Vec::with_capacity(callees.len());
    let mut favourites = Vec::with_capacity(callees.len());
    let mut firsts = Vec::with_capacity(callees.len());
    let mut others = Vec::new();
    let mut next_caller = 0;
    for (&caller, callees) in callees {
        callers.push(caller - next_caller);
        next_caller = caller + 1;
        fans.push(callees.frames.len() as u32 - 1);
        favourites.push(callees.favourite as u32);
        firsts.push(difference(callees.frames[0], caller));
        let pairs = callees.frames.windows(2);
        others.extend(pairs.map(|pair| pair[1] - pair[0] - 1));
    }
    pack.number(callees.len() as u64);
    for numbers in [callers, fans, favourites, firsts] {
        pack_planes(&numbers, pack);
    }
    pack.number(others.len() as u64);
    pack_planes(&others, pack);
}

/// The steps of a pack.
pub(in crate::store) struct Steps {
    ups: Short,
    /// For each step the place of its callee, counted on from the one before below that caller.
    ranks: Short,
    callers: Callers,
}

/// Unpacks the steps of nodes with these runs and frames below `frame_count`.
pub(in crate::store) fn unpack_steps(
    pack: &[u8],
    runs: &Runs,
    frame_count: u32,
) -> Result<Steps, Flaw> {
    let mut pack = Unpacker::new(pack);
    let count = pack.number32()? as usize;
    if runs.nodes() - runs.len() != count {
        return Err(Flaw("it has not as many nodes as its runs have"));
    }
    let ups = Short::unpack(&mut pack, count)?;
    let callers = Callers::unpack(&mut pack, frame_count)?;
    let ranks = Short::unpack(&mut pack, count)?;
    pack.finish()?;
    Ok(Steps {
        ups,
        ranks,
        callers,
    })
}

const NO_FRAME: Flaw = Flaw("a node's frame does not exist");

/// The frames that call others, and where these stand: callers have *places* in the order of their
/// frames. A profile needs those of few of them, so callees are unpacked when they are asked for.
struct Callers {
    frame_count: u32,
    /// By 64 frames: which of them are callers, and the place of the first.
    words: Vec<(u64, u32)>,
    /// By place, the frame.
    frames: Vec<u32>,
    /// By place, how many callees stand before its own; behind them, how many there are.
    starts: Vec<u32>,
    /// By place, the rank of the callee that is expected first.
    favourites: Planes,
    /// By place, the first callee.
    firsts: Planes,
    /// The other callees of all, side by side.
    others: Planes,
}

/// In place of a caller's place: the frame calls nothing.
const NO_CALLER: u32 = u32::MAX;

impl Callers {
    fn unpack(pack: &mut Unpacker<'_>, frame_count: u32) -> Result<Self, Flaw> {
        let count = pack.number32()? as usize;
        let mut frames = Planes::unpack(pack, count)?.numbers();
        let fans = Planes::unpack(pack, count)?.numbers();
        let favourites = Planes::unpack(pack, count)?;
        let firsts = Planes::unpack(pack, count)?;
        let other_count = pack.number32()?;
        let others = Planes::unpack(pack, other_count as usize)?;
        let mut words = vec![(0u64, 0); frame_count.div_ceil(64) as usize];
        let mut next_frame = 0u32;
        for (place, frame) in (0..).zip(&mut frames) {
            *frame = next_frame
                .checked_add(*frame)
                .filter(|&frame| frame < frame_count)
                .ok_or(NO_FRAME)?;
            next_frame = *frame + 1;
            let (word, before) = &mut words[*frame as usize / 64];
            if *word == 0 {
                *before = place;
            }
            *word |= 1 << (*frame % 64);
        }
        let mut starts = Vec::with_capacity(count + 1);
        let mut start = 0u32;
        for fan in fans {
            starts.push(start);
            start = (fan.checked_add(1))
                .and_then(|fan| start.checked_add(fan))
                .ok_or(NOT_ALL)?;
        }
        starts.push(start);
        if u64::from(start) != count as u64 + u64::from(other_count) {
            return Err(NOT_ALL);
        }
        Ok(Callers {
            frame_count,
            words,
            frames,
            starts,
            favourites,
            firsts,
            others,
        })
    }

    /// How many callees a caller has.
    #[inline]
    fn fan(&self, caller: usize) -> u32 {
        self.starts[caller + 1] - self.starts[caller]
    }

    /// The place of a caller, or [`NO_CALLER`].
    #[inline]
    fn place(&self, frame: u32) -> u32 {
        let (word, before) = self.words[frame as usize / 64];
        let bit = 1 << (frame % 64);
        match word & bit {
            0 => NO_CALLER,
            _ => before + (word & (bit - 1)).count_ones(),
        }
    }
}

const NOT_ALL: Flaw = Flaw("its callers have not as many callees as it has");

/// The callees that were asked for.
struct Callees {
    /// By place of a caller, where its callees stand in `unpacked`, plus 1.
    starts: Vec<u32>,
    unpacked: Vec<Callee>,
}

#[derive(Clone, Copy)]
struct Callee {
    frame: u32,
    /// Its place as a caller, or [`NO_CALLER`].
    caller: u32,
}

impl Callees {
    /// Where the callees of a caller stand.
    fn of(&mut self, caller: u32, steps: &Steps) -> Result<u32, Flaw> {
        match self.starts[caller as usize] {
            0 => self.unpack(caller as usize, steps),
            start => Ok(start - 1),
        }
    }

    #[cold]
    fn unpack(&mut self, caller: usize, steps: &Steps) -> Result<u32, Flaw> {
        let callers = &steps.callers;
        let start = self.unpacked.len() as u32;
        let mut frame = add_difference(callers.frames[caller], callers.firsts.get(caller));
        // As many first callees stand before.
        let others = callers.starts[caller] as usize - caller;
        for rank in 0..callers.fan(caller) as usize {
            if rank > 0 {
                let between = callers.others.get(others + rank - 1);
                frame = (frame.checked_add(1))
                    .and_then(|next| next.checked_add(between))
                    .ok_or(NO_FRAME)?;
            }
            if frame >= callers.frame_count {
                return Err(NO_FRAME);
            }
            self.unpacked.push(Callee {
                frame,
                caller: callers.place(frame),
            });
        }
        self.starts[caller] = start + 1;
        Ok(start)
    }
}

/// Unpacks runs of a pack, in any order.
pub(in crate::store) struct RunUnpacker<'a> {
    runs: &'a Runs,
    steps: &'a Steps,
    callees: Callees,
    /// The path to the node that was unpacked last.
    path: Vec<Open>,
}

struct Open {
    node: u32,
    /// Its place as a caller, or [`NO_CALLER`].
    caller: u32,
    /// One more than the rank of the callee that was unpacked last, or [`NO_CALLEE_YET`].
    next: u32,
}

/// In place of a rank: no callee was unpacked.
const NO_CALLEE_YET: u32 = u32::MAX;

impl<'a> RunUnpacker<'a> {
    pub(in crate::store) fn new(runs: &'a Runs, steps: &'a Steps) -> Self {
        RunUnpacker {
            runs,
            steps,
            callees: Callees {
                starts: vec![0; steps.callers.frames.len()],
                unpacked: Vec::new(),
            },
            path: Vec::new(),
        }
    }

    /// Unpacks a run into columns of its length, as if its first node had the number `base` and
    /// stood below `anchor`.
    pub(in crate::store) fn unpack(
        &mut self,
        run: usize,
        (base, anchor): (u32, u32),
        parents: &mut [u32],
        frames: &mut [u32],
    ) -> Result<(), Flaw> {
        const NO_CALLEE: Flaw = Flaw("a node's frame is not among its caller's callees");
        let RunUnpacker {
            runs,
            steps,
            callees,
            path,
        } = self;
        let head = runs.head(run);
        (parents[0], frames[0]) = (anchor, head);
        path.clear();
        path.push(Open {
            node: base,
            caller: steps.callers.place(head),
            next: NO_CALLEE_YET,
        });
        // Heads are no steps.
        let first = (runs.range(run).start - runs.first()) as usize - run;
        let nodes = parents[1..].iter_mut().zip(&mut frames[1..]);
        for ((node, step), (parent, frame)) in (base + 1..).zip(first..).zip(nodes) {
            let up = steps.ups.get(step) as usize;
            path.truncate(path.len().saturating_sub(up));
            let open = path
                .last_mut()
                .ok_or(Flaw("a node's path goes up above its run"))?;
            if open.caller == NO_CALLER {
                return Err(NO_CALLEE);
            }
            let caller = open.caller as usize;
            let fan = steps.callers.fan(caller);
            let start = callees.of(open.caller, steps)?;
            let expected = match open.next {
                NO_CALLEE_YET => steps.callers.favourites.get(caller),
                next => next,
            };
            let onward = u64::from(expected) + u64::from(steps.ranks.get(step));
            let rank = onward.checked_sub(fan.into()).unwrap_or(onward);
            if rank >= u64::from(fan) {
                return Err(NO_CALLEE);
            }
            let callee = callees.unpacked[start as usize + rank as usize];
            open.next = rank as u32 + 1;
            (*parent, *frame) = (open.node, callee.frame);
            path.push(Open {
                node,
                caller: callee.caller,
                next: NO_CALLEE_YET,
            });
        }
        Ok(())
    }
}

/// From here on, numbers do not stand in their byte.
const LARGE: u8 = u8::MAX;

/// Numbers of which most take a byte.
#[derive(Default)]
struct ShortPacker {
    bytes: Packer,
    large: Packer,
}

impl ShortPacker {
    fn number(&mut self, value: u64) {
        match value.checked_sub(u64::from(LARGE)) {
            None => self.bytes.raw(&[value as u8]),
            Some(more) => {
                self.bytes.raw(&[LARGE]);
                self.large.number(more);
            }
        }
    }

    fn finish(self, pack: &mut Packer) {
        pack.column(self.bytes);
        pack.column(self.large);
    }
}

/// Numbers of which most take a byte, any of which can be had at once.
struct Short {
    bytes: Vec<u8>,
    /// The others, with their places.
    large: Vec<(usize, u32)>,
}

impl Short {
    fn unpack(pack: &mut Unpacker<'_>, count: usize) -> Result<Self, Flaw> {
        let bytes = pack.column()?;
        let large = pack.column()?;
        if bytes.len() != count {
            return Err(Flaw("there are fewer nodes than announced"));
        }
        let mut column = Unpacker::new(&large);
        let mut large = Vec::new();
        for place in memchr::memchr_iter(LARGE, &bytes) {
            let value = column.number32()?.checked_add(LARGE.into());
            let value = value.ok_or(Flaw("a number takes more than 32 bits"))?;
            large.push((place, value));
        }
        column.finish()?;
        Ok(Short { bytes, large })
    }

    #[inline]
    fn get(&self, place: usize) -> u32 {
        match self.bytes[place] {
            LARGE => self.large(place),
            byte => byte.into(),
        }
    }

    #[cold]
    fn large(&self, place: usize) -> u32 {
        let at = self.large.partition_point(|&(other, _)| other < place);
        self.large[at].1
    }
}
