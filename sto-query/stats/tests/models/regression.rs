//! Formulas fitted by least squares.

use super::same;
use serde::Deserialize;
use std::collections::BTreeMap;
use sto_stats::models::{
    ModelKind, Points, PointsError, Why, regression, regression_with_certainty, weighted_regression,
};

#[derive(Deserialize)]
struct Case {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    weights: Vec<f64>,
    kinds: BTreeMap<String, Fit>,
}

#[derive(Deserialize)]
struct Fit {
    coefficients: Vec<f64>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    r_square: f64,
    adjusted_r_square: f64,
    aicc: Option<f64>,
}

fn cases() -> Vec<Case> {
    let cases = include_str!("../../../../testdata/models/regression.json");
    serde_json::from_str(cases).unwrap()
}

/// Returns the points of a case, with its weights in the order of the sorted points.
fn points(case: &Case) -> Points {
    let mut order: Vec<usize> = (0..case.x.len()).collect();
    order.sort_by(|&a, &b| {
        (case.x[a], case.y[a])
            .partial_cmp(&(case.x[b], case.y[b]))
            .unwrap()
    });
    let points = Points::new(case.x.iter().copied().zip(case.y.iter().copied())).unwrap();
    if case.weights.iter().all(|weight| *weight == 1.0) {
        return points;
    }
    let weights = order.iter().map(|&ix| case.weights[ix]).collect();
    points.with_weights(weights).unwrap()
}

#[test]
fn coefficients_intervals_and_criteria_agree_with_statsmodels_and_scipy() {
    for case in cases() {
        let found = regression(&points(&case), &ModelKind::REGRESSION);
        assert_eq!(found.models.len(), 8, "{}: {:?}", case.name, found.left_out);
        for model in found.models {
            let what = format!("{}, {}", case.name, model.kind);
            let theirs = &case.kinds[model.kind.name()];
            for (ix, coefficient) in model.coefficients.iter().enumerate() {
                // Coefficients near zero are compared relative to the width of their interval.
                let size = theirs.high[ix].unwrap_or(0.0) - theirs.low[ix].unwrap_or(0.0);
                same(&what, coefficient.value, theirs.coefficients[ix], size);
                let ends = [
                    (coefficient.low, theirs.low[ix]),
                    (coefficient.high, theirs.high[ix]),
                ];
                for (ours, theirs) in ends {
                    if let Some(theirs) = theirs {
                        same(&what, ours.unwrap(), theirs, size);
                    }
                }
            }
            same(&what, model.r_square, theirs.r_square, 1.0);
            same(
                &what,
                model.adjusted_r_square.unwrap(),
                theirs.adjusted_r_square,
                1.0,
            );
            match theirs.aicc {
                Some(aicc) => same(&what, model.aicc.unwrap(), aicc, 1.0),
                None => assert_eq!(model.aicc, None, "{what}"),
            }
        }
    }
}

#[test]
fn finds_the_true_kind_of_exact_points() {
    let winner = |name: &str| {
        let cases = cases();
        let case = cases.iter().find(|case| case.name == name).unwrap();
        regression(&points(case), &ModelKind::REGRESSION).models[0].kind
    };
    assert_eq!(
        winner("three runs of each size, n log n"),
        ModelKind::Linearithmic
    );
    assert_eq!(winner("logarithmic"), ModelKind::Logarithmic);
    assert_eq!(winner("power"), ModelKind::Power);
    assert_eq!(winner("falling"), ModelKind::Power);
    assert_eq!(winner("exponential"), ModelKind::Exponential);
    assert_eq!(winner("cubic"), ModelKind::Cubic);
    assert_eq!(winner("sizes of 10^12"), ModelKind::Linear);
    assert_eq!(winner("variance that grows"), ModelKind::Linear);
}

