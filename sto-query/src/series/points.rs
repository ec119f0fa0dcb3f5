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

/// The series of a function over the runs of a history.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionSeries {
    /// The runs.
    pub history: HistorySubject,
    /// The matching functions: one key, possibly in several modules, or all that match a regular
    /// expression. A sample counts once, whichever of them its stack contains.
    pub functions: Vec<HistoryFunction>,
    /// The unit of observation.
    pub by: Observation,
    /// Maximum number of observations before a build that its expectation is based on.
    pub window: usize,
    /// The observations, oldest first.
    pub points: Vec<SeriesPoint>,
    /// Level shifts of the share.
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
    /// Mean share of the observations before its build; `None` if there are fewer than two.
    pub mean: Option<f64>,
    /// Two standard deviations below the mean, and at least 0.
    pub low: Option<f64>,
    /// Two standard deviations above the mean, and at most 1.
    pub high: Option<f64>,
}

impl SeriesPoint {
    /// Returns `true` if the share is within the band, or if there is no band.
    pub(crate) fn is_within_band(&self) -> bool {
        let above = self.low.is_none_or(|low| low <= self.share);
        above && self.high.is_none_or(|high| self.share <= high)
    }
}

/// Computes the series of functions over the runs of a history.
pub fn series(
    history: &History,
    functions: &[FunctionIx],
    by: Observation,
    window: usize,
) -> FunctionSeries {
    let totals = history.totals_of(functions);
    let mut observed: Vec<(RunSummary, Cost, Cost)> = Vec::new();
    let mut builds: HashMap<&str, usize> = HashMap::new();
    for (run, total) in history.runs.iter().zip(totals) {
        let index = match by {
            Observation::Build => *builds.entry(&run.build.version).or_insert(observed.len()),
            Observation::Run => observed.len(),
        };
        match observed.get_mut(index) {
            Some((_, of_build, whole)) => {
                *of_build += total;
                *whole += run.whole;
            }
            None => observed.push((run.into(), total, run.whole)),
        }
    }
    let shares: Vec<f64> = observed
        .iter()
        .map(|&(_, total, whole)| share(total, whole))
        .collect();
    // The indices of each build's observations. If there is only one build, each observation counts
    // as a build.
    let builds = match by {
        Observation::Run => history.observations(),
        Observation::Build => (0..shares.len()).map(|build| build..build + 1).collect(),
    };
    let points: Vec<SeriesPoint> = observed
        .into_iter()
        .zip(&shares)
        .zip(expected(&shares, &builds, window))
        .map(|(((run, total, _), &share), expected)| SeriesPoint {
            run,
            samples: total.samples,
            value: total.value,
            share,
            mean: expected.map(|expected| expected.mean),
            low: expected.map(|expected| expected.band().0.max(0.0)),
            high: expected.map(|expected| expected.band().1.min(1.0)),
        })
        .collect();
    let of_builds: Vec<&[f64]> = builds.iter().map(|runs| &shares[runs.clone()]).collect();
    let mut changes = change_points_of_builds(
        &of_builds,
        ChangeOptions {
            least_variance: sampling_variance(&points),
            ..ChangeOptions::default()
        },
    );
    for change in &mut changes {
        change.at = builds[change.at].start;
    }
    FunctionSeries {
        history: history.into(),
        functions: functions
            .iter()
            .map(|&function| history.functions[function.get()].clone())
            .collect(),
        by,
        window,
        changes: changes
            .iter()
            .map(|change| LevelShift::new(change, points[change.at].run.clone()))
            .collect(),
        points,
    }
}

/// Returns the mean variance of the share due to sampling. A count of k samples has the variance k,
/// so a share s with k samples has the variance s² / k.
fn sampling_variance(points: &[SeriesPoint]) -> f64 {
    let sampled = points.iter().filter(|point| point.samples > 0);
    let sum: f64 = sampled
        .map(|point| point.share.powi(2) / point.samples as f64)
        .sum();
    sum / points.len().max(1) as f64
}
