//! How far each function of one run is from what the runs before it lead to expect.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), section 6.1 and
//! appendix A.1.

use super::{ChangeOptions, ChangePoint, Expected, change_points};
use crate::history::{FunctionIx, History};
use rayon::prelude::*;
use serde::Serialize;
use std::ops::RangeInclusive;

/// What [`scores`] looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreOptions {
    /// Number of runs before the judged one that tell what to expect, at least 2.
    pub window: usize,
    /// Functions with a smaller share of every run that is looked at are left out.
    pub min_share: f64,
    /// What is taken for a change.
    pub changes: ChangeOptions,
}

impl Default for ScoreOptions {
    fn default() -> Self {
        ScoreOptions {
            window: 10,
            min_share: 0.005,
            changes: ChangeOptions::default(),
        }
    }
}

/// Whether a function is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Before, and in the judged run.
    Known,
    /// In the judged run alone.
    New,
    /// Before, but not in the judged run.
    Gone,
}

impl Status {
    /// The word that tables show; none for what is known.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Status::Known => "",
            Status::New => "new",
            Status::Gone => "gone",
        }
    }

    pub(crate) fn of(expected: f64, actual: f64) -> Status {
        match (expected > 0.0, actual > 0.0) {
            (true, false) => Status::Gone,
            (false, true) => Status::New,
            _ => Status::Known,
        }
    }
}

/// One function of the judged run.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The function.
    pub function: FunctionIx,
    /// Its samples in every run of the history, oldest first; each stack counts once.
    pub samples: Vec<f64>,
    /// What the window leads to expect; runs without the function count as zero.
    pub expected: Expected,
    /// Its samples in the judged run.
    pub actual: f64,
    /// How far that is from what is expected; see [`score`].
    pub score: f64,
    /// Whether it is there.
    pub status: Status,
    /// Where its samples changed for good, over the whole history.
    pub changes: Vec<ChangePoint>,
}

impl Score {
    /// The largest of the changes, up or down, in samples; 0 without any.
    pub fn largest_change(&self) -> f64 {
        let changes = self.changes.iter();
        let sizes = changes.map(|change| (change.after - change.before).abs());
        sizes.fold(0.0, f64::max)
    }
}

/// (actual - mean) / deviation of samples.
///
/// Where the window does not vary at all, the thesis says 0, and a function that is new would never be
/// seen; here the deviation is then what sampling alone makes of such a mean: its square root, and at
/// least one sample.
pub fn score(actual: f64, expected: Expected) -> f64 {
    let deviation = match expected.deviation {
        0.0 => expected.mean.sqrt().max(1.0),
        deviation => deviation,
    };
    (actual - expected.mean) / deviation
}

/// Scores the functions of the run at this place of a history against the runs before it: highest
/// score first, then by function. Empty where fewer than two runs come before it.
///
/// # Panics
/// If there is no such run.
pub fn scores(history: &History, judged: usize, options: ScoreOptions) -> Vec<Score> {
    let first = judged.saturating_sub(options.window);
    if judged - first < 2 {
        return Vec::new();
    }
    let functions = functions_that_matter(history, first..=judged, options.min_share);
    let runs = history.samples_of(&functions);
    let mut scores: Vec<Score> = functions
        .into_par_iter()
        .enumerate()
        .filter_map(|(place, function)| {
            let samples: Vec<f64> = runs.iter().map(|run| run[place]).collect();
            let expected = Expected::of(&samples[first..judged])?;
            let actual = samples[judged];
            let mean = samples.iter().sum::<f64>() / samples.len() as f64;
            Some(Score {
                function,
                expected,
                actual,
                score: score(actual, expected),
                status: Status::of(expected.mean, actual),
                changes: change_points(
                    &samples,
                    ChangeOptions {
                        // Counts vary by chance at least as Poisson's do.
                        least_variance: mean,
                        ..options.changes
                    },
                ),
                samples,
            })
        })
        .collect();
    scores.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(a.function.cmp(&b.function))
    });
    scores
}

/// The functions that have at least this share of one of these runs.
fn functions_that_matter(
    history: &History,
    runs: RangeInclusive<usize>,
    min_share: f64,
) -> Vec<FunctionIx> {
    let mut matters = vec![false; history.functions.len()];
    for run in runs {
        let least = min_share * history.runs[run].whole.samples as f64;
        for (matters, total) in matters.iter_mut().zip(history.totals(run)) {
            *matters |= total.samples > 0 && total.samples as f64 >= least;
        }
    }
    let functions = (0..matters.len()).filter(|&function| matters[function]);
    functions.map(FunctionIx::new).collect()
}
