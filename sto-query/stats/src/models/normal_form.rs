//! The performance model normal form: a constant and a term x^i log2(x)^j.

use super::candidates::Why;
use super::condensed::Condensed;
use super::curve::{Curve, Term};
use super::model::{Fitness, Model, ModelKind, coefficients};
use super::points::Points;
use rayon::prelude::*;

/// The exponents that are tried: numerator and denominator for x, and the power of its logarithm. Of equally good
/// ones, the first wins.
const EXPONENTS: [(i32, i32, u32); 42] = [
    (0, 1, 1),
    (0, 1, 2),
    (1, 4, 0),
    (1, 3, 0),
    (1, 4, 1),
    (1, 3, 1),
    (1, 4, 2),
    (1, 3, 2),
    (1, 2, 0),
    (1, 2, 1),
    (1, 2, 2),
    (2, 3, 0),
    (3, 4, 0),
    (2, 3, 1),
    (3, 4, 1),
    (4, 5, 0),
    (2, 3, 2),
    (3, 4, 2),
    (1, 1, 0),
    (1, 1, 1),
    (1, 1, 2),
    (5, 4, 0),
    (5, 4, 1),
    (4, 3, 0),
    (4, 3, 1),
    (3, 2, 0),
    (3, 2, 1),
    (3, 2, 2),
    (5, 3, 0),
    (7, 4, 0),
    (2, 1, 0),
    (2, 1, 1),
    (2, 1, 2),
    (9, 4, 0),
    (7, 3, 0),
    (5, 2, 0),
    (5, 2, 1),
    (5, 2, 2),
    (8, 3, 0),
    (11, 4, 0),
    (3, 1, 0),
    (3, 1, 1),
];
/// Share of y that a term must reach somewhere; a smaller constant counts as 0 in cross-validation.
pub(super) const MIN_TERM_SHARE: f64 = 0.0005;

/// Fits a constant, or a constant and the term whose exponents predict the mean of y at each x best in leave-one-out
/// cross-validation. The error is the mean of |fitted - y| / (|fitted| + |y|).
///
/// The exponents and the rule of choice are taken from Extra-P (A. Calotoiu and others, SC '13, article 45; its
/// modeler `Basic`); the results agree with version 4.2.5. Each x counts once, with the mean of its points; weights
/// are ignored.
pub fn normal_form(points: &Points) -> Result<Model, Why> {
    Ok(model(points, &best(&Means::new(points)?)))
}

/// Returns the best term, or the constant if no term predicts better.
pub(super) fn best(means: &Means) -> Fit {
    let constant = means.y.iter().sum::<f64>() / means.y.len() as f64;
    let off: f64 = means
        .y
        .iter()
        .map(|y| relative_difference(constant, *y))
        .sum();
    let constant = Fit {
        term: None,
        constant,
        off: off / means.y.len() as f64,
    };
    let with_log = means.x[0] >= 1.0;
    let tried = EXPONENTS
        .par_iter()
        .filter(|(_, _, log)| *log == 0 || with_log);
    let found: Vec<Option<Fit>> = tried
        .map(|&(above, below, log)| means.fit(f64::from(above) / f64::from(below), log))
        .collect();
    let mut best = constant;
    if means.y.iter().any(|y| *y != means.y[0]) {
        for fit in found.into_iter().flatten() {
            if fit.off < best.off {
                best = fit;
            }
        }
    }
    best
}

/// Returns the difference of two values relative to their sum.
pub(super) fn relative_difference(fitted: f64, y: f64) -> f64 {
    let both = fitted.abs() + y.abs();
    if both == 0.0 {
        0.0
    } else {
        (fitted - y).abs() / both
    }
}

pub(super) struct Fit {
    pub(super) term: Option<Term>,
    pub(super) constant: f64,
    /// Mean leave-one-out prediction error.
    off: f64,
}

/// The mean of y at each x.
pub(super) struct Means {
    x: Vec<f64>,
    y: Vec<f64>,
    /// The two smallest y.
    smallest: [f64; 2],
}

