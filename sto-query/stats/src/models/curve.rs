//! Curves of models.

use super::simpson::simpson;
use serde::{Deserialize, Serialize};

/// The curve of a fitted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Curve {
    /// The sum of c t^k with t = (x - centre) / scale: the polynomial of the model's coefficients, in a form that is
    /// accurate for x far from zero.
    Polynomial {
        /// Middle of the range of x.
        centre: f64,
        /// Half of the range of x.
        scale: f64,
        /// The coefficients c, the constant one first.
        coefficients: Vec<f64>,
    },
    /// A sum of terms.
    Terms(Vec<Term>),
    /// `value` times (x / `at`) to the power of `exponent`.
    Power {
        /// The x at which y is `value`.
        at: f64,
        /// y at `at`.
        value: f64,
        /// The power of x.
        exponent: f64,
    },
    /// `value` times e to the power of `rate` (x - `at`).
    Exponential {
        /// The x at which y is `value`.
        at: f64,
        /// y at `at`.
        value: f64,
        /// Logarithm of the factor by which y grows for each 1 of x.
        rate: f64,
    },
    /// A step function.
    Steps {
        /// Edges of the steps in ascending order, one more than there are values. The last edge belongs to the last
        /// step.
        edges: Vec<f64>,
        /// y of each step; `null` for a step without points.
        values: Vec<Option<f64>>,
    },
    /// Samples joined by straight lines.
    Samples {
        /// x of the samples, ascending.
        x: Vec<f64>,
        /// y of the samples.
        y: Vec<f64>,
    },
}

/// A coefficient times x^power times log2(x)^log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Term {
    /// The factor.
    pub coefficient: f64,
    /// Power of x.
    pub power: f64,
    /// Power of the logarithm.
    pub log: u32,
}

impl Term {
    pub(super) fn at(&self, x: f64) -> f64 {
        let power = if self.power == 0.0 {
            1.0
        } else {
            x.powf(self.power)
        };
        match self.log {
            0 => self.coefficient * power,
            _ if x == 0.0 && self.power > 0.0 => 0.0,
            log => self.coefficient * power * x.log2().powi(log as i32),
        }
    }

    /// Returns the integral from 0 or 1 to x, integrating by parts once per logarithm.
    fn integral(&self, x: f64) -> f64 {
        if x == 0.0 {
            return 0.0;
        }
        let power = self.power + 1.0;
        let (mut sum, mut factor) = (0.0, self.coefficient * x.powf(power) / power);
        for log in (0..=self.log).rev() {
            sum += factor * x.log2().powi(log as i32);
            factor *= -f64::from(log) / (power * std::f64::consts::LN_2);
        }
        sum
    }
}

impl Curve {
    /// Returns y at x, or NaN if the curve is undefined there: in a step without points, or for the logarithm of a
    /// number below zero.
    pub fn at(&self, x: f64) -> f64 {
        match self {
            Curve::Polynomial {
                centre,
                scale,
                coefficients,
            } => {
                let t = (x - centre) / scale;
                coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c)
            }
            Curve::Terms(terms) => terms.iter().map(|term| term.at(x)).sum(),
            Curve::Power {
                at,
                value,
                exponent,
            } => value * (x / at).powf(*exponent),
            Curve::Exponential { at, value, rate } => value * (rate * (x - at)).exp(),
            Curve::Steps { edges, values } => {
                let step = edges.partition_point(|&edge| edge <= x);
                let step = step.clamp(1, values.len().max(1)) - 1;
                values.get(step).copied().flatten().unwrap_or(f64::NAN)
            }
            Curve::Samples { x: at, y } => {
                let after = at.partition_point(|&at| at < x).min(at.len().max(1) - 1);
                let before = after.max(1) - 1;
                let (Some(&high), Some(&low)) = (y.get(after), y.get(before)) else {
                    return f64::NAN;
                };
                let width = at[after] - at[before];
                if width > 0.0 {
                    low + (high - low) * ((x - at[before]) / width).clamp(0.0, 1.0)
                } else {
                    high
                }
            }
        }
    }

    /// Returns the integral from one x to a larger one. Steps without points add nothing. Evenly spaced samples are
    /// integrated by Simpson's rule, others along the straight lines between them, because parabolas oscillate if
    /// distances differ much.
    pub fn integral(&self, from: f64, to: f64) -> f64 {
        match self {
            Curve::Polynomial {
                centre,
                scale,
                coefficients,
            } => {
                let antiderivative = |x: f64| {
                    let t = (x - centre) / scale;
                    let powers = coefficients.iter().enumerate().rev();
                    scale * t * powers.fold(0.0, |sum, (k, c)| sum * t + c / (k + 1) as f64)
                };
                antiderivative(to) - antiderivative(from)
            }
            Curve::Terms(terms) => terms
                .iter()
                .map(|term| term.integral(to) - term.integral(from))
                .sum(),
            Curve::Power {
                at,
                value,
                exponent,
            } => {
                let power = exponent + 1.0;
                if power == 0.0 {
                    value * at * (to / from).ln()
                } else {
                    value * at / power * ((to / at).powf(power) - (from / at).powf(power))
                }
            }
            Curve::Exponential { value, rate, .. } => {
                if *rate == 0.0 {
                    value * (to - from)
                } else {
                    self.at(from) * (rate * (to - from)).exp_m1() / rate
                }
            }
            Curve::Steps { edges, values } => edges
                .windows(2)
                .zip(values)
                .filter_map(|(edge, value)| {
                    let width = edge[1].min(to) - edge[0].max(from);
                    Some((*value)? * width.max(0.0))
                })
                .sum(),
            Curve::Samples { x, y } => {
                let inside = x.partition_point(|&x| x <= from)..x.partition_point(|&x| x < to);
                let ends = |at: f64| (at, self.at(at));
                let points = std::iter::once(ends(from))
                    .chain(inside.map(|ix| (x[ix], y[ix])))
                    .chain(std::iter::once(ends(to)));
                let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
                integral_of_samples(&x, &y)
            }
        }
    }
}

fn integral_of_samples(x: &[f64], y: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (x.first(), x.last()) else {
        return 0.0;
    };
    let step = (last - first) / (x.len() - 1).max(1) as f64;
    let is_even = |pair: &[f64]| ((pair[1] - pair[0]) - step).abs() <= 1e-6 * step;
    if step > 0.0 && x.windows(2).all(is_even) {
        return simpson(x, y);
    }
    let lines = x.windows(2).zip(y.windows(2));
    lines
        .map(|(x, y)| (x[1] - x[0]) * (y[0] + y[1]) / 2.0)
        .sum()
}
