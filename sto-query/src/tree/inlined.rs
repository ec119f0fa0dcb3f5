//! Inlined functions, given back to the functions that they were compiled into.

use super::View;
use super::view::merge_equal_nodes;
use sto_core::intern::{NodeIx, SelfCosts, StackTree};
use sto_core::model::FrameKind;

impl View {
    /// Whether code was inlined, and its frames have been taken out of the stacks.
    pub(crate) fn is_without_inlined(&self) -> bool {
        let is_inlined = |frame| self.frames.frame(frame).kind == FrameKind::Inlined;
        let mut frames = self.frames.iter();
        let mut nodes = self.tree.nodes();
        let is_left = |node| self.tree.parent(node).is_some() && is_inlined(self.tree.frame(node));
        frames.any(|(frame, _)| is_inlined(frame)) && !nodes.any(is_left)
    }

    /// The same stacks without inlined frames: what they cost belongs to the function that has
    /// their code, as `perf report` counts it.
    ///
    /// An inlined frame that stands at the root of a stack stays.
    pub fn without_inlined(&self) -> View {
        let mut tree = StackTree::new();
        let mut moved_to: Vec<NodeIx> = Vec::with_capacity(self.tree.len());
        for node in self.tree.nodes() {
            let frame = self.tree.frame(node);
            let parent = self.tree.parent(node).map(|parent| moved_to[parent.get()]);
            moved_to.push(match parent {
                Some(caller) if self.frames.frame(frame).kind == FrameKind::Inlined => caller,
                _ => tree.push(parent, frame),
            });
        }
        let move_up = |column: &SelfCosts| {
            let mut moved = column.clone();
            for (node, _) in &mut moved {
                *node = moved_to[node.get()];
            }
            merge_equal_nodes(&mut moved);
            moved
        };
        let runs = self.runs.iter();
        View {
            selection: self.selection.clone(),
            sample_types: self.sample_types.clone(),
            frames: self.frames.clone(),
            tree,
            runs: runs.map(|run| run.iter().map(move_up).collect()).collect(),
        }
    }
}
