//! Formulas fitted to points with weights by the spread of y.

use super::candidates::{Models, fit_all};
use super::certainty::{Certainty, certainty};
use super::condensed::Condensed;
use super::model::ModelKind;
use super::points::Points;
use super::spread;

/// Fits these kinds of models by least squares with the points' weights.
pub fn regression(points: &Points, kinds: &[ModelKind]) -> Models {
    fit_all(&Condensed::new(points), kinds)
}

/// Fits these kinds of models with weights by the spread of y as a function of the fitted value, unless the points
/// have weights.
pub fn weighted_regression(points: &Points, kinds: &[ModelKind]) -> Models {
    weighted(points, kinds).1
}

/// Like [`weighted_regression`], and estimates the certainty of the winning kind if possible.
pub fn regression_with_certainty(
    points: &Points,
    kinds: &[ModelKind],
) -> (Models, Option<Certainty>) {
    let (data, models) = weighted(points, kinds);
    let certainty = certainty(points, &data, &models);
    (models, certainty)
}

fn weighted(points: &Points, kinds: &[ModelKind]) -> (Condensed, Models) {
    let data = Condensed::new(points);
    let (data, spread) = match points.weights() {
        Some(_) => (data, None),
        None => spread::weight_by_variance(data, kinds),
    };
    let models = fit_all(&data, kinds);
    (data, Models { spread, ..models })
}
