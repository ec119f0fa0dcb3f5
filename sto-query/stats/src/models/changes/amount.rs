//! Comparison of means of points, and of orders of models.

use super::{Change, ChangeKind};
use crate::models::model::{Model, ModelKind};
use crate::models::points::Points;

/// Ratio of means above which cost grew.
const TWICE: f64 = 2.0;
/// Ratio of means below which cost fell.
const HALF: f64 = 0.5;
/// Minimum R² of both models for their orders to be compared.
const CONFIDENCE: f64 = 0.9;

/// Compares the means of y. The error rate is their ratio. Returns `None` if the baseline's mean is not above 0.
pub fn average_amount(baseline: &Points, candidate: &Points) -> Option<Change> {
    let mean = |points: &Points| points.y().iter().sum::<f64>() / points.len() as f64;
    let ratio = mean(candidate) / mean(baseline);
    let result = match ratio {
        _ if ratio >= TWICE => ChangeKind::Degradation,
        _ if ratio > 0.0 && ratio <= HALF => ChangeKind::Optimisation,
        _ => ChangeKind::NoChange,
    };
    (mean(baseline) > 0.0 && ratio.is_finite()).then_some(Change {
        result,
        error_rate: ratio,
        confidence: None,
        from: None,
        to: None,
        difference: None,
        intervals: Vec::new(),
    })
}

/// Compares the kinds of both sides' best models if both fit well. The error rate is the number of kinds by which the
/// candidate's grows faster, in the order constant, logarithmic, linear, n log n, quadratic, cubic, power,
/// exponential. Returns `None` if a model is not a formula.
pub fn best_model_order(baseline: &Model, candidate: &Model) -> Option<Change> {
    let order = |model: &Model| {
        ModelKind::REGRESSION
            .iter()
            .position(|kind| *kind == model.kind)
    };
    let faster = order(candidate)? as f64 - order(baseline)? as f64;
    let fits = baseline.r_square.min(candidate.r_square) >= CONFIDENCE;
    let (result, error_rate) = match fits {
        true if faster > 0.0 => (ChangeKind::Degradation, faster),
        true if faster < 0.0 => (ChangeKind::Optimisation, faster),
        _ => (ChangeKind::NoChange, 0.0),
    };
    Some(Change::of_models(baseline, candidate, result, error_rate))
}
