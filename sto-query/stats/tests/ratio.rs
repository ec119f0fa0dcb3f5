//! Ratios of sums agree with statsmodels 0.15.0: `WLS(y, x, weights=1 / x).fit(cov_type="HC1", use_t=True)`, and with
//! SciPy's `t.ppf` for the sum.

use sto_stats::Estimate;

#[track_caller]
fn assert_close(found: (f64, f64), expected: (f64, f64)) {
    let is_close = |a: f64, b: f64| (a - b).abs() < 1e-8;
    assert!(
        is_close(found.0, expected.0) && is_close(found.1, expected.1),
        "{found:?}"
    );
}

#[test]
fn interval_of_a_ratio_is_that_of_a_regression_through_the_origin() {
    let ratio = Estimate::from_ratio(&[12.0, 20.0, 9.0, 31.0], &[10.0, 14.0, 9.0, 20.0]);
    assert_close(
        (ratio.value, ratio.variance.unwrap().0),
        (1.3584905660377355, 0.01355388431537527),
    );
    assert_close(ratio.interval(0.95).unwrap(), (0.98798651, 1.72899463));
}

#[test]
fn interval_of_a_sum_has_the_degrees_of_freedom_of_satterthwaite() {
    let first = Estimate::from_ratio(&[12.0, 20.0, 9.0, 31.0], &[10.0, 14.0, 9.0, 20.0]);
    let second = Estimate::from_ratio(&[3.0, 5.5], &[2.0, 3.0]);
    let sum = Estimate::sum(&[first, second]);
    assert_close(
        (sum.value, sum.variance.unwrap().1),
        (3.0584905660377353, 2.139318128820792),
    );
    assert_close(
        sum.interval(0.95).unwrap(),
        (2.258095640873197, 3.8588854912022734),
    );
}

#[test]
fn one_run_has_no_interval_and_equal_runs_have_an_empty_one() {
    let one = Estimate::from_ratio(&[3.0], &[2.0]);
    assert_eq!((one.value, one.interval(0.95)), (1.5, None));
    assert_eq!(Estimate::sum(&[one, one]).interval(0.95), None);
    let equal = Estimate::from_ratio(&[3.0, 3.0], &[2.0, 2.0]);
    assert_eq!(equal.interval(0.95), Some((1.5, 1.5)));
    let sum = Estimate::sum(&[equal, equal]);
    assert_eq!(sum.interval(0.95), Some((3.0, 3.0)));
}

#[test]
fn nothing_has_no_ratio() {
    assert_eq!(Estimate::from_ratio(&[], &[]), Estimate::default());
    assert_eq!(Estimate::from_ratio(&[1.0], &[0.0]), Estimate::default());
    assert_eq!(Estimate::sum(&[]), Estimate::default());
}
