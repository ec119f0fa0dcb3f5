//! A fitted model and its goodness of fit.

use super::condensed::Condensed;
use super::curve::Curve;
use super::points::Points;
use crate::student_quantile;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kind of a model, formulas in order of growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelKind {
    /// b0
    Constant,
    /// b0 + b1 ln(x)
    Logarithmic,
    /// b0 + b1 x
    Linear,
    /// b0 + b1 x ln(x)
    Linearithmic,
    /// b0 + b1 x + b2 x²
    Quadratic,
    /// b0 + b1 x + b2 x² + b3 x³
    Cubic,
    /// b0 x^b1
    Power,
    /// b0 b1^x
    Exponential,
    /// A sum of terms x^i log2(x)^j, as in Extra-P.
    NormalForm,
    /// The mean or median of each bucket of x.
    Regressogram,
    /// The mean of neighbouring points.
    MovingAverage,
    /// The median of neighbouring points.
    MovingMedian,
    /// The mean of earlier points, whose weights decrease with their distance.
    ExponentialAverage,
    /// Weighted mean of, or line through, neighbouring points.
    KernelRegression,
    /// Kernel regression with a cross-validated width.
    KernelRidge,
}

impl ModelKind {
    /// The kinds of [`regression`](super::regression()), from slow growth to fast.
    pub const REGRESSION: [ModelKind; 8] = [
        ModelKind::Constant,
        ModelKind::Logarithmic,
        ModelKind::Linear,
        ModelKind::Linearithmic,
        ModelKind::Quadratic,
        ModelKind::Cubic,
        ModelKind::Power,
        ModelKind::Exponential,
    ];

    /// Complexity of a formula: twice its number of coefficients, plus one for an exponent. Among equally likely
    /// models, the one with the lowest is the simplest.
    pub(super) fn complexity(self) -> u32 {
        match self {
            ModelKind::Constant => 2,
            ModelKind::Logarithmic | ModelKind::Linear | ModelKind::Linearithmic => 4,
            ModelKind::Power | ModelKind::Exponential => 5,
            ModelKind::Quadratic => 6,
            _ => 8,
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Constant => "constant",
            ModelKind::Logarithmic => "logarithmic",
            ModelKind::Linear => "linear",
            ModelKind::Linearithmic => "linearithmic",
            ModelKind::Quadratic => "quadratic",
            ModelKind::Cubic => "cubic",
            ModelKind::Power => "power",
            ModelKind::Exponential => "exponential",
            ModelKind::NormalForm => "normal_form",
            ModelKind::Regressogram => "regressogram",
            ModelKind::MovingAverage => "moving_average",
            ModelKind::MovingMedian => "moving_median",
            ModelKind::ExponentialAverage => "exponential_average",
            ModelKind::KernelRegression => "kernel_regression",
            ModelKind::KernelRidge => "kernel_ridge",
        }
    }
}

