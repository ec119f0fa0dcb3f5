//! Steps: how a run goes on from each of its nodes to the next.
//!
//! A step goes up some levels of the path that leads to a node, and down again to a callee. Few
//! functions call many others, so a callee is told by its place among those that its caller has
//! anywhere in the pack. Both take one byte, so that any run can be unpacked without those before.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::nodes::NodeColumns;
use super::runs::Runs;
use std::collections::BTreeMap;

/// Packs the steps of these runs' nodes.
pub(super) fn pack_steps(runs: &Runs, nodes: &NodeColumns) -> Result<Vec<u8>, Flaw> {
    let callees = callees_of(runs, nodes);
    let mut ups = ShortPacker::default();
    let mut ranks = ShortPacker::default();
    let mut path: Vec<Left> = Vec::new();
    for run in 0..runs.len() {
        let range = runs.range(run);
        path.clear();
        for number in range.clone() {
            let node = (number - runs.first()) as usize;
            let (parent, frame) = (nodes.parents[node], nodes.frames[node]);
            if number > range.start {
                let depth = path.len();
                while path.last().is_some_and(|open| open.node != parent) {
                    path.pop();
                }
                ups.number((depth - path.len()) as u64);
                if let Some(caller) = path.last_mut() {
                    let siblings = &callees[&caller.frame];
                    let rank = siblings.partition_point(|&callee| callee < frame);
                    let fan = siblings.len();
                    ranks.number(((rank + fan - caller.next) % fan) as u64);
                    caller.next = rank + 1;
                }
            }
            path.push(Left {
                node: number,
                frame,
                next: 0,
            });
        }
    }

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
    next: usize,
}

/// By caller, the frames that it calls within a run, in the order of their numbers.
fn callees_of(runs: &Runs, nodes: &NodeColumns) -> BTreeMap<u32, Vec<u32>> {
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
    let mut callees: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (caller, callee) in calls {
        callees.entry(caller).or_default().push(callee);
    }
    callees
}

fn pack_callees(callees: &BTreeMap<u32, Vec<u32>>, pack: &mut Packer) {
    let mut callers = Packer::default();
    let mut fans = Packer::default();
    let mut frames = Packer::default();
    let mut next_caller = 0;
    for (&caller, callees) in callees {
        callers.number(caller - next_caller);
        next_caller = caller + 1;
        fans.number(callees.len() as u64 - 1);
        let mut next = None;
        for &callee in callees {
            match next {
                None => frames.difference(callee, caller),
                Some(next) => frames.number(callee - next),
            }
            next = Some(callee + 1);
        }
    }
    pack.number(callees.len() as u64);
    for column in [callers, fans, frames] {
        pack.column(column);
    }
}

/// The steps of a pack.
pub(in crate::store) struct Steps {
    ups: Short,
    /// For each step the place of its callee, counted on from the one before below that caller.
    ranks: Short,
    /// The callees of each caller side by side.
    callees: Vec<Callee>,
    /// By frame, what it calls.
    of_frame: Vec<Callees>,
}

/// A frame, and what it calls itself.
#[derive(Clone, Copy)]
struct Callee {
    frame: u32,
    callees: Callees,
}

/// Where a frame's callees stand, and how many they are.
#[derive(Clone, Copy, Default)]
struct Callees {
    start: u32,
    fan: u32,
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
    let mut of_frame = vec![Callees::default(); frame_count as usize];
    let callees = unpack_callees(&mut pack, &mut of_frame)?;
    let ranks = Short::unpack(&mut pack, count)?;
    pack.finish()?;
    Ok(Steps {
        ups,
        ranks,
        callees,
        of_frame,
    })
}

fn unpack_callees(pack: &mut Unpacker<'_>, of_frame: &mut [Callees]) -> Result<Vec<Callee>, Flaw> {
    const NO_FRAME: Flaw = Flaw("a node's frame does not exist");
    let count = pack.number32()? as usize;
    let columns = [pack.column()?, pack.column()?, pack.column()?];
    let [mut callers, mut fans, mut frames] = columns.each_ref().map(|c| Unpacker::new(c));
    if count > callers.left() {
        return Err(Flaw("there are fewer callers than announced"));
    }
    let mut found: Vec<u32> = Vec::new();
    let mut next_caller = 0;
    for _ in 0..count {
        let caller = gap(&mut callers, next_caller)?;
        let of_caller = of_frame.get_mut(caller as usize).ok_or(NO_FRAME)?;
        next_caller = caller + 1;
        let fan = fans.number()?;
        if fan >= frames.left() as u64 {
            return Err(Flaw("there are fewer callees than announced"));
        }
        *of_caller = Callees {
            start: found.len() as u32,
            fan: fan as u32 + 1,
        };
        let mut callee = frames.difference(caller)?;
        found.push(callee);
        for _ in 0..fan {
            callee = gap(&mut frames, callee.saturating_add(1))?;
            found.push(callee);
        }
        if callee as usize >= of_frame.len() {
            return Err(NO_FRAME);
        }
    }
    [callers, fans, frames]
        .into_iter()
        .try_for_each(Unpacker::finish)?;
    let callees = found.into_iter().map(|frame| Callee {
        frame,
        callees: of_frame[frame as usize],
    });
    Ok(callees.collect())
}

/// The next of ascending numbers: what it is beyond the least that it can be.
fn gap(column: &mut Unpacker<'_>, least: u32) -> Result<u32, Flaw> {
    least
        .checked_add(column.number32()?)
        .filter(|&number| number < u32::MAX)
        .ok_or(Flaw("a number leaves 32 bits"))
}

/// Unpacks runs of a pack, in any order.
pub(in crate::store) struct RunUnpacker<'a> {
    runs: &'a Runs,
    steps: &'a Steps,
    /// The path to the node that was unpacked last.
    path: Vec<Open>,
}

struct Open {
    node: u32,
    callees: Callees,
    /// One more than the rank of the callee that was unpacked last.
    next: u32,
}

impl<'a> RunUnpacker<'a> {
    pub(in crate::store) fn new(runs: &'a Runs, steps: &'a Steps) -> Self {
        RunUnpacker {
            runs,
            steps,
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
        let RunUnpacker { runs, steps, path } = self;
        let head = runs.head(run);
        (parents[0], frames[0]) = (anchor, head);
        path.clear();
        path.push(Open {
            node: base,
            callees: steps.of_frame[head as usize],
            next: 0,
        });
        // Heads are no steps.
        let first = (runs.range(run).start - runs.first()) as usize - run;
        let nodes = parents[1..].iter_mut().zip(&mut frames[1..]);
        for ((node, step), (parent, frame)) in (base + 1..).zip(first..).zip(nodes) {
            let up = steps.ups.get(step) as usize;
            path.truncate(path.len().saturating_sub(up));
            let caller = path
                .last_mut()
                .ok_or(Flaw("a node's path goes up above its run"))?;
            let Callees { start, fan } = caller.callees;
            let onward = u64::from(caller.next) + u64::from(steps.ranks.get(step));
            let rank = onward.checked_sub(fan.into()).unwrap_or(onward);
            if rank >= u64::from(fan) {
                return Err(Flaw("a node's frame is not among its caller's callees"));
            }
            let callee = steps.callees[start as usize + rank as usize];
            caller.next = rank as u32 + 1;
            (*parent, *frame) = (caller.node, callee.frame);
            path.push(Open {
                node,
                callees: callee.callees,
                next: 0,
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
