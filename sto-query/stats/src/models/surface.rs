//! The performance model normal form for two variables.

use super::candidates::Why;
use super::curve::Term;
use super::normal_form::{self, MIN_TERM_SHARE, Means, relative_difference};
use super::points::Points;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A function of two variables: a constant and up to two terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Surface {
    /// The constant part of y.
    pub constant: f64,
    /// The terms.
    pub terms: Vec<SurfaceTerm>,
    /// R² of the model.
    pub r_square: f64,
    /// Error of the model: the mean of |fitted - mean| / (|fitted| + |mean|) over the distinct positions.
    pub off: f64,
}

/// A coefficient times a product of powers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SurfaceTerm {
    /// The coefficient.
    pub coefficient: f64,
    /// The powers of each variable, if the term contains it.
    pub factors: [Option<Powers>; 2],
}

/// x^`power` log2(x)^`log`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Powers {
    /// The power of x.
    pub power: f64,
    /// The power of its logarithm.
    pub log: u32,
}

/// A position in the plane of the variables, and the mean of y there.
type Mean = ([f64; 2], f64);

/// Fits the normal form to points of two variables.
///
/// The method is taken from Extra-P (A. Calotoiu and others, Fast Multi-Parameter Performance Modeling, CLUSTER
/// 2016); the results agree with version 4.2.5. The best term of each variable comes from
/// [`normal_form()`](super::normal_form()) along a line on which the other variable is constant. Of the product of
/// these terms, their sum, and the sum of the product and either term, the combination with the least error wins.
/// Each position counts once, with the mean of its points.
pub fn normal_form_of_two(points: &[([f64; 2], f64)]) -> Result<Surface, Why> {
    let means = means(points);
    let mut fits = Vec::with_capacity(2);
    for variable in [0, 1] {
        let line = Points::new(line(&means, variable)).unwrap_or_default();
        fits.push(normal_form::best(&Means::new(&line)?));
    }
    let powers = [0, 1].map(|variable| {
        let term: Option<Term> = fits[variable].term;
        term.map(|Term { power, log, .. }| Powers { power, log })
    });
    let shapes: Vec<Vec<[Option<Powers>; 2]>> = match powers {
        [None, None] => vec![vec![]],
        [a, None] => vec![vec![[a, None]]],
        [None, b] => vec![vec![[None, b]]],
        [a, b] => {
            let (first, second, both) = ([a, None], [None, b], [a, b]);
            vec![
                vec![both],
                vec![first, second],
                vec![first, both],
                vec![second, both],
            ]
        }
    };
    let fitted = shapes.iter().filter_map(|shape| fit(shape, &means));
    let mut candidates: Vec<Surface> = fitted.collect();
    // If only one variable matters, the line along it may be more precise than all positions.
    if let ([a, None] | [None, a], [_]) = (powers, &shapes[..])
        && a.is_some()
    {
        let fit = &fits[usize::from(powers[0].is_none())];
        let coefficient = fit.term.map_or(0.0, |term| term.coefficient);
        let factors = powers;
        candidates.insert(
            0,
            Surface::new(
                fit.constant,
                vec![SurfaceTerm {
                    coefficient,
                    factors,
                }],
                &means,
            ),
        );
    }
    let is_something = |of: &Surface| of.terms.iter().all(|term| term.contributes(&means));
    let mut candidates = candidates.into_iter();
    let mut best = candidates.next().ok_or(Why::NoBest)?;
    for other in candidates.filter(is_something) {
        if other.off < best.off {
            best = other;
        }
    }
    best.r_square = best.explains(points);
    Ok(best)
}

impl Surface {
    fn new(constant: f64, terms: Vec<SurfaceTerm>, means: &[Mean]) -> Surface {
        let mut surface = Surface {
            constant,
            terms,
            r_square: 0.0,
            off: 0.0,
        };
        let all: f64 = means
            .iter()
            .map(|(at, y)| relative_difference(surface.at(*at), *y))
            .sum();
        surface.off = all / means.len() as f64;
        surface
    }

    /// Returns y at these values of the variables.
    pub fn at(&self, x: [f64; 2]) -> f64 {
        self.terms
            .iter()
            .fold(self.constant, |y, term| y + term.at(x))
    }

    fn explains(&self, points: &[Mean]) -> f64 {
        let mean = points.iter().map(|(_, y)| y).sum::<f64>() / points.len() as f64;
        let squares = |of: &dyn Fn([f64; 2]) -> f64| -> f64 {
            points.iter().map(|(at, y)| (y - of(*at)).powi(2)).sum()
        };
        let (residual, total) = (squares(&|at| self.at(at)), squares(&|_| mean));
        if total > 0.0 {
            1.0 - residual / total
        } else {
            0.0
        }
    }
}

impl SurfaceTerm {
    fn at(&self, x: [f64; 2]) -> f64 {
        let factors = self.factors.iter().zip(x);
        factors.fold(self.coefficient, |product, (powers, x)| match powers {
            Some(Powers { power, log }) => product * unit(*power, *log).at(x),
            None => product,
        })
    }

