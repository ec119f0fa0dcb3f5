//! Correlation coefficients, with their significance and interval.

use serde::Serialize;
use sto_stats::{ranks, student_two_sided};

/// Correlation of two columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Correlation {
    /// The coefficient, from -1 to 1.
    pub coefficient: f64,
    /// Number of pairs.
    #[serde(skip)]
    pub pairs: usize,
    /// Probability of a coefficient at least as far from zero if the columns were independent, by Student's t with
    /// two degrees of freedom less than there are pairs. 1 for two pairs, which always lie on a line.
    pub p: f64,
}

/// Half the width of the middle 95 % of a standard normal distribution.
pub(super) const NORMAL_95: f64 = 1.959_963_984_540_054;

impl Correlation {
    fn new(coefficient: f64, pairs: usize) -> Correlation {
        let df = pairs as f64 - 2.0;
        let p = if df <= 0.0 {
            1.0
        } else {
            // Infinite if all pairs lie on a line.
            let t = coefficient * (df / (1.0 - coefficient * coefficient)).sqrt();
            student_two_sided(t, df)
        };
        Correlation {
            coefficient,
            pairs,
            p,
        }
    }

    /// Returns the 95 % confidence interval of the coefficient, by R. A. Fisher's transformation; the whole range if
    /// there are fewer than four pairs.
    pub fn interval(&self) -> (f64, f64) {
        if self.pairs < 4 {
            return (-1.0, 1.0);
        }
        let z = self.coefficient.atanh();
        let half = NORMAL_95 / (self.pairs as f64 - 3.0).sqrt();
        ((z - half).tanh(), (z + half).tanh())
    }
}

/// Returns Pearson's coefficient, the linear correlation of the pairs. `None` if a column is constant or there are
/// fewer than two pairs.
///
/// # Panics
///
/// Panics if the columns have different lengths.
pub fn pearson(x: &[f64], y: &[f64]) -> Option<Correlation> {
    assert_eq!(x.len(), y.len(), "columns of pairs");
    let mean = |column: &[f64]| column.iter().sum::<f64>() / column.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (a, b) = (a - mean_x, b - mean_y);
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    from_sums(x.len(), (xx, mean_x), (yy, mean_y), xy)
}

/// Like [`pearson`], for a column that is mostly zero: its other numbers, with their indices in the other column.
pub fn sparse_pearson(x: &[(usize, f64)], y: &[f64]) -> Option<Correlation> {
    let pairs = y.len() as f64;
    let mean_x = x.iter().map(|(_, x)| x).sum::<f64>() / pairs;
    let mean_y = y.iter().sum::<f64>() / pairs;
    let yy = y.iter().map(|y| (y - mean_y).powi(2)).sum();
    let zeros = pairs - x.len() as f64;
    let (mut xx, mut xy) = (zeros * mean_x * mean_x, 0.0);
    for &(ix, x) in x {
        let y = y[ix] - mean_y;
        xx += (x - mean_x).powi(2);
        // The deviations of y from its mean sum to zero, so the mean of x makes no difference.
        xy += x * y;
    }
    from_sums(y.len(), (xx, mean_x), (yy, mean_y), xy)
}

/// Creates the correlation from sums of squared deviations and of their products.
fn from_sums(
    pairs: usize,
    (xx, mean_x): (f64, f64),
    (yy, mean_y): (f64, f64),
    xy: f64,
) -> Option<Correlation> {
    let varies = |squares: f64, mean: f64| squares > (1e-12 * mean).powi(2);
    if pairs < 2 || !varies(xx, mean_x) || !varies(yy, mean_y) {
        return None;
    }
    // Rounding may exceed the range slightly.
    let coefficient = (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0);
    Some(Correlation::new(coefficient, pairs))
}

/// Returns Spearman's coefficient: Pearson's coefficient of the ranks.
///
/// # Panics
///
/// Panics if the columns have different lengths.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<Correlation> {
    pearson(&ranks(x), &ranks(y))
}
