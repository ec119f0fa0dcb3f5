//! Means and medians of windows that go along numbers, as pandas has them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which neighbours are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Window {
    /// Number of points.
    pub width: usize,
    /// Whether as many are after as before, one more before where the width is even; else all are before.
    pub centred: bool,
    /// Points that a window must have to have a value; at both ends there are fewer.
    pub least: usize,
}

impl Window {
    /// A window of so many points that has a value wherever it has a point.
    pub fn new(width: usize, centred: bool) -> Window {
        Window {
            width,
            centred,
            least: 1,
        }
    }

    pub(super) fn range(self, ix: usize, size: usize) -> Range<usize> {
        let after = if self.centred {
            (self.width - 1) / 2
        } else {
            0
        };
        let end = (ix + after + 1).min(size);
        (ix + after + 1).saturating_sub(self.width)..end
    }
}

/// Numbers that one thread averages, at least.
const CHUNK: usize = 1 << 15;

/// By number: the mean of its window, not a number where it has too few.
pub(super) fn mean(y: &[f64], window: Window) -> Vec<f64> {
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

/// By number: the median of its window, not a number where it has too few.
pub(super) fn median(y: &[f64], window: Window) -> Vec<f64> {
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

/// By number: the mean of all up to it, of which each weighs less by `part` than the next one.
pub(super) fn exponential(y: &[f64], part: f64) -> Vec<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    let next = |y: &f64| {
        sum = y + (1.0 - part) * sum;
        weights = 1.0 + (1.0 - part) * weights;
        sum / weights
    };
    y.iter().map(next).collect()
}

/// Sum over so many numbers of what each weighs in its own exponential mean.
pub(super) fn own_weights(part: f64, size: usize) -> f64 {
    let mut weights = 0.0;
    let own = (0..size).map(|_| {
        weights = 1.0 + (1.0 - part) * weights;
        1.0 / weights
    });
    own.sum()
}

/// Values by number, each chunk by one thread from where it begins.
fn along(y: &[f64], window: Window, f: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
    let mut values = vec![f64::NAN; y.len()];
    let chunk = CHUNK.max(4 * window.width);
    values
        .par_chunks_mut(chunk)
        .enumerate()
        .for_each(|(number, values)| f(number * chunk, values));
    values
}

/// A sum that keeps what rounding loses (A. Neumaier, Z. Angew. Math. Mech. 54:39, 1974).
#[derive(Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, y: f64) {
        let sum = self.sum + y;
        self.lost += match self.sum.abs() >= y.abs() {
            true => (self.sum - sum) + y,
            false => (y - sum) + self.sum,
        };
        self.sum = sum;
    }

    fn total(&self) -> f64 {
        self.sum + self.lost
    }
}
