//! Least-squares fit of a natural cubic spline.

/// A natural cubic spline with at most four knots, constant outside the outermost.
#[derive(Clone, Debug)]
pub(super) struct Spline {
    knots: Vec<f64>,
    coefficients: Vec<f64>,
}

impl Spline {
    /// Fits `degrees` parameters, or fewer if the points have fewer distinct x: one is a mean, two a line, and each
    /// further one adds a knot. Inner knots are quantiles, the outer ones the ends. (The basis is from T. Hastie, R.
    /// Tibshirani and J. Friedman, The Elements of Statistical Learning, 2nd edition, equations 5.4 and 5.5.)
    pub(super) fn fit(x: &[f64], y: &[f64], degrees: usize) -> Spline {
        let mut sorted = x.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let inner = degrees.saturating_sub(2);
        let mut knots: Vec<f64> = (0..=inner + 1)
            .map(|knot| quantile(&sorted, knot as f64 / (inner + 1) as f64))
            .collect();
        knots.dedup();
        if degrees < 2 {
            knots.truncate(1);
        }
        let mut spline = Spline {
            coefficients: Vec::new(),
            knots,
        };
        let rows: Vec<Vec<f64>> = x.iter().map(|&x| spline.basis(x)).collect();
        spline.coefficients = least_squares(&rows, y);
        spline
    }

    /// Number of parameters.
    pub(super) fn degrees(&self) -> usize {
        self.coefficients.len()
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        let terms = self.basis(x).into_iter().zip(&self.coefficients);
        terms.map(|(basis, coefficient)| basis * coefficient).sum()
    }

    fn basis(&self, x: f64) -> Vec<f64> {
        let [first, .., last] = self.knots[..] else {
            return vec![1.0];
        };
        // Scaled to 0..1, so that cubes are of similar size as the other columns.
        let unit = |x: f64| (x.clamp(first, last) - first) / (last - first);
        let x = unit(x);
        let cube = |knot: f64| (x - knot).max(0.0).powi(3);
        let slope = |knot: f64| (cube(knot) - cube(1.0)) / (1.0 - knot);
        let inner = &self.knots[..self.knots.len() - 1];
        let last_slope = slope(unit(inner[inner.len() - 1]));
        let curved = inner[..inner.len() - 1].iter();
        let mut basis = vec![1.0, x];
        basis.extend(curved.map(|&knot| slope(unit(knot)) - last_slope));
        basis
    }
}

/// Quantile of sorted numbers, interpolated linearly.
pub(super) fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let position = probability * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}

/// Solves the normal equations by elimination; a parameter that the points do not determine is zero.
fn least_squares(rows: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let n = rows.first().map_or(0, Vec::len);
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for (row, y) in rows.iter().zip(y) {
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] += row[i] * row[j];
            }
            matrix[i][n] += row[i] * y;
        }
    }
    let mut solved = vec![false; n];
    for i in 0..n {
        // The matrix is positive definite, so pivoting is unnecessary.
        if matrix[i][i] <= 1e-10 * rows.len() as f64 {
            continue;
        }
        solved[i] = true;
        let pivot = matrix[i].clone();
        for (k, row) in matrix.iter_mut().enumerate() {
            let factor = row[i] / pivot[i];
            if k != i {
                row.iter_mut()
                    .zip(&pivot)
                    .for_each(|(a, p)| *a -= factor * p);
            }
        }
    }
    let value = |i: usize| matrix[i][n] / matrix[i][i];
    (0..n)
        .map(|i| if solved[i] { value(i) } else { 0.0 })
        .collect()
}
