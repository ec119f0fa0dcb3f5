//! Sums of many numbers, independent of thread scheduling.

use rayon::prelude::*;

/// Length of a chunk that one thread sums.
const CHUNK: usize = 1 << 16;

/// Summary statistics of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub(super) count: f64,
    pub(super) mean: f64,
    /// Sum of squares.
    pub(super) squares: f64,
    about: f64,
}

impl Sums {
    /// Returns the sum of squared deviations from the mean.
    pub(super) fn squared_deviations(&self) -> f64 {
        self.about
    }

    /// Returns the standard deviation, dividing by the number of values.
    pub(super) fn deviation(&self) -> f64 {
        (self.about / self.count).sqrt()
    }
}

/// Sums f over chunks of the numbers.
pub(super) fn sum_by_chunks(numbers: &[f64], f: impl Fn(&[f64]) -> f64 + Sync + Send) -> f64 {
    let parts: Vec<f64> = numbers.par_chunks(CHUNK).map(f).collect();
    parts.into_iter().sum()
}

pub(super) fn sums(numbers: &[f64]) -> Sums {
    let count = numbers.len() as f64;
    let mean = sum_by_chunks(numbers, |part| part.iter().sum()) / count;
    Sums {
        count,
        mean,
        squares: sum_by_chunks(numbers, |part| part.iter().map(|n| n * n).sum()),
        about: sum_by_chunks(numbers, |part| {
            part.iter().map(|n| (n - mean) * (n - mean)).sum()
        }),
    }
}
