//! Bootstrap estimates of the certainty of the best model and of the growth of y with x.

use super::candidates::{Models, is_as_likely};
use super::condensed::Condensed;
use super::curve::{Curve, Term};
use super::least_squares::orthonormal;
use super::model::{Model, ModelKind};
use super::points::Points;
use super::quantiles::quantile;
use crate::Random;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Number of bootstrap resamples.
const TIMES: usize = 400;
/// Maximum number of points; with more, chance matters little.
const MOST: usize = 8_192;
/// Number of exponents tried on each side of the best one, and the distance they cover in standard errors.
const NEIGHBOURS: usize = 24;
const REACH: f64 = 8.0;
/// Range and number of exponents of growth that are tried.
const SLOWEST: f64 = -1.0;
const FASTEST: f64 = 8.0;
const STEPS: usize = 180;
/// Upper bound on a point's leverage.
const LEVERAGE: f64 = 0.95;
/// Residuals whose square is below this share of the square of y count as rounding errors.
const EXACT: f64 = 1e-12;

/// Bootstrap estimate of the certainty of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Certainty {
    /// Share of resamples in which the same kind wins, from 0 to 1.
    pub winner: f64,
    /// Growth of y beyond a constant; `null` if some x is not above 0 or y is constant.
    pub exponent: Option<Exponent>,
}

/// Growth of y beyond a constant: the c of the best-fitting a + b x^c, from -1 to 8. 0 means a logarithm, 1 a
/// straight line, 2 a parabola; n log n is somewhat above 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Exponent {
    /// Estimate from the points.
    pub value: f64,
    /// Lower bound of the interval that contains 95 % of the resamples.
    pub low: f64,
    /// Upper bound of that interval.
    pub high: f64,
}

/// Estimates how certain it is which of the models wins, and which power of x fits best. Returns `None` if there are
/// more than 8192 points, if there are too few for any criterion, or if all of them lie on the best curve.
///
/// The bootstrap resamples the residuals of the best curve, standardised by their variance and corrected for
/// leverage. It adds them to the curve 400 times, with a fixed seed, and fits all models again (A. C. Davison and D.
/// V. Hinkley, Bootstrap Methods and their Application, 1997, algorithm 6.3).
pub(super) fn certainty(points: &Points, data: &Condensed, models: &Models) -> Option<Certainty> {
    let best = models.models.first()?;
    if points.len() > MOST || best.aicc.is_none() {
        return None;
    }
    let runs = Runs::new(points, data, best)?;
    let with_criterion = models.models.iter().filter(|model| model.aicc.is_some());
    let shapes: Vec<Shape> = with_criterion
        .filter_map(|model| Shape::new(data, model))
        .collect();
    let powers = match best.kind {
        ModelKind::Constant => None,
        _ => Shape::beyond_constant(data),
    };
    let exponent = |y: &Other| powers.as_ref().map_or(f64::NAN, |of| of.fit(y).1);
    let dealt: Vec<(bool, f64)> = (0..TIMES)
        .into_par_iter()
        .map(|time| {
            let (y, rest) = runs.dealt(&mut Random::new(time as u64));
            let y = Other::new(data, &y, rest);
            (winner(&shapes, &y) == Some(best.kind), exponent(&y))
        })
        .collect();
    let wins = dealt.iter().filter(|(is_same, _)| *is_same).count();
    let mut exponents: Vec<f64> = dealt.iter().map(|(_, exponent)| *exponent).collect();
    exponents.sort_by(f64::total_cmp);
    // The shift removes the bias that resampling around the curve introduces.
    let value = exponent(&Other::from_points(data));
    let curve = data.at_nodes(|x| best.curve.at(x));
    let shift = value - exponent(&Other::new(data, &curve, 0.0));
    let end = |part: f64| quantile(&exponents, part) + shift;
    Some(Certainty {
        winner: wins as f64 / TIMES as f64,
        exponent: powers.is_some().then(|| Exponent {
            value,
            low: end(0.025).min(value),
            high: end(0.975).max(value),
        }),
    })
}

/// Returns the winning kind, chosen as in [`regression`](super::regression()).
fn winner(shapes: &[Shape], y: &Other) -> Option<ModelKind> {
    let criteria = shapes.iter().filter_map(|shape| {
        let residual = (y.squares - shape.fit(y).0).max(f64::MIN_POSITIVE);
        let criterion = Model::criterion(shape.parameters, y.points, residual)?;
        Some((shape.kind, criterion))
    });
    let criteria: Vec<(ModelKind, f64)> = criteria.collect();
    let least = criteria.iter().map(|of| of.1).fold(f64::INFINITY, f64::min);
    let near = criteria.iter().filter(|of| is_as_likely(of.1, least));
    let order = |a: &&(ModelKind, f64), b: &&(ModelKind, f64)| {
        let simple = a.0.complexity().cmp(&b.0.complexity());
        simple.then(a.1.total_cmp(&b.1)).then(a.0.cmp(&b.0))
    };
    near.min_by(order).map(|of| of.0)
}

