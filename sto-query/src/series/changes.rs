//! Detects changes in a series: E-divisive means with the significance test of Hunter.
//!
//! Sources: Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of
//! Multivariate Data (2014), for the divergence; Fleming et al., Hunter: Using Change Point
//! Detection to Hunt for Performance Regressions (2023), for windows, Student's t-test in place of
//! permutations, and weak change points that are merged. Apache Otava is Hunter's successor.

use crate::history::RunSummary;
use serde::Serialize;
use std::ops::Range;
use sto_stats::{BuildRuns, levels_differ};

/// Options of change detection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangeOptions {
    /// Number of observations in a window, at least 2. Windows overlap by half.
    pub window: usize,
    /// Maximum p of a change.
    pub max_p: f64,
    /// Minimum change of the mean, relative to the mean before.
    pub min_change: f64,
    /// Minimum variance of an observation: the sampling variance, if known.
    pub least_variance: f64,
}

impl Default for ChangeOptions {
    /// Otava's defaults: 50 observations, p of at most 0.001, a change of any size.
    fn default() -> Self {
        ChangeOptions {
            window: 50,
            max_p: 0.001,
            min_change: 0.0,
            least_variance: 0.0,
        }
    }
}

/// A point at which a series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangePoint {
    /// Index of the first observation after the change.
    pub at: usize,
    /// Mean from the previous change to this one.
    pub before: f64,
    /// Mean from this change to the next.
    pub after: f64,
    /// Probability of means at least as far apart if nothing had changed; see [`levels_differ`].
    pub p: f64,
    /// Number of runs from this change to the next, or to the end.
    pub(crate) runs: usize,
}

impl ChangePoint {
    /// Computes the change between two adjacent ranges.
    fn between(
        builds: BuildRuns,
        (before, after): (Range<usize>, Range<usize>),
        least_variance: f64,
    ) -> ChangePoint {
        let (left, right) = (&builds[before], &builds[after.clone()]);
        let mean_of = |builds: BuildRuns| mean(&builds.concat());
        ChangePoint {
            at: after.start,
            before: mean_of(left),
            after: mean_of(right),
            // The distance between two observations cannot be tested.
            p: levels_differ(left, right, least_variance).unwrap_or(1.0),
            runs: right.iter().map(|runs| runs.len()).sum(),
        }
    }

    /// Returns the change of the mean relative to the mean before; infinite if that is zero.
    pub(crate) fn relative(&self) -> f64 {
        match (self.after - self.before).abs() {
            0.0 => 0.0,
            change => change / self.before.abs(),
        }
    }
}

/// An observation that is not a finite number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("observation {at} is {value}: a series must consist of finite numbers")]
#[non_exhaustive]
pub struct NotFinite {
    /// Index of the first such observation.
    pub at: usize,
    /// The value of that observation.
    pub(crate) value: f64,
}

/// Returns the change points of a series, in order. The result is deterministic. For n
/// observations, it takes at most n x `window`^2 steps, times the number of changes in a window.
///
/// # Errors
/// Returns an error if an observation is infinite or NaN.
pub fn change_points(
    series: &[f64],
    options: ChangeOptions,
) -> Result<Vec<ChangePoint>, NotFinite> {
    if let Some((at, &value)) = series
        .iter()
        .enumerate()
        .find(|(_, value)| !value.is_finite())
    {
        return Err(NotFinite { at, value });
    }
    let each: Vec<&[f64]> = series.chunks(1).collect();
    Ok(change_points_of_builds(&each, options))
}

/// Like [`change_points`], for observations that are builds of one or more runs, each a finite
/// number. The means of builds locate changes, and all of their runs are tested.
pub(crate) fn change_points_of_builds(
    builds: BuildRuns,
    options: ChangeOptions,
) -> Vec<ChangePoint> {
    let options = ChangeOptions {
        window: options.window.max(2),
        ..options
    };
    let means: Vec<f64> = builds.iter().map(|runs| mean(runs)).collect();
    let weak = weak_changes(&means, builds, options);
    merge(builds, weak, options)
}

/// Returns the maximum p of weak changes: ten times the maximum p of changes, unless that is large.
fn relaxed(max_p: f64) -> f64 {
    match max_p {
        ..0.05 => max_p * 10.0,
        ..0.5 => max_p * 2.0,
        _ => max_p,
    }
}

