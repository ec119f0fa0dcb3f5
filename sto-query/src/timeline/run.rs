//! A stored run with its slices of time.

use super::{Grid, TimelineError};
use crate::select::{Selection, full_name};
use crate::tree::View;
use sto_core::intern::{Context, NodeIx, SelfCosts, SliceCost, SliceCosts, SliceGrid};
use sto_core::model::MetricSeries;
use sto_core::store::{Loaded, LoadedSlices, Snapshot, StoredProfile};
use sto_core::units::{Cost, SampleType};

/// A run, with what each stack cost in each context and slice, and its metrics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOverTime {
    /// Its stacks, and what they cost over all of its time.
    pub view: View,
    /// Number of the runs that were selected, of which it is the newest.
    pub runs: usize,
    /// The contexts that costs name.
    pub(super) contexts: Vec<Context>,
    /// Metrics that were recorded beside the stacks.
    pub(super) traced: Vec<MetricSeries>,
    slices: SliceGrid,
    /// Costs by sample type of the profile.
    costs: Vec<SliceCosts>,
    /// By sample type of the view, indices in `costs`.
    columns: Vec<Vec<usize>>,
    /// For each node that costs name, that of the view.
    node_of: Vec<NodeIx>,
}

impl RunOverTime {
    /// Loads the newest run of a selection; averages are no runs.
    ///
    /// # Errors
    /// Where there is none, its costs were not kept by time, or the store cannot be read.
    pub fn load(store: &Snapshot, selection: Selection) -> Result<RunOverTime, TimelineError> {
        let build = || full_name(&selection.build);
        let runs = selection.profiles.iter();
        let runs: Vec<&StoredProfile> =
            runs.filter(|stored| !stored.profile.is_average()).collect();
        let newest = runs
            .last()
            .ok_or_else(|| TimelineError::NoRun { build: build() })?;
        let loaded = store.load_slices(newest.id)?;
        // One slice is for threads and labels, and says nothing of time.
        let loaded = loaded.filter(|loaded| loaded.slices.grid.count().get() > 1);
        let loaded = loaded.ok_or_else(|| TimelineError::NoSlices {
            build: build(),
            profile: newest.id,
        })?;
        let (runs, newest) = (runs.len(), (*newest).clone());
        let selection = Selection::new(selection.build, vec![newest]);
        Ok(RunOverTime::new(selection, loaded, runs))
    }

    fn new(selection: Selection, loaded: LoadedSlices, runs: usize) -> RunOverTime {
        let LoadedSlices {
            frames,
            tree,
            slices,
            ..
        } = loaded;
        let node_of = tree.nodes().collect();
        let whole = |costs: &SliceCosts| {
            let mut sums = vec![Cost::ZERO; tree.len()];
            for cost in costs.iter() {
                sums[cost.node.get()] += cost.cost;
            }
            let sums = tree.nodes().zip(sums);
            sums.filter(|(_, cost)| !cost.is_zero())
                .collect::<SelfCosts>()
        };
        let costs = vec![slices.costs.iter().map(whole).collect()];
        let types = selection.profiles[0].profile.sample_types.clone();
        let view = View::from_loaded(
            selection,
            Loaded {
                frames,
                tree,
                costs,
            },
        );
        let mut columns = vec![Vec::new(); view.sample_types.len()];
        let of_run = SampleType::columns(&types, &view.sample_types);
        for (ix, column) in of_run.into_iter().enumerate() {
            if let Some(column) = column {
                columns[column].push(ix);
            }
        }
        RunOverTime {
            view,
            runs,
            contexts: slices.contexts,
            traced: Vec::new(),
            slices: slices.grid,
            costs: slices.costs,
            columns,
            node_of,
        }
    }

    /// The same without inlined frames: what they cost belongs to the function that has their code.
    #[must_use]
    pub fn without_inlined(mut self) -> RunOverTime {
        let (view, moved_to) = self.view.moved_from_inlined();
        self.view = view;
        for node in &mut self.node_of {
            *node = moved_to[node.get()];
        }
        self
    }

    /// How its time is cut.
    pub fn slices(&self) -> SliceGrid {
        self.slices
    }

    /// Its slices as a grid.
    pub fn grid(&self) -> Grid {
        Grid::of(self.slices)
    }

    /// What was done in each context and slice, with nodes of the view, in one sample type of the view.
    pub fn costs(&self, sample_type: usize) -> impl Iterator<Item = SliceCost> + '_ {
        let columns = self.columns.get(sample_type).into_iter().flatten();
        let costs = columns.flat_map(|&ix| self.costs[ix].iter());
        costs.map(|cost| SliceCost {
            node: self.node_of[cost.node.get()],
            ..cost
        })
    }

    /// What is counted: the value, or the samples where nothing has a value.
    pub(super) fn counted(&self, sample_type: usize) -> fn(Cost) -> f64 {
        match self.counts_samples(sample_type) {
            false => |cost| cost.value as f64,
            true => |cost| cost.samples as f64,
        }
    }

    /// Whether nothing has a value.
    pub(super) fn counts_samples(&self, sample_type: usize) -> bool {
        let costs = self.view.runs[0].get(sample_type).into_iter().flatten();
        costs.map(|(_, cost)| cost.value).all(|value| value == 0)
    }
}