/// The runs at each x, and their residuals.
struct Runs {
    /// For each node, the value of the curve, the number of runs, and the square root of the weight of each.
    nodes: Vec<(f64, usize, f64)>,
    /// Standardised residuals of the runs.
    residuals: Vec<f64>,
}

impl Runs {
    fn new(points: &Points, data: &Condensed, best: &Model) -> Option<Runs> {
        let (basis, _) = orthonormal(data, &tangents(data, &best.curve)?)?;
        let counts: Vec<usize> = points
            .x()
            .chunk_by(|a, b| a == b)
            .map(<[f64]>::len)
            .collect();
        let mut y = points.y().iter();
        let (mut nodes, mut residuals) = (Vec::new(), Vec::with_capacity(points.len()));
        let mut squares = 0.0;
        for (ix, count) in counts.into_iter().enumerate() {
            let (curve, weight) = (
                best.curve.at(data.x[ix]),
                data.weights_of(ix).0 / count as f64,
            );
            let own = weight * basis.iter().map(|of| of[ix] * of[ix]).sum::<f64>();
            let larger = (weight / (1.0 - own.min(LEVERAGE))).sqrt();
            residuals.extend(y.by_ref().take(count).map(|y| (y - curve) * larger));
            squares += weight * count as f64 * curve * curve;
            nodes.push((curve, count, weight.sqrt()));
        }
        let mean = residuals.iter().sum::<f64>() / residuals.len() as f64;
        residuals.iter_mut().for_each(|residual| *residual -= mean);
        let left: f64 = residuals.iter().map(|residual| residual * residual).sum();
        (left > EXACT * squares).then_some(Runs { nodes, residuals })
    }

    /// Returns the resampled mean of y for each node, and the weighted sum of squares about those means.
    fn dealt(&self, random: &mut Random) -> (Vec<f64>, f64) {
        let mut rest = 0.0;
        let means = self.nodes.iter().map(|&(curve, count, weight)| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..count {
                let residual = self.residuals[random.below(self.residuals.len())];
                sum += residual;
                squares += residual * residual;
            }
            rest += squares - sum * sum / count as f64;
            curve + sum / count as f64 / weight
        });
        (means.collect(), rest)
    }
}

/// Resampled y at the same x.
struct Other {
    /// Weighted sum of y for each node.
    sums: Vec<f64>,
    squares: f64,
    points: f64,
}

impl Other {
    /// Returns the original y.
    fn from_points(data: &Condensed) -> Other {
        Other {
            sums: (0..data.x.len()).map(|ix| data.weights_of(ix).1).collect(),
            squares: data.squares,
            points: data.points as f64,
        }
    }

    fn new(data: &Condensed, means: &[f64], rest: f64) -> Other {
        let sums = means.iter().enumerate();
        Other {
            sums: sums.map(|(ix, y)| data.weights_of(ix).0 * y).collect(),
            squares: data.inner_product(means, means) + rest,
            points: data.points as f64,
        }
    }

    fn part(&self, column: &[f64]) -> f64 {
        let both = self.sums.iter().zip(column);
        let part: f64 = both.map(|(sum, of)| sum * of).sum();
        part * part
    }
}

/// The space of curves of one kind of model.
struct Shape {
    kind: ModelKind,
    parameters: f64,
    columns: Columns,
}

enum Columns {
    /// Any linear combination of these columns.
    All(Vec<Vec<f64>>),
    /// A multiple of one of these columns, each with its exponent. The exponents are evenly spaced around the best
    /// one.
    One(Vec<(f64, Vec<f64>)>),
}

impl Shape {
    fn new(data: &Condensed, model: &Model) -> Option<Shape> {
        let columns = match &model.curve {
            Curve::Power { .. } | Curve::Exponential { .. } => {
                Columns::One(neighbours(data, model)?)
            }
            curve => Columns::All(orthonormal(data, &tangents(data, curve)?)?.0),
        };
        Some(Shape {
            kind: model.kind,
            parameters: model.parameters,
            columns,
        })
    }

