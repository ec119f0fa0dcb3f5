//! Detectors of changes between two curves.

use super::same;
use serde::Deserialize;
use sto_stats::models::changes::{
    ChangeKind, DetectorRules, average_amount, best_model_order, classify, fast_check,
    integral_comparison, linear_check, local_statistics, local_statistics_of, polynomial_check,
};
use sto_stats::models::{Model, ModelKind, Models, Points, regression, simpson};

/// Perun's comparison of two sequences of values.
#[derive(Deserialize)]
struct Case {
    x: Vec<f64>,
    baseline: Vec<f64>,
    candidate: Vec<f64>,
    simpson: [f64; 2],
    /// Result, relative error, start and end of each part.
    parts: Vec<(i32, f64, f64, f64)>,
    error_rate: f64,
}

#[test]
fn local_statistics_agree_with_example_of_the_paper() {
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let baseline = [5.0, 4.0, 8.0, 3.0, 7.0, 6.0, 1.0, 5.0, 4.0, 3.0];
    let candidate = [7.0, 9.0, 4.0, 5.0, 7.0, 5.0, 3.0, 8.0, 5.0, 1.0];
    let mut rules = DetectorRules::default();
    (rules.parts, rules.no_change, rules.change) = (5, 0.33, 0.66);
    let found = local_statistics_of(&x, &baseline, &candidate, &rules).unwrap();
    let scores: Vec<f64> = found.intervals.iter().map(|part| part.score).collect();
    assert_eq!(scores, [8.0, 0.0, 0.0, 7.5, -1.5]);
    let results: Vec<ChangeKind> = found.intervals.iter().map(|part| part.result).collect();
    use ChangeKind::{Degradation, NoChange};
    assert_eq!(
        results,
        [Degradation, NoChange, NoChange, Degradation, NoChange]
    );
    assert_eq!(
        (found.intervals[3].x_start, found.intervals[3].x_end),
        (6.0, 7.0)
    );
}

#[test]
fn local_statistics_agree_with_perun_and_integrals_with_scipy() {
    let cases = include_str!("../../../../testdata/models/local_statistics.json");
    let cases: Vec<Case> = serde_json::from_str(cases).unwrap();
    assert!(cases.len() > 3);
    for case in cases {
        same(
            "baseline",
            simpson(&case.x, &case.baseline),
            case.simpson[0],
            0.0,
        );
        same(
            "candidate",
            simpson(&case.x, &case.candidate),
            case.simpson[1],
            0.0,
        );
        let mut rules = DetectorRules::default();
        if case.x.len() < 40 {
            // Where a twentieth of the values is fewer than two, Perun compares all x as one part.
            rules.parts = 1;
        }
        let found = local_statistics_of(&case.x, &case.baseline, &case.candidate, &rules).unwrap();
        same("error rate", found.error_rate, case.error_rate, 1.0);
        assert_eq!(found.intervals.len(), case.parts.len());
        for (ours, (result, error_rate, x_start, x_end)) in found.intervals.iter().zip(case.parts) {
            same("part", ours.error_rate, error_rate, 1.0);
            let numbered = match ours.result {
                ChangeKind::Degradation => -2,
                ChangeKind::MaybeDegradation => -1,
                ChangeKind::NoChange => 0,
                ChangeKind::MaybeOptimisation => 1,
                _ => 2,
            };
            assert_eq!(
                (numbered, ours.x_start, ours.x_end),
                (result, x_start, x_end)
            );
        }
    }
}

/// The combination of a formula in table 6.4 of the thesis.
#[test]
fn straight_lines_compare_as_numpy_and_scipy_say() {
    let expected = include_str!("../../../../testdata/models/comparison.json");
    let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
    let line = |table: &str| {
        let rows = table
            .lines()
            .skip(1)
            .map(|row| row.split_once(',').unwrap());
        let points = rows.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()));
        regression(&Points::new(points).unwrap(), &[ModelKind::Linear])
    };
    let baseline = line(include_str!(
        "../../../../testdata/models/comparison_baseline.csv"
    ));
    let candidate = line(include_str!(
        "../../../../testdata/models/comparison_candidate.csv"
    ));
    let (a, b) = (best(&baseline), best(&candidate));
    let rules = DetectorRules::default();
    let theirs = |name: &str| expected["linear"][name].as_f64().unwrap();
    let area = integral_comparison(a, b, &rules).unwrap();
    same("area", area.error_rate, theirs("integral_comparison"), 1.0);
    let local = local_statistics(a, b, &rules).unwrap();
    same("parts", local.error_rate, theirs("local_statistics"), 1.0);
    let results = local.intervals.iter().map(|part| part.result);
    let results: Vec<serde_json::Value> = results
        .map(|of| serde_json::to_value(of).unwrap())
        .collect();
    let parts = expected["linear"]["parts"].as_array().unwrap();
    assert_eq!(
        results,
        parts
            .iter()
            .map(|part| part["result"].clone())
            .collect::<Vec<_>>()
    );
}

