//! The series of a function over the runs of a history.

use super::LevelShift;
use crate::answer::Answer;
use crate::history::{FunctionIx, History, HistoryFunction, HistorySubject, RunSummary};
use crate::series::{ChangeOptions, change_points_of_builds, expected};
use crate::tree::share;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use sto_core::units::Cost;

/// The unit of observation of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Observation {
    /// A run.
    #[default]
    Run,
    /// All runs of a build together.
    Build,
}

/// The number that is observed in each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Observed {
    /// The share of all samples.
    #[default]
    Share,
    /// The cost in the sample type's unit; the mean of the runs if a build is observed.
    Cost,
}

/// The series of a function, or of a whole program, over the runs of a history.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionSeries {
    /// The runs.
    pub history: HistorySubject,
    /// The matching functions: one key, possibly in several modules, or all that match a regular
    /// expression. A sample counts once, whichever of them its stack contains. Empty for a whole program.
    pub functions: Vec<HistoryFunction>,
    /// The unit of observation.
    pub by: Observation,
    /// The observed number, which expectations and level shifts are of.
    pub observed: Observed,
    /// Maximum number of observations before a build that its expectation is based on.
    pub window: usize,
    /// The observations, oldest first.
    pub points: Vec<SeriesPoint>,
    /// Level shifts.
    pub changes: Vec<LevelShift>,
}

impl Answer for FunctionSeries {
    const SCHEMA: &'static str = "sto.series/1";
}

impl FunctionSeries {
    /// Returns the distinct keys of the functions, in order.
    pub(crate) fn keys(&self) -> Vec<&str> {
        let keys: BTreeSet<&str> = self.functions.iter().map(|f| &*f.function).collect();
        keys.into_iter().collect()
    }
}

/// One observation.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SeriesPoint {
    /// The run, or the first run of the build.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Samples whose stacks contain the function, each counted once.
    pub samples: u64,
    /// Value of these samples, in the sample type's unit.
    pub value: u64,
    /// Share of these samples in the cost of all samples, from 0 to 1.
    pub share: f64,
    /// Mean value of a run.
    pub cost: f64,
    /// Mean of the observations before its build; `None` if there are fewer than two.
    pub mean: Option<f64>,
    /// Two standard deviations below the mean, and at least 0.
    pub low: Option<f64>,
    /// Two standard deviations above the mean; a share is at most 1.
    pub high: Option<f64>,
}

impl SeriesPoint {
    /// Returns `true` if the observed number is within its band, or if there is no band.
    pub(crate) fn is_within_band(&self, observed: Observed) -> bool {
        let number = self.observed(observed);
        let above = self.low.is_none_or(|low| low <= number);
        above && self.high.is_none_or(|high| number <= high)
    }

    /// Returns the observed number.
    pub(crate) fn observed(&self, observed: Observed) -> f64 {
        match observed {
            Observed::Share => self.share,
            Observed::Cost => self.cost,
        }
    }
}

/// Options of a series.
#[derive(Clone, Copy, Debug)]
pub struct SeriesOptions {
    /// The unit of observation.
    pub by: Observation,
    /// The observed number.
    pub observed: Observed,
    /// Number of observations before each one from which it is predicted.
    pub window: usize,
}

/// The cost of functions in one or several runs.
struct RunsCost {
    first: RunSummary,
    runs: usize,
    cost: Cost,
    whole: Cost,
}

/// Computes the series of functions over the runs of a history, or of the whole program.
pub fn series(
    history: &History,
    functions: Option<&[FunctionIx]>,
    options: SeriesOptions,
) -> FunctionSeries {
    let SeriesOptions {
        by,
        observed: number,
        window,
    } = options;
    let totals = match functions {
        Some(functions) => history.totals_of(functions),
        None => history.runs.iter().map(|run| run.whole).collect(),
    };
    let mut observed: Vec<RunsCost> = Vec::new();
    let mut builds: HashMap<&str, usize> = HashMap::new();
    for (run, total) in history.runs.iter().zip(totals) {
        let index = match by {
            Observation::Build => *builds.entry(&run.build.version).or_insert(observed.len()),
            Observation::Run => observed.len(),
        };
        match observed.get_mut(index) {
            Some(of_build) => {
                of_build.runs += 1;
                of_build.cost += total;
                of_build.whole += run.whole;
            }
            None => observed.push(RunsCost {
                first: run.into(),
                runs: 1,
                cost: total,
                whole: run.whole,
            }),
        }
    }
    let points = observed.into_iter().map(|observed| SeriesPoint {
        samples: observed.cost.samples,
        value: observed.cost.value,
        share: share(observed.cost, observed.whole),
        cost: observed.cost.value as f64 / observed.runs as f64,
        run: observed.first,
        mean: None,
        low: None,
        high: None,
    });
    let mut points: Vec<SeriesPoint> = points.collect();
    let numbers: Vec<f64> = points.iter().map(|point| point.observed(number)).collect();
    // The indices of each build's observations. If there is only one build, each observation counts
    // as a build.
    let builds = match by {
        Observation::Run => history.observations(),
        Observation::Build => (0..numbers.len()).map(|build| build..build + 1).collect(),
    };
    let most = match number {
        Observed::Share => 1.0,
        Observed::Cost => f64::INFINITY,
    };
    for (point, expected) in points.iter_mut().zip(expected(&numbers, &builds, window)) {
        point.mean = expected.map(|expected| expected.mean);
        point.low = expected.map(|expected| expected.band().0.max(0.0));
        point.high = expected.map(|expected| expected.band().1.min(most));
    }
    let of_builds: Vec<&[f64]> = builds.iter().map(|runs| &numbers[runs.clone()]).collect();
    let mut changes = change_points_of_builds(
        &of_builds,
        ChangeOptions {
            least_variance: sampling_variance(&points, number),
            ..ChangeOptions::default()
        },
    );
    for change in &mut changes {
        change.at = builds[change.at].start;
    }
    FunctionSeries {
        history: history.into(),
        functions: functions
            .into_iter()
            .flatten()
            .map(|&function| history.functions[function.get()].clone())
            .collect(),
        by,
        observed: number,
        window,
        changes: changes
            .iter()
            .map(|change| LevelShift::new(change, points[change.at].run.clone()))
            .collect(),
        points,
    }
}

/// Returns the mean variance due to sampling. A count of k samples has the variance k, so a share or cost s of k
/// samples has the variance s² / k.
fn sampling_variance(points: &[SeriesPoint], observed: Observed) -> f64 {
    let sampled = points.iter().filter(|point| point.samples > 0);
    let sum: f64 = sampled
        .map(|point| point.observed(observed).powi(2) / point.samples as f64)
        .sum();
    sum / points.len().max(1) as f64
}
