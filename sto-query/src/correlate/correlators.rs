//! The eight correlators of section 5 of the paper, which measure how well one normalised series explains another.

use super::segments::{self, Sums, Times};
use serde::{Deserialize, Serialize};
use sto_stats::warp;

/// Measure of the similarity of two series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Correlator {
    /// Pearson's coefficient.
    Pearson,
    /// Spearman's coefficient.
    Spearman,
    /// Euclidean distance.
    Euclidean,
    /// Manhattan distance.
    Manhattan,
    /// Dynamic time warping.
    Dtw,
    /// Error of linear regression on the target's segments.
    SameSplits,
    /// Distance between the segment boundaries of both series.
    BestSplits,
    /// Pearson's coefficient with a pattern in place of the target.
    LinearPattern,
}

impl Correlator {
    /// All of them, in the paper's order.
    pub const ALL: [Correlator; 8] = [
        Correlator::Pearson,
        Correlator::Spearman,
        Correlator::Euclidean,
        Correlator::Manhattan,
        Correlator::Dtw,
        Correlator::SameSplits,
        Correlator::BestSplits,
        Correlator::LinearPattern,
    ];

    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Correlator::Pearson => "pearson",
            Correlator::Spearman => "spearman",
            Correlator::Euclidean => "euclidean",
            Correlator::Manhattan => "manhattan",
            Correlator::Dtw => "dtw",
            Correlator::SameSplits => "same-splits",
            Correlator::BestSplits => "best-splits",
            Correlator::LinearPattern => "linear-pattern",
        }
    }
}

/// Direction of a correlation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum Sign {
    /// Both series rise and fall together.
    #[serde(rename = "+")]
    Covaries,
    /// One series rises when the other falls.
    #[serde(rename = "-")]
    Contravaries,
}

/// A score, higher for greater similarity, and its sign.
pub(super) type SignedScore = (f64, Sign);

/// Sums products in lanes that a processor can add at once.
pub(super) fn sum_of(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_lanes.remainder().iter().zip(b_lanes.remainder());
    let rest: f64 = rest.map(|(&a, &b)| term(a, b)).sum();
    for (a, b) in a_lanes.zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Returns Pearson's coefficient of normalised series, or Spearman's if they are normalised ranks.
pub(super) fn coefficient(metric: &[f64], target: &[f64]) -> SignedScore {
    let r = sum_of(metric, target, |x, y| x * y) / metric.len() as f64;
    let sign = if r < 0.0 {
        Sign::Contravaries
    } else {
        Sign::Covaries
    };
    (r.abs().min(1.0), sign)
}

/// Returns the inverse of the smaller distance: of the metric or of its negation.
fn nearer(distance: impl Fn(f64) -> f64, rounding: f64) -> SignedScore {
    let (with, against) = (distance(1.0), distance(-1.0));
    let sign = if against < with {
        Sign::Contravaries
    } else {
        Sign::Covaries
    };
    (inverse(with.min(against), rounding), sign)
}

/// Returns the inverse of a distance, or the largest number if the distance is only a rounding error.
pub(super) fn inverse(distance: f64, rounding: f64) -> f64 {
    if distance > rounding {
        1.0 / distance
    } else {
        f64::MAX
    }
}

/// Scores by the Euclidean distance.
pub(super) fn euclidean(metric: &[f64], target: &[f64]) -> SignedScore {
    let squares = |sign: f64| sum_of(metric, target, |x, y| (sign * x - y).powi(2));
    nearer(|sign| squares(sign).sqrt(), 1e-12 * metric.len() as f64)
}

/// Scores by the sum of absolute differences.
pub(super) fn manhattan(metric: &[f64], target: &[f64]) -> SignedScore {
    let distance = |sign: f64| sum_of(metric, target, |x, y| (sign * x - y).abs());
    nearer(distance, 1e-12 * metric.len() as f64)
}

/// Scores by the error of the best warp path within a tenth of the length from the diagonal.
pub(super) fn dtw(metric: &[f64], target: &[f64]) -> SignedScore {
    let negated: Vec<f64> = metric.iter().map(|value| -value).collect();
    let distance = |sign: f64| {
        let series = if sign > 0.0 { metric } else { &negated };
        let distance = warp::distance(series, target, Some(band(metric.len())));
        // Neither series is empty or contains NaN.
        distance.unwrap_or(f64::INFINITY)
    };
    nearer(distance, 1e-12 * metric.len() as f64)
}

fn band(points: usize) -> usize {
    (points / 10).max(1)
}

/// Scores by the error of lines fitted to the metric on the target's segments.
pub(super) fn score_fixed_splits(metric: &Sums<'_>, boundaries: &[usize]) -> f64 {
    inverse(metric.error_of(boundaries), 0.0)
}

/// Scores by the distance in time between the segment boundaries of both series.
pub(super) fn score_best_splits(times: &Times, metric: &[usize], target: &[usize]) -> f64 {
    inverse(segments::distance(times, metric, target), 0.0)
}

/// Returns the number of stretches by which the metric precedes the target; negative if it follows. This is the
/// shift, by up to a tenth of the length, with the cross-correlation farthest from zero; of several, the shortest.
pub(super) fn lag(metric: &[f64], target: &[f64]) -> isize {
    let count = metric.len();
    let mut best = (0.0, 0);
    for shift in 0..=band(count).min(count - 1) {
        let before = sum_of(&metric[..count - shift], &target[shift..], |x, y| x * y).abs();
        let after = sum_of(&metric[shift..], &target[..count - shift], |x, y| x * y).abs();
        for (sum, shift) in [(before, shift as isize), (after, -(shift as isize))] {
            // Ignores improvements that are only rounding errors.
            if sum > best.0 * (1.0 + 1e-9) {
                best = (sum, shift);
            }
        }
    }
    best.1
}