    /// Returns `true` if the term is not negligible everywhere.
    fn contributes(&self, means: &[Mean]) -> bool {
        let mut parts = means.iter().map(|(at, y)| (self.at(*at) / y).abs());
        self.coefficient != 0.0 && parts.any(|part| part >= MIN_TERM_SHARE)
    }
}

fn unit(power: f64, log: u32) -> Term {
    Term {
        coefficient: 1.0,
        power,
        log,
    }
}

/// Returns the mean of each position, sorted by position.
fn means(points: &[Mean]) -> Vec<Mean> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|(a, _), (b, _)| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let places = sorted.chunk_by(|(a, _), (b, _)| a == b);
    let mean = |of: &[Mean]| {
        (
            of[0].0,
            of.iter().map(|(_, y)| y).sum::<f64>() / of.len() as f64,
        )
    };
    places.map(mean).collect()
}

/// Returns x of one variable and the mean of y, along the values of the other variable that have the most x; of
/// several such sets of x, the first.
fn line(means: &[Mean], variable: usize) -> Vec<(f64, f64)> {
    let other = 1 - variable;
    // The bit patterns are only compared for equality, and their order differs for negative numbers, which are
    // rejected elsewhere.
    let mut lines: BTreeMap<u64, Vec<&Mean>> = BTreeMap::new();
    for mean in means {
        lines.entry(mean.0[other].to_bits()).or_default().push(mean);
    }
    let most = lines.values().map(Vec::len).max().unwrap_or(0);
    let mut at: BTreeMap<u64, Vec<&Mean>> = BTreeMap::new();
    for mean in lines.values().filter(|line| line.len() == most).flatten() {
        at.entry(mean.0[variable].to_bits()).or_default().push(mean);
    }
    let first = at.values().next().into_iter().flatten();
    let common: BTreeSet<u64> = first.map(|mean| mean.0[other].to_bits()).collect();
    let of_x = at.into_values().filter_map(|mut of| {
        of.retain(|mean| common.contains(&mean.0[other].to_bits()));
        let sum: f64 = of.iter().map(|mean| mean.1).sum();
        Some((of.first()?.0[variable], sum / of.len() as f64))
    });
    of_x.collect()
}

/// Fits the coefficients of these terms and a constant by least squares with orthogonal columns.
fn fit(shape: &[[Option<Powers>; 2]], means: &[Mean]) -> Option<Surface> {
    let term = |factors: [Option<Powers>; 2]| SurfaceTerm {
        coefficient: 1.0,
        factors,
    };
    let column = |factors| {
        means
            .iter()
            .map(move |(at, _)| term(factors).at(*at))
            .collect()
    };
    let constant = vec![1.0; means.len()];
    let columns: Vec<Vec<f64>> = std::iter::once(constant)
        .chain(shape.iter().map(|&factors| column(factors)))
        .collect();
    let y: Vec<f64> = means.iter().map(|(_, y)| *y).collect();
    let coefficients = solve(&columns, &y)?;
    let terms = shape.iter().zip(&coefficients[1..]);
    let terms = terms.map(|(&factors, &coefficient)| SurfaceTerm {
        coefficient,
        factors,
    });
    Some(Surface::new(coefficients[0], terms.collect(), means))
}

/// Solves for the coefficients of the columns whose sum is nearest to y; `None` if the columns are linearly
/// dependent.
fn solve(columns: &[Vec<f64>], y: &[f64]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut orthonormal: Vec<Vec<f64>> = Vec::new();
    let mut triangle: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let (mut left, mut row) = (column.clone(), vec![0.0; columns.len()]);
        // The second pass removes the rounding errors of the first.
        for _ in 0..2 {
            for (ix, known) in orthonormal.iter().enumerate() {
                let part = dot(known, &left);
                row[ix] += part;
                left.iter_mut()
                    .zip(known)
                    .for_each(|(left, known)| *left -= part * known);
            }
        }
        let length = dot(&left, &left).sqrt();
        if !length.is_finite() || length <= 1e-12 * dot(column, column).sqrt() {
            return None;
        }
        left.iter_mut().for_each(|left| *left /= length);
        row[orthonormal.len()] = length;
        orthonormal.push(left);
        triangle.push(row);
    }
    let mut left = y.to_vec();
    let mut along = vec![0.0; columns.len()];
    for _ in 0..2 {
        for (ix, known) in orthonormal.iter().enumerate() {
            let part = dot(known, &left);
            along[ix] += part;
            left.iter_mut()
                .zip(known)
                .for_each(|(left, known)| *left -= part * known);
        }
    }
    // Column `c` is the sum over r of triangle[c][r] times direction r.
    let mut coefficients = vec![0.0; columns.len()];
    for row in (0..columns.len()).rev() {
        let known: f64 = (row + 1..columns.len())
            .map(|c| triangle[c][row] * coefficients[c])
            .sum();
        coefficients[row] = (along[row] - known) / triangle[row][row];
    }
    Some(coefficients)
}
