//! Comparison of the areas under two curves.

use super::{Change, DetectorRules, classify, relative, shared};
use crate::models::model::Model;

/// Compares the areas under two curves over the x that both cover; `None` if they have none in common.
pub fn integral_comparison(
    baseline: &Model,
    candidate: &Model,
    rules: &DetectorRules,
) -> Option<Change> {
    let (from, to) = shared(baseline, candidate)?;
    let area = |model: &Model| model.curve.integral(from, to);
    let error = relative(area(baseline), area(candidate));
    let result = classify(error, rules.no_change, rules.change);
    error
        .is_finite()
        .then(|| Change::of_models(baseline, candidate, result, error))
}
