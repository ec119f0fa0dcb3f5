//! Series on one grid of time: gaps filled, normalised, means over stretches of equal time, ranks.

use sto_stats::ranks;

/// At most so many stretches of equal time, on row numbers of which each has the rows nearest to it.
pub(super) struct Grid {
    stretches: Vec<usize>,
    /// The middle of each stretch.
    pub(super) times: Vec<f64>,
    /// From the middle of one stretch to that of the next.
    pub(super) step: f64,
}

impl Grid {
    /// The grid of two or more times that grow.
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

    /// The normalised means over stretches; those without rows are between their neighbours.
    pub(super) fn means(&self, values: &[f64]) -> Option<Vec<f64>> {
        let mut sums = vec![(0.0, 0.0); self.times.len()];
        for (&stretch, value) in self.stretches.iter().zip(values) {
            sums[stretch].0 += value;
            sums[stretch].1 += 1.0;
        }
        let mut means: Vec<f64> = sums.into_iter().map(|(sum, rows)| sum / rows).collect();
        fill_gaps(&self.times, &mut means);
        normalised(&means)
    }
}

/// Puts what lies on a line between their neighbours in place of values that are NaN, and the nearest value where
/// there is only one neighbour.
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

/// The series with mean 0 and standard deviation 1 (of all its points); `None` where it never varies.
pub(super) fn normalised(values: &[f64]) -> Option<Vec<f64>> {
    let count = values.len() as f64;
    // Squares of the largest numbers would be infinite.
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

/// [Normalised](normalised) ranks, by which Spearman's coefficient is Pearson's.
pub(super) fn normal_ranks(values: &[f64]) -> Option<Vec<f64>> {
    normalised(&ranks(values))
}

/// Whether two series have the same values, or none, everywhere.
pub(super) fn is_same(a: &[f64], b: &[f64]) -> bool {
    let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
    a.iter().zip(b).all(same)
}
