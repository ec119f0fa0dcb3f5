//! Steps: how a run goes on from each of its nodes to the next.
//!
//! A step goes up some levels of the path that leads to a node, and down again to a callee. Few
//! functions call many others, so a callee is told by its place among those that its caller has
//! anywhere in the pack. Both take one byte, so that any run can be unpacked without those before.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::callees::{AllCallees, Callees, Callers, NO_CALLER};
use super::nodes::NodeColumns;
use super::runs::Runs;
use super::short::{Short, ShortPacker};

/// Packs the steps of these runs' nodes.
pub(super) fn pack_steps(runs: &Runs, nodes: &NodeColumns) -> Result<Vec<u8>, Flaw> {
    let callees = callees_of(runs, nodes);
    let mut ups = ShortPacker::default();
    let mut ranks = ShortPacker::default();
    each_step(runs, nodes, |up, open, frame| {
        let of_caller = callees.of(open.frame);
        let rank = of_caller.rank(frame);
        let fan = of_caller.fan();
        ups.number(up as u64);
        ranks.number(((rank + fan - open.next.unwrap_or(of_caller.favourite)) % fan) as u64);
        open.next = Some(rank + 1);
    });
    let mut pack = Packer::default();
    pack.number((runs.nodes() - runs.len()) as u64);
    ups.finish(&mut pack);
    callees.pack(&mut pack);
    ranks.finish(&mut pack);
    pack.finish()
}

fn callees_of(runs: &Runs, nodes: &NodeColumns) -> AllCallees {
    let mut calls: Vec<(u32, u32)> = Vec::with_capacity(nodes.len() - runs.len());
    let mut firsts: Vec<(u32, u32)> = Vec::new();
    each_step(runs, nodes, |_, open, frame| {
        calls.push((open.frame, frame));
        if open.next.replace(0).is_none() {
            firsts.push((open.frame, frame));
        }
    });
    AllCallees::new(calls, firsts)
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
            callees: Callees::new(&steps.callers),
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
            let start = callees.of(open.caller, &steps.callers)?;
            let expected = match open.next {
                NO_CALLEE_YET => steps.callers.favourite(caller),
                next => next,
            };
            let onward = u64::from(expected) + u64::from(steps.ranks.get(step));
            let rank = onward.checked_sub(fan.into()).unwrap_or(onward);
            if rank >= u64::from(fan) {
                return Err(NO_CALLEE);
            }
            let callee = callees.get(start as usize + rank as usize);
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
