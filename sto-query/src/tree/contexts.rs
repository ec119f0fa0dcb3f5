//! Costs of stacks by context: thread and labels.

use super::View;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::model::FrameIx;
use sto_core::store::{LoadedSlices, Snapshot, StoreError};
use sto_core::tree::{ContextIx, NodeIx, SampleContext, SliceCost, SliceGrid};
use sto_core::units::{Cost, SampleType};

/// Self costs by context and node of a view.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContextCosts {
    /// The distinct contexts, in ascending order.
    pub contexts: Vec<SampleContext>,
    /// The costs by sample type of the view, ordered by context and node.
    pub costs: BTreeMap<(ContextIx, NodeIx), Vec<Cost>>,
}

/// Costs of a run by time slice.
#[derive(Clone, Debug)]
pub(crate) struct RunSlices {
    /// The time slices.
    pub(crate) grid: SliceGrid,
    /// The distinct contexts, in ascending order.
    pub(crate) contexts: Vec<SampleContext>,
    /// The costs by sample type of the view, at nodes of the view.
    pub(crate) costs: Vec<Vec<SliceCost>>,
}

/// The nodes of a view by the node of the caller and the last frame.
pub(super) struct Nodes<'v> {
    view: &'v View,
    nodes: HashMap<(Option<NodeIx>, FrameIx), NodeIx>,
}

impl View {
    /// Returns the summed costs of all runs of a view in each context, in the part of their time
    /// that the view has; `None` if the time slices of a run were not kept.
    ///
    /// # Errors
    ///
    /// Returns an error if `store` lacks a profile, or is damaged.
    ///
    /// # Panics
    ///
    /// Panics if stacks were changed since the view was loaded from that store.
    pub fn context_costs(&self, store: &Snapshot) -> Result<Option<ContextCosts>, StoreError> {
        let nodes = Nodes::new(self);
        let mut sums: BTreeMap<SampleContext, BTreeMap<NodeIx, Vec<Cost>>> = BTreeMap::new();
        for stored in &self.selection.profiles {
            let Some(run) = nodes.context_costs(store, stored.id)? else {
                return Ok(None);
            };
            let mut costs = run.costs.into_iter().peekable();
            for (ix, context) in (0..).map(ContextIx).zip(run.contexts) {
                let sums = sums.entry(context).or_default();
                while let Some(((_, node), costs)) = costs.next_if(|((of, _), _)| *of == ix) {
                    let sum = sums
                        .entry(node)
                        .or_insert_with(|| vec![Cost::ZERO; costs.len()]);
                    for (sum, cost) in sum.iter_mut().zip(costs) {
                        *sum += cost;
                    }
                }
            }
        }
        let mut together = ContextCosts {
            contexts: Vec::with_capacity(sums.len()),
            costs: BTreeMap::new(),
        };
        for (ix, (context, costs)) in (0..).map(ContextIx).zip(sums) {
            let costs = costs.into_iter();
            together
                .costs
                .extend(costs.map(|(node, costs)| ((ix, node), costs)));
            together.contexts.push(context);
        }
        Ok(Some(together))
    }
}

impl<'v> Nodes<'v> {
    pub(super) fn new(view: &'v View) -> Self {
        let tree = &view.tree;
        let nodes = tree
            .nodes()
            .map(|node| ((tree.parent(node), tree.frame(node)), node));
        Nodes {
            view,
            nodes: nodes.collect(),
        }
    }

    /// Returns the costs of a run in each context, in the part of its time that the view has; `None`
    /// if its time slices were not kept.
    pub(super) fn context_costs(
        &self,
        store: &Snapshot,
        profile: ProfileId,
    ) -> Result<Option<ContextCosts>, StoreError> {
        let Some(slices) = self.slices(store, profile)? else {
            return Ok(None);
        };
        let view = self.view;
        let run = view.selection.profiles.iter().position(|p| p.id == profile);
        let window = run.and_then(|run| view.windows.get(run));
        let mut sums: BTreeMap<(ContextIx, NodeIx), Vec<Cost>> = BTreeMap::new();
        for (column, costs) in slices.costs.iter().enumerate() {
            let is_taken =
                |cost: &&SliceCost| window.is_none_or(|window| window.contains(cost.slice.0));
            for cost in costs.iter().filter(is_taken) {
                let sum = sums
                    .entry((cost.context, cost.node))
                    .or_insert_with(|| vec![Cost::ZERO; view.sample_types.len()]);
                sum[column] += cost.cost;
            }
        }
        Ok(Some(ContextCosts {
            contexts: slices.contexts,
            costs: sums,
        }))
    }

    /// Returns the costs of a profile in each slice of its time; `None` if these were not kept.
    pub(super) fn slices(
        &self,
        store: &Snapshot,
        profile: ProfileId,
    ) -> Result<Option<RunSlices>, StoreError> {
        let Some(loaded) = store.load_slices(profile)? else {
            return Ok(None);
        };
        let nodes = self.of_profile(&loaded);
        let view = self.view;
        let stored = view.selection.profiles.iter().find(|p| p.id == profile);
        let types = stored.map_or(&[][..], |stored| &stored.profile.sample_types);
        let mut costs = vec![Vec::new(); view.sample_types.len()];
        let columns = SampleType::assign_columns(types, &view.sample_types);
        for (column, of_type) in columns.into_iter().zip(&loaded.slices.costs) {
            // The view may have only one event.
            let Some(column) = column else { continue };
            costs[column].extend(of_type.iter().map(|cost| SliceCost {
                node: nodes[cost.node.get()],
                ..cost
            }));
        }
        Ok(Some(RunSlices {
            grid: loaded.slices.grid,
            contexts: loaded.slices.contexts,
            costs,
        }))
    }

    /// Returns the node of the view for each node of a profile's own tree.
    fn of_profile(&self, profile: &LoadedSlices) -> Vec<NodeIx> {
        let frames: Vec<FrameIx> = profile
            .frames
            .iter()
            .map(|(_, frame)| {
                let known = self.view.frames.find(frame);
                known.expect("the view has its profiles' frames")
            })
            .collect();
        let mut nodes: Vec<NodeIx> = Vec::with_capacity(profile.tree.len());
        for node in profile.tree.nodes() {
            let parent = profile.tree.parent(node).map(|parent| nodes[parent.get()]);
            let frame = frames[profile.tree.frame(node).get()];
            nodes.push(self.nodes[&(parent, frame)]);
        }
        nodes
    }
}
