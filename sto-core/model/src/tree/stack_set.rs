//! A growing set of stacks, and its tree in the order of frames.

use super::{NodeIx, StackTree};
use crate::{FrameIx, FrameTable};
use hashbrown::HashTable;
use rayon::prelude::*;
use std::hash::BuildHasher;

/// Distinct stacks of frames of one [`FrameTable`], numbered in the order of insertion.
#[derive(Clone, Default)]
pub struct StackSet {
    /// The caller of each stack.
    callers: Vec<u32>,
    /// The innermost frame of each stack.
    frames: Vec<FrameIx>,
    index: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
}

/// The frames and the tree of a [`StackSet`], in an order that does not depend on the order of insertion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OrderedStacks {
    /// The used frames in the order of [`FrameTable::ranks`].
    pub frames: FrameTable,
    /// The stacks. Children of a node are in the order of their frames.
    pub tree: StackTree,
    /// For each frame of the set's table, its index in `frames`; only valid if it is used.
    pub frame_of: Vec<FrameIx>,
    /// The node of each stack.
    pub node_of: Vec<NodeIx>,
}

impl StackSet {
    /// The caller of stacks of one frame.
    pub const NO_CALLER: u32 = u32::MAX;

    /// The number of stacks.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns `true` if there are no stacks.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the number of the stack that a caller makes with another frame, and adds it if it is new.
    pub fn insert(&mut self, caller: u32, frame: FrameIx) -> u32 {
        let Self {
            callers,
            frames,
            index,
            hasher,
        } = self;
        let row = |ix: u32| (callers[ix as usize], frames[ix as usize]);
        let hash = hasher.hash_one((caller, frame));
        if let Some(&known) = index.find(hash, |&ix| row(ix) == (caller, frame)) {
            return known;
        }
        let ix = callers.len() as u32;
        index.insert_unique(hash, ix, |&ix| hasher.hash_one(row(ix)));
        callers.push(caller);
        frames.push(frame);
        ix
    }

    /// Adds the stacks of a tree; `frames` are the indices of the tree's frames in the set's table. Returns the number
    /// of each node's stack.
    pub fn insert_tree(&mut self, tree: &StackTree, frames: &[FrameIx]) -> Vec<u32> {
        let mut stacks: Vec<u32> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let caller = tree.parent(node);
            let caller = caller.map_or(Self::NO_CALLER, |caller| stacks[caller.get()]);
            stacks.push(self.insert(caller, frames[tree.frame(node).get()]));
        }
        stacks
    }

    /// Returns the used stacks with their callers, and the new number of each of them.
    pub fn used(&self, mut is_used: Vec<bool>) -> (StackSet, Vec<u32>) {
        for stack in (0..self.len()).rev() {
            let caller = self.callers[stack];
            if is_used[stack] && caller != Self::NO_CALLER {
                is_used[caller as usize] = true;
            }
        }
        let mut used = StackSet::default();
        let mut new = vec![Self::NO_CALLER; self.len()];
        for stack in (0..self.len()).filter(|&stack| is_used[stack]) {
            let caller = self.callers[stack];
            let caller = new.get(caller as usize).copied();
            let caller = caller.unwrap_or(Self::NO_CALLER);
            new[stack] = used.insert(caller, self.frames[stack]);
        }
        (used, new)
    }

    /// Puts the stacks and their frames in order; `table` has the frames. `others` are also used.
    pub fn in_order(
        &self,
        table: &FrameTable,
        others: impl IntoIterator<Item = FrameIx>,
    ) -> OrderedStacks {
        let used = self.frames.iter().copied().chain(others);
        let (frames, frame_of) = used_in_order(table, used);
        let new_frame = |stack: u32| frame_of[self.frames[stack as usize].get()];
        // In `callees`, the roots come after the callees of all stacks.
        let roots = self.len();
        let caller_of = |stack: u32| self.callers[stack as usize].min(roots as u32);
        let all = (0..roots as u32).collect();
        let (by_frame, _) = sorted_by(all, frames.len(), |stack| new_frame(stack).get());
        let (callees, starts) = sorted_by(by_frame, roots + 1, |stack| caller_of(stack) as usize);
        let callees_of = |stack: usize| &callees[starts[stack]..starts[stack + 1]];

        let mut tree = StackTree::with_capacity(roots);
        let mut node_of = vec![NodeIx(0); roots];
        let mut next: Vec<u32> = callees_of(roots).iter().rev().copied().collect();
        while let Some(stack) = next.pop() {
            let caller = self.callers[stack as usize];
            let caller = (caller != Self::NO_CALLER).then(|| node_of[caller as usize]);
            node_of[stack as usize] = tree.push(caller, new_frame(stack));
            next.extend(callees_of(stack as usize).iter().rev());
        }
        OrderedStacks {
            frames,
            tree,
            frame_of,
            node_of,
        }
    }
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

const UNUSED: FrameIx = FrameIx(u32::MAX);

/// Returns a sorted table of the used frames, and for each frame of `all` its index in the table.
fn used_in_order(
    all: &FrameTable,
    used: impl Iterator<Item = FrameIx>,
) -> (FrameTable, Vec<FrameIx>) {
    let mut new_indices = vec![UNUSED; all.len()];
    let mut order = Vec::new();
    for frame in used {
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
