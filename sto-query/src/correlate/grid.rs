//! Series on a uniform grid of time: filling gaps, normalising, averaging, ranking.

use sto_stats::ranks;

/// Maximum number of stretches of a series on a page.
pub(super) const DRAWN_STRETCHES: usize = 200;

/// A grid of at most `most` equal stretches of time; each has the rows nearest to it.
pub(super) struct Grid {
    stretches: Vec<usize>,
    /// The middle of each stretch.
    pub(super) times: Vec<f64>,
    /// Distance between the middles of neighbouring stretches.
    pub(super) step: f64,
}

impl Grid {
    /// Creates the grid of two or more ascending times.
    pub(super) fn new(times: &[f64], most: usize) -> Grid {
        let count = times.len().min(most);
        let (first, last) = (times[0], times[times.len() - 1]);
        let step = (last - first) / (count - 1) as f64;
        let stretch = |time: &f64| (((time - first) / step).round() as usize).min(count - 1);
        Grid {
            stretches: times.iter().map(stretch).collect(),
            times: (0..count).map(|ix| first + ix as f64 * step).collect(),
            step,
        }
    }

    /// Returns the [normalised] means over the stretches.
    pub(super) fn normal_means(&self, values: &[f64]) -> Option<Vec<f64>> {
        normalised(&self.means(values))
    }

    /// Returns the means over the stretches; stretches without rows are interpolated.
    pub(super) fn means(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.times.len()];
        for (&stretch, value) in self.stretches.iter().zip(values) {
            sums[stretch].0 += value;
            sums[stretch].1 += 1.0;
        }
        let mut means: Vec<f64> = sums.into_iter().map(|(sum, rows)| sum / rows).collect();
        fill_gaps(&self.times, &mut means);
        means
    }
}

/// Replaces NaN values by linear interpolation, and by the nearest value at the ends.
pub(super) fn fill_gaps(times: &[f64], values: &mut [f64]) {
    let mut before = None;
    let mut ix = 0;
    while ix < values.len() {
        if !values[ix].is_nan() {
            before = Some(ix);
            ix += 1;
            continue;
        }
        let after = (ix..values.len()).find(|&after| !values[after].is_nan());
        let end = after.unwrap_or(values.len());
        for gap in ix..end {
            values[gap] = match (before, after) {
                (Some(a), Some(b)) => {
                    let share = (times[gap] - times[a]) / (times[b] - times[a]);
                    values[a] * (1.0 - share) + values[b] * share
                }
                (Some(one), None) | (None, Some(one)) => values[one],
                (None, None) => return,
            };
        }
        ix = end;
    }
}

/// Returns the series with mean 0 and (population) standard deviation 1; `None` if it is constant.
pub(super) fn normalised(values: &[f64]) -> Option<Vec<f64>> {
    let count = values.len() as f64;
    // Scaling avoids overflow when the largest numbers are squared.
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest } else { return None };
    let mean = values.iter().map(|value| value / scale).sum::<f64>() / count;
    let mut normal: Vec<f64> = values.iter().map(|value| value / scale - mean).collect();
    let deviation = (normal.iter().map(|value| value * value).sum::<f64>() / count).sqrt();
    normal.iter_mut().for_each(|value| *value /= deviation);
    (deviation > 1e-12).then_some(normal)
}

/// Returns [normalised] ranks. Pearson's coefficient of these is Spearman's coefficient.
pub(super) fn normal_ranks(values: &[f64]) -> Option<Vec<f64>> {
    normalised(&ranks(values))
}

/// Returns `true` if two series are equal, where missing values are equal too.
pub(super) fn is_same(a: &[f64], b: &[f64]) -> bool {
    let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
    a.iter().zip(b).all(same)
}
