//! Stacks with function keys instead of symbols, by which builds are matched.

use super::View;
use super::view::move_costs;
use crate::functions::{KeyOptions, ModuleKey, function_key};
use crate::select::{Selection, main_modules};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;
use sto_core::model::{Frame, FrameIx, FrameKind, FrameTable};
use sto_core::tree::{NodeIx, SelfCosts, StackTree};

/// Stacks whose symbols are replaced by function keys. Stacks that became equal are merged.
pub(crate) struct KeyedStacks {
    pub(crate) frames: FrameTable,
    pub(crate) tree: StackTree,
    /// The new node of each node of the original stacks.
    merged_into: Vec<NodeIx>,
}

impl KeyedStacks {
    /// Replaces the symbols of stacks by function keys. `main` has the names of the program's own
    /// files, which are replaced by the module `program`.
    pub(crate) fn new(
        (frames, tree): (&FrameTable, &StackTree),
        (main, program): (&BTreeSet<&str>, &str),
        options: KeyOptions,
    ) -> KeyedStacks {
        let mut unsorted = FrameTable::new();
        let insert = |(_, frame): (FrameIx, Frame)| {
            let (symbol, module) = function_key(frame, main, options);
            let module = match module {
                ModuleKey::MainProgram => program,
                ModuleKey::Named(name) => name,
            };
            unsorted.insert(Frame {
                symbol: &symbol,
                module,
                ..frame
            })
        };
        let inserted: Vec<FrameIx> = frames.iter().map(insert).collect();
        let ranks = unsorted.ranks();
        let frame_of: Vec<FrameIx> = inserted.iter().map(|ix| FrameIx(ranks[ix.get()])).collect();
        let (tree, merged_into) = merge_siblings(tree, &frame_of);
        KeyedStacks {
            frames: in_order(&unsorted, &ranks),
            tree,
            merged_into,
        }
    }

    /// Moves costs to the new nodes.
    pub(crate) fn costs(&self, column: &SelfCosts) -> SelfCosts {
        move_costs(column, &self.merged_into)
    }
}

impl View {
    /// Returns the view with one stack for all stacks of the same functions, whether they were
    /// interpreted or compiled, and whatever was inlined if inlined frames were removed.
    pub(crate) fn with_merged_stacks(&self) -> Cow<'_, View> {
        let frame_of = merge_tiers(&self.frames);
        let has_tiers = frame_of.iter().zip(0..).any(|(ix, own)| ix.0 != own);
        if !has_tiers && !self.is_without_inlined() {
            return Cow::Borrowed(self);
        }
        let (tree, merged_into) = merge_siblings(&self.tree, &frame_of);
        Cow::Owned(self.with_stacks(self.frames.clone(), tree, &merged_into))
    }

    /// Returns the view with function keys instead of symbols. Stacks that become equal are merged,
    /// as in [`compare`](crate::compare::compare).
    pub(crate) fn with_function_keys(&self, options: KeyOptions) -> View {
        let Selection { build, profiles } = &self.selection;
        self.with_keys_of(&main_modules(build, profiles), options)
    }

    /// Like [`View::with_function_keys`], for runs of several builds of a program, whose own files these are.
    pub(crate) fn with_keys_of(&self, main: &BTreeSet<&str>, options: KeyOptions) -> View {
        let program = &*self.selection.build.executable;
        let KeyedStacks {
            frames,
            tree,
            merged_into,
        } = KeyedStacks::new((&self.frames, &self.tree), (main, program), options);
        self.with_stacks(frames, tree, &merged_into)
    }
}

/// Returns for each frame the one that stands for its function: of frames that differ in how the
/// code ran, the one of the most optimized code.
fn merge_tiers(frames: &FrameTable) -> Vec<FrameIx> {
    let tier = |frame: Frame| match frame.kind {
        FrameKind::Interpreted => 1,
        FrameKind::JitBaseline => 2,
        FrameKind::Jit => 3,
        _ => 0,
    };
    let function = |frame| Frame {
        kind: if tier(frame) == 0 {
            frame.kind
        } else {
            FrameKind::Jit
        },
        ..frame
    };
    let mut best = HashMap::new();
    for (ix, frame) in frames.iter() {
        let of_function = best.entry(function(frame)).or_insert((tier(frame), ix));
        *of_function = (*of_function).max((tier(frame), ix));
    }
    let merged = frames.iter().map(|(_, frame)| best[&function(frame)].1);
    merged.collect()
}

/// Sorts frames by rank, as the store requires.
pub(super) fn in_order(frames: &FrameTable, ranks: &[u32]) -> FrameTable {
    let mut order: Vec<FrameIx> = frames.iter().map(|(ix, _)| ix).collect();
    order.sort_unstable_by_key(|ix| ranks[ix.get()]);
    let mut ordered = FrameTable::new();
    for ix in order {
        ordered.insert(frames.frame(ix));
    }
    ordered
}

/// A node of the merged tree under construction.
struct Node {
    frame: FrameIx,
    callees: Vec<u32>,
}

/// Replaces the frames of a tree, and returns the new node of each node. Siblings with the same
/// frame are merged. Siblings are ordered by frame.
pub(crate) fn merge_siblings(tree: &StackTree, frame_of: &[FrameIx]) -> (StackTree, Vec<NodeIx>) {
    let mut nodes: Vec<Node> = Vec::with_capacity(tree.len());
    let mut known: HashMap<(Option<u32>, FrameIx), u32> = HashMap::with_capacity(tree.len());
    let mut roots = Vec::new();
    let mut merged_as: Vec<u32> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let caller = tree.parent(node).map(|caller| merged_as[caller.get()]);
        let frame = frame_of[tree.frame(node).get()];
        let next = nodes.len() as u32;
        let ix = *known.entry((caller, frame)).or_insert(next);
        if ix == next {
            nodes.push(Node {
                frame,
                callees: Vec::new(),
            });
            let siblings = match caller {
                Some(caller) => &mut nodes[caller as usize].callees,
                None => &mut roots,
            };
            siblings.push(ix);
        }
        merged_as.push(ix);
    }
    let frames: Vec<FrameIx> = nodes.iter().map(|node| node.frame).collect();
    let by_frame = |ix: &u32| frames[*ix as usize];
    roots.sort_unstable_by_key(by_frame);
    for node in &mut nodes {
        node.callees.sort_unstable_by_key(by_frame);
    }
    let mut merged = StackTree::with_capacity(nodes.len());
    let mut merged_into = vec![NodeIx(0); nodes.len()];
    let mut open: Vec<(Option<NodeIx>, u32)> = Vec::new();
    open.extend(roots.into_iter().rev().map(|ix| (None, ix)));
    while let Some((caller, ix)) = open.pop() {
        let node = &nodes[ix as usize];
        let number = merged.push(caller, node.frame);
        merged_into[ix as usize] = number;
        let callees = node.callees.iter().rev();
        open.extend(callees.map(|&ix| (Some(number), ix)));
    }
    let merged_into = merged_as.into_iter().map(|ix| merged_into[ix as usize]);
    let merged_into = merged_into.collect();
    (merged, merged_into)
}
