//! Linear least squares.

use super::condensed::Condensed;

/// Share of a column that must be independent of the other columns.
const OWN: f64 = 1e-11;

/// Numbers by column, then by row.
type Columns = Vec<Vec<f64>>;

/// Best-fitting coefficients.
pub(super) struct Solution {
    /// Coefficient of each column.
    pub(super) coefficients: Vec<f64>,
    /// Covariance matrix of the coefficients, for a variance of y of 1.
    pub(super) covariance: Vec<Vec<f64>>,
    /// Weighted sum of squared residuals.
    pub(super) residual_squares: f64,
}

/// Returns the QR decomposition of the columns: orthonormal columns, and the upper triangle such that column c is the
/// sum over r of triangle`[r][c]` times orthonormal column r. `None` if the columns are linearly dependent.
pub(super) fn orthonormal(data: &Condensed, columns: &[Vec<f64>]) -> Option<(Columns, Columns)> {
    let size = columns.len();
    let mut orthogonal: Vec<Vec<f64>> = Vec::with_capacity(size);
    let mut triangle = vec![vec![0.0; size]; size];
    for (c, column) in columns.iter().enumerate() {
        let length = data.inner_product(column, column).max(0.0).sqrt();
        let mut left = column.clone();
        for _ in 0..2 {
            for (r, other) in orthogonal.iter().enumerate() {
                let part = data.inner_product(&left, other);
                triangle[r][c] += part;
                left.iter_mut().zip(other).for_each(|(l, o)| *l -= part * o);
            }
        }
        let own = data.inner_product(&left, &left).max(0.0).sqrt();
        if !own.is_finite() || own <= OWN * length {
            return None;
        }
        triangle[c][c] = own;
        left.iter_mut().for_each(|l| *l /= own);
        orthogonal.push(left);
    }
    Some((orthogonal, triangle))
}

/// Fits y by these columns of values at the nodes; `None` if they are linearly dependent.
///
/// Columns are orthogonalised twice by the Gram-Schmidt process (L. Giraud, J. Langou and M. Rozložník, Comput. Math.
/// Appl. 50:1069, 2005), and the residual of y is fitted once more.
pub(super) fn solve(data: &Condensed, columns: &[Vec<f64>]) -> Option<Solution> {
    let size = columns.len();
    let (orthogonal, triangle) = orthonormal(data, columns)?;
    let mut fitted = vec![0.0; data.x.len()];
    let mut parts = vec![0.0; size];
    for _ in 0..2 {
        for (part, column) in parts.iter_mut().zip(&orthogonal) {
            let more = data.residual_with(&fitted, column);
            *part += more;
            fitted
                .iter_mut()
                .zip(column)
                .for_each(|(f, c)| *f += more * c);
        }
    }
    // Inverse of the triangle, column by column, from the diagonal up.
    let mut inverse = vec![vec![0.0; size]; size];
    for c in 0..size {
        inverse[c][c] = 1.0 / triangle[c][c];
        for r in (0..c).rev() {
            let sum: f64 = (r + 1..=c).map(|k| triangle[r][k] * inverse[k][c]).sum();
            inverse[r][c] = -sum / triangle[r][r];
        }
    }
    let product = |a: usize, b: usize| (0..size).map(|k| inverse[a][k] * inverse[b][k]).sum();
    let residual_squares = data.residual_squares(&fitted);
    residual_squares.is_finite().then(|| Solution {
        coefficients: (0..size)
            .map(|r| (0..size).map(|k| inverse[r][k] * parts[k]).sum())
            .collect(),
        covariance: (0..size)
            .map(|a| (0..size).map(|b| product(a, b)).collect())
            .collect(),
        residual_squares,
    })
}

impl Solution {
    /// Returns the same fit in other coefficients: each is the sum of `by[row][column]` times these.
    pub(super) fn change_basis(mut self, by: &[Vec<f64>]) -> Solution {
        let times = |row: &[f64], column: &dyn Fn(usize) -> f64| -> f64 {
            row.iter()
                .enumerate()
                .map(|(k, part)| part * column(k))
                .sum()
        };
        self.coefficients = by
            .iter()
            .map(|row| times(row, &|k| self.coefficients[k]))
            .collect();
        self.covariance = by
            .iter()
            .map(|a| {
                by.iter()
                    .map(|b| times(a, &|k| times(b, &|l| self.covariance[k][l])))
                    .collect()
            })
            .collect();
        self
    }
}
