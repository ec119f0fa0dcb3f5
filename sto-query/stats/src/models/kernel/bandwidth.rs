//! Choice of the kernel bandwidth.

use super::Problem;
use crate::models::quantiles::quantile;
use crate::models::sums::sums;
use serde::{Deserialize, Serialize};

/// Rule for choosing the bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Bandwidth {
    /// 1.059 A n^(-1/5), with A the lesser of the standard deviation of x and its interquartile range / 1.349.
    #[default]
    Scott,
    /// 0.9 A n^(-1/5).
    Silverman,
    /// The bandwidth with the least leave-one-out prediction error.
    CrossValidation,
    /// The bandwidth with the least corrected Akaike criterion (C. M. Hurvich, J. S. Simonoff and C.-L. Tsai, J. R.
    /// Stat. Soc. B 60:271, 1998).
    Aicc,
    /// A fixed bandwidth above 0.
    Width(f64),
}

/// Number of bandwidths tried, from the range of x down to a thousandth of it.
const GRID: usize = 24;
const NARROWEST: f64 = 1e-3;
/// Relative precision of the bandwidth.
const EXACT: f64 = 1e-5;

/// Returns the bandwidth, or `None` if the rule does not determine one.
pub(super) fn choose(problem: &Problem<'_>, bandwidth: Bandwidth) -> Option<f64> {
    let x = problem.points.x();
    let size = x.len() as f64;
    let width = match bandwidth {
        Bandwidth::Scott => 1.059 * spread(x) * size.powf(-0.2),
        Bandwidth::Silverman => 0.9 * spread(x) * size.powf(-0.2),
        Bandwidth::Width(width) => width,
        Bandwidth::CrossValidation => least(x, |width| problem.smooth(width).left_out)?,
        Bandwidth::Aicc => least(x, |width| problem.smooth(width).hurvich(size))?,
    };
    (width > 0.0 && width.is_finite()).then_some(width)
}

fn spread(x: &[f64]) -> f64 {
    let of_x = sums(x);
    let deviation = (of_x.squared_deviations() / (x.len() - 1) as f64).sqrt();
    let quartiles = (quantile(x, 0.75) - quantile(x, 0.25)) / 1.349;
    if quartiles > 0.0 {
        quartiles.min(deviation)
    } else {
        deviation
    }
}

/// Minimises the criterion on a geometric grid, then by golden section search between the neighbours of the best
/// point.
fn least(x: &[f64], criterion: impl Fn(f64) -> f64) -> Option<f64> {
    let range = x[x.len() - 1] - x[0];
    let at = |step: f64| (range.ln() + NARROWEST.ln() * step / GRID as f64).exp();
    let criterion = |step: f64| {
        let found = criterion(at(step));
        if found.is_finite() {
            found
        } else {
            f64::INFINITY
        }
    };
    let grid: Vec<f64> = (0..=GRID).map(|step| criterion(step as f64)).collect();
    let best = (0..grid.len()).min_by(|&a, &b| grid[a].total_cmp(&grid[b]))?;
    if grid[best].is_infinite() {
        return None;
    }
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = ((best as f64 - 1.0).max(0.0), (best + 1).min(GRID) as f64);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut of_a, mut of_b) = (criterion(a), criterion(b));
    while high - low > EXACT {
        if of_a <= of_b {
            (high, b, of_b) = (b, a, of_a);
            a = high - golden * (high - low);
            of_a = criterion(a);
        } else {
            (low, a, of_a) = (a, b, of_b);
            b = low + golden * (high - low);
            of_b = criterion(b);
        }
    }
    Some(at((low + high) / 2.0))
}
