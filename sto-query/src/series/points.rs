//! One function over the runs of a history.

use super::LevelShift;
use crate::answer::Answer;
use crate::history::{FunctionIx, History, HistoryFunction, HistorySubject, RunSummary};
use crate::series::{ChangeOptions, change_points_of_builds, expected};
use crate::tree::share;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use sto_core::units::Cost;

/// What one observation of a series is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Observation {
    /// A run.
    #[default]
    Run,
    /// All runs of a build, together.
    Build,
}

/// One function over the runs of a history.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionSeries {
    /// The runs.
    pub history: HistorySubject,
    /// The function; of several modules if they have one of its name, or all that fit a regular
    /// expression. A sample counts once, whichever of them its stack has.
    pub functions: Vec<HistoryFunction>,
    /// What one observation is.
    pub by: Observation,
    /// Number of observations before a build's that expectations rest on.
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
    /// The keys of the functions, each once and in order.
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
    /// The run, or the first of the build.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Samples whose stack has the function, each counted once.
    pub samples: u64,
    /// Their value, in the sample type's unit.
    pub value: u64,
    /// Their share, from 0 to 1.
    pub share: f64,
    /// Mean share of the observations before those of its build; `None` of fewer than two.
    pub mean: Option<f64>,
    /// Two standard deviations below the mean, and at least 0.
    pub low: Option<f64>,
    /// Two standard deviations above the mean, and at most 1.
    pub high: Option<f64>,
}

impl SeriesPoint {
    /// Whether it is where the observations before lead to expect it, or nothing is expected.
    pub(crate) fn is_within_band(&self) -> bool {
        let above = self.low.is_none_or(|low| low <= self.share);
        above && self.high.is_none_or(|high| self.share <= high)
    }
}

/// Follows functions over the runs of a history.
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
    // The indices of the observations that are one build, or of one build alone each of its own.
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

/// What the share varies by because it was sampled, on average: a count of k samples varies by k, and
/// is k / share of the whole.
fn sampling_variance(points: &[SeriesPoint]) -> f64 {
    let sampled = points.iter().filter(|point| point.samples > 0);
    let sum: f64 = sampled
        .map(|point| point.share.powi(2) / point.samples as f64)
        .sum();
    sum / points.len().max(1) as f64
}