/// Returns indices at which the series may change, found window by window, so that distant
/// observations do not blur them.
fn weak_changes(means: &[f64], builds: BuildRuns, options: ChangeOptions) -> Vec<usize> {
    let ChangeOptions { window, max_p, .. } = options;
    let weak = ChangeOptions {
        max_p: relaxed(max_p),
        ..options
    };
    let mut indices = Vec::new();
    let mut start = 0;
    while start < means.len() {
        let end = (start + window).min(means.len());
        let found = divide(&means[start..end], &builds[start..end], weak);
        indices.extend(found.iter().map(|index| start + index));
        start = match found.last() {
            Some(last) => (start + window / 2).max(start + last),
            None => start + window / 2,
        };
    }
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Divides a window by E-divisive: at the index with the largest divergence, and then within the
/// resulting pieces, as long as changes are significant.
fn divide(means: &[f64], builds: BuildRuns, options: ChangeOptions) -> Vec<usize> {
    let distances = Distances::new(means);
    let mut indices: Vec<usize> = Vec::new();
    loop {
        let pieces = pieces(&indices, means.len());
        let candidates = pieces
            .iter()
            .filter_map(|piece| distances.widest(piece.clone()));
        // The first of equals is kept.
        let best = candidates.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((_, index)) = best else {
            return indices;
        };
        let piece = pieces.into_iter().find(|piece| piece.contains(&index));
        let piece = piece.expect("a candidate is within a piece");
        let sides = (piece.start..index, index..piece.end);
        if ChangePoint::between(builds, sides, options.least_variance).p > options.max_p {
            return indices;
        }
        indices.push(index);
        indices.sort_unstable();
    }
}

/// Returns the ranges between these indices.
fn pieces(indices: &[usize], end: usize) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(indices.iter().copied());
    let ends = indices.iter().copied().chain([end]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Drops the weakest change and tests its neighbours again, until all changes are significant.
fn merge(builds: BuildRuns, mut indices: Vec<usize>, options: ChangeOptions) -> Vec<ChangePoint> {
    loop {
        let pieces = pieces(&indices, builds.len());
        let changes: Vec<ChangePoint> = pieces
            .windows(2)
            .map(|pair| {
                ChangePoint::between(
                    builds,
                    (pair[0].clone(), pair[1].clone()),
                    options.least_variance,
                )
            })
            .collect();
        let weakest = changes.iter().max_by(|a, b| a.p.total_cmp(&b.p));
        let smallest = changes
            .iter()
            .min_by(|a, b| a.relative().total_cmp(&b.relative()));
        let out = weakest
            .filter(|weakest| weakest.p > options.max_p)
            .or(smallest.filter(|smallest| smallest.relative() < options.min_change));
        match out.map(|out| out.at) {
            Some(at) => indices.retain(|&index| index != at),
            None => return changes,
        }
    }
}

/// Cumulative sums of distances between observations, for sums over any rectangle of pairs.
struct Distances {
    /// `sums[i * (n + 1) + j]` is the sum over all pairs of one of the first i and one of the first
    /// j observations.
    sums: Vec<f64>,
    row: usize,
}

impl Distances {
    fn new(series: &[f64]) -> Distances {
        let row = series.len() + 1;
        let mut sums = vec![0.0; row * row];
        for (i, a) in series.iter().enumerate() {
            let mut of_row = 0.0;
            for (j, b) in series.iter().enumerate() {
                of_row += (a - b).abs();
                sums[(i + 1) * row + j + 1] = sums[i * row + j + 1] + of_row;
            }
        }
        Distances { sums, row }
    }

    fn between(&self, a: &Range<usize>, b: &Range<usize>) -> f64 {
        let at = |i: usize, j: usize| self.sums[i * self.row + j];
        at(a.end, b.end) - at(a.start, b.end) - at(a.end, b.start) + at(a.start, b.start)
    }

    /// Returns the mean distance between two observations of a range; 0 for a single one.
    fn within(&self, range: &Range<usize>) -> f64 {
        let pairs = range.len() as f64 * (range.len() as f64 - 1.0);
        if pairs == 0.0 {
            return 0.0;
        }
        self.between(range, range) / pairs
    }

    /// Returns the largest divergence between the observations before an index and those from it up
    /// to some end, with the index; `None` for a single observation.
    fn widest(&self, piece: Range<usize>) -> Option<(f64, usize)> {
        let mut widest = None;
        for index in piece.start + 1..piece.end {
            let before = piece.start..index;
            let within_before = self.within(&before);
            for end in index + 1..=piece.end {
                let after = index..end;
                let (m, n) = (before.len() as f64, after.len() as f64);
                let across = 2.0 / (m * n) * self.between(&before, &after);
                let divergence = m * n / (m + n) * (across - within_before - self.within(&after));
                if widest.is_none_or(|(best, _)| divergence > best) {
                    widest = Some((divergence, index));
                }
            }
        }
        widest
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// A shift of a series to another level, which lasts until the next shift.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LevelShift {
    /// Index of the first observation after the change, counted from 0.
    pub at: usize,
    /// The run of that observation, or the first run of its build.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Mean from the previous change to this one.
    pub before: f64,
    /// Mean from this change to the next.
    pub after: f64,
    /// Probability of means at least as far apart if nothing had changed.
    pub p: f64,
    /// Number of runs from this change to the next, or to the end.
    pub runs: usize,
}

impl LevelShift {
    pub(crate) fn new(change: &ChangePoint, run: RunSummary) -> Self {
        LevelShift {
            at: change.at,
            run,
            before: change.before,
            after: change.after,
            p: change.p,
            runs: change.runs,
        }
    }
}
