//! Behaviour over runs: changes, bands and scores.

use proptest::prelude::*;
use serde::Deserialize;
use sto_query::internal::series::{change_points, expected};
use sto_query::questions::ChangeOptions;

#[derive(Deserialize)]
struct Case {
    name: String,
    series: Vec<f64>,
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    at: usize,
    before: f64,
    after: f64,
    p: f64,
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let near = (found - expected).abs() <= 1e-6 * expected.abs() + 1e-15;
    assert!(near, "{what}: {found}, expected {expected}");
}

#[test]
fn finds_same_changes_as_otava() {
    let cases = include_str!("../../testdata/series/changes.json");
    let cases: Vec<Case> = serde_json::from_str(cases).unwrap();
    let mut changes = 0;
    for case in &cases {
        let found = change_points(&case.series, ChangeOptions::default()).unwrap();
        let indices: Vec<usize> = found.iter().map(|change| change.at).collect();
        let expected: Vec<usize> = case.changes.iter().map(|change| change.at).collect();
        assert_eq!(indices, expected, "{}", case.name);
        for (found, expected) in found.iter().zip(&case.changes) {
            assert_close(found.before, expected.before, &case.name);
            assert_close(found.after, expected.after, &case.name);
            assert_close(found.p, expected.p, &case.name);
        }
        changes += found.len();
    }
    assert!(
        cases.len() >= 10 && changes >= 12,
        "{} cases, {changes} changes",
        cases.len()
    );
}

#[test]
fn count_explained_by_chance_is_not_a_change() {
    let series = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0];
    let options = with!(ChangeOptions {
        least_variance: 0.2,
    });
    assert_eq!(change_points(&series, options).unwrap(), []);
}

#[test]
fn too_few_observations_have_no_changes() {
    for series in [&[][..], &[1.0], &[1.0, 100.0]] {
        assert_eq!(change_points(series, ChangeOptions::default()).unwrap(), []);
    }
}

#[test]
fn band_is_two_deviations_of_runs_before() {
    let expected = expected(&[2.0, 4.0, 6.0, 100.0], &[0..1, 1..2, 2..3, 3..4], 3);
    assert_eq!(expected[..2], [None, None]);
    // Mean of 2 and 4; of 2, 4 and 6.
    assert_eq!(expected[2].unwrap().mean, 3.0);
    let window = expected[3].unwrap();
    assert_eq!((window.mean, window.deviation), (4.0, 2.0));
    assert_eq!(window.band(), (0.0, 8.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Not even where sums of distances are not exact.
    #[test]
    fn changes_do_not_depend_on_scale_or_offset(
        series in prop::collection::vec(0..50u32, 0..120),
        exponent in -8..8i32,
        offset in -1000..1000i32,
    ) {
        let scale = f64::from(exponent).exp2();
        let indices = |series: &[f64]| -> Vec<usize> {
            let changes = change_points(series, ChangeOptions::default()).unwrap();
            changes.iter().map(|change| change.at).collect()
        };
        let plain: Vec<f64> = series.iter().map(|&x| f64::from(x)).collect();
        let other: Vec<f64> = plain.iter().map(|x| (x + f64::from(offset)) * scale).collect();
        prop_assert_eq!(indices(&plain), indices(&other));
    }

    #[test]
    fn changes_are_sorted_and_within_series(
        series in prop::collection::vec(-1e6..1e6f64, 0..200),
    ) {
        let changes = change_points(&series, ChangeOptions::default()).unwrap();
        prop_assert!(changes.windows(2).all(|pair| pair[0].at < pair[1].at));
        prop_assert!(changes.iter().all(|c| c.at > 0 && c.at < series.len() && c.p <= 0.001));
    }
}

#[test]
fn rejects_non_finite_numbers_with_index() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let series = [1.0, 2.0, value, 3.0];
        let error = change_points(&series, ChangeOptions::default()).unwrap_err();
        assert_eq!(error.at, 2, "{error}");
    }
}

#[test]
fn window_has_at_least_two_observations() {
    let options = |window| with!(ChangeOptions { window });
    let series = [1.0, 1.0, 1.0, 9.0, 9.0, 9.0];
    assert_eq!(
        change_points(&series, options(0)),
        change_points(&series, options(2))
    );
}
