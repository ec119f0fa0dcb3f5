//! What stacks cost in each context: in which thread, and with which labels.

use super::View;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_core::id::ProfileId;
use sto_core::intern::{Context, ContextIx, NodeIx};
use sto_core::model::FrameIx;
use sto_core::store::{LoadedSlices, Store, StoreError};
use sto_core::units::Cost;

/// Self costs of one run by context and node of a view.
#[derive(Clone, Debug)]
pub struct ContextCosts {
    /// The contexts, in ascending order, none twice.
    pub contexts: Vec<Context>,
    /// The costs by sample type of the view, in order of context and node.
    pub costs: BTreeMap<(ContextIx, NodeIx), Vec<Cost>>,
}

/// Where in a view a stack stands, by its caller and last frame.
pub(super) struct Nodes<'v> {
    view: &'v View,
    places: HashMap<(Option<NodeIx>, FrameIx), NodeIx>,
}

impl View {
    /// What a view of a single run costs in each context, over all its time; `None` where it has
    /// several runs, or its slices of time were not kept.
    ///
    /// # Errors
    /// Where `store` does not have the profile, or is damaged.
    ///
    /// # Panics
    /// If stacks were changed since the view was loaded from that store.
    pub fn context_costs(&self, store: &Store) -> Result<Option<ContextCosts>, StoreError> {
        match &self.selection.profiles[..] {
            [stored] => Nodes::of(self).context_costs(store, stored.id),
            _ => Ok(None),
        }
    }
}

impl<'v> Nodes<'v> {
    pub(super) fn of(view: &'v View) -> Self {
        let tree = &view.tree;
        let places = tree
            .nodes()
            .map(|node| ((tree.parent(node), tree.frame(node)), node));
        Nodes {
            view,
            places: places.collect(),
        }
    }

    /// What one of the view's runs costs in each context.
    pub(super) fn context_costs(
        &self,
        store: &Store,
        profile: ProfileId,
    ) -> Result<Option<ContextCosts>, StoreError> {
        let Some(loaded) = store.load_slices(profile)? else {
            return Ok(None);
        };
        let nodes = self.of_profile(&loaded);
        let view = self.view;
        let stored = view.selection.profiles.iter().find(|p| p.id == profile);
        let types = stored.map_or(&[][..], |stored| &stored.profile.sample_types);
        let mut sums: BTreeMap<(ContextIx, NodeIx), Vec<Cost>> = BTreeMap::new();
        for (sample_type, costs) in types.iter().zip(&loaded.slices.costs) {
            let known = view.sample_types.iter().position(|t| t == sample_type);
            // The view may be of one event alone.
            let Some(column) = known else { continue };
            for cost in costs.iter() {
                let sum = sums
                    .entry((cost.context, nodes[cost.node.get()]))
                    .or_insert_with(|| vec![Cost::ZERO; view.sample_types.len()]);
                sum[column] += cost.cost;
            }
        }
        Ok(Some(ContextCosts {
            contexts: loaded.slices.contexts,
            costs: sums,
        }))
    }

    /// For each node of a profile's own tree the node of the view.
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
            nodes.push(self.places[&(parent, frame)]);
        }
        nodes
    }
}
