//! Whether two groups of measured numbers have the same mean.

use super::special::student_two_sided;

/// What is known of one group.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The number of numbers.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with one degree of freedom less than there are numbers; `None` if
    /// there are fewer than two.
    pub deviation: Option<f64>,
}

impl Group {
    /// Describes these numbers. Returns `None` if there are none.
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

/// The p-value of the two groups having the same mean: the t-test of B. L. Welch (Biometrika 34:28,
/// 1947), which does not take them to vary alike. `None` where neither has several numbers.
///
/// Numbers that are all above zero are compared by their logarithms, as what a machine does to run
/// times and costs, it does in proportion. `least` is the deviation, relative to the mean, that each
/// group is taken to have at least: a few numbers may agree by chance. A group of one number is taken
/// to vary as the other does.
pub fn welch(baseline: &[f64], candidate: &[f64], least: f64) -> Option<f64> {
    let is_positive = baseline.iter().chain(candidate).all(|&number| number > 0.0);
    let group = |numbers: &[f64]| match is_positive {
        true => Group::from_numbers(&numbers.iter().map(|number| number.ln()).collect::<Vec<_>>()),
        false => Group::from_numbers(numbers),
    };
    let (a, b) = (group(baseline)?, group(candidate)?);
    let variance = |group: Group| {
        let least = match is_positive {
            true => least,
            false => least * group.mean.abs(),
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

/// Adjusts p-values for their number: the chance that any of at most `alpha` is false is at most
/// `alpha` (S. Holm, Scand. J. Statist. 6:65, 1979).
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