    /// Returns the powers of x without their constant part; `None` if some x is not above 0.
    fn beyond_constant(data: &Condensed) -> Option<Shape> {
        let (low, high) = data.range;
        let ones = vec![1.0; data.x.len()];
        let column = |step: usize| {
            let exponent = SLOWEST + (FASTEST - SLOWEST) * step as f64 / STEPS as f64;
            // The limit of (x^c - 1) / c for c = 0 is the logarithm.
            let power = data.at_nodes(|x| {
                if exponent.abs() < 1e-9 {
                    x.ln()
                } else {
                    (x / high).powf(exponent)
                }
            });
            let (columns, _) = orthonormal(data, &[ones.clone(), power])?;
            Some((exponent, columns.into_iter().nth(1)?))
        };
        let columns: Option<Vec<_>> = (0..=STEPS).map(column).collect();
        (low > 0.0).then_some(Shape {
            kind: ModelKind::Power,
            parameters: 3.0,
            columns: Columns::One(columns?),
        })
    }

    /// Returns the part of the squares of y that the best curve explains, and its exponent.
    fn fit(&self, y: &Other) -> (f64, f64) {
        let columns = match &self.columns {
            Columns::All(columns) => {
                return (columns.iter().map(|of| y.part(of)).sum(), f64::NAN);
            }
            Columns::One(columns) => columns,
        };
        let parts: Vec<f64> = columns.iter().map(|(_, of)| y.part(of)).collect();
        let best = (0..parts.len()).max_by(|&a, &b| parts[a].total_cmp(&parts[b]));
        let best = best.unwrap_or(0);
        let (exponent, part) = (columns[best].0, parts[best]);
        if best == 0 || best + 1 == parts.len() {
            return (part, exponent);
        }
        // Vertex of the parabola through the best exponent and its neighbours.
        let (before, after) = (parts[best - 1], parts[best + 1]);
        let (slope, bend) = ((after - before) / 2.0, before + after - 2.0 * part);
        if bend < 0.0 {
            let step = columns[best + 1].0 - exponent;
            (
                part - slope * slope / (2.0 * bend),
                exponent - step * slope / bend,
            )
        } else {
            (part, exponent)
        }
    }
}

/// Returns the partial derivatives of the curve by its coefficients, at the nodes.
fn tangents(data: &Condensed, curve: &Curve) -> Option<Vec<Vec<f64>>> {
    Some(match curve {
        Curve::Polynomial {
            centre,
            scale,
            coefficients,
        } => (0..coefficients.len() as i32)
            .map(|k| data.at_nodes(|x| ((x - centre) / scale).powi(k)))
            .collect(),
        Curve::Terms(terms) => {
            let column = |term: &Term| Term {
                coefficient: 1.0,
                ..*term
            };
            let terms = terms
                .iter()
                .map(column)
                .map(|term| data.at_nodes(|x| term.at(x)));
            terms.collect()
        }
        Curve::Power { at, exponent, .. } => {
            let growth = |x: f64| (x / at).powf(*exponent);
            vec![
                data.at_nodes(growth),
                data.at_nodes(|x| growth(x) * (x / at).ln()),
            ]
        }
        Curve::Exponential { at, rate, .. } => {
            let growth = |x: f64| (rate * (x - at)).exp();
            vec![
                data.at_nodes(growth),
                data.at_nodes(|x| growth(x) * (x - at)),
            ]
        }
        _ => return None,
    })
}

/// Returns normalised columns for exponents around the exponent of a power or exponential model.
fn neighbours(data: &Condensed, model: &Model) -> Option<Vec<(f64, Vec<f64>)>> {
    let of_base = model.coefficients.get(1)?;
    let half = (of_base.high? - of_base.low?) / 2.0;
    let (best, reach) = match model.curve {
        Curve::Power { exponent, .. } => (exponent, half),
        Curve::Exponential { rate, .. } => (rate, half / of_base.value),
        _ => return None,
    };
    let step = reach * REACH / 2.0 / NEIGHBOURS as f64;
    let column = |at: usize| {
        let exponent = best + step * (at as f64 - NEIGHBOURS as f64);
        let mut column = match model.curve {
            Curve::Exponential { at, .. } => data.at_nodes(|x| (exponent * (x - at)).exp()),
            Curve::Power { at, .. } => data.at_nodes(|x| (x / at).powf(exponent)),
            _ => return None,
        };
        let length = data.inner_product(&column, &column).sqrt();
        column.iter_mut().for_each(|of| *of /= length);
        length.is_finite().then_some((exponent, column))
    };
    (0..=2 * NEIGHBOURS).map(column).collect()
}
