//! The difference of two curves, and the kind of its growth.

use super::{Change, ChangeKind, SAMPLES, shared};
use crate::models::candidates::Models;
use crate::models::model::{Model, ModelKind};
use crate::models::points::Points;
use crate::models::regression::regression;

/// Relative change of a coefficient up to which curves count as equal.
const SAME: f64 = 0.05;
/// Mean relative change above which a change is certain.
const CHANGE: f64 = 0.25;
/// Relative difference up to which two slopes count as equal.
const NEAR: f64 = 0.3;
/// Minimum R² for the difference to count as a straight line or a parabola.
const STRAIGHT: f64 = 0.95;
const BENT: f64 = 0.90;
/// Minimum share that a parabola must explain beyond a line.
const MORE: f64 = 0.01;

/// Compares the best models of two sides. The difference has the kind that fits it best. Returns `None` if the best
/// models are not formulas or have no x in common.
pub fn fast_check(baseline: &Models, candidate: &Models) -> Option<Change> {
    check(baseline, candidate, |sides| {
        let found = regression(&sides.difference(sides.best)?, &ModelKind::REGRESSION);
        found.models.first().map(|model| model.kind)
    })
}

/// Compares the best models of two sides by the difference of their straight lines: it is constant if its slope is
/// negligible, and linear if its slope is the difference of their slopes. Returns `None` if the best models are not
/// formulas or have no x in common.
pub fn linear_check(baseline: &Models, candidate: &Models) -> Option<Change> {
    check(baseline, candidate, |sides| {
        let [before, after] = sides.lines?;
        let difference = sides.difference([before, after])?;
        let found = regression(&difference, &[ModelKind::Linear, ModelKind::Quadratic]);
        let of = |kind| found.models.iter().find(|model| model.kind == kind);
        let (line, parabola) = (of(ModelKind::Linear)?, of(ModelKind::Quadratic)?);
        let coefficient =
            |model: &Model, ix: usize| model.coefficients.get(ix).map_or(0.0, |c| c.value);
        let [best_before, best_after] = sides.best;
        let shift = coefficient(best_after, 0) - coefficient(best_before, 0);
        let slope = coefficient(line, 1);
        let rise = (slope * (line.x_end - line.x_start)).abs();
        let largest = sides
            .difference(sides.best)?
            .y()
            .iter()
            .copied()
            .fold(f64::MIN, f64::max);
        let near = |value: f64, other: f64, part: f64| {
            ((1.0 - part) * other.abs()..=(1.0 + part) * other.abs()).contains(&value.abs())
        };
        if parabola.r_square > BENT && (parabola.r_square - line.r_square).abs() > MORE {
            return Some(ModelKind::Quadratic);
        }
        if rise <= (SAME * largest).abs() && near(shift, coefficient(line, 0), SAME) {
            return Some(ModelKind::Constant);
        }
        let of_lines = coefficient(after, 1) - coefficient(before, 1);
        if near(of_lines, slope, NEAR) && line.r_square > STRAIGHT {
            return Some(ModelKind::Linear);
        }
        let found = regression(&difference, &ModelKind::REGRESSION);
        found.models.first().map(|model| model.kind)
    })
}

/// Compares the best models of two sides. The difference has the lowest degree, up to cubic, whose polynomial leaves
/// less than a hundredth of its squares unexplained. Returns `None` if the best models are not formulas or have no x
/// in common.
pub fn polynomial_check(baseline: &Models, candidate: &Models) -> Option<Change> {
    const LEFT: f64 = 0.01;
    const DEGREES: [ModelKind; 4] = [
        ModelKind::Constant,
        ModelKind::Linear,
        ModelKind::Quadratic,
        ModelKind::Cubic,
    ];
    check(baseline, candidate, |sides| {
        let difference = sides.difference(sides.best)?;
        let squares: f64 = difference.y().iter().map(|y| y * y).sum();
        let found = regression(&difference, &DEGREES);
        DEGREES.into_iter().find(|kind| {
            let left = |model: &Model| -> f64 {
                let points = difference.x().iter().zip(difference.y());
                points.map(|(x, y)| (y - model.curve.at(*x)).powi(2)).sum()
            };
            let model = found.models.iter().find(|model| model.kind == *kind);
            model.is_some_and(|model| left(model) <= LEFT * squares)
        })
    })
}

/// The models of two sides, baseline first, and the x at which they are compared.
struct Sides<'a> {
    best: [&'a Model; 2],
    lines: Option<[&'a Model; 2]>,
    x: Vec<f64>,
}

impl Sides<'_> {
    /// Returns candidate minus baseline at each x where both have a value.
    fn difference(&self, [before, after]: [&Model; 2]) -> Option<Points> {
        let at = |&x: &f64| (x, after.curve.at(x) - before.curve.at(x));
        Points::new(self.x.iter().map(at).filter(|(_, y)| y.is_finite())).ok()
    }
}

fn check(
    baseline: &Models,
    candidate: &Models,
    kind: impl Fn(&Sides<'_>) -> Option<ModelKind>,
) -> Option<Change> {
    let is_formula = |model: &&Model| ModelKind::REGRESSION.contains(&model.kind);
    let best = |models: &'_ Models| models.models.first().filter(is_formula).cloned();
    let line = |models: &'_ Models| {
        let mut lines = models.models.iter();
        lines.find(|model| model.kind == ModelKind::Linear).cloned()
    };
    let (before, after) = (best(baseline)?, best(candidate)?);
    let lines = line(baseline).zip(line(candidate));
    let (from, to) = shared(&before, &after)?;
    let last = (SAMPLES - 1) as f64;
    let sides = Sides {
        best: [&before, &after],
        lines: lines.as_ref().map(|(before, after)| [before, after]),
        x: (0..SAMPLES)
            .map(|ix| from + (to - from) * ix as f64 / last)
            .collect(),
    };
    let difference = sides.difference(sides.best)?;
    let relative = difference.x().iter().zip(difference.y()).map(|(x, more)| {
        let of = before.curve.at(*x).abs();
        if of == 0.0 { 0.0 } else { more / of }
    });
    let error_rate = relative.sum::<f64>() / difference.len() as f64;
    let result = if same(&before, &after) {
        ChangeKind::NoChange
    } else if difference.y().iter().sum::<f64>() > 0.0 {
        if error_rate > CHANGE {
            ChangeKind::Degradation
        } else {
            ChangeKind::MaybeDegradation
        }
    } else if error_rate < -CHANGE {
        ChangeKind::Optimisation
    } else {
        ChangeKind::MaybeOptimisation
    };
    let is_change = result != ChangeKind::NoChange;
    error_rate.is_finite().then(|| Change {
        difference: is_change.then(|| kind(&sides)).flatten(),
        ..Change::of_models(&before, &after, result, error_rate)
    })
}

/// Returns `true` if both models have the same kind and nearly the same first two coefficients.
fn same(before: &Model, after: &Model) -> bool {
    let mut pairs = before.coefficients.iter().zip(&after.coefficients).take(2);
    before.kind == after.kind
        && pairs.all(|(b, a)| (a.value - b.value).abs() <= (SAME * b.value).abs())
}
