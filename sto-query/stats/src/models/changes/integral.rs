//! Comparison of the areas under two curves.

use super::{Change, classify, relative, shared};
use crate::models::model::Model;

/// Relative change of the area up to which nothing changed.
const NO_CHANGE: f64 = 0.10;
/// Relative change of the area above which a change is certain.
const CHANGE: f64 = 0.25;

/// Compares the areas under two curves over the x that both cover; `None` if they have none in common.
pub fn integral_comparison(baseline: &Model, candidate: &Model) -> Option<Change> {
    let (from, to) = shared(baseline, candidate)?;
    let area = |model: &Model| model.curve.integral(from, to);
    let error = relative(area(baseline), area(candidate));
    let result = classify(error, NO_CHANGE, CHANGE);
    error
        .is_finite()
        .then(|| Change::of_models(baseline, candidate, result, error))
}
