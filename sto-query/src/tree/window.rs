//! Views of a part of their runs' time.

use super::contexts::Nodes;
use super::run_window::RunWindow;
use super::{RunSlices, View};
use crate::select::full_name;
use crate::text::{printable, seconds};
use serde::{Deserialize, Serialize};
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::{Snapshot, StoreError, StoredProfile};
use sto_core::tree::{SelfCosts, SliceGrid, merge_equal_nodes};
use sto_core::units::Nanoseconds;

/// A part of the time of each run, counted from its first sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Window {
    /// From one time to another, or to the end of the run.
    Time {
        /// Begin.
        from: Nanoseconds,
        /// End; the end of the run if `None`.
        to: Option<Nanoseconds>,
    },
    /// The complement of [`Window::Time`].
    Rest {
        /// Begin of the part that is left out.
        from: Nanoseconds,
        /// End of the part that is left out; the end of the run if `None`.
        to: Option<Nanoseconds>,
    },
    /// A phase, by its number in the list of the run's phases, from 1.
    Phase(usize),
}

/// Errors of selecting a part of a run's time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// The window ends before or where it begins.
    #[error("the window from {} to {} s is empty: it must end after it begins", exact(*.from), exact(*.to))]
    Empty {
        /// Requested begin.
        from: Nanoseconds,
        /// Requested end.
        to: Nanoseconds,
    },
    /// The run has no time slices.
    #[error("run {profile:.12} of {} was stored without slices of its time", printable(.build))]
    NoSlices {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
    },
    /// The samples of a recording have no times.
    #[error("{}: its samples have no times, so no part of its time can be selected", printable(.file))]
    NoTime {
        /// The file.
        file: String,
    },
    /// The run ends before the window begins.
    #[error("{}: run {profile:.12} ends after {}, so it has nothing from {} s on", printable(.build), seconds(*.duration), exact(*.from))]
    Outside {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
        /// Begin of the window.
        from: Nanoseconds,
        /// Duration of the run.
        duration: Nanoseconds,
    },
    /// The complement of the window was requested, but the window covers the whole run.
    #[error("{}: the window covers all of run {profile:.12}, which leaves nothing to compare it with", printable(.build))]
    NoRest {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
    },
    /// The window is shorter than half a slice, or lies within one.
    #[error("{}: from {} to {} s is too short for run {profile:.12}, which was cut into slices of {}: take more", printable(.build), exact(*.from), exact(*.to), seconds(*.slice))]
    TooFine {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
        /// Requested begin.
        from: Nanoseconds,
        /// Requested end.
        to: Nanoseconds,
        /// Duration of a slice.
        slice: Nanoseconds,
    },
    /// The run has fewer phases.
    #[error("{}: run {profile:.12} has {phases} phase{}, so there is no phase {phase}", printable(.build), if *.phases == 1 { "" } else { "s" })]
    NoPhase {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
        /// The requested number.
        phase: usize,
        /// Number of phases of the run.
        phases: usize,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WindowError {
    /// Returns the remedy, if there is one.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            WindowError::NoSlices { .. } => Some(Hint::SliceTime),
            WindowError::Store(error) => error.hint(),
            _ => None,
        }
    }
}

/// A run of a view from which a window is selected.
pub(crate) struct WholeRun<'a> {
    pub(crate) view: &'a View,
    profile: ProfileId,
    pub(crate) slices: &'a RunSlices,
}

impl<'a> WholeRun<'a> {
    /// Returns the only run of a view, with its slices.
    pub(crate) fn new(view: &'a View, slices: &'a RunSlices) -> WholeRun<'a> {
        let profile = view.selection.profiles[0].id;
        WholeRun {
            view,
            profile,
            slices,
        }
    }

    /// Returns a phase, given the borders of all phases as slices.
    ///
    /// # Errors
    ///
    /// Returns an error if there are fewer phases.
    pub(crate) fn phase(&self, phase: usize, borders: &[u32]) -> Result<RunWindow, WindowError> {
        let slices = phase
            .checked_sub(1)
            .and_then(|ix| borders.windows(2).nth(ix));
        let slices = slices.ok_or_else(|| WindowError::NoPhase {
            build: full_name(&self.view.selection.build),
            profile: self.profile.to_string(),
            phase,
            phases: borders.len() - 1,
        })?;
        Ok(RunWindow::new(self.slices.grid, slices[0]..slices[1]))
    }

    /// Returns the slices between two times, each rounded to the nearest border of slices.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no slices between them.
    pub(crate) fn between(
        &self,
        from: Nanoseconds,
        to: Option<Nanoseconds>,
    ) -> Result<RunWindow, WindowError> {
        let grid = self.slices.grid;
        let duration = grid.duration();
        let build = full_name(&self.view.selection.build);
        let profile = self.profile.to_string();
        let end = to.unwrap_or(duration).min(duration);
        if let Some(to) = to.filter(|&to| to <= from) {
            return Err(WindowError::Empty { from, to });
        }
        if from >= duration {
            return Err(WindowError::Outside {
                build,
                profile,
                from,
                duration,
            });
        }
        let slices = nearest_border(grid, from)..nearest_border(grid, end);
        if slices.is_empty() {
            return Err(WindowError::TooFine {
                build,
                profile,
                from,
                to: end,
                slice: Nanoseconds(duration.0 / u64::from(grid.count().get())),
            });
        }
        Ok(RunWindow::new(grid, slices))
    }

    /// Returns the complement of the slices between two times.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such window, or its complement is empty.
    pub(crate) fn complement(
        &self,
        from: Nanoseconds,
        to: Option<Nanoseconds>,
    ) -> Result<RunWindow, WindowError> {
        let window = self.between(from, to)?;
        let count = self.slices.grid.count().get();
        let inner = &window.slices[0];
        let mut slices = vec![0..inner.start, inner.end..count];
        slices.retain(|slices| !slices.is_empty());
        if slices.is_empty() {
            return Err(WindowError::NoRest {
                build: full_name(&self.view.selection.build),
                profile: self.profile.to_string(),
            });
        }
        Ok(RunWindow {
            rest: true,
            slices,
            ..window
        })
    }
}

