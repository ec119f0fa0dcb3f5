//! The stacks of several views as one tree.

use super::View;
use super::keyed_stacks::{in_order, merge_siblings};
use super::view::move_costs;
use crate::select::Selection;
use sto_core::model::{Frame, FrameIx, FrameTable};
use sto_core::tree::{NodeIx, SelfCosts, StackTree, merge_equal_nodes};

/// The stacks of several views as one tree, in which equal stacks are one node.
pub(crate) struct Union {
    pub(crate) frames: FrameTable,
    pub(crate) tree: StackTree,
    /// The node of the union for each node of each view.
    merged_into: Vec<Vec<NodeIx>>,
}

impl Union {
    /// Unites the stacks of views. `rename` returns the frame that a frame counts as.
    pub(crate) fn new(views: &[&View], rename: impl for<'a> Fn(Frame<'a>) -> Frame<'a>) -> Union {
        let mut frames = FrameTable::new();
        let nodes = views.iter().map(|view| view.tree.len());
        let mut forest = StackTree::with_capacity(nodes.sum());
        for view in views {
            let renamed = view.frames.iter().map(|(_, frame)| rename(frame));
            let frame_of: Vec<FrameIx> = renamed.map(|frame| frames.insert(frame)).collect();
            let first = forest.len() as u32;
            for node in view.tree.nodes() {
                let parent = view.tree.parent(node);
                let parent = parent.map(|parent| NodeIx(first + parent.0));
                forest.push(parent, frame_of[view.tree.frame(node).get()]);
            }
        }
        let ranks = frames.ranks();
        let frame_of: Vec<FrameIx> = ranks.iter().copied().map(FrameIx).collect();
        let (tree, mut merged) = merge_siblings(&forest, &frame_of);
        let mut merged_into = Vec::with_capacity(views.len());
        for view in views {
            let others = merged.split_off(view.tree.len());
            merged_into.push(std::mem::replace(&mut merged, others));
        }
        Union {
            frames: in_order(&frames, &ranks),
            tree,
            merged_into,
        }
    }

    /// Returns the self costs of a view by node of the union, summed over its runs.
    pub(crate) fn costs(&self, view: usize, of: &View, sample_type: usize) -> SelfCosts {
        let mut costs = SelfCosts::new();
        for column in of.runs.iter().filter_map(|run| run.get(sample_type)) {
            costs.extend(move_costs(column, &self.merged_into[view]));
        }
        merge_equal_nodes(&mut costs);
        costs
    }
}

impl View {
    /// Adds up views in their first sample type, which they must have in common.
    pub(crate) fn sum(views: &[View], selection: Selection) -> View {
        let borrowed: Vec<&View> = views.iter().collect();
        let union = Union::new(&borrowed, |frame| frame);
        let mut costs = SelfCosts::new();
        for (ix, view) in views.iter().enumerate() {
            costs.extend(union.costs(ix, view, 0));
        }
        merge_equal_nodes(&mut costs);
        let sample_types = views.first().map(|view| &view.sample_types[..]);
        View {
            selection,
            sample_types: sample_types.unwrap_or_default().to_vec(),
            frames: union.frames,
            tree: union.tree,
            runs: vec![vec![costs]],
            windows: Vec::new(),
        }
    }
}
