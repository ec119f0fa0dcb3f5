//! Views of a part of their runs' time.

use super::contexts::Nodes;
use super::run_window::RunWindow;
use super::{RunSlices, View};
use crate::select::full_name;
use crate::text::{printable, seconds};
use serde::{Deserialize, Serialize};
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::{Snapshot, StoreError};
use sto_core::tree::{SelfCosts, SliceGrid, merge_equal_nodes};
use sto_core::units::Nanoseconds;

/// A part of the time of each run, counted from its first sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Window {
    /// From one time to another, or to the end of the run.
    Time {
        /// Where it begins.
        from: Nanoseconds,
        /// Where it ends; without it, where the run does.
        to: Option<Nanoseconds>,
    },
    /// What [`Window::Time`] leaves out.
    Rest {
        /// Where the part begins that is left out.
        from: Nanoseconds,
        /// Where it ends; without it, where the run does.
        to: Option<Nanoseconds>,
    },
    /// A phase, by its number in the list of the run's phases, from 1.
    Phase(usize),
}

/// Why a part of a run's time cannot be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// It begins where it ends, or later.
    #[error("from {} to {} s there is nothing: the window has to end after it begins", exact(*.from), exact(*.to))]
    Empty {
        /// Where it is to begin.
        from: Nanoseconds,
        /// Where it is to end.
        to: Nanoseconds,
    },
    /// What was done when is not known.
    #[error("run {profile:.12} of {} was stored without slices of its time", printable(.build))]
    NoSlices {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
    },
    /// The samples of a recording have no times.
    #[error("{}: its samples have no times, so no part of its time can be taken", printable(.file))]
    NoTime {
        /// The file.
        file: String,
    },
    /// The run ends before it.
    #[error("{}: run {profile:.12} ends after {}, so it has nothing from {} s on", printable(.build), seconds(*.duration), exact(*.from))]
    Outside {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
        /// Where the window begins.
        from: Nanoseconds,
        /// How long the run took.
        duration: Nanoseconds,
    },
    /// It covers the whole run, and the rest of it is asked for.
    #[error("{}: the window covers all of run {profile:.12}, which leaves nothing to compare it with", printable(.build))]
    NoRest {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
    },
    /// It is less than half a slice, or lies within one.
    #[error("{}: from {} to {} s is too short for run {profile:.12}, which was cut into slices of {}: take more", printable(.build), exact(*.from), exact(*.to), seconds(*.slice))]
    TooFine {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
        /// Where it is to begin.
        from: Nanoseconds,
        /// Where it is to end.
        to: Nanoseconds,
        /// How long a slice is.
        slice: Nanoseconds,
    },
    /// There is no such phase.
    #[error("{}: run {profile:.12} has {phases} phase{}, so there is no phase {phase}", printable(.build), if *.phases == 1 { "" } else { "s" })]
    NoPhase {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The profile's id.
        profile: String,
        /// The number that was asked for.
        phase: usize,
        /// How many there are.
        phases: usize,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WindowError {
    /// What can be done about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            WindowError::NoSlices { .. } => Some(Hint::SliceTime),
            WindowError::Store(error) => error.hint(),
            _ => None,
        }
    }
}

/// A run of a view as a window is chosen from it.
pub(crate) struct WholeRun<'a> {
    pub(crate) view: &'a View,
    profile: ProfileId,
    pub(crate) slices: &'a RunSlices,
}

impl<'a> WholeRun<'a> {
    /// The only run of a view, with its slices.
    pub(crate) fn of(view: &'a View, slices: &'a RunSlices) -> WholeRun<'a> {
        let profile = view.selection.profiles[0].id;
        WholeRun {
            view,
            profile,
            slices,
        }
    }

    /// A phase, of those that begin and end at these slices.
    ///
    /// # Errors
    /// Where there are fewer.
    pub(crate) fn phase(&self, phase: usize, borders: &[u32]) -> Result<RunWindow, WindowError> {
        let slices = phase.checked_sub(1).and_then(|ix| borders.get(ix..ix + 2));
        let slices = slices.ok_or_else(|| WindowError::NoPhase {
            build: full_name(&self.view.selection.build),
            profile: self.profile.to_string(),
            phase,
            phases: borders.len() - 1,
        })?;
        Ok(RunWindow::of(self.slices.grid, slices[0]..slices[1]))
    }

    /// The slices between two times, each rounded to the nearest border of slices.
    ///
    /// # Errors
    /// Where there are none.
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
        Ok(RunWindow::of(grid, slices))
    }

    /// What that leaves out.
    ///
    /// # Errors
    /// Where there is no such window, or it leaves out nothing.
    pub(crate) fn rest(
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
    /// The same stacks with what they cost in a part of each run's time, which `choose` names. Other runs may
    /// come of it: one for each part.
    ///
    /// # Errors
    /// Where `choose` fails, or `store` does not have every profile with its slices.
    ///
    /// # Panics
    /// If stacks were changed since the view was loaded from that store.
    pub(crate) fn within<E: From<WindowError>>(
        self,
        store: &Snapshot,
        mut choose: impl FnMut(&WholeRun) -> Result<Vec<RunWindow>, E>,
    ) -> Result<View, E> {
        let nodes = Nodes::of(&self);
        let mut profiles = Vec::new();
        let mut runs = Vec::new();
        let mut windows = Vec::new();
        for stored in &self.selection.profiles {
            let slices = nodes.slices(store, stored.id).map_err(WindowError::Store)?;
            // A single slice is all of the time.
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
                runs.push(slices.costs_in(&window));
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

impl RunSlices {
    /// Self costs by sample type over a part of the time.
    pub(crate) fn costs_in(&self, window: &RunWindow) -> Vec<SelfCosts> {
        let column = |costs: &Vec<sto_core::tree::SliceCost>| {
            let within = costs.iter().filter(|cost| window.has(cost.slice.0));
            let mut column: SelfCosts = within.map(|cost| (cost.node, cost.cost)).collect();
            merge_equal_nodes(&mut column);
            column
        };
        self.costs.iter().map(column).collect()
    }
}

/// A time as it was asked for, in seconds.
fn exact(time: Nanoseconds) -> f64 {
    time.0 as f64 / 1e9
}

/// The border between slices that is nearest to a time since the first sample; of two, the later one.
fn nearest_border(grid: SliceGrid, time: Nanoseconds) -> u32 {
    let duration = u128::from(grid.duration().0);
    let twice = 2 * u128::from(time.0.min(grid.duration().0)) * u128::from(grid.count().get());
    ((twice + duration) / (2 * duration)) as u32
}