#[test]
fn kinds_that_cannot_be_fitted_have_a_reason() {
    let left_out = |points: &[(f64, f64)]| {
        let points = Points::new(points.iter().copied()).unwrap();
        let found = regression(&points, &ModelKind::REGRESSION);
        let kinds: Vec<_> = found.models.iter().map(|model| model.kind).collect();
        (kinds, found.left_out)
    };
    let (kinds, why) = left_out(&[]);
    assert_eq!((kinds.len(), why.len()), (0, 8));
    assert_eq!(
        why[0].1,
        Why::TooFewX {
            needed: 1,
            found: 0
        }
    );

    let (kinds, why) = left_out(&[(3.0, 1.0), (3.0, 2.0), (3.0, 4.0), (3.0, 3.0), (3.0, 1.0)]);
    assert_eq!(kinds, [ModelKind::Constant]);
    assert_eq!(
        why[1],
        (
            ModelKind::Linear,
            Why::TooFewX {
                needed: 3,
                found: 1
            }
        )
    );

    let (_, why) = left_out(&[
        (0.0, 1.0),
        (1.0, 2.0),
        (2.0, 4.0),
        (3.0, 9.0),
        (4.0, 1.0),
        (5.0, 2.0),
    ]);
    let log = [
        ModelKind::Logarithmic,
        ModelKind::Linearithmic,
        ModelKind::Power,
    ];
    let because = Why::NotAboveZero { smallest: 0.0 };
    for kind in log {
        assert!(why.contains(&(kind, because.clone())), "{kind}: {why:?}");
    }

    let wrong = Points::new([(1.0, 2.0), (2.0, f64::NAN)]).unwrap_err();
    assert!(matches!(wrong, PointsError::NotFinite { position: 2, .. }));
    assert_eq!(
        wrong.to_string(),
        "point 2 is (2, NaN); expected two finite numbers"
    );
}

#[test]
fn fits_of_a_million_points_use_all_of_them() {
    // There are too many distinct x for one node each, and the sums are computed directly.
    let size = 1_000_000;
    let noise = |ix: usize| ((ix * 7919) % 1000) as f64 / 1000.0 - 0.4995;
    let all: Vec<(f64, f64)> = (0..size)
        .map(|ix| {
            (
                1.0 + ix as f64 / 10.0,
                3.0 + 0.5 * ix as f64 / 10.0 + noise(ix),
            )
        })
        .collect();
    let found = regression(
        &Points::new(all.iter().copied()).unwrap(),
        &ModelKind::REGRESSION,
    );
    assert_eq!(found.left_out, []);
    for model in &found.models {
        let residual: f64 = all
            .iter()
            .map(|(x, y)| (y - model.curve.at(*x)).powi(2))
            .sum();
        let mean = all.iter().map(|(_, y)| y).sum::<f64>() / size as f64;
        let about: f64 = all.iter().map(|(_, y)| (y - mean).powi(2)).sum();
        let what = model.kind.name();
        same(what, model.r_square, 1.0 - residual / about, 1.0);
        same(what, 1.0 - model.r_square, residual / about, 1e-6);
        // The residuals of a least-squares fit are orthogonal to every column of the formula.
        let product = |f: &dyn Fn(f64) -> f64| -> f64 {
            let parts = all.iter().map(|(x, y)| (y - model.curve.at(*x)) * f(*x));
            let length = all.iter().map(|(x, _)| f(*x).powi(2)).sum::<f64>();
            parts.sum::<f64>() / (length * about).sqrt()
        };
        let columns: &[&dyn Fn(f64) -> f64] = match model.kind {
            ModelKind::Constant => &[&|_| 1.0],
            ModelKind::Logarithmic => &[&|_| 1.0, &f64::ln],
            ModelKind::Linear => &[&|_| 1.0, &|x| x],
            ModelKind::Linearithmic => &[&|_| 1.0, &|x| x * x.ln()],
            ModelKind::Quadratic => &[&|_| 1.0, &|x| x, &|x| x * x],
            ModelKind::Cubic => &[&|_| 1.0, &|x| x, &|x| x * x, &|x| x * x * x],
            ModelKind::Power => &[&|x| model.curve.at(x), &|x| model.curve.at(x) * x.ln()],
            _ => &[&|x| model.curve.at(x), &|x| model.curve.at(x) * x],
        };
        for column in columns {
            let left = product(column);
            assert!(left.abs() < 1e-10, "{what}: {left}");
        }
    }
}

/// Pseudo-random numbers, uniform and standard normal, with a fixed sequence per seed.
struct Chance(u64);

impl Chance {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = (-2.0 * self.unit().ln(), std::f64::consts::TAU * self.unit());
        radius.sqrt() * angle.cos()
    }
}