#[test]
fn larger_changes_are_more_certain() {
    use ChangeKind::{Degradation, MaybeDegradation, MaybeOptimisation, NoChange, Optimisation};
    let found = [-0.5, -0.25, -0.2, -0.1, 0.0, 0.1, 0.11, 0.25, 0.26];
    assert_eq!(
        found.map(|error| classify(error, 0.1, 0.25)),
        [
            Optimisation,
            MaybeOptimisation,
            MaybeOptimisation,
            NoChange,
            NoChange,
            NoChange,
            MaybeDegradation,
            MaybeDegradation,
            Degradation
        ]
    );
    assert_eq!(
        serde_json::to_string(&MaybeOptimisation).unwrap(),
        "\"maybe_optimisation\""
    );
}

fn models(f: impl Fn(f64) -> f64) -> (Points, Models) {
    let points = Points::new((1..=40).map(|x| (f64::from(x), f(f64::from(x))))).unwrap();
    let found = regression(&points, &ModelKind::REGRESSION);
    (points, found)
}

fn best(models: &Models) -> &Model {
    &models.models[0]
}

#[test]
fn detectors_find_parabola_but_not_equal_line() {
    let (before_points, before) = models(|x| 10.0 + 2.0 * x);
    let (after_points, after) = models(|x| 10.0 + 2.0 * x + 0.5 * x * x);
    let (a, b) = (best(&before), best(&after));
    let rules = DetectorRules::default();
    let found = [
        integral_comparison(a, b, &rules),
        local_statistics(a, b, &rules),
        average_amount(&before_points, &after_points),
        best_model_order(a, b),
        fast_check(&before, &after),
        linear_check(&before, &after),
        polynomial_check(&before, &after),
    ];
    for change in found {
        assert_eq!(change.unwrap().result, ChangeKind::Degradation);
    }
    let found = [
        integral_comparison(b, a, &rules),
        local_statistics(b, a, &rules),
        average_amount(&after_points, &before_points),
        best_model_order(b, a),
        fast_check(&after, &before),
        linear_check(&after, &before),
        polynomial_check(&after, &before),
    ];
    for change in found {
        assert_eq!(change.unwrap().result, ChangeKind::Optimisation);
    }
    let found = [
        integral_comparison(a, a, &rules),
        local_statistics(a, a, &rules),
        average_amount(&before_points, &before_points),
        best_model_order(a, a),
        fast_check(&before, &before),
        linear_check(&before, &before),
        polynomial_check(&before, &before),
    ];
    for change in found {
        assert_eq!(change.unwrap().result, ChangeKind::NoChange);
    }
}

#[test]
fn checks_name_the_kind_of_the_difference() {
    let (_, line) = models(|x| 10.0 + 2.0 * x);
    let (_, higher) = models(|x| 14.0 + 2.0 * x);
    let (_, steeper) = models(|x| 10.0 + 3.0 * x);
    let (_, bent) = models(|x| 10.0 + 2.0 * x + 0.5 * x * x);
    let of = |after: &Models| {
        let found = [fast_check, linear_check, polynomial_check];
        found.map(|check| check(&line, after).unwrap().difference.unwrap())
    };
    assert_eq!(of(&higher), [ModelKind::Constant; 3]);
    assert_eq!(of(&steeper), [ModelKind::Linear; 3]);
    // The straight lines through the two curves differ by a line.
    let bent = of(&bent);
    assert_eq!(
        [bent[1], bent[2]],
        [ModelKind::Linear, ModelKind::Quadratic]
    );
}

#[test]
fn curves_without_a_common_x_are_not_compared() {
    let at = |from: f64| {
        let points = Points::new((0..9).map(|ix| (from + f64::from(ix), f64::from(ix)))).unwrap();
        regression(&points, &[ModelKind::Linear])
    };
    let (a, b) = (at(0.0), at(100.0));
    let rules = DetectorRules::default();
    assert_eq!(integral_comparison(best(&a), best(&b), &rules), None);
    assert_eq!(local_statistics(best(&a), best(&b), &rules), None);
    assert_eq!(fast_check(&a, &b), None);
    let none = Points::new([]).unwrap();
    assert_eq!(average_amount(&none, &none), None);
}
