//! The stacks and costs of a selection.

use crate::select::{SelectError, Selection};
use sto_core::intern::{SelfCosts, StackTree};
use sto_core::model::FrameTable;
use sto_core::store::Store;
use sto_core::units::{Cost, SampleType};

/// The stacks and costs of a selection: what every analysis walks over.
#[derive(Clone, Debug)]
pub struct View {
    /// What was selected.
    pub selection: Selection,
    /// What was measured, over all runs: most samples first.
    pub sample_types: Vec<SampleType>,
    /// The frames.
    pub frames: FrameTable,
    /// The stacks, in preorder.
    pub tree: StackTree,
    /// Self costs: `runs[run][sample type]`; empty where a run did not measure that type.
    pub runs: Vec<Vec<SelfCosts>>,
}

impl View {
    /// Loads the stacks and costs of a selection.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn load(store: &Store, selection: Selection) -> Result<View, SelectError> {
        let _ = (store, selection);
        todo!()
    }

    /// Self costs by node, summed over all runs, in the sample type at this place of
    /// `sample_types`.
    pub fn self_costs(&self, sample_type: usize) -> Vec<Cost> {
        let mut costs = vec![Cost::ZERO; self.tree.len()];
        for column in self.runs.iter().filter_map(|run| run.get(sample_type)) {
            for (node, cost) in column {
                costs[node.get()] += *cost;
            }
        }
        costs
    }
}
