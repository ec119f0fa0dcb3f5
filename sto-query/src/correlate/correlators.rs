//! The eight correlators of the paper's section 5: how well one normalised series explains another.

use super::segments::{self, Sums, Times};
use serde::{Deserialize, Serialize};
use sto_stats::warp;

/// How series are compared.
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
    /// The error of lines on the target's segments.
    SameSplits,
    /// The distance of the boundaries of both series' segments.
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

    /// The name that serde has for it.
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

/// Whether a series goes with another, or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum Sign {
    /// Both rise and fall together.
    #[serde(rename = "+")]
    Covaries,
    /// One rises where the other falls.
    #[serde(rename = "-")]
    Contravaries,
}

/// A score, the higher the closer, and its sign.
pub(super) type Scored = (f64, Sign);

/// Sums of products, in lanes that a processor adds at once.
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

/// Pearson's coefficient of normalised series; of their ranks, Spearman's.
pub(super) fn coefficient(metric: &[f64], target: &[f64]) -> Scored {
    let r = sum_of(metric, target, |x, y| x * y) / metric.len() as f64;
    let sign = if r < 0.0 {
        Sign::Contravaries
    } else {
        Sign::Covaries
    };
    (r.abs().min(1.0), sign)
}

/// The inverse of the smaller distance, of the metric or its negation.
fn nearer(distance: impl Fn(f64) -> f64, rounding: f64) -> Scored {
    let (with, against) = (distance(1.0), distance(-1.0));
    let sign = if against < with {
        Sign::Contravaries
    } else {
        Sign::Covaries
    };
    (inverse(with.min(against), rounding), sign)
}

/// The largest number for what is 0 but for rounding.
pub(super) fn inverse(distance: f64, rounding: f64) -> f64 {
    if distance > rounding {
        1.0 / distance
    } else {
        f64::MAX
    }
}

/// By the square root of the sum of squared differences.
pub(super) fn euclidean(metric: &[f64], target: &[f64]) -> Scored {
    let squares = |sign: f64| sum_of(metric, target, |x, y| (sign * x - y).powi(2));
    nearer(|sign| squares(sign).sqrt(), 1e-12 * metric.len() as f64)
}

/// By the sum of absolute differences.
pub(super) fn manhattan(metric: &[f64], target: &[f64]) -> Scored {
    let distance = |sign: f64| sum_of(metric, target, |x, y| (sign * x - y).abs());
    nearer(distance, 1e-12 * metric.len() as f64)
}

/// By the error of the best warp path within a tenth of the length from the diagonal.
pub(super) fn dtw(metric: &[f64], target: &[f64]) -> Scored {
    let negated: Vec<f64> = metric.iter().map(|value| -value).collect();
    let distance = |sign: f64| {
        let series = if sign > 0.0 { metric } else { &negated };
        let distance = warp::distance(series, target, Some(band(metric.len())));
        // Neither is empty or has a NaN.
        distance.unwrap_or(f64::INFINITY)
    };
    nearer(distance, 1e-12 * metric.len() as f64)
}

fn band(points: usize) -> usize {
    (points / 10).max(1)
}

/// By the error of lines through the metric on the target's segments.
pub(super) fn same_splits(metric: &Sums<'_>, boundaries: &[usize]) -> f64 {
    inverse(metric.error_of(boundaries), 0.0)
}

/// By the distance in time of the boundaries of both.
pub(super) fn best_splits(times: &Times, metric: &[usize], target: &[usize]) -> f64 {
    inverse(segments::distance(times, metric, target), 0.0)
}

/// By how many stretches the metric comes before the target: the shift by up to a tenth of the length at which their
/// cross-correlation is farthest from zero, and of several the shortest. Negative where it comes after.
pub(super) fn lag(metric: &[f64], target: &[f64]) -> isize {
    let count = metric.len();
    let mut best = (0.0, 0);
    for shift in 0..=band(count).min(count - 1) {
        let before = sum_of(&metric[..count - shift], &target[shift..], |x, y| x * y).abs();
        let after = sum_of(&metric[shift..], &target[..count - shift], |x, y| x * y).abs();
        for (sum, shift) in [(before, shift as isize), (after, -(shift as isize))] {
            // Not by rounding alone.
            if sum > best.0 * (1.0 + 1e-9) {
                best = (sum, shift);
            }
        }
    }
    best.1
}
