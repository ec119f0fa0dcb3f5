//! Formulas fitted by least squares.

use super::same;
use serde::Deserialize;
use std::collections::BTreeMap;
use sto_query::statistics::models::{ModelKind, Points, PointsError, Why, regression};

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
    let cases = include_str!("../../../testdata/models/regression.json");
    serde_json::from_str(cases).unwrap()
}

/// Weights belong to points in their order.
fn points(case: &Case) -> Points {
    let mut order: Vec<usize> = (0..case.x.len()).collect();
    order.sort_by(|&a, &b| {
        (case.x[a], case.y[a])
            .partial_cmp(&(case.x[b], case.y[b]))
            .unwrap()
    });
    let points = Points::new(case.x.iter().copied().zip(case.y.iter().copied())).unwrap();
    match case.weights.iter().all(|weight| *weight == 1.0) {
        true => points,
        false => points
            .with_weights(order.iter().map(|&ix| case.weights[ix]).collect())
            .unwrap(),
    }
}

#[test]
fn coefficients_intervals_and_criteria_are_those_of_statsmodels_and_scipy() {
    for case in cases() {
        let found = regression(&points(&case), &ModelKind::REGRESSION);
        assert_eq!(found.models.len(), 8, "{}: {:?}", case.name, found.left_out);
        for model in found.models {
            let what = format!("{}, {}", case.name, model.kind);
            let theirs = &case.kinds[model.kind.name()];
            for (ix, coefficient) in model.coefficients.iter().enumerate() {
                // A coefficient near zero is known as well as its interval is narrow.
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
fn the_winner_is_the_kind_that_the_points_were_made_of() {
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
fn a_kind_that_cannot_be_fitted_says_why() {
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
fn a_straight_line_of_a_million_points_is_that_of_all_of_them() {
    // More distinct x than are kept, with values that the text-book sums are known of.
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
        // What is left is orthogonal to every column of the formula, as least squares have it.
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