/// Returns runs of doubled sizes with noise relative to the curve or to its mean.
fn sweep(
    curve: impl Fn(f64) -> f64,
    runs: usize,
    noise: f64,
    is_relative: bool,
    chance: &mut Chance,
) -> Points {
    let sizes = (0..7).map(|k| 1000.0 * f64::from(1 << k));
    let mean = sizes.clone().map(&curve).sum::<f64>() / 7.0;
    let sizes: Vec<f64> = sizes.flat_map(|x| std::iter::repeat_n(x, runs)).collect();
    let point = |x: f64| {
        let size = if is_relative { curve(x) } else { mean };
        (x, curve(x) + noise * size * chance.normal())
    };
    Points::new(sizes.into_iter().map(point).collect::<Vec<_>>()).unwrap()
}

#[test]
fn finds_the_true_kind_of_noisy_runs() {
    use ModelKind::{
        Constant, Cubic, Exponential, Linear, Linearithmic, Logarithmic, Power, Quadratic,
    };
    type Curve = fn(f64) -> f64;
    let kinds: [(ModelKind, Curve); 11] = [
        (Constant, |_| 50.0),
        (Logarithmic, |x| 10.0 + 8.0 * x.ln()),
        (Linear, |x| 20.0 + 0.05 * x),
        (Linear, |x| 0.05 * x),
        (Linearithmic, |x| 20.0 + 0.02 * x * x.ln()),
        (Linearithmic, |x| 0.02 * x * x.ln()),
        (Quadratic, |x| 20.0 + 3e-5 * x * x),
        (Cubic, |x| 10.0 + 1e-9 * x * x * x),
        (Power, |x| 0.01 * x.powf(1.5)),
        (Power, |x| x.sqrt()),
        (Exponential, |x| 5.0 * (x / 64_000.0 * 6.0).exp()),
    ];
    // Runs of each size, noise, whether the noise is relative to the curve, and the minimum share of correct winners.
    let cases = [
        (3, 0.05, true, 0.8),
        (3, 0.15, true, 0.65),
        (10, 0.1, true, 0.8),
        (3, 0.03, false, 0.6),
        (1, 0.05, true, 0.5),
    ];
    const DRAWS: usize = 10;
    for (runs, noise, is_relative, least) in cases {
        let mut right = [0; 2];
        for (kind, curve) in kinds {
            let mut chance = Chance(7);
            let mut named = [0; 2];
            for _ in 0..DRAWS {
                let points = sweep(curve, runs, noise, is_relative, &mut chance);
                let found = [regression, weighted_regression]
                    .map(|fit| fit(&points, &ModelKind::REGRESSION));
                for (named, found) in named.iter_mut().zip(found) {
                    *named += usize::from(found.models[0].kind == kind);
                }
            }
            println!("{runs} runs, {noise}, relative {is_relative}, {kind}: {named:?} of {DRAWS}");
            right = [right[0] + named[0], right[1] + named[1]];
        }
        let all = (DRAWS * kinds.len()) as f64;
        let [plain, weighted] = right.map(|right| right as f64 / all);
        println!(
            "{runs} runs, {noise}, relative {is_relative}: {plain:.2} without weights, {weighted:.2} with"
        );
        assert!(weighted >= least, "{weighted} of {runs} runs with {noise}");
    }
}

#[test]
fn interval_contains_the_true_exponent_and_is_reproducible() {
    const DRAWS: usize = 20;
    let (mut inside, mut chance) = (0, Chance(3));
    for _ in 0..DRAWS {
        let points = sweep(|x| 20.0 + 0.05 * x, 3, 0.05, true, &mut chance);
        let (_, certainty) = regression_with_certainty(&points, &ModelKind::REGRESSION);
        let certainty = certainty.unwrap();
        assert!((0.0..=1.0).contains(&certainty.winner));
        let exponent = certainty.exponent.unwrap();
        assert!((exponent.low..=exponent.high).contains(&exponent.value));
        inside += usize::from((exponent.low..=exponent.high).contains(&1.0));
    }
    assert!(inside >= DRAWS * 3 / 4, "{inside} of {DRAWS}");
    let points = sweep(|x| 20.0 + 0.05 * x, 3, 0.05, true, &mut chance);
    let certainty = || regression_with_certainty(&points, &ModelKind::REGRESSION).1;
    assert_eq!(certainty(), certainty());
    // If all points lie on the curve, there is no uncertainty to estimate.
    let line = Points::new((1..20).map(|x| (f64::from(x), 2.0 * f64::from(x)))).unwrap();
    assert_eq!(
        regression_with_certainty(&line, &ModelKind::REGRESSION).1,
        None
    );
}
