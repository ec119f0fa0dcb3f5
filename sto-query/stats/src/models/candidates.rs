//! Formulas fitted to points, ranked by likelihood.

use super::condensed::Condensed;
use super::curve::{Curve, Term};
use super::growth::{self, Growth};
use super::least_squares::{Solution, solve};
use super::model::{Fitness, Model, ModelKind, coefficients};
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// Models fitted to the same points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Models {
    /// The models, best first: among those whose AICc is within 2 of the lowest, the simplest comes first, and the
    /// others follow by AICc. Models without AICc come last, by adjusted R².
    pub models: Vec<Model>,
    /// The power of the fitted value that the standard deviation of y is proportional to, by which points were
    /// weighted; `null` if it was not estimated.
    pub spread: Option<f64>,
    /// The requested kinds that cannot be fitted, with the reasons.
    pub left_out: Vec<(ModelKind, Why)>,
}

/// Reason why a kind of model cannot be fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// The model has at least as many parameters as there are distinct x.
    #[error("needs points at {needed} or more distinct x, found {found}")]
    TooFewX {
        /// Required number of distinct x.
        needed: usize,
        /// Number of distinct x in the points.
        found: usize,
    },
    /// The model takes the logarithm of x, and some x is not above 0.
    #[error("needs every x above 0, but the smallest is {smallest}")]
    NotAboveZero {
        /// The smallest x.
        smallest: f64,
    },
    /// There is no best fit: sums overflow, or more extreme coefficients always fit better.
    #[error("has no best fit")]
    NoBest,
    /// A straight line needs a kernel with a second moment, which is 0 for kernels of fourth order.
    #[error("needs a kernel of second order, because it fits straight lines")]
    FourthOrder,
    /// An option is out of its range.
    #[error("has no curve for this {0}")]
    Option(String),
    /// The kind is not a regression model.
    #[error("is not a regression model")]
    NoRegression,
}

impl Models {
    /// Creates the result of fitting a single kind.
    pub(super) fn from_single_kind(kind: ModelKind, fitted: Result<Model, Why>) -> Models {
        let (models, left_out) = match fitted {
            Ok(model) => (vec![model], Vec::new()),
            Err(why) => (Vec::new(), vec![(kind, why)]),
        };
        Models {
            models,
            spread: None,
            left_out,
        }
    }
}

pub(super) fn fit_all(data: &Condensed, kinds: &[ModelKind]) -> Models {
    let mut found = Models {
        models: Vec::new(),
        spread: None,
        left_out: Vec::new(),
    };
    for &kind in kinds {
        match fit(data, kind) {
            Ok(model) => found.models.push(model),
            Err(why) => found.left_out.push((kind, why)),
        }
    }
    best_first(&mut found.models);
    found
}

/// AICc difference up to which two models count as equally likely (K. P. Burnham and D. R. Anderson, Model Selection
/// and Multimodel Inference, 2nd edition, section 2.6).
const AS_LIKELY: f64 = 2.0;

/// Sorts models by AICc, with the simplest of those that are as likely as the best first; then by adjusted R², then
/// from slow growth to fast.
pub(super) fn best_first(models: &mut [Model]) {
    by_criterion(models);
    let Some(least) = models.first().and_then(|model| model.aicc) else {
        return;
    };
    let near = |model: &Model| model.aicc.is_some_and(|aicc| is_as_likely(aicc, least));
    let count = models.iter().take_while(|model| near(model)).count();
    models[..count].sort_by_key(|model| model.kind.complexity());
}

/// Returns `true` if a model with this AICc is as likely as the one with the lowest.
pub(super) fn is_as_likely(aicc: f64, least: f64) -> bool {
    aicc <= least + AS_LIKELY
}

fn by_criterion(models: &mut [Model]) {
    let of_none = |number: Option<f64>| number.unwrap_or(f64::INFINITY);
    models.sort_by(|a, b| {
        of_none(a.aicc)
            .total_cmp(&of_none(b.aicc))
            .then_with(|| {
                let adjusted = |model: &Model| of_none(model.adjusted_r_square.map(|r| -r));
                adjusted(a).total_cmp(&adjusted(b))
            })
            .then_with(|| a.kind.cmp(&b.kind))
    });
}

