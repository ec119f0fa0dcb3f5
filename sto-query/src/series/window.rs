//! What the runs before one lead to expect of it.

use std::ops::Range;

/// Mean and standard deviation of a window of observations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, as of a sample: the sum of squares is divided by their number
    /// less one.
    pub deviation: f64,
}

impl Expected {
    /// Of these observations; `None` of fewer than two.
    pub(crate) fn of(window: &[f64]) -> Option<Expected> {
        if window.len() < 2 {
            return None;
        }
        let count = window.len() as f64;
        let mean = window.iter().sum::<f64>() / count;
        let squares: f64 = window.iter().map(|x| (x - mean).powi(2)).sum();
        Some(Expected {
            mean,
            deviation: (squares / (count - 1.0)).sqrt(),
        })
    }

    /// From two standard deviations below the mean to two above it (Bollinger bands).
    pub fn band(&self) -> (f64, f64) {
        let half = 2.0 * self.deviation;
        (self.mean - half, self.mean + half)
    }
}

/// For each observation, what the up to `window` observations before its build lead to expect; `None`
/// where they are fewer than two. `builds` has the places of each build's observations, in order.
pub fn expected(series: &[f64], builds: &[Range<usize>], window: usize) -> Vec<Option<Expected>> {
    let before = |at: usize| Expected::of(&series[at.saturating_sub(window)..at]);
    let of_build = |runs: &Range<usize>| vec![before(runs.start); runs.len()];
    builds.iter().flat_map(of_build).collect()
}