impl Model {
    /// Returns AICc for this sum of squared residuals, without terms common to all models of the same points; `None`
    /// if there are too few points.
    pub(super) fn criterion(parameters: f64, points: f64, residual: f64) -> Option<f64> {
        let all = parameters + 1.0;
        let correction = 2.0 * all * (all + 1.0) / (points - all - 1.0);
        (points > all + 1.0).then(|| points * residual.ln() + 2.0 * all + correction)
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A coefficient of a model's formula.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Coefficient {
    /// `b0`, `b1`, and so on.
    pub name: String,
    /// Estimate of the coefficient.
    pub value: f64,
    /// Lower bound of the 95 % confidence interval; `null` if there are no more points than coefficients.
    pub low: Option<f64>,
    /// Upper bound of the interval.
    pub high: Option<f64>,
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Model {
    /// Kind of the model.
    pub kind: ModelKind,
    /// Coefficients of the formula; empty if the model has no formula.
    pub coefficients: Vec<Coefficient>,
    /// R²: the share of the variance of y that the model explains.
    pub r_square: f64,
    /// R² adjusted for the number of parameters; `null` if there are as many parameters as points.
    pub adjusted_r_square: Option<f64>,
    /// Corrected Akaike criterion (AICc). Of two models of the same points, the one with the lower value is more
    /// likely. `null` if there are too few points.
    pub aicc: Option<f64>,
    /// Number of fitted parameters; for a smoothed curve, the trace of the smoothing matrix.
    pub parameters: f64,
    /// Smoothing parameter: number of buckets, points in a window, bandwidth, or gamma; `null` for a formula.
    pub smoothing: Option<f64>,
    /// The smallest x of the points.
    pub x_start: f64,
    /// The largest x of the points.
    pub x_end: f64,
    /// The fitted curve.
    pub curve: Curve,
}

/// Goodness of fit of a curve.
pub(super) struct Fitness {
    pub(super) r_square: f64,
    pub(super) adjusted_r_square: Option<f64>,
    pub(super) aicc: Option<f64>,
}

/// Residual relative to y that counts as a rounding error.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

impl Fitness {
    /// Computes the fitness from the number of points and parameters, and the sums of squares of the residuals, of y
    /// about its mean, and of y.
    pub(super) fn new(
        (points, parameters): (f64, f64),
        (residual, about_mean, squares): (f64, f64, f64),
        log_weights: f64,
    ) -> Fitness {
        let r_square = match residual {
            _ if residual <= ROUNDING * ROUNDING * squares => 1.0,
            _ if about_mean <= ROUNDING * ROUNDING * squares => 0.0,
            _ => 1.0 - residual / about_mean,
        };
        let free = points - parameters;
        let adjusted = 1.0 - (1.0 - r_square) * (points - 1.0) / free;
        // The variance is a parameter, too.
        let all = parameters + 1.0;
        let correction = 2.0 * all * (all + 1.0) / (points - all - 1.0);
        // Among curves through all points, rounding must not decide: the one with the fewest parameters gets the
        // least AICc.
        let variance = residual
            .max(ROUNDING * ROUNDING * squares)
            .max(f64::MIN_POSITIVE)
            / points;
        let likelihood = (std::f64::consts::TAU * variance).ln() + 1.0;
        Fitness {
            r_square,
            adjusted_r_square: (free > 0.0).then_some(adjusted),
            aicc: (points > all + 1.0)
                .then_some(points * likelihood - log_weights + 2.0 * all + correction),
        }
    }

    /// Creates a model without a formula.
    pub(super) fn smoothed(
        self,
        kind: ModelKind,
        points: &Points,
        parameters: f64,
        smoothing: f64,
        curve: Curve,
    ) -> Model {
        let (x_start, x_end) = points.range().unwrap_or((f64::NAN, f64::NAN));
        Model {
            kind,
            coefficients: Vec::new(),
            r_square: self.r_square,
            adjusted_r_square: self.adjusted_r_square,
            aicc: self.aicc,
            parameters,
            smoothing: Some(smoothing),
            x_start,
            x_end,
            curve,
        }
    }

    /// Computes the fitness of a curve with this sum of squared residuals.
    pub(super) fn from_residual(data: &Condensed, parameters: usize, residual: f64) -> Fitness {
        Fitness::new(
            (data.points as f64, parameters as f64),
            (residual, data.about_mean, data.squares),
            data.log_weights,
        )
    }
}

/// Creates coefficients b0, b1 and so on, with intervals from their covariance for a variance of y of 1.
pub(super) fn coefficients(
    data: &Condensed,
    values: &[f64],
    variances: &[f64],
    residual: f64,
) -> Vec<Coefficient> {
    let free = data.points.saturating_sub(values.len());
    let quantile = (free > 0).then(|| student_quantile(0.975, free as f64));
    let named = values.iter().zip(variances).enumerate();
    named
        .map(|(ix, (&value, variance))| {
            let reach = quantile.map(|t| t * (variance * residual / free as f64).sqrt());
            Coefficient {
                name: format!("b{ix}"),
                value,
                low: reach.map(|reach| value - reach),
                high: reach.map(|reach| value + reach),
            }
        })
        .collect()
}
