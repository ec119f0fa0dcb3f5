//! Test for equal means of two groups of measurements.

use super::special::student_two_sided;

/// Summary of one group.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// Number of measurements.
    pub runs: usize,
    /// Mean of the measurements.
    pub mean: f64,
    /// Sample standard deviation; `None` if there are fewer than two measurements.
    pub deviation: Option<f64>,
}

impl Group {
    /// Summarises these numbers. Returns `None` for an empty slice.
    pub fn from_numbers(numbers: &[f64]) -> Option<Group> {
        let runs = numbers.len();
        let mean = numbers.iter().sum::<f64>() / runs as f64;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        (runs > 0).then(|| Group {
            runs,
            mean,
            deviation: (runs > 1).then(|| (squares / (runs - 1) as f64).sqrt()),
        })
    }
}

/// Returns the p-value of equal means: the t-test of B. L. Welch (Biometrika 34:28, 1947), which does not assume
/// equal variances. `None` if neither group has several measurements.
///
/// If all numbers are positive, their logarithms are compared, because a machine affects run times and costs in
/// proportion. `least` is a lower bound on the standard deviation relative to the mean, because a few numbers may
/// agree by chance. A group of one number is assumed to vary like the other group.
pub fn welch(baseline: &[f64], candidate: &[f64], least: f64) -> Option<f64> {
    let is_positive = baseline.iter().chain(candidate).all(|&number| number > 0.0);
    let group = |numbers: &[f64]| {
        if is_positive {
            Group::from_numbers(&numbers.iter().map(|number| number.ln()).collect::<Vec<_>>())
        } else {
            Group::from_numbers(numbers)
        }
    };
    let (a, b) = (group(baseline)?, group(candidate)?);
    let variance = |group: Group| {
        let least = if is_positive {
            least
        } else {
            least * group.mean.abs()
        };
        Some(group.deviation?.max(least).powi(2))
    };
    let (of_a, of_b) = match (variance(a), variance(b)) {
        (Some(of_a), Some(of_b)) => (of_a, of_b),
        (Some(of_a), None) => (of_a, of_a),
        (None, Some(of_b)) => (of_b, of_b),
        (None, None) => return None,
    };
    let (of_a, of_b) = (of_a / a.runs as f64, of_b / b.runs as f64);
    if of_a + of_b == 0.0 {
        return Some(if a.mean == b.mean { 1.0 } else { 0.0 });
    }
    let part = |of: f64, group: Group| of * of / (group.runs - 1) as f64;
    let degrees_of_freedom = match (a.runs, b.runs) {
        (1, runs) | (runs, 1) => (runs - 1) as f64,
        _ => (of_a + of_b).powi(2) / (part(of_a, a) + part(of_b, b)),
    };
    let t = (b.mean - a.mean) / (of_a + of_b).sqrt();
    Some(student_two_sided(t.abs(), degrees_of_freedom))
}

/// Returns p-values adjusted by Holm's method: the probability is at most `alpha` that any test with an adjusted value
/// of at most `alpha` is a false positive (S. Holm, Scand. J. Statist. 6:65, 1979).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]).then(a.cmp(&b)));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut most = 0.0_f64;
    for (rank, &ix) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        most = most.max(p_values[ix] * left).min(1.0);
        adjusted[ix] = most;
    }
    adjusted
}
