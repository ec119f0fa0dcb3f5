//! Formulas fitted to points, each weighed by how much y varies where it is.

use super::candidates::{Models, fit_all};
use super::certainty::{Certainty, certainty};
use super::condensed::Condensed;
use super::model::ModelKind;
use super::points::Points;
use super::spread;

/// Fits these kinds to points, by least squares of y with the points' weights.
pub fn regression(points: &Points, kinds: &[ModelKind]) -> Models {
    fit_all(&Condensed::new(points), kinds)
}

/// Fits these kinds to points, each weighed by how much y varies where it is: estimated by how the spread goes with
/// the fitted value, unless the points have weights.
pub fn weighted_regression(points: &Points, kinds: &[ModelKind]) -> Models {
    weighted(points, kinds).1
}

/// The same, and how sure it is which kind wins, where that can be told.
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
        None => spread::weighed(data, kinds),
    };
    let models = fit_all(&data, kinds);
    (data, Models { spread, ..models })
}
