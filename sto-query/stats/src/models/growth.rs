//! The kinds whose exponent is fitted: b0 x^b1 and b0 b1^x.

use super::condensed::Condensed;
use super::curve::Curve;
use super::least_squares::{Solution, solve};

/// The largest power of e that values may have, so that sums of their squares stay numbers.
const LARGEST: f64 = 300.0;
/// Exponents of x that are tried, in each direction.
const EXPONENT: f64 = 24.0;
const STEPS: usize = 48;

/// The best curve of a kind, in the coefficients b0 and b1.
pub(super) struct Growth {
    pub(super) curve: Curve,
    pub(super) values: [f64; 2],
    pub(super) variances: [f64; 2],
    pub(super) residual_squares: f64,
}

/// b0 x^b1; all x are above 0.
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

/// b0 b1^x.
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

/// b0 = value scale, and the variances of b0 and b1, given those of `value` and of the exponent: b0 changes by
/// `shift` b0 with the exponent, and b1 by `slope`.
fn in_b(solution: &Solution, value: f64, scale: f64, shift: f64, slope: f64) -> (f64, [f64; 2]) {
    let b0 = value * scale;
    let [of_value, of_exponent] = [scale, shift * b0];
    let covariance = &solution.covariance;
    let variance = of_value * of_value * covariance[0][0]
        + 2.0 * of_value * of_exponent * covariance[0][1]
        + of_exponent * of_exponent * covariance[1][1];
    (b0, [variance, slope * slope * covariance[1][1]])
}

/// The value at position 0 and the exponent that are best for y = value e^(exponent position), and the linear problem
/// there.
///
/// Of a given exponent the best value is known, so that one number is looked for: on a grid, then between the
/// neighbours of the best one, where the slope of the sum of squares changes its sign.
fn best(data: &Condensed, position: &[f64], reach: f64) -> Option<(f64, f64, Solution)> {
    let trial = |exponent: f64| -> Trial {
        let growth: Vec<f64> = position.iter().map(|p| (exponent * p).exp()).collect();
        let value = data.with_y(&growth) / data.inner(&growth, &growth);
        let fitted: Vec<f64> = growth.iter().map(|g| value * g).collect();
        let bent: Vec<f64> = fitted.iter().zip(position).map(|(f, p)| f * p).collect();
        Trial {
            value,
            slope: -data.residual_with(&fitted, &bent),
            squares: data.residual_squares(&fitted),
            columns: [growth, bent],
        }
    };
    // Of each alone, what is left of the sum of squares of y: enough to find the neighbourhood of the best one.
    let left = |exponent: f64| -> f64 {
        let growth: Vec<f64> = position.iter().map(|p| (exponent * p).exp()).collect();
        let explained = data.with_y(&growth);
        data.squares - explained * explained / data.inner(&growth, &growth)
    };
    // Denser near zero: exponents are small numbers.
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
    /// Half of what the sum of squares grows by with the exponent.
    slope: f64,
    squares: f64,
    columns: [Vec<f64>; 2],
}

/// Where a function that is negative at `low` and positive at `high` is zero, by bisection and regula falsi in turn.
fn zero(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut below, mut above) = (f(low), f(high));
    for round in 0..200 {
        let line = low - below * (high - low) / (above - below);
        let middle = low + (high - low) / 2.0;
        let at = match round % 3 < 2 && line > low && line < high {
            true => line,
            false => middle,
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
