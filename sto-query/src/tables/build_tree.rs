//! The stacks of a build, with lazily computed data.

use super::by_frame::ByFrame;
use super::ids::{Hex, Ids};
use crate::functions::Functions;
use crate::sources::EVENT;
use crate::tree::{View, sum_costs};
use hashbrown::HashMap;
use std::sync::OnceLock;
use sto_core::id::{BuildId, ExecutableId, NodeId};
use sto_core::tree::{NodeIx, outermost, totals};
use sto_core::units::Cost;

/// The stacks of a build with their costs over all runs.
pub(super) struct BuildTree {
    /// The build.
    pub(super) build: BuildId,
    /// The stacks; the first sample type is the build's event.
    pub(super) view: View,
    self_costs: OnceLock<Vec<Cost>>,
    totals: OnceLock<Vec<Cost>>,
    subtree_ends: OnceLock<Vec<u32>>,
    functions: OnceLock<Functions>,
    /// Self and total cost of each function, by sample type.
    function_costs: OnceLock<Vec<Vec<(Cost, Cost)>>>,
    outermost: OnceLock<Vec<bool>>,
    by_frame: OnceLock<ByFrame>,
    ids: Ids,
    by_id: OnceLock<HashMap<NodeId, NodeIx>>,
}

impl BuildTree {
    /// Creates the tree of a build.
    pub(super) fn new(build: BuildId, view: View) -> BuildTree {
        let executable = ExecutableId::from_name(&view.selection.build.executable);
        BuildTree {
            build,
            view,
            self_costs: OnceLock::new(),
            totals: OnceLock::new(),
            subtree_ends: OnceLock::new(),
            functions: OnceLock::new(),
            function_costs: OnceLock::new(),
            outermost: OnceLock::new(),
            by_frame: OnceLock::new(),
            ids: Ids::new(executable),
            by_id: OnceLock::new(),
        }
    }

    /// Self cost of each node in the build's event.
    pub(super) fn self_costs(&self) -> &[Cost] {
        let costs = || self.view.self_costs(EVENT);
        self.self_costs.get_or_init(costs)
    }

    /// Total cost of each node in the build's event.
    pub(super) fn totals(&self) -> &[Cost] {
        self.totals
            .get_or_init(|| totals(&self.view.tree, self.self_costs()))
    }

    /// For each node, the first node after its subtree.
    pub(super) fn subtree_ends(&self) -> &[u32] {
        self.subtree_ends
            .get_or_init(|| self.view.tree.subtree_ends())
    }

    /// Functions of the build.
    pub(super) fn functions(&self) -> &Functions {
        self.functions
            .get_or_init(|| Functions::new(&self.view.frames))
    }

    /// Self and total cost of each function, by sample type; recursive calls count once.
    pub(super) fn function_costs(&self) -> &[Vec<(Cost, Cost)>] {
        self.function_costs.get_or_init(|| {
            let types = 0..self.view.sample_types.len();
            let costs = types.map(|ix| {
                let own = self.view.self_costs(ix);
                sum_costs(&self.view, &own, self.functions().numbers())
            });
            costs.collect()
        })
    }

    /// For each node, whether its function is not among its callers.
    pub(super) fn outermost(&self) -> &[bool] {
        let numbers = self.functions().numbers();
        self.outermost
            .get_or_init(|| outermost(&self.view.tree, numbers).collect())
    }

    /// Returns the node with this id.
    pub(super) fn find(&self, node: NodeId) -> Option<NodeIx> {
        let by_id = self.by_id.get_or_init(|| {
            let nodes = self.view.tree.nodes();
            let ids = self.ids.nodes(&self.view.tree, &self.view.frames);
            ids.iter().copied().zip(nodes).collect()
        });
        by_id.get(&node).copied()
    }

    /// Nodes grouped by frame.
    pub(super) fn by_frame(&self) -> &ByFrame {
        let View { tree, frames, .. } = &self.view;
        self.by_frame
            .get_or_init(|| ByFrame::new(tree, self.ids.frames(frames)))
    }

    /// Id of a node's frame.
    pub(super) fn frame_id(&self, node: NodeIx) -> &str {
        let View { tree, frames, .. } = &self.view;
        self.ids.frame(tree, frames, node)
    }

    /// Id of a node, independent of its build.
    pub(super) fn node_id(&self, node: NodeIx) -> Hex {
        let View { tree, frames, .. } = &self.view;
        self.ids.node(tree, frames, node)
    }

    /// Id of a node, including its build's id.
    pub(super) fn id(&self, node: NodeIx) -> String {
        [
            Hex::from_bytes(self.build.0).as_str(),
            self.node_id(node).as_str(),
        ]
        .concat()
    }
}