/// Fits one kind of model.
pub(super) fn fit(data: &Condensed, kind: ModelKind) -> Result<Model, Why> {
    use ModelKind::{
        Constant, Cubic, Exponential, Linear, Linearithmic, Logarithmic, Power, Quadratic,
    };
    let parameters = match kind {
        Constant => 1,
        Logarithmic | Linear | Linearithmic | Power | Exponential => 2,
        Quadratic => 3,
        Cubic => 4,
        _ => return Err(Why::NoRegression),
    };
    let needed = if kind == Constant { 1 } else { parameters + 1 };
    if data.distinct < needed {
        let found = data.distinct;
        return Err(Why::TooFewX { needed, found });
    }
    let smallest = data.range.0;
    if matches!(kind, Logarithmic | Linearithmic | Power) && smallest <= 0.0 {
        return Err(Why::NotAboveZero { smallest });
    }
    let model = match kind {
        Logarithmic => logarithms(data, kind, 0.0),
        Linearithmic => logarithms(data, kind, 1.0),
        Power => growth::power(data).map(|growth| of_growth(data, kind, growth)),
        Exponential => growth::exponential(data).map(|growth| of_growth(data, kind, growth)),
        _ => polynomial(data, kind, parameters),
    };
    let finite = |model: &Model| model.coefficients.iter().all(|c| c.value.is_finite());
    model.filter(finite).ok_or(Why::NoBest)
}

/// Fits b0 + b1 x + ..., with `size` coefficients.
fn polynomial(data: &Condensed, kind: ModelKind, size: usize) -> Option<Model> {
    let (low, high) = data.range;
    let centre = low + (high - low) / 2.0;
    let scale = if high > low { (high - low) / 2.0 } else { 1.0 };
    let columns: Vec<Vec<f64>> = (0..size)
        .map(|k| data.at_nodes(|x| ((x - centre) / scale).powi(k as i32)))
        .collect();
    let solution = solve(data, &columns)?;
    let curve = Curve::Polynomial {
        centre,
        scale,
        coefficients: solution.coefficients.clone(),
    };
    // Contribution of ((x - centre) / scale)^k to this power of x.
    let part = |power: usize, k: usize| match k.checked_sub(power) {
        None => 0.0,
        Some(others) => {
            let choose = (0..power).map(|ix| (k - ix) as f64 / (ix + 1) as f64);
            choose.product::<f64>() * (-centre).powi(others as i32) / scale.powi(k as i32)
        }
    };
    let by: Vec<Vec<f64>> = (0..size)
        .map(|power| (0..size).map(|k| part(power, k)).collect())
        .collect();
    Some(describe(data, kind, &solution.change_basis(&by), curve))
}

/// Fits b0 + b1 x^power ln(x).
fn logarithms(data: &Condensed, kind: ModelKind, power: f64) -> Option<Model> {
    let column = data.at_nodes(|x| if power == 0.0 { x.ln() } else { x * x.ln() });
    let solution = solve(data, &[vec![1.0; data.x.len()], column])?;
    let term = |coefficient, power, log| Term {
        coefficient,
        power,
        log,
    };
    let curve = Curve::Terms(vec![
        term(solution.coefficients[0], 0.0, 0),
        term(solution.coefficients[1] * LN_2, power, 1),
    ]);
    Some(describe(data, kind, &solution, curve))
}

fn describe(data: &Condensed, kind: ModelKind, solution: &Solution, curve: Curve) -> Model {
    let covariance = solution.covariance.iter().enumerate();
    let variances: Vec<f64> = covariance.map(|(ix, row)| row[ix]).collect();
    let residual = solution.residual_squares;
    model(
        data,
        kind,
        &solution.coefficients,
        &variances,
        residual,
        curve,
    )
}

fn of_growth(data: &Condensed, kind: ModelKind, growth: Growth) -> Model {
    let residual = growth.residual_squares;
    model(
        data,
        kind,
        &growth.values,
        &growth.variances,
        residual,
        growth.curve,
    )
}

fn model(
    data: &Condensed,
    kind: ModelKind,
    values: &[f64],
    variances: &[f64],
    residual: f64,
    curve: Curve,
) -> Model {
    let fitness = Fitness::from_residual(data, values.len(), residual);
    Model {
        kind,
        coefficients: coefficients(data, values, variances, residual),
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