impl Means {
    pub(super) fn new(points: &Points) -> Result<Means, Why> {
        let data = Condensed::from_distinct_x(points);
        let found = data.x.len();
        let needed = 4;
        if found < needed {
            return Err(Why::TooFewX { needed, found });
        }
        let smallest = data.range.0;
        if smallest < 0.0 {
            return Err(Why::NotAboveZero { smallest });
        }
        let mean = |ix: usize| {
            let (weight, sum) = data.weights_of(ix);
            sum / weight
        };
        let y: Vec<f64> = (0..found).map(mean).collect();
        let least = |[a, b]: [f64; 2], &y: &f64| if y < a { [y, a] } else { [a, b.min(y)] };
        Ok(Means {
            smallest: y.iter().fold([f64::INFINITY; 2], least),
            x: data.x,
            y,
        })
    }

    /// Fits the coefficients of a term; `None` if the term is negligible.
    fn fit(&self, power: f64, log: u32) -> Option<Fit> {
        let unit = Term {
            coefficient: 1.0,
            power,
            log,
        };
        let column: Vec<f64> = self.x.iter().map(|&x| unit.at(x)).collect();
        let size = column.len() as f64;
        let mean = |of: &[f64]| of.iter().sum::<f64>() / size;
        let (of_column, of_y) = (mean(&column), mean(&self.y));
        let (mut squares, mut products) = (0.0, 0.0);
        for (t, y) in column.iter().zip(&self.y) {
            squares += (t - of_column) * (t - of_column);
            products += (t - of_column) * (y - of_y);
        }
        let coefficient = products / squares;
        let contributes = |(t, y): (&f64, &f64)| (coefficient * t / y).abs() >= MIN_TERM_SHARE;
        let is_something = column.iter().zip(&self.y).any(contributes);
        if !coefficient.is_finite() || coefficient == 0.0 || !is_something {
            return None;
        }
        let mut total = 0.0;
        for (t, y) in column.iter().zip(&self.y) {
            // The line fitted to all other points.
            let (from_t, from_y) = (t - of_column, y - of_y);
            let share = size / (size - 1.0);
            let slope = (products - share * from_t * from_y) / (squares - share * from_t * from_t);
            let others = |mean: f64, own: f64| (mean * size - own) / (size - 1.0);
            let mut constant = others(of_y, *y) - slope * others(of_column, *t);
            let smallest = self.smallest[usize::from(*y == self.smallest[0])];
            let part = if smallest == 0.0 {
                constant
            } else {
                constant / smallest
            };
            if part.abs() < MIN_TERM_SHARE {
                constant = 0.0;
            }
            total += relative_difference(constant + slope * t, *y);
        }
        Some(Fit {
            term: Some(Term {
                coefficient,
                ..unit
            }),
            constant: of_y - coefficient * of_column,
            off: total / size,
        })
    }
}

fn model(points: &Points, best: &Fit) -> Model {
    let data = Condensed::new(&points.without_weights());
    let mut terms = vec![Term {
        coefficient: best.constant,
        power: 0.0,
        log: 0,
    }];
    terms.extend(best.term);
    let values: Vec<f64> = terms.iter().map(|term| term.coefficient).collect();
    let curve = Curve::Terms(terms);
    let residual = data.residual_squares(&data.at_nodes(|x| curve.at(x)));
    let fitness = Fitness::from_residual(&data, values.len(), residual);
    let mut coefficients = coefficients(&data, &values, &vec![0.0; values.len()], residual);
    // Because the exponents were chosen, intervals of the coefficients would be too narrow.
    for of in &mut coefficients {
        (of.low, of.high) = (None, None);
    }
    Model {
        kind: ModelKind::NormalForm,
        coefficients,
        r_square: fitness.r_square,
        adjusted_r_square: fitness.adjusted_r_square,
        aicc: fitness.aicc,
        parameters: values.len() as f64,
        smoothing: None,
        x_start: data.range.0,
        x_end: data.range.1,
        curve,
    }
}
