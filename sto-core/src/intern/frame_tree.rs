//! Builds the tree of a profile from stacks of locations.

use super::stack_costs::{CostSums, InternError, StackCosts};
use crate::symbolize::Symbols;
use hashbrown::HashTable;
use rayon::prelude::*;
use std::hash::BuildHasher;
use sto_formats::recording::{Recording, StackIx, Stacks};
use sto_model::limits::{MAX_DEPTH, max_frames};
use sto_model::tree::{NodeIx, SelfCosts, StackTree};
use sto_model::{FrameIx, FrameTable};

/// The stacks of frames as one tree, with nodes in the order in which the stacks need them.
///
/// Many stacks of locations become one stack of frames, as a function has many addresses.
struct FrameStacks {
    /// The caller of each node.
    callers: Vec<u32>,
    /// The frame of each node.
    frames: Vec<FrameIx>,
    index: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
    /// The end of each stack of locations.
    ends: Vec<End>,
}

/// The end of a stack: its innermost node, and the number of frames.
#[derive(Clone, Copy)]
struct End {
    node: u32,
    depth: u32,
}

/// The caller of root nodes.
const NONE: u32 = u32::MAX;

impl FrameStacks {
    fn new(
        recording: &Recording,
        symbols: &Symbols,
        costs: &StackCosts,
    ) -> Result<FrameStacks, InternError> {
        let stacks = &recording.stacks;
        let limit = max_frames(recording.source_bytes);
        // Most lookups miss the cache, so this saves one between a location and its frames.
        let lines = symbols.expansion.iter();
        let expansion: Vec<FrameIx> = lines.map(|line| symbols.lines[line.get()].frame).collect();
        let is_used = stacks_on_paths(stacks, costs);
        let root = End {
            node: NONE,
            depth: 0,
        };
        let mut tree = FrameStacks {
            callers: Vec::new(),
            frames: Vec::new(),
            index: HashTable::new(),
            hasher: hashbrown::DefaultHashBuilder::default(),
            ends: vec![root; stacks.len()],
        };
        // The previous stack without a caller; most start with the same frames.
        let mut path: Vec<(FrameIx, u32)> = Vec::new();
        // Number of frames in excess of one per location, including those shared with the previous stack.
        let mut inlined = 0u64;
        for stack in stacks.iter().filter(|stack| is_used[stack.get()]) {
            let caller = stacks.caller(stack);
            let start = caller.map_or(root, |caller| tree.ends[caller.get()]);
            let (mut node, mut depth) = (start.node, start.depth as usize);
            let mut follows_path = caller.is_none();
            let own = stacks.own_locations(stack).iter();
            for frames in own.map(|&location| &expansion[symbols.range_of(location)]) {
                inlined += (frames.len() as u64).saturating_sub(1);
                if inlined > limit {
                    return Err(InternError::TooLarge { limit });
                }
                if depth + frames.len() > MAX_DEPTH {
                    return Err(InternError::TooDeep(depth + frames.len()));
                }
                for &frame in frames {
                    match path.get(depth).filter(|_| follows_path) {
                        Some(&(known, its_node)) if known == frame => node = its_node,
                        _ => {
                            node = tree.callee(node, frame, limit)?;
                            if caller.is_none() {
                                path.truncate(depth);
                                path.push((frame, node));
                                follows_path = false;
                            }
                        }
                    }
                    depth += 1;
                }
            }
            tree.ends[stack.get()] = End {
                node,
                depth: depth as u32,
            };
        }
        let mut sampled = costs.iter().flatten();
        if sampled.any(|&(stack, _)| tree.ends[stack.get()].depth == 0) {
            return Err(InternError::EmptyStack);
        }
        Ok(tree)
    }

    /// Returns the node of a frame called by a node, adding it if it is new.
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

    fn into_tree(self, symbols: &Symbols, costs: &StackCosts) -> FrameTree {
        let (frames, new_frames) = used_in_order(&symbols.frames, &self.frames);
        let frame_of = |node: u32| new_frames[self.frames[node as usize].get()];
        // In `callees`, the roots come after the callees of all nodes.
        let roots = self.callers.len();
        let caller_of = |node: u32| self.callers[node as usize].min(roots as u32);
        let all = (0..roots as u32).collect();
        let (by_frame, _) = sorted_by(all, frames.len(), |node| frame_of(node).get());
        let (callees, starts) = sorted_by(by_frame, roots + 1, |node| caller_of(node) as usize);
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

        let ends = self.ends.iter();
        let nodes = ends.map(|end| node_of.get(end.node as usize).copied().unwrap_or(NodeIx(0)));
        let nodes = StackNodes(nodes.collect());
        let mut last_of = vec![0; tree.len()];
        let costs = costs.iter().map(|by_stack| {
            let mut by_node = CostSums::default();
            for &(stack, cost) in by_stack {
                let node = nodes.node(stack);
                by_node.add_at(&mut last_of[node.get()], node, cost);
            }
            by_node.finish()
        });
        FrameTree {
            costs: costs.collect(),
            frames,
            tree,
            nodes,
            new_frames,
        }
    }
}

/// Returns for each stack whether it has costs, or is a caller of one that has.
fn stacks_on_paths(stacks: &Stacks, costs: &StackCosts) -> Vec<bool> {
    let mut is_used = vec![false; stacks.len()];
    for &(stack, _) in costs.iter().flatten() {
        let mut next = Some(stack);
        while let Some(stack) = next
            && !std::mem::replace(&mut is_used[stack.get()], true)
        {
            next = stacks.caller(stack);
        }
    }
    is_used
}

/// Sorts items stably by a key less than `keys`, and returns the start of each key's items.
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

/// The frames, tree and self costs of a profile.
pub(super) struct FrameTree {
    pub(super) frames: FrameTable,
    pub(super) tree: StackTree,
    pub(super) costs: Vec<SelfCosts>,
    pub(super) nodes: StackNodes,
    /// For each frame of [`Symbols::frames`] its index in `frames`.
    pub(super) new_frames: Vec<FrameIx>,
}

impl FrameTree {
    pub(super) fn new(
        recording: &Recording,
        symbols: &Symbols,
        costs: &StackCosts,
    ) -> Result<FrameTree, InternError> {
        let stacks = FrameStacks::new(recording, symbols, costs)?;
        Ok(stacks.into_tree(symbols, costs))
    }
}

/// The nodes of the stacks of locations that have costs.
pub(crate) struct StackNodes(Vec<NodeIx>);

impl StackNodes {
    /// Replaces the node of each stack.
    pub(super) fn map(self, node: impl Fn(NodeIx) -> NodeIx) -> StackNodes {
        StackNodes(self.0.into_iter().map(node).collect())
    }

    /// Returns the node of a stack, which is only valid if the stack is part of the profile.
    pub(crate) fn node(&self, stack: StackIx) -> NodeIx {
        self.0[stack.get()]
    }
}

const UNUSED: FrameIx = FrameIx(u32::MAX);

/// Returns a sorted table of the used frames, and for each frame of `all` its index in the table.
fn used_in_order(all: &FrameTable, used: &[FrameIx]) -> (FrameTable, Vec<FrameIx>) {
    let mut new_indices = vec![UNUSED; all.len()];
    let mut order = Vec::new();
    for &frame in used {
        if new_indices[frame.get()] == UNUSED {
            new_indices[frame.get()] = FrameIx(0);
            order.push(frame);
        }
    }
    order.par_sort_unstable_by(|&a, &b| all.compare(a, b));
    for (&frame, ix) in order.iter().zip(0..) {
        new_indices[frame.get()] = FrameIx(ix);
    }
    (all.select(&order), new_indices)
}
