//! A constant and a term x^i log2(x)^j, as Extra-P finds it.

use super::same;
use serde::Deserialize;
use sto_query::statistics::models::{Curve, ModelKind, Points, Why, normal_form};

#[derive(Deserialize)]
struct Case {
    x: Vec<f64>,
    y: Vec<f64>,
    constant: f64,
    /// Coefficient, power of x, power of its logarithm.
    term: Option<(f64, f64, u32)>,
}

#[test]
fn the_term_is_that_of_extra_p() {
    let cases = include_str!("../../../testdata/models/normal_form.json");
    let cases: Vec<Case> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 34);
    for (ix, case) in cases.iter().enumerate() {
        let points = case.x.iter().copied().zip(case.y.iter().copied());
        let model = normal_form(&Points::new(points).unwrap()).unwrap();
        assert_eq!(model.kind, ModelKind::NormalForm);
        let Curve::Terms(terms) = &model.curve else {
            panic!("terms");
        };
        let theirs = case.term.map(|(_, power, log)| (power, log));
        let ours = terms.get(1).map(|term| (term.power, term.log));
        assert_eq!(ours, theirs, "case {ix}");
        let size = case.y.iter().copied().fold(0.0, f64::max);
        same("constant", terms[0].coefficient, case.constant, size);
        if let (Some(ours), Some((theirs, ..))) = (terms.get(1), case.term) {
            same("term", ours.coefficient, theirs, 0.0);
        }
    }
}

#[test]
fn a_normal_form_needs_points_enough_that_are_not_below_zero() {
    let of = |x: &[f64]| normal_form(&Points::new(x.iter().map(|x| (*x, 1.0))).unwrap());
    let (needed, found) = (4, 3);
    assert_eq!(of(&[1.0, 2.0, 3.0]), Err(Why::TooFewX { needed, found }));
    let smallest = -1.0;
    assert_eq!(
        of(&[-1.0, 2.0, 3.0, 4.0]),
        Err(Why::NotAboveZero { smallest })
    );
}
