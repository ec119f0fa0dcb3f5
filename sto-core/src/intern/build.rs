//! Building the tree of one profile out of its samples.

use super::line_costs::{LineSum, line_costs};
use super::slice_costs::{grid, slice_costs};
use super::{LineCost, NodeIx, SelfCosts, SliceCount, Slices, StackTree};
use crate::limits::{MAX_DEPTH, most_frames};
use crate::model::{FrameIx, FrameTable};
use crate::recording::{Recording, Sample, StackIx, Stacks};
use crate::symbolize::Symbols;
use crate::units::Cost;
use hashbrown::HashTable;
use rayon::prelude::*;
use std::hash::BuildHasher;

/// One profile as one tree: what the store takes.
#[derive(Clone, Debug, Default)]
pub struct Interned {
    /// The frames of this profile, in the order of [`FrameTable::ranks`].
    pub frames: FrameTable,
    /// The stacks; children stand in the order of their frames.
    pub tree: StackTree,
    /// Self costs by sample type.
    pub costs: Vec<SelfCosts>,
    /// Line costs by sample type, in the order of frame and line; lines that are unknown (0) are
    /// left out.
    pub lines: Vec<Vec<LineCost>>,
    /// Costs by context and slice of time, where they are kept.
    pub slices: Option<Slices>,
}

/// Why samples cannot be interned.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InternError {
    /// A sum of counts leaves 64 bits.
    #[error(
        "the counts of all stacks add up to more than 2^64 - 1; the recording's periods cannot be right"
    )]
    Overflow,
    /// A sample has no frame at all.
    #[error("a sample has no frame, not even an unknown one; its reader must put one")]
    EmptyStack,
    /// A stack is deeper than [`MAX_DEPTH`].
    #[error(
        "a stack has {0} frames, inlined ones among them; stacks of up to {MAX_DEPTH} are stored. Record with a smaller limit of the stack's depth"
    )]
    TooDeep(usize),
    /// The stacks have more frames than [`most_frames`] says, where they have them in common counted once.
    #[error(
        "its stacks have more than {limit} frames, inlined ones among them and common ones counted once; a file of its size may have so many. Record for a shorter time, or with a smaller limit of the stack's depth"
    )]
    TooLarge {
        /// How many there may be.
        limit: u64,
    },
    /// Time is to be cut into slices, but samples have no time stamp.
    #[error(
        "{} time stamp, so that time cannot be cut into slices",
        if *all { "no sample has a" } else { "some samples have no" }
    )]
    NoTime {
        /// Whether no sample has one.
        all: bool,
    },
}

/// Builds the tree of those samples of a recording that `keep` says are part of the profile.
///
/// The result depends on the kept samples alone: not on their order, nor on the number of cores.
/// Samples without any cost are left out.
///
/// # Errors
/// Where the counts of a sample type, or the samples of all of them, add up to more than 64 bits, a
/// sample has no frame or too many, or the tree leaves 32 bits.
pub fn intern(
    recording: &Recording,
    symbols: &Symbols,
    keep: impl Fn(&Sample) -> bool,
) -> Result<Interned, InternError> {
    Ok(build(recording, symbols, keep)?.0)
}

/// As [`intern`], and keeps costs by context and slice of time too.
///
/// The time that is cut is that of the whole recording, whatever samples are kept.
///
/// # Errors
/// As [`intern`], and where a sample of the recording has no time stamp, unless there is one slice.
pub fn intern_with_slices(
    recording: &Recording,
    symbols: &Symbols,
    count: SliceCount,
    keep: impl Fn(&Sample) -> bool + Copy,
) -> Result<Interned, InternError> {
    let grid = grid(recording, count)?;
    let (interned, nodes) = build(recording, symbols, keep)?;
    Ok(Interned {
        slices: Some(slice_costs(recording, &nodes, grid, keep)),
        ..interned
    })
}

fn build(
    recording: &Recording,
    symbols: &Symbols,
    keep: impl Fn(&Sample) -> bool,
) -> Result<(Interned, StackNodes), InternError> {
    let costs = costs_by_stack(recording, keep)?;
    let (tree, lines) = rayon::join(
        || {
            let stacks = FrameStacks::of(recording, symbols, &costs)?;
            Ok(stacks.into_tree(symbols, &costs))
        },
        || line_costs(recording, symbols, &costs),
    );
    let Tree {
        interned,
        new_frames,
        nodes,
    } = tree?;
    let lines = lines
        .into_iter()
        .map(|lines| in_order_of_frames(&lines, symbols, &new_frames))
        .collect();
    Ok((Interned { lines, ..interned }, nodes))
}

/// Costs by sample type and distinct stack of locations, stacks in ascending order.
pub(super) type StackCosts = Vec<Vec<(StackIx, Cost)>>;

