//! Computes how far each function of a build is from the expectation set by the builds before it.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), section 6.1 and
//! appendix A.1.

use super::causes::{Causes, Found};
use super::{ChangeOptions, ChangePoint, change_points_of_builds};
use crate::history::{FunctionIx, History, Judged};
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;
use sto_stats::{benjamini_hochberg, levels_differ};

/// Options of [`scores`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScoreOptions {
    /// Functions with a smaller share of every run are left out.
    pub(crate) min_share: f64,
    /// Options of change detection.
    pub(crate) changes: ChangeOptions,
}

impl Default for ScoreOptions {
    fn default() -> Self {
        ScoreOptions {
            min_share: 0.005,
            changes: ChangeOptions::default(),
        }
    }
}

/// Whether a function is new, gone or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Status {
    /// Present before and in the judged runs.
    Known,
    /// Present only in the judged runs.
    New,
    /// Present before, but not in the judged runs.
    Gone,
    /// Its cost moved from or to another function, and did not change.
    Moved,
}

impl Status {
    /// Returns the word for tables; empty for known functions.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Status::Known => "",
            Status::New => "new",
            Status::Gone => "gone",
            Status::Moved => "moved",
        }
    }

    pub(crate) fn new(expected: f64, actual: f64) -> Status {
        match (expected > 0.0, actual > 0.0) {
            (true, false) => Status::Gone,
            (false, true) => Status::New,
            _ => Status::Known,
        }
    }
}

/// The score of a function of the judged runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// The function.
    pub(crate) function: FunctionIx,
    /// Its samples in every run of the history, oldest first; each stack counts once.
    pub(crate) samples: Vec<f64>,
    /// The expectation from the window since the last level shift of its samples. Runs without the
    /// function count as zero.
    pub(crate) expected: Expected,
    /// Mean of its samples in the judged runs.
    pub(crate) actual: f64,
    /// Distance from the expectation, in standard deviations.
    pub score: f64,
    /// Probability of samples at least as far from the expectation if nothing had changed; `None`
    /// if the variance is unknown. See [`levels_differ`].
    pub(crate) p: Option<f64>,
    /// `p` adjusted for the number of judged functions (Benjamini & Hochberg).
    pub(crate) q: Option<f64>,
    /// Whether the function is new, gone or moved.
    pub(crate) status: Status,
    /// Whether it explains why a run costs more.
    pub(crate) is_cause: bool,
    /// The function that had its cost before. If the function was renamed, its samples include the samples under that name.
    pub(crate) was: Option<FunctionIx>,
    /// The function that has its cost now.
    pub(crate) is_now: Option<FunctionIx>,
    /// Level shifts of its samples, over the whole history.
    pub(crate) changes: Vec<ChangePoint>,
}

/// Accepted rate of false discoveries among functions that are reported as far from expected.
pub(crate) const FALSE_DISCOVERIES: f64 = 0.05;

impl Score {
    /// Whether the distance is significant, given the number of judged functions.
    pub(crate) fn is_far(&self) -> bool {
        self.q.is_some_and(|q| q <= FALSE_DISCOVERIES)
    }

    /// Returns what a run costs more, in samples; 0 if the cost moved.
    pub(crate) fn costs_more(&self) -> f64 {
        match self.status {
            Status::Moved => 0.0,
            _ => self.actual - self.expected.mean,
        }
    }

    /// Returns the largest change, up or down, in samples; 0 without changes.
    pub(crate) fn largest_change(&self) -> f64 {
        let changes = self.changes.iter();
        let sizes = changes.map(|change| (change.after - change.before).abs());
        sizes.fold(0.0, f64::max)
    }
}

/// Returns (actual - mean) / deviation of samples.
///
/// If the window does not vary at all, the thesis defines the score as 0, so a new function would
/// never be found. Here, the deviation is then the expected sampling deviation: the square root of
/// the mean, and at least one sample.
pub(crate) fn score(actual: f64, expected: Expected) -> f64 {
    let deviation = match expected.deviation {
        0.0 => expected.mean.sqrt().max(1.0),
        deviation => deviation,
    };
    (actual - expected.mean) / deviation
}

