//! Regressogram: a step function over buckets of x.

use super::curve::Curve;
use super::model::{Fitness, Model, ModelKind};
use super::points::Points;
use super::quantiles::quantile;
use super::sums::{sum_by_chunks, sums};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rule for the number of buckets, as in `numpy.histogram_bin_edges`, but at most the number of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Buckets {
    /// Sturges's rule, made for skewed x (D. P. Doane, Am. Stat. 30:181, 1976).
    #[default]
    Doane,
    /// 1 + log2(n) (H. A. Sturges, J. Am. Stat. Assoc. 21:65, 1926).
    Sturges,
    /// By the standard deviation of x (D. W. Scott, Biometrika 66:605, 1979).
    Scott,
    /// By the quartiles of x (D. Freedman and P. Diaconis, Z. Wahrscheinlichkeitstheor. Verw. Geb. 57:453, 1981).
    FreedmanDiaconis,
    /// The square root of n.
    SquareRoot,
    /// Twice the cube root of n.
    Rice,
    /// The rule of Sturges or of Freedman and Diaconis, whichever gives more buckets.
    Auto,
    /// A fixed number.
    Number(usize),
}

/// Statistic of the y in a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Middle {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    Median,
}

/// Fits the mean or median of y in buckets of equal width; `None` if there are no points.
pub fn regressogram(points: &Points, buckets: Buckets, middle: Middle) -> Option<Model> {
    let edges = edges(points, buckets)?;
    let x = points.x();
    let mut starts: Vec<usize> = edges
        .par_iter()
        .map(|edge| x.partition_point(|x| x < edge))
        .collect();
    // The last bucket includes its end.
    *starts.last_mut()? = x.len();
    let values: Vec<(Option<f64>, f64)> = starts
        .par_windows(2)
        .map(|bounds| {
            let y = &points.y()[bounds[0]..bounds[1]];
            let value = match middle {
                _ if y.is_empty() => return (None, 0.0),
                Middle::Mean => y.iter().sum::<f64>() / y.len() as f64,
                Middle::Median => {
                    let mut sorted = y.to_vec();
                    sorted.sort_unstable_by(f64::total_cmp);
                    quantile(&sorted, 0.5)
                }
            };
            (Some(value), y.iter().map(|y| (y - value).powi(2)).sum())
        })
        .collect();
    let residual = values.iter().map(|(_, squares)| squares).sum();
    let parameters = values.iter().filter(|(value, _)| value.is_some()).count() as f64;
    let number = values.len() as f64;
    let curve = Curve::Steps {
        edges,
        values: values.into_iter().map(|(value, _)| value).collect(),
    };
    let of_y = sums(points.y());
    let all = (residual, of_y.squared_deviations(), of_y.squares);
    let fitness = Fitness::new((points.len() as f64, parameters), all, 0.0);
    Some(fitness.smoothed(ModelKind::Regressogram, points, parameters, number, curve))
}

/// Returns the edges of the buckets.
fn edges(points: &Points, buckets: Buckets) -> Option<Vec<f64>> {
    let (mut low, mut high) = points.range()?;
    let range = high - low;
    let number = match buckets {
        Buckets::Number(number) => number.max(1),
        rule => match width(points, rule, range) {
            width if width > 0.0 => ((range / width).ceil() as usize).clamp(1, points.len()),
            _ => 1,
        },
    };
    if range == 0.0 {
        (low, high) = (low - 0.5, high + 0.5);
    }
    let step = (high - low) / number as f64;
    let mut edges: Vec<f64> = (0..=number).map(|ix| low + ix as f64 * step).collect();
    edges[number] = high;
    Some(edges)
}

/// Returns the width of a bucket, before rounding to a whole number of buckets.
fn width(points: &Points, rule: Buckets, range: f64) -> f64 {
    let x = points.x();
    let n = x.len() as f64;
    let sturges = range / (n.log2() + 1.0);
    let quartiles = quantile(x, 0.75) - quantile(x, 0.25);
    let freedman = 2.0 * quartiles / n.cbrt();
    match rule {
        Buckets::Sturges => sturges,
        Buckets::SquareRoot => range / n.sqrt(),
        Buckets::Rice => range / (2.0 * n.cbrt()),
        Buckets::FreedmanDiaconis => freedman,
        Buckets::Auto => freedman.max(range / n.sqrt() / 2.0).min(sturges),
        Buckets::Scott => (24.0 * std::f64::consts::PI.sqrt() / n).cbrt() * sums(x).deviation(),
        _ if n < 3.0 || range == 0.0 => 0.0,
        _ => {
            let of_x = sums(x);
            let (mean, deviation) = (of_x.mean, of_x.deviation());
            let cubes = sum_by_chunks(x, |x| {
                x.iter().map(|x| ((x - mean) / deviation).powi(3)).sum()
            });
            let skew = (cubes / n).abs();
            let of_normal = (6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0))).sqrt();
            range / (1.0 + n.log2() + (1.0 + skew / of_normal).log2())
        }
    }
}