fn costs_by_stack(
    recording: &Recording,
    keep: impl Fn(&Sample) -> bool,
) -> Result<StackCosts, InternError> {
    let mut costs: StackCosts = vec![Vec::new(); recording.sample_types.len()];
    let mut sums = vec![Cost::ZERO; recording.sample_types.len()];
    let mut samples: u64 = 0;
    let kept = recording.samples.iter().filter(|sample| keep(sample));
    for sample in kept.filter(|sample| !sample.cost.is_zero()) {
        let sample_type = sample.sample_type.0 as usize;
        costs[sample_type].push((sample.stack, sample.cost));
        // As the sum of all fits, so does every other sum from here on.
        let sum = &mut sums[sample_type];
        *sum = sum.checked_add(sample.cost).ok_or(InternError::Overflow)?;
        samples = samples
            .checked_add(sample.cost.samples)
            .ok_or(InternError::Overflow)?;
    }
    costs.iter_mut().for_each(sum_by_key);
    Ok(costs)
}

/// Sorts by key, and makes one entry of those with equal keys.
pub(super) fn sum_by_key<K: Copy + Ord + Send>(costs: &mut Vec<(K, Cost)>) {
    costs.par_sort_unstable_by_key(|&(key, _)| key);
    costs.dedup_by(|(next, cost), (key, sum)| {
        let same = next == key;
        if same {
            *sum += *cost;
        }
        same
    });
}

/// The stacks of frames as one tree, its nodes in the order in which samples need them.
///
/// Many stacks of locations are one stack of frames: a function has many addresses.
struct FrameStacks {
    /// By node: the node that calls it, and its frame.
    callers: Vec<u32>,
    frames: Vec<FrameIx>,
    index: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
    /// By stack of locations.
    of_stack: Vec<End>,
}

/// Where a stack ends: its node and number of frames.
#[derive(Clone, Copy)]
struct End {
    node: u32,
    depth: u32,
}

const NONE: u32 = u32::MAX;

impl FrameStacks {
    fn of(
        recording: &Recording,
        symbols: &Symbols,
        costs: &StackCosts,
    ) -> Result<FrameStacks, InternError> {
        let stacks = &recording.stacks;
        let limit = most_frames(recording.source_bytes);
        // Most steps miss the cache, so the way from a location to its frames is made one shorter.
        let lines = symbols.expansion.iter();
        let expansion: Vec<FrameIx> = lines
            .map(|line| symbols.lines[line.0 as usize].frame)
            .collect();
        let is_used = with_callers(stacks, costs);
        let above = End {
            node: NONE,
            depth: 0,
        };
        let mut tree = FrameStacks {
            callers: Vec::new(),
            frames: Vec::new(),
            index: HashTable::new(),
            hasher: hashbrown::DefaultHashBuilder::default(),
            of_stack: vec![above; stacks.len()],
        };
        // The stack before that has no caller: most begin as it does.
        let mut path: Vec<(FrameIx, u32)> = Vec::new();
        // Frames beyond one of each location, also of those that stacks begin with as the one before.
        let mut inlined = 0u64;
        for stack in stacks.iter().filter(|stack| is_used[stack.0 as usize]) {
            let caller = stacks.caller(stack);
            let End { mut node, depth } =
                caller.map_or(above, |caller| tree.of_stack[caller.0 as usize]);
            let mut depth = depth as usize;
            let mut is_as_before = caller.is_none();
            let own = stacks.own(stack).iter();
            for frames in own.map(|&location| &expansion[symbols.range_of(location)]) {
                inlined += (frames.len() as u64).saturating_sub(1);
                if inlined > limit {
                    return Err(InternError::TooLarge { limit });
                }
                if depth + frames.len() > MAX_DEPTH {
                    return Err(InternError::TooDeep(depth + frames.len()));
                }
                for &frame in frames {
                    match path.get(depth).filter(|_| is_as_before) {
                        Some(&(before, there)) if before == frame => node = there,
                        _ => {
                            node = tree.callee(node, frame, limit)?;
                            if caller.is_none() {
                                path.truncate(depth);
                                path.push((frame, node));
                                is_as_before = false;
                            }
                        }
                    }
                    depth += 1;
                }
            }
            tree.of_stack[stack.0 as usize] = End {
                node,
                depth: depth as u32,
            };
        }
        let mut ends = costs.iter().flatten();
        match ends.any(|&(stack, _)| tree.of_stack[stack.0 as usize].depth == 0) {
            true => Err(InternError::EmptyStack),
            false => Ok(tree),
        }
    }

    /// The node that a frame becomes below another.
    fn callee(&mut self, caller: u32, frame: FrameIx, limit: u64) -> Result<u32, InternError> {
        let Self {
            callers,
            frames,
            index,
            hasher,
            ..
        } = self;
        let row = |ix: u32| (callers[ix as usize], frames[ix as usize]);
        let hash = hasher.hash_one((caller, frame));
        if let Some(&known) = index.find(hash, |&ix| row(ix) == (caller, frame)) {
            return Ok(known);
        }
        let ix = callers.len() as u32;
        if u64::from(ix) >= limit {
            return Err(InternError::TooLarge { limit });
        }
        index.insert_unique(hash, ix, |&ix| hasher.hash_one(row(ix)));
        callers.push(caller);
        frames.push(frame);
        Ok(ix)
    }

