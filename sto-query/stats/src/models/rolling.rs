//! Rolling means and medians, as in pandas.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A window of neighbouring points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RollingWindow {
    /// Size in points.
    pub width: usize,
    /// Whether the window is centred at the point, with one more before if the width is even; otherwise it ends at
    /// the point.
    pub centred: bool,
    /// Minimum number of points for a value; at both ends, windows have fewer.
    pub least: usize,
}

impl RollingWindow {
    /// Creates a window of `width` points that has a value wherever it has a point.
    pub fn new(width: usize, centred: bool) -> RollingWindow {
        RollingWindow {
            width,
            centred,
            least: 1,
        }
    }

    /// Number of points after the one whose window it is.
    fn after(self) -> usize {
        if self.centred {
            (self.width - 1) / 2
        } else {
            0
        }
    }

    pub(super) fn range(self, ix: usize, size: usize) -> Range<usize> {
        let end = ix + self.after() + 1;
        end.saturating_sub(self.width)..end.min(size)
    }

    /// Returns the weights of the points in [`RollingWindow::range`].
    pub(super) fn weights_at(self, ix: usize, size: usize, weights: &[f64]) -> &[f64] {
        let range = self.range(ix, size);
        let first = self.width + range.start - (ix + self.after() + 1);
        &weights[first..first + range.len()]
    }

    /// Returns the weight of the point whose window it is.
    pub(super) fn own_weight(self, weights: &[f64]) -> f64 {
        weights[self.width - 1 - self.after()]
    }
}

/// Minimum number of values per thread.
const CHUNK: usize = 1 << 15;

/// Returns the mean of the window at each number; NaN if the window has too few points.
pub(super) fn mean(y: &[f64], window: RollingWindow) -> Vec<f64> {
    along(y, window, |at, values| {
        let mut range = window.range(at, y.len());
        let mut sum = Sum::default();
        y[range.clone()].iter().for_each(|y| sum.add(*y));
        for (ix, value) in values.iter_mut().enumerate() {
            let next = window.range(at + ix, y.len());
            y[range.end..next.end].iter().for_each(|y| sum.add(*y));
            y[range.start..next.start].iter().for_each(|y| sum.add(-y));
            if next.len() >= window.least {
                *value = sum.total() / next.len() as f64;
            }
            range = next;
        }
    })
}

/// Returns the weighted mean of the window at each number; NaN if the window has too few points, or if all weights
/// are 0.
pub(super) fn weighted_mean(y: &[f64], window: RollingWindow, weights: &[f64]) -> Vec<f64> {
    along(y, window, |at, values| {
        for (ix, value) in values.iter_mut().enumerate() {
            let weights = window.weights_at(at + ix, y.len(), weights);
            let range = window.range(at + ix, y.len());
            if range.len() >= window.least {
                let sum: f64 = y[range].iter().zip(weights).map(|(y, w)| y * w).sum();
                *value = sum / weights.iter().sum::<f64>();
            }
        }
    })
}

/// Returns the median of the window at each number; NaN if the window has too few points.
pub(super) fn median(y: &[f64], window: RollingWindow) -> Vec<f64> {
    along(y, window, |at, values| {
        let mut range = window.range(at, y.len());
        let mut sorted = y[range.clone()].to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let place = |sorted: &[f64], y: f64| sorted.partition_point(|s| s.total_cmp(&y).is_lt());
        for (ix, value) in values.iter_mut().enumerate() {
            let next = window.range(at + ix, y.len());
            for y in &y[range.start..next.start] {
                sorted.remove(place(&sorted, *y));
            }
            for y in &y[range.end..next.end] {
                sorted.insert(place(&sorted, *y), *y);
            }
            if next.len() >= window.least {
                *value = super::quantiles::quantile(&sorted, 0.5);
            }
            range = next;
        }
    })
}

/// Returns the exponentially weighted mean at each number; weights decrease by `part` from each number to the one
/// before.
pub(super) fn exponential(y: &[f64], part: f64) -> Vec<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    let next = |y: &f64| {
        sum = y + (1.0 - part) * sum;
        weights = 1.0 + (1.0 - part) * weights;
        sum / weights
    };
    y.iter().map(next).collect()
}

/// Returns the sum of each number's weight in its own exponential mean.
pub(super) fn sum_own_weights(part: f64, size: usize) -> f64 {
    let mut weights = 0.0;
    let own = (0..size).map(|_| {
        weights = 1.0 + (1.0 - part) * weights;
        1.0 / weights
    });
    own.sum()
}

/// Computes values in chunks, each by one thread.
fn along(y: &[f64], window: RollingWindow, f: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
    let mut values = vec![f64::NAN; y.len()];
    let chunk = CHUNK.max(4 * window.width);
    values
        .par_chunks_mut(chunk)
        .enumerate()
        .for_each(|(number, values)| f(number * chunk, values));
    values
}

/// Compensated sum (A. Neumaier, Z. Angew. Math. Mech. 54:39, 1974).
#[derive(Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, y: f64) {
        let sum = self.sum + y;
        self.lost += if self.sum.abs() >= y.abs() {
            (self.sum - sum) + y
        } else {
            (y - sum) + self.sum
        };
        self.sum = sum;
    }

    fn total(&self) -> f64 {
        self.sum + self.lost
    }
}