impl View {
    /// Returns the view with the costs of the windows that `choose` returns for each run. Each
    /// window becomes a run of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if `choose` does, or `store` lacks a profile or its slices.
    ///
    /// # Panics
    ///
    /// Panics if stacks were changed since the view was loaded from that store.
    pub(crate) fn restrict<E: From<WindowError>>(
        self,
        store: &Snapshot,
        mut choose: impl FnMut(&WholeRun) -> Result<Vec<RunWindow>, E>,
    ) -> Result<View, E> {
        let nodes = Nodes::new(&self);
        let mut profiles = Vec::new();
        let mut runs = Vec::new();
        let mut windows = Vec::new();
        for stored in &self.selection.profiles {
            let slices = nodes.slices(store, stored.id).map_err(WindowError::Store)?;
            // A single slice covers the whole time.
            let slices = slices.filter(|slices| slices.grid.count().get() > 1);
            let slices = slices.ok_or_else(|| WindowError::NoSlices {
                build: full_name(&self.selection.build),
                profile: stored.id.to_string(),
            })?;
            let chosen = choose(&WholeRun {
                view: &self,
                profile: stored.id,
                slices: &slices,
            })?;
            for window in chosen {
                runs.push(slices.window_costs(&window));
                profiles.push(stored.clone());
                windows.push(window);
            }
        }
        drop(nodes);
        let mut view = self;
        view.selection.profiles = profiles;
        view.runs = runs;
        view.windows = windows;
        Ok(view)
    }
}

impl View {
    /// Returns the self costs by sample type of a part of each run, summed over all runs. `part` returns the times from
    /// which and before which a slice of the run must begin. A run without slices counts as one slice.
    ///
    /// # Errors
    ///
    /// Returns an error if `store` lacks a profile, or is damaged.
    pub(crate) fn costs_between(
        &self,
        store: &Snapshot,
        part: impl Fn(&StoredProfile) -> [Nanoseconds; 2],
    ) -> Result<Vec<SelfCosts>, StoreError> {
        let nodes = Nodes::new(self);
        let mut sums = vec![SelfCosts::new(); self.sample_types.len()];
        for (stored, whole) in self.selection.profiles.iter().zip(&self.runs) {
            let [from, to] = part(stored);
            let slices = nodes.slices(store, stored.id)?;
            let costs = match slices {
                Some(slices) => {
                    let grid = slices.grid;
                    let count = grid.count().get();
                    let first = |time| (0..count).position(|slice| grid.slice_start(slice) >= time);
                    let at = |time| first(time).map_or(count, |slice| slice as u32);
                    slices.window_costs(&RunWindow::new(grid, at(from)..at(to)))
                }
                None if from == Nanoseconds(0) && to > from => whole.clone(),
                None => continue,
            };
            for (sum, costs) in sums.iter_mut().zip(costs) {
                sum.extend(costs);
            }
        }
        sums.iter_mut().for_each(merge_equal_nodes);
        Ok(sums)
    }
}

impl RunSlices {
    /// Returns the self costs by sample type in a window.
    pub(crate) fn window_costs(&self, window: &RunWindow) -> Vec<SelfCosts> {
        let column = |costs: &Vec<sto_core::tree::SliceCost>| {
            let within = costs.iter().filter(|cost| window.contains(cost.slice.0));
            let mut column: SelfCosts = within.map(|cost| (cost.node, cost.cost)).collect();
            merge_equal_nodes(&mut column);
            column
        };
        self.costs.iter().map(column).collect()
    }
}

/// Returns a time in seconds, unrounded.
fn exact(time: Nanoseconds) -> f64 {
    time.0 as f64 / 1e9
}

/// Returns the border between slices that is nearest to a time since the first sample; the later
/// one of two.
fn nearest_border(grid: SliceGrid, time: Nanoseconds) -> u32 {
    let duration = u128::from(grid.duration().0);
    let twice = 2 * u128::from(time.0.min(grid.duration().0)) * u128::from(grid.count().get());
    ((twice + duration) / (2 * duration)) as u32
}
