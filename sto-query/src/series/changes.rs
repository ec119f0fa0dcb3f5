//! Where a series changes: E-divisive means with the significance test of Hunter.
//!
//! Sources: Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of
//! Multivariate Data (2014), for the divergence; Fleming et al., Hunter: Using Change Point Detection
//! to Hunt for Performance Regressions (2023), for windows, Student's t-test in place of
//! permutations, and weak change points that are merged. Apache Otava is Hunter's successor.

use crate::history::RunSummary;
use serde::Serialize;
use std::ops::Range;
use sto_stats::{BuildRuns, levels_differ};

/// What is taken for a change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangeOptions {
    /// Number of observations that are looked at together; fewer than 2 are taken for 2. Windows overlap by half.
    pub window: usize,
    /// Largest p of a change.
    pub max_p: f64,
    /// Least change of the mean, relative to the mean before.
    pub min_change: f64,
    /// Variance that every observation has at least, whatever a few of them happen to show: that of
    /// sampling, where it is known.
    pub least_variance: f64,
}

impl Default for ChangeOptions {
    /// Otava's: 50 observations, p of at most 0.001, a change of any size.
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
    /// Place of the first observation after the change.
    pub at: usize,
    /// Mean from the change before to this one.
    pub before: f64,
    /// Mean from this change to the next.
    pub after: f64,
    /// Probability of means at least as far apart if nothing had changed; see [`levels_differ`].
    pub p: f64,
    /// Number of runs that the change rests on: from it to the next, or to the end.
    pub(crate) runs: usize,
}

impl ChangePoint {
    /// The change between the piece that ends before an index and the one that begins there.
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
            // Of two observations nobody knows how far apart they happen to be.
            p: levels_differ(left, right, least_variance).unwrap_or(1.0),
            runs: right.iter().map(|runs| runs.len()).sum(),
        }
    }

    /// The change of the mean, relative to the mean before; infinite from nothing.
    pub(crate) fn relative(&self) -> f64 {
        match (self.after - self.before).abs() {
            0.0 => 0.0,
            change => change / self.before.abs(),
        }
    }
}

/// An observation that is not a finite number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("observation {at} is {value}: a series is of finite numbers")]
#[non_exhaustive]
pub struct NotFinite {
    /// Index of the first such observation.
    pub at: usize,
    /// What it is.
    pub(crate) value: f64,
}

/// The points at which a series changes, in its order. Deterministic; for n observations it takes
/// n x `window`^2 steps at most, times the number of changes in a window.
///
/// # Errors
/// Where an observation is infinite or NaN.
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

/// The same where an observation is a build, of one or more runs, each a finite number: its mean says where
/// a change is, and all of its runs whether it is one.
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

/// The p of weak changes: ten times that of changes, where that is still rare.
fn relaxed(max_p: f64) -> f64 {
    match max_p {
        ..0.05 => max_p * 10.0,
        ..0.5 => max_p * 2.0,
        _ => max_p,
    }
}

/// Places where the series may change, found window by window: what lies far away does not blur them.
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

/// E-divisive: the index with the largest divergence, then those within the pieces that it leaves, as
/// long as they are significant.
fn divide(means: &[f64], builds: BuildRuns, options: ChangeOptions) -> Vec<usize> {
    let distances = Distances::of(means);
    let mut indices: Vec<usize> = Vec::new();
    loop {
        let pieces = pieces(&indices, means.len());
        let candidates = pieces
            .iter()
            .filter_map(|piece| distances.widest(piece.clone()));
        // The first of equals.
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

/// The pieces between these indices.
fn pieces(indices: &[usize], end: usize) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(indices.iter().copied());
    let ends = indices.iter().copied().chain([end]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Leaves out the weakest change, and tests its neighbours anew, until all are changes.
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

/// Sums of distances between observations, over any rectangle of pairs at once.
struct Distances {
    /// `sums[i * (n + 1) + j]`: over all pairs of one of the first i and one of the first j.
    sums: Vec<f64>,
    row: usize,
}

impl Distances {
    fn of(series: &[f64]) -> Distances {
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

    /// The mean distance of two observations of a range; 0 of one alone.
    fn within(&self, range: &Range<usize>) -> f64 {
        let pairs = range.len() as f64 * (range.len() as f64 - 1.0);
        if pairs == 0.0 {
            return 0.0;
        }
        self.between(range, range) / pairs
    }

    /// The largest divergence of what comes before an index of a piece and what comes after it, there or
    /// up to some later index, and the index; `None` in a piece of one.
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

/// A shift of a series to another level, where it stays until the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LevelShift {
    /// Place of the first observation after the change, counted from 0.
    pub at: usize,
    /// The run that observation is of, or the first run of its build.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Mean from the change before to this one.
    pub before: f64,
    /// Mean from this change to the next.
    pub after: f64,
    /// Probability of means at least as far apart if nothing had changed.
    pub p: f64,
    /// Number of runs that the change rests on: from it to the next, or to the end.
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
