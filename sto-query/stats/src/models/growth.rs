//! Models with a fitted exponent: b0 x^b1 and b0 b1^x.

use super::condensed::Condensed;
use super::curve::Curve;
use super::least_squares::{Solution, solve};

/// Largest exponent of e in fitted values, so that sums of their squares do not overflow.
const LARGEST: f64 = 300.0;
/// Range of exponents of x that are tried, in each direction.
const EXPONENT: f64 = 24.0;
const STEPS: usize = 48;

/// Best curve of a kind, with its coefficients b0 and b1.
pub(super) struct Growth {
    pub(super) curve: Curve,
    pub(super) values: [f64; 2],
    pub(super) variances: [f64; 2],
    pub(super) residual_squares: f64,
}

/// Fits b0 x^b1; all x must be above 0.
pub(super) fn power(data: &Condensed) -> Option<Growth> {
    let (low, high) = (data.range.0.ln(), data.range.1.ln());
    let middle = (low + high) / 2.0;
    let position = data.at_nodes(|x| x.ln() - middle);
    let reach = EXPONENT.min(2.0 * LARGEST / (high - low));
    let (value, exponent, solution) = best(data, &position, reach)?;
    let scale = (-exponent * middle).exp();
    let (values, variances) = in_b(&solution, value, scale, -middle, 1.0);
    Some(Growth {
        curve: Curve::Power {
            at: middle.exp(),
            value,
            exponent,
        },
        values: [values, exponent],
        variances,
        residual_squares: solution.residual_squares,
    })
}

/// Fits b0 b1^x.
pub(super) fn exponential(data: &Condensed) -> Option<Growth> {
    let (low, high) = data.range;
    let at = low + (high - low) / 2.0;
    let position = data.at_nodes(|x| x - at);
    let (value, rate, solution) = best(data, &position, 2.0 * LARGEST / (high - low))?;
    let scale = (-rate * at).exp();
    let (b0, variances) = in_b(&solution, value, scale, -at, rate.exp());
    Some(Growth {
        curve: Curve::Exponential { at, value, rate },
        values: [b0, rate.exp()],
        variances,
        residual_squares: solution.residual_squares,
    })
}

/// Returns b0 = value scale, and the variances of b0 and b1, computed from the variances of `value` and of the
/// exponent. The derivative of b0 by the exponent is `shift` b0, and the derivative of b1 is `slope`.
fn in_b(solution: &Solution, value: f64, scale: f64, shift: f64, slope: f64) -> (f64, [f64; 2]) {
    let b0 = value * scale;
    let [of_value, of_exponent] = [scale, shift * b0];
    let covariance = &solution.covariance;
    let variance = of_value * of_value * covariance[0][0]
        + 2.0 * of_value * of_exponent * covariance[0][1]
        + of_exponent * of_exponent * covariance[1][1];
    (b0, [variance, slope * slope * covariance[1][1]])
}

/// Returns the value at position 0 and the exponent that fit y = value e^(exponent position) best, and the linearised
/// problem there.
///
/// The best value for a given exponent is known, so the search is one-dimensional: on a grid, then between the
/// neighbours of the best grid point, where the slope of the sum of squares changes its sign.
fn best(data: &Condensed, position: &[f64], reach: f64) -> Option<(f64, f64, Solution)> {
    let trial = |exponent: f64| -> Trial {
        let growth: Vec<f64> = position.iter().map(|p| (exponent * p).exp()).collect();
        let value = data.inner_with_y(&growth) / data.inner_product(&growth, &growth);
        let fitted: Vec<f64> = growth.iter().map(|g| value * g).collect();
        let bent: Vec<f64> = fitted.iter().zip(position).map(|(f, p)| f * p).collect();
        Trial {
            value,
            slope: -data.residual_with(&fitted, &bent),
            squares: data.residual_squares(&fitted),
            columns: [growth, bent],
        }
    };
    // The residual sum of squares for each exponent, exact enough to find the neighbourhood of the best one.
    let left = |exponent: f64| -> f64 {
        let growth: Vec<f64> = position.iter().map(|p| (exponent * p).exp()).collect();
        let explained = data.inner_with_y(&growth);
        data.squares - explained * explained / data.inner_product(&growth, &growth)
    };
    // Denser near zero, because exponents are small.
    let exponent = |step: usize| {
        let part = step as f64 / STEPS as f64 - 1.0;
        reach * part * part.abs()
    };
    let squares: Vec<f64> = (0..=2 * STEPS).map(|step| left(exponent(step))).collect();
    let lowest = (0..squares.len()).min_by(|&a, &b| squares[a].total_cmp(&squares[b]))?;
    if lowest == 0 || lowest == 2 * STEPS || !squares[lowest].is_finite() {
        return None;
    }
    let exponent = zero(exponent(lowest - 1), exponent(lowest + 1), |at| {
        trial(at).slope
    });
    let found = trial(exponent);
    let mut solution = solve(data, &found.columns)?;
    solution.residual_squares = found.squares;
    Some((found.value, exponent, solution))
}

struct Trial {
    value: f64,
    /// Half the derivative of the sum of squares by the exponent.
    slope: f64,
    squares: f64,
    columns: [Vec<f64>; 2],
}

/// Finds the zero of a function that is negative at `low` and positive at `high`, alternating bisection and regula
/// falsi.
fn zero(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut below, mut above) = (f(low), f(high));
    for round in 0..200 {
        let line = low - below * (high - low) / (above - below);
        let middle = low + (high - low) / 2.0;
        let at = if round % 3 < 2 && line > low && line < high {
            line
        } else {
            middle
        };
        if at <= low || at >= high {
            break;
        }
        let value = f(at);
        if value < 0.0 {
            (low, below) = (at, value);
        } else {
            (high, above) = (at, value);
        }
    }
    if below.abs() < above.abs() { low } else { high }
}