    fn into_tree(self, symbols: &Symbols, costs: &StackCosts) -> Tree {
        let (frames, new_frames) = used_in_order(&symbols.frames, &self.frames);
        let frame_of = |node: u32| new_frames[self.frames[node as usize].get()];
        // Roots follow the callees of all nodes.
        let roots = self.callers.len();
        let caller_of = |node: u32| self.callers[node as usize].min(roots as u32);
        let nodes = (0..roots as u32).collect();
        let (nodes, _) = sorted_by(nodes, frames.len(), |node| frame_of(node).get());
        let (callees, starts) = sorted_by(nodes, roots + 1, |node| caller_of(node) as usize);
        let callees_of = |node: usize| &callees[starts[node]..starts[node + 1]];

        let mut tree = StackTree::with_capacity(roots);
        let mut node_of = vec![NodeIx(0); roots];
        let mut next: Vec<u32> = callees_of(roots).iter().rev().copied().collect();
        while let Some(node) = next.pop() {
            let caller = self.callers[node as usize];
            let caller = (caller != NONE).then(|| node_of[caller as usize]);
            node_of[node as usize] = tree.push(caller, frame_of(node));
            next.extend(callees_of(node as usize).iter().rev());
        }

        let of_stack = self.of_stack.iter();
        let nodes = StackNodes(
            of_stack
                .map(|end| node_of.get(end.node as usize).copied().unwrap_or(NodeIx(0)))
                .collect(),
        );
        let costs = costs.iter().map(|costs| {
            let mut by_node = costs
                .iter()
                .map(|&(stack, cost)| (nodes.of(stack), cost))
                .collect();
            sum_by_key(&mut by_node);
            by_node
        });
        Tree {
            interned: Interned {
                costs: costs.collect(),
                frames,
                tree,
                lines: Vec::new(),
                slices: None,
            },
            new_frames,
            nodes,
        }
    }
}

/// By stack, whether it has costs or calls one that has.
fn with_callers(stacks: &Stacks, costs: &StackCosts) -> Vec<bool> {
    let mut is_used = vec![false; stacks.len()];
    for &(stack, _) in costs.iter().flatten() {
        let mut next = Some(stack);
        while let Some(stack) = next
            && !std::mem::replace(&mut is_used[stack.0 as usize], true)
        {
            next = stacks.caller(stack);
        }
    }
    is_used
}

/// Sorts by a key below `keys`, and says where each key begins; equal ones keep their order.
fn sorted_by(items: Vec<u32>, keys: usize, key: impl Fn(u32) -> usize) -> (Vec<u32>, Vec<usize>) {
    let mut starts = vec![0; keys + 1];
    for &item in &items {
        starts[key(item) + 1] += 1;
    }
    for ix in 0..keys {
        starts[ix + 1] += starts[ix];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0; items.len()];
    for item in items {
        let index = &mut next[key(item)];
        sorted[*index] = item;
        *index += 1;
    }
    (sorted, starts)
}

/// A profile but for its line costs and slices.
struct Tree {
    interned: Interned,
    /// The indices that frames of [`Symbols::frames`] have in the profile's own table.
    new_frames: Vec<FrameIx>,
    nodes: StackNodes,
}

/// The nodes of the stacks of locations that have costs.
pub(super) struct StackNodes(Vec<NodeIx>);

impl StackNodes {
    pub(super) fn of(&self, stack: StackIx) -> NodeIx {
        self.0[stack.0 as usize]
    }
}

const UNUSED: FrameIx = FrameIx(u32::MAX);

/// The frames that are used, in order, and for each frame of `all` its new index.
fn used_in_order(all: &FrameTable, used: &[FrameIx]) -> (FrameTable, Vec<FrameIx>) {
    let mut new_indices = vec![UNUSED; all.len()];
    let mut order = Vec::new();
    for &frame in used {
        if new_indices[frame.get()] == UNUSED {
            new_indices[frame.get()] = FrameIx(0);
            order.push(frame);
        }
    }
    order.par_sort_unstable_by(|&a, &b| all.frame(a).cmp(&all.frame(b)));
    let mut table = FrameTable::new();
    for frame in order {
        new_indices[frame.get()] = table.insert(all.frame(frame));
    }
    (table, new_indices)
}

fn in_order_of_frames(
    sums: &[LineSum],
    symbols: &Symbols,
    new_frames: &[FrameIx],
) -> Vec<LineCost> {
    let known = sums
        .iter()
        .map(|sum| (sum, symbols.lines[sum.line.0 as usize]))
        .filter(|(_, line)| line.line != 0);
    let mut lines: Vec<LineCost> = known
        .map(|(sum, line)| LineCost {
            frame: new_frames[line.frame.get()],
            line: line.line,
            self_cost: sum.self_cost,
            total: sum.total,
        })
        .collect();
    lines.sort_unstable_by_key(|line| (line.frame, line.line));
    lines
}
