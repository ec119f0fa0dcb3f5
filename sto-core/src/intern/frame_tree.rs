//! Builds the tree of a profile from stacks of locations.

use super::stack_costs::{CostSums, InternError, StackCosts};
use crate::symbolize::Symbols;
use sto_formats::recording::{Recording, StackIx, Stacks};
use sto_model::limits::{MAX_DEPTH, max_frames};
use sto_model::tree::{NodeIx, SelfCosts, StackSet, StackTree};
use sto_model::{FrameIx, FrameTable};

/// The stacks of frames as one tree, with nodes in the order in which the stacks need them.
///
/// Many stacks of locations become one stack of frames, as a function has many addresses.
struct FrameStacks {
    set: StackSet,
    /// The end of each stack of locations.
    ends: Vec<End>,
}

/// The end of a stack: its innermost node, and the number of frames.
#[derive(Clone, Copy)]
struct End {
    node: u32,
    depth: u32,
}

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
            node: StackSet::NO_CALLER,
            depth: 0,
        };
        let mut tree = FrameStacks {
            set: StackSet::default(),
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
                            node = tree.set.insert(node, frame);
                            if tree.set.len() as u64 > limit {
                                return Err(InternError::TooLarge { limit });
                            }
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

    fn into_tree(self, symbols: &Symbols, costs: &StackCosts) -> FrameTree {
        let ordered = self.set.in_order(&symbols.frames, []);
        let node_of = &ordered.node_of;
        let ends = self.ends.iter();
        let nodes = ends.map(|end| node_of.get(end.node as usize).copied().unwrap_or(NodeIx(0)));
        let nodes = StackNodes(nodes.collect());
        let mut last_of = vec![0; ordered.tree.len()];
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
            frames: ordered.frames,
            tree: ordered.tree,
            nodes,
            new_frames: ordered.frame_of,
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