/// Scores the functions of the judged runs against the runs of their window. Empty if the window has fewer than two runs.
///
/// Functions that explain why a run costs more come first, in the order of a comparison's findings; then those that cost
/// more than chance explains, and then the others, each by what a run costs more; then by function.
pub fn scores(history: &History, judged: &Judged, options: ScoreOptions) -> Vec<Score> {
    if judged.window.len() < 2 {
        return Vec::new();
    }
    let causes = Causes::new(history, judged, options.min_share);
    let mut functions = functions_that_matter(history, judged.all(), options.min_share);
    functions.retain(|&function| !causes.is_old_name(function));
    let mut runs = history.samples_of(&functions);
    let found: Vec<Found> = functions.iter().map(|&f| causes.of_function(f)).collect();
    for (index, (function, found)) in functions.iter().zip(&found).enumerate() {
        if let Some(was) = found.was.filter(|_| found.renamed) {
            let totals = history.totals_of(&[*function, was]);
            for (run, total) in runs.iter_mut().zip(totals) {
                run[index] = total.samples as f64;
            }
        }
    }
    let observations = history.observations();
    let mut scores: Vec<Score> = functions
        .into_par_iter()
        .enumerate()
        .filter_map(|(index, function)| {
            let samples: Vec<f64> = runs.iter().map(|run| run[index]).collect();
            let actual = judged.judged_mean(&samples);
            // Counts have at least Poisson's variance.
            let least_variance = samples.iter().sum::<f64>() / samples.len() as f64;
            let runs_of = |builds: &[Range<usize>]| -> Vec<&[f64]> {
                builds.iter().map(|runs| &samples[runs.clone()]).collect()
            };
            let of_changes = ChangeOptions {
                least_variance,
                ..options.changes
            };
            let mut changes = change_points_of_builds(&runs_of(&observations), of_changes);
            let before = runs_of(&judged.builds);
            let of_judged = &[&samples[judged.runs.clone()]];
            let p = |builds: &[&[f64]]| levels_differ(builds, of_judged, least_variance);
            // The expectation is the window since its last change, if that is long enough to test
            // by.
            let last = change_points_of_builds(&before, of_changes).pop();
            let last = last.filter(|_| judged.restarts_at_shifts);
            let level = last.map(|last| &before[last.at..]);
            let level = level.filter(|level| level.concat().len() >= 2 && p(level).is_some());
            let level = level.unwrap_or(&before);
            let expected = Expected::from_observations(&level.concat())?;
            for change in &mut changes {
                change.at = observations[change.at].start;
            }
            let known = found[index];
            let status = if known.moved && !known.renamed {
                Status::Moved
            } else {
                Status::new(expected.mean, actual)
            };
            Some(Score {
                function,
                expected,
                actual,
                score: score(actual, expected),
                p: p(level),
                q: None,
                status,
                is_cause: false,
                was: known.was,
                is_now: known.is_now,
                changes,
                samples,
            })
        })
        .collect();
    let p_values: Vec<Option<f64>> = scores.iter().map(|score| score.p).collect();
    for (score, q) in scores.iter_mut().zip(benjamini_hochberg(&p_values)) {
        score.q = q;
    }
    let rank = |score: &Score| causes.of_function(score.function).rank;
    for score in &mut scores {
        score.is_cause = score.is_far() && rank(score).is_some();
    }
    let order = |score: &Score| {
        let costs_more = score.is_far() && score.costs_more() > 0.0;
        (
            !score.is_cause,
            rank(score).filter(|_| score.is_cause),
            !costs_more,
        )
    };
    scores.sort_by(|a, b| {
        order(a)
            .cmp(&order(b))
            .then(b.costs_more().total_cmp(&a.costs_more()))
            .then(a.function.cmp(&b.function))
    });
    scores
}

/// Returns the functions with at least this share of one of these runs.
fn functions_that_matter(history: &History, runs: Range<usize>, min_share: f64) -> Vec<FunctionIx> {
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

/// Mean and standard deviation of a window of observations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Expected {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1).
    pub deviation: f64,
}

impl Expected {
    /// Computes the expectation from observations; `None` if there are fewer than two.
    pub(crate) fn from_observations(window: &[f64]) -> Option<Expected> {
        if window.len() < 2 {
            return None;
        }
        let count = window.len() as f64;
        let mean = window.iter().sum::<f64>() / count;
        let squares: f64 = window.iter().map(|x| (x - mean).powi(2)).sum();
        Some(Expected {
            mean,
            deviation: (squares / (count - 1.0)).sqrt(),
        })
    }

    /// Returns the band from two standard deviations below the mean to two above it (Bollinger
    /// bands).
    pub fn band(&self) -> (f64, f64) {
        let half = 2.0 * self.deviation;
        (self.mean - half, self.mean + half)
    }
}

/// Returns, for each observation, the expectation from up to `window` observations before its
/// build; `None` if there are fewer than two. `builds` has the indices of each build's
/// observations, in order.
pub fn expected(series: &[f64], builds: &[Range<usize>], window: usize) -> Vec<Option<Expected>> {
    let before = |at: usize| Expected::from_observations(&series[at.saturating_sub(window)..at]);
    let of_build = |runs: &Range<usize>| vec![before(runs.start); runs.len()];
    builds.iter().flat_map(of_build).collect()
}
