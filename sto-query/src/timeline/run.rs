//! A stored run with its slices of time.

use super::{Grid, TimelineError};
use crate::select::{Selection, full_name};
use crate::tree::{RunSlices, RunWindow, View, WholeRun, WindowError};
use std::ops::Range;
use sto_core::model::MetricSeries;
use sto_core::store::{Loaded, LoadedSlices, Snapshot, StoredProfile};
use sto_core::tree::{SampleContext, SelfCosts, SliceCost, SliceCosts, SliceGrid};
use sto_core::units::{Cost, SampleType};

/// A run, with the costs of its stacks by context and slice, and its metrics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOverTime {
    /// The stacks with their total costs.
    pub view: View,
    /// Number of selected runs; this is the newest of them.
    pub runs: usize,
    /// Metrics recorded together with the stacks.
    pub(super) traced: Vec<MetricSeries>,
    slices: RunSlices,
    /// The selected range of slices.
    pub(super) taken: Range<u32>,
}

impl RunOverTime {
    /// Loads the newest run of a selection that is not an average.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no run, if it was stored without slices, or if the store cannot be read.
    pub fn load(store: &Snapshot, selection: Selection) -> Result<RunOverTime, TimelineError> {
        let build = || full_name(&selection.build);
        let runs = selection.profiles.iter();
        let runs: Vec<&StoredProfile> =
            runs.filter(|stored| !stored.profile.is_average()).collect();
        let newest = runs
            .last()
            .ok_or_else(|| TimelineError::NoRun { build: build() })?;
        let loaded = store.load_slices(newest.id)?;
        // A single slice only holds threads and labels, not times.
        let loaded = loaded.filter(|loaded| loaded.slices.grid.count().get() > 1);
        let loaded = loaded.ok_or_else(|| TimelineError::NoSlices {
            build: build(),
            profile: newest.id,
        })?;
        let traced = store.load_metrics(newest.id)?;
        let (runs, newest) = (runs.len(), (*newest).clone());
        let selection = Selection::new(selection.build, vec![newest]);
        Ok(RunOverTime {
            traced: traced.map_or_else(Vec::new, |metrics| metrics.series),
            runs,
            ..RunOverTime::new(selection, loaded)
        })
    }

    fn new(selection: Selection, loaded: LoadedSlices) -> RunOverTime {
        let LoadedSlices {
            frames,
            tree,
            slices,
            ..
        } = loaded;
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
        // The view has the profile's stacks in the same order.
        let mut costs = vec![Vec::new(); view.sample_types.len()];
        let columns = SampleType::assign_columns(&types, &view.sample_types);
        for (column, of_type) in columns.into_iter().zip(&slices.costs) {
            if let Some(column) = column {
                costs[column].extend(of_type.iter());
            }
        }
        RunOverTime {
            view,
            runs: 1,
            traced: Vec::new(),
            taken: 0..slices.grid.count().get(),
            slices: RunSlices {
                grid: slices.grid,
                contexts: slices.contexts,
                costs,
            },
        }
    }

    /// Restricts the run to the window that `choose` returns.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such window.
    pub(crate) fn restrict(
        mut self,
        choose: impl FnOnce(&WholeRun) -> Result<RunWindow, WindowError>,
    ) -> Result<RunOverTime, WindowError> {
        let window = choose(&WholeRun::new(&self.view, &self.slices))?;
        self.view.runs = vec![self.slices.window_costs(&window)];
        for costs in &mut self.slices.costs {
            costs.retain(|cost| window.contains(cost.slice.0));
        }
        let ends = window.slices.first().zip(window.slices.last());
        self.taken = ends.map_or(0..1, |(first, last)| first.start..last.end);
        self.view.windows = vec![window];
        Ok(self)
    }

    /// Returns the run without inlined frames; their costs go to the functions that contain them.
    #[must_use]
    pub fn without_inlined(mut self) -> RunOverTime {
        let (view, moved_to) = self.view.merge_inlined();
        self.view = view;
        for cost in self.slices.costs.iter_mut().flatten() {
            cost.node = moved_to[cost.node.get()];
        }
        self
    }

    /// Grid of all slices of the run.
    pub fn slices(&self) -> SliceGrid {
        self.slices.grid
    }

    /// Grid of the selected slices.
    pub fn grid(&self) -> Grid {
        Grid::from_slices(self.slices.grid, &self.taken)
    }

    /// The threads and labels of costs.
    pub(super) fn contexts(&self) -> &[SampleContext] {
        &self.slices.contexts
    }

    /// Costs by context and slice of the whole run, with nodes of the view, in one sample type.
    pub fn costs(&self, sample_type: usize) -> &[SliceCost] {
        self.slices
            .costs
            .get(sample_type)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the function that extracts the counted number: the value, or the samples if nothing has a value.
    pub(super) fn cost_number(&self, sample_type: usize) -> fn(Cost) -> f64 {
        if self.counts_samples(sample_type) {
            |cost| cost.samples as f64
        } else {
            |cost| cost.value as f64
        }
    }

    /// Returns `true` if nothing has a value.
    pub(super) fn counts_samples(&self, sample_type: usize) -> bool {
        let costs = self.view.runs[0].get(sample_type).into_iter().flatten();
        costs.map(|(_, cost)| cost.value).all(|value| value == 0)
    }
}
