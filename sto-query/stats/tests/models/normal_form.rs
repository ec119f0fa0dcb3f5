//! The constant and the term x^i log2(x)^j agree with Extra-P.

use super::same;
use serde::Deserialize;
use sto_stats::models::{
    Curve, ModelKind, Points, Powers, SurfaceTerm, Why, normal_form, normal_form_of_two,
};

#[derive(Deserialize)]
struct Case {
    x: Vec<f64>,
    y: Vec<f64>,
    constant: f64,
    /// Coefficient, power of x, power of its logarithm.
    term: Option<(f64, f64, u32)>,
}

#[test]
fn term_agrees_with_extra_p() {
    let cases = include_str!("../../../../testdata/models/normal_form.json");
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

/// The powers of a variable and of its logarithm; both are 0 if a term does not contain the variable.
type Exponents = (f64, u32);

#[derive(Deserialize)]
struct CaseOfTwo {
    points: Vec<(f64, f64, f64)>,
    constant: f64,
    terms: Vec<(f64, [Exponents; 2])>,
}

#[test]
fn terms_of_two_variables_agree_with_extra_p() {
    let cases = include_str!("../../../../testdata/models/normal_form_of_two.json");
    let cases: Vec<CaseOfTwo> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 36);
    for (ix, case) in cases.iter().enumerate() {
        let points = case.points.iter().map(|&(a, b, y)| ([a, b], y));
        let points: Vec<([f64; 2], f64)> = points.collect();
        let surface = normal_form_of_two(&points).unwrap();
        let exponents = |of: &SurfaceTerm| {
            let own = |powers: Powers| (powers.power, powers.log);
            of.factors.map(|powers| powers.map_or((0.0, 0), own))
        };
        let ours: Vec<[Exponents; 2]> = surface.terms.iter().map(exponents).collect();
        let theirs: Vec<[Exponents; 2]> = case.terms.iter().map(|term| term.1).collect();
        assert_eq!(ours, theirs, "case {ix}");
        let size = case.points.iter().map(|point| point.2).fold(0.0, f64::max);
        same("constant", surface.constant, case.constant, size);
        for (ours, (theirs, _)) in surface.terms.iter().zip(&case.terms) {
            same("term", ours.coefficient, *theirs, 0.0);
        }
        assert!(
            surface.r_square > 0.99 || surface.terms.is_empty() || ix < 4,
            "case {ix}"
        );
    }
}

#[test]
fn normal_form_of_two_variables_needs_four_values_of_each() {
    let grid =
        (0..4).flat_map(|a| (0..3).map(move |b| ([1.0 + f64::from(a), 1.0 + f64::from(b)], 2.0)));
    let grid: Vec<([f64; 2], f64)> = grid.collect();
    let (needed, found) = (4, 3);
    assert_eq!(
        normal_form_of_two(&grid),
        Err(Why::TooFewX { needed, found })
    );
    assert!(normal_form_of_two(&[]).is_err());
}

#[test]
fn normal_form_needs_enough_nonnegative_points() {
    let of = |x: &[f64]| normal_form(&Points::new(x.iter().map(|x| (*x, 1.0))).unwrap());
    let (needed, found) = (4, 3);
    assert_eq!(of(&[1.0, 2.0, 3.0]), Err(Why::TooFewX { needed, found }));
    let smallest = -1.0;
    assert_eq!(
        of(&[-1.0, 2.0, 3.0, 4.0]),
        Err(Why::NotAboveZero { smallest })
    );
}
