//! Curves without a formula.

use super::same;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::f64::consts::PI;
use sto_stats::models::{
    Average, Bandwidth, Bins, Buckets, Curve, Decay, Estimator, Kernel, Middle, Model, Points,
    RollingWindow, Why, WindowFunction, cross_validation, hurvich, iterative_moving_average,
    kernel_regression, kernel_ridge, moving_average, regressogram,
};

fn points(x: &[f64], y: &[f64]) -> Points {
    Points::new(x.iter().copied().zip(y.iter().copied())).unwrap()
}

/// Parses a name from JSON.
fn named<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(name.into()).unwrap()
}

#[derive(Deserialize)]
struct Bucketed {
    x: Vec<f64>,
    y: Vec<f64>,
    rules: std::collections::BTreeMap<String, Found>,
}

#[derive(Deserialize)]
struct Found {
    edges: Vec<f64>,
    mean: Vec<Option<f64>>,
    median: Vec<Option<f64>>,
    r_square_mean: f64,
    r_square_median: f64,
}

#[test]
fn buckets_agree_with_numpy_and_scipy() {
    let cases = include_str!("../../../../testdata/models/regressogram.json");
    let cases: Vec<Bucketed> = serde_json::from_str(cases).unwrap();
    for case in cases {
        assert_eq!(case.rules.len(), 8);
        for (rule, theirs) in &case.rules {
            let buckets = match rule.as_str() {
                "number" => Buckets::Number(10),
                rule => named(rule),
            };
            let both = [
                (Middle::Mean, &theirs.mean, theirs.r_square_mean),
                (Middle::Median, &theirs.median, theirs.r_square_median),
            ];
            for (middle, values_of, r_square) in both {
                let model = regressogram(&points(&case.x, &case.y), buckets, middle).unwrap();
                same(rule, model.r_square, r_square, 1.0);
                let Curve::Steps { edges, values } = &model.curve else {
                    panic!("steps");
                };
                assert_eq!(edges.len(), theirs.edges.len(), "{rule}");
                for (ours, theirs) in edges.iter().zip(&theirs.edges) {
                    same(rule, *ours, *theirs, 1.0);
                }
                for (ours, theirs) in values.iter().zip(values_of) {
                    assert_eq!(ours.is_some(), theirs.is_some(), "{rule}");
                    same(rule, ours.unwrap_or(0.0), theirs.unwrap_or(0.0), 1.0);
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Averaged {
    x: Vec<f64>,
    y: Vec<f64>,
    windows: Vec<Windowed>,
    decays: Vec<Decayed>,
}

#[derive(Deserialize)]
struct Windowed {
    width: usize,
    centred: bool,
    least: usize,
    mean: Vec<Option<f64>>,
    median: Vec<Option<f64>>,
    r_square: f64,
}

#[derive(Deserialize)]
struct Decayed {
    span: Option<f64>,
    com: Option<f64>,
    halflife: Option<f64>,
    alpha: Option<f64>,
    values: Vec<Option<f64>>,
}

/// Compares the values that are not `None`.
#[track_caller]
fn same_values(what: &str, model: &Model, theirs: &[Option<f64>]) {
    let Curve::Samples { y, .. } = &model.curve else {
        panic!("samples");
    };
    let theirs: Vec<f64> = theirs.iter().copied().flatten().collect();
    assert_eq!(y.len(), theirs.len(), "{what}");
    for (ours, theirs) in y.iter().zip(theirs) {
        same(what, *ours, theirs, 1.0);
    }
}

#[derive(Deserialize)]
struct Weighted {
    y: Vec<f64>,
    cases: Vec<WeightedCase>,
}

#[derive(Deserialize)]
struct WeightedCase {
    function: WindowFunction,
    width: usize,
    centred: bool,
    least: usize,
    mean: Vec<Option<f64>>,
}

#[test]
fn weighted_moving_averages_agree_with_pandas() {
    let found = include_str!("../../../../testdata/models/window_functions.json");
    let found: Weighted = serde_json::from_str(found).unwrap();
    let x: Vec<f64> = (0..found.y.len()).map(|x| x as f64).collect();
    let points = points(&x, &found.y);
    assert_eq!(found.cases.len(), 18 * 5);
    for case in found.cases {
        let mut window = RollingWindow::new(case.width, case.centred);
        window.least = case.least;
        let function = case.function;
        let average = Average::Weighted { window, function };
        let what = format!("{function:?} of {}", case.width);
        same_values(
            &what,
            &moving_average(&points, average).unwrap(),
            &case.mean,
        );
    }
}

#[test]
fn boxcar_is_a_simple_moving_average() {
    let points = Points::new((0..40).map(|x| (f64::from(x), f64::from(x * x % 17)))).unwrap();
    let window = RollingWindow::new(6, true);
    let function = WindowFunction::Boxcar;
    let weighted = moving_average(&points, Average::Weighted { window, function }).unwrap();
    let simple = moving_average(&points, Average::Simple(window)).unwrap();
    same("R²", weighted.r_square, simple.r_square, 1.0);
    same("own weights", weighted.parameters, simple.parameters, 1.0);
    let window = RollingWindow::new(usize::MAX / 2, true);
    assert_eq!(
        moving_average(&points, Average::Weighted { window, function }),
        None
    );
}

#[test]
fn moving_averages_agree_with_pandas() {
    let cases = include_str!("../../../../testdata/models/moving_average.json");
    let cases: Vec<Averaged> = serde_json::from_str(cases).unwrap();
    for case in cases {
        let points = points(&case.x, &case.y);
        for found in &case.windows {
            let mut window = RollingWindow::new(found.width, found.centred);
            window.least = found.least;
            let model = moving_average(&points, Average::Simple(window)).unwrap();
            same_values("mean", &model, &found.mean);
            same("mean", model.r_square, found.r_square, 1.0);
            let model = moving_average(&points, Average::Median(window)).unwrap();
            same_values("median", &model, &found.median);
        }
        for found in &case.decays {
            let decay = [
                found.span.map(Decay::Span),
                found.com.map(Decay::CentreOfMass),
                found.halflife.map(Decay::HalfLife),
                found.alpha.map(Decay::Part),
            ];
            let decay = decay.into_iter().flatten().next().unwrap();
            let model = moving_average(&points, Average::Exponential(decay)).unwrap();
            same_values("exponential", &model, &found.values);
        }
    }
}

#[test]
fn window_narrows_until_r_square_suffices() {
    let y = |x: f64| (x / 40.0).sin() * 10.0 + (x * PI).cos();
    let all: Vec<f64> = (0..1000).map(f64::from).collect();
    let points = points(&all, &all.iter().map(|x| y(*x)).collect::<Vec<_>>());
    let window = RollingWindow::new(1, true);
    let model = iterative_moving_average(&points, Average::Simple(window)).unwrap();
    // A twentieth of the range is enough here.
    assert_eq!(model.smoothing, Some(49.0));
    assert!(model.r_square > 0.88);
    let steep = Points::new(all.iter().map(|x| (*x, (x * PI).cos().round())));
    let model = iterative_moving_average(&steep.unwrap(), Average::Simple(window)).unwrap();
    assert_eq!((model.smoothing, model.r_square), (Some(1.0), 1.0));
    let wrong = [
        Decay::Span(0.5),
        Decay::CentreOfMass(-1.0),
        Decay::HalfLife(0.0),
        Decay::Part(1.5),
    ];
    for decay in wrong {
        assert_eq!(moving_average(&points, Average::Exponential(decay)), None);
    }
}

#[derive(Deserialize)]
struct Kernels {
    x: Vec<f64>,
    y: Vec<f64>,
    fits: Vec<Smoothed>,
    chosen: Vec<Chosen>,
    scott: f64,
    silverman: f64,
    gammas: Vec<f64>,
    gamma: f64,
}

#[derive(Deserialize)]
struct Smoothed {
    kernel: String,
    estimator: String,
    width: f64,
    fitted: Vec<f64>,
    r_square: f64,
    trace: f64,
    hurvich: f64,
    cross_validation: Option<f64>,
}

#[derive(Deserialize)]
struct Chosen {
    rule: String,
    width: f64,
}

fn kernels() -> Vec<Kernels> {
    serde_json::from_str(include_str!("../../../../testdata/models/kernel.json")).unwrap()
}

#[test]
fn kernel_regressions_agree_with_direct_sums() {
    for case in kernels() {
        let points = points(&case.x, &case.y);
        assert_eq!(case.fits.len(), 20);
        for fit in &case.fits {
            let what = format!("{} {} {}", fit.kernel, fit.estimator, fit.width);
            let kernel: Kernel = named(&fit.kernel);
            let estimator: Estimator = named(&fit.estimator);
            let width = Bandwidth::Width(fit.width);
            let model = kernel_regression(&points, kernel, estimator, width).unwrap();
            for (x, theirs) in case.x.iter().zip(&fit.fitted) {
                // If points are gathered in cells, the curve has samples at other x.
                if let Curve::Samples { x: at, .. } = &model.curve
                    && at.contains(x)
                {
                    same(&what, model.curve.at(*x), *theirs, 1.0);
                }
            }
            same(&what, model.r_square, fit.r_square, 1.0);
            same(&what, model.parameters, fit.trace, 1.0);
            same(
                &what,
                hurvich(&points, kernel, estimator, fit.width).unwrap(),
                fit.hurvich,
                1.0,
            );
            if let Some(theirs) = fit.cross_validation {
                let ours = cross_validation(&points, kernel, estimator, fit.width).unwrap();
                same(&what, ours, theirs, 1.0);
            }
        }
    }
}

#[test]
fn bandwidths_are_at_least_as_good_as_those_of_statsmodels() {
    let (kernel, estimator) = (Kernel::Gaussian, Estimator::NadarayaWatson);
    for case in kernels() {
        let points = points(&case.x, &case.y);
        let choose = |rule| {
            kernel_regression(&points, kernel, estimator, rule)
                .unwrap()
                .smoothing
                .unwrap()
        };
        same("scott", choose(Bandwidth::Scott), case.scott, 0.0);
        same(
            "silverman",
            choose(Bandwidth::Silverman),
            case.silverman,
            0.0,
        );
        for theirs in &case.chosen {
            let rule: Bandwidth = named(&theirs.rule);
            let criterion = match rule {
                Bandwidth::Aicc => hurvich,
                _ => cross_validation,
            };
            let of = |width| criterion(&points, kernel, estimator, width).unwrap();
            let ours = choose(rule);
            assert!(
                of(ours) <= of(theirs.width) + 1e-6,
                "{}: {ours} is {}, theirs of {} is {}",
                theirs.rule,
                of(ours),
                theirs.width,
                of(theirs.width)
            );
        }
        let ridge = kernel_ridge(&points, &case.gammas).unwrap();
        same("gamma", ridge.smoothing.unwrap(), case.gamma, 0.0);
    }
}

#[test]
fn rejects_local_line_without_second_moment() {
    let points = points(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0]);
    for kernel in [Kernel::Gaussian4, Kernel::Epanechnikov4] {
        let found = kernel_regression(&points, kernel, Estimator::LocalLinear, Bandwidth::Scott);
        assert_eq!(found, Err(Why::FourthOrder));
    }
}

#[test]
fn binned_points_have_the_sums_of_all_points() {
    // There are enough points for cells to represent them; the direct sum of all is computed at some x.
    let size = 20_000;
    let all: Vec<(f64, f64)> = (0..size)
        .map(|ix| {
            let x = f64::from(ix) / 10.0 + f64::from(ix * 7919 % 100) / 1000.0;
            (
                x,
                (x / 200.0).sin() + f64::from(ix * 104_729 % 1000) / 1000.0,
            )
        })
        .collect();
    let points = Points::new(all.iter().copied()).unwrap();
    for kernel in [
        Kernel::Gaussian,
        Kernel::Gaussian4,
        Kernel::Epanechnikov,
        Kernel::Tricube,
    ] {
        for estimator in [Estimator::NadarayaWatson, Estimator::LocalLinear] {
            if (kernel, estimator) == (Kernel::Gaussian4, Estimator::LocalLinear) {
                continue;
            }
            let width = 40.0;
            let model =
                kernel_regression(&points, kernel, estimator, Bandwidth::Width(width)).unwrap();
            let Curve::Samples { x, y } = &model.curve else {
                panic!("samples")
            };
            for at in [0, x.len() / 3, x.len() - 1] {
                let direct = direct_sum(&all, kernel, estimator, width, x[at]);
                let off = (y[at] - direct).abs();
                assert!(
                    off < 1e-9,
                    "{kernel:?} {estimator:?} at {}: {} and {direct}",
                    x[at],
                    y[at]
                );
            }
            // R² of all 20,000 points for the curve, which is straight between its samples.
            let squares = |f: &dyn Fn(f64) -> f64| -> f64 {
                all.iter().map(|(x, y)| (y - f(*x)).powi(2)).sum()
            };
            let mean = all.iter().map(|(_, y)| y).sum::<f64>() / all.len() as f64;
            let r_square = 1.0 - squares(&|x| model.curve.at(x)) / squares(&|_| mean);
            assert!(
                (model.r_square - r_square).abs() < 1e-5,
                "{kernel:?} {r_square}"
            );
        }
    }
}

fn direct_sum(
    all: &[(f64, f64)],
    kernel: Kernel,
    estimator: Estimator,
    width: f64,
    at: f64,
) -> f64 {
    let (mut sums, mut of_y) = ([0.0; 3], [0.0; 2]);
    for (x, y) in all {
        let z: f64 = (x - at) / width;
        let weight = match kernel {
            Kernel::Gaussian => (-z * z / 2.0).exp(),
            Kernel::Gaussian4 => (3.0 - z * z) * (-z * z / 2.0).exp(),
            Kernel::Epanechnikov => (1.0 - z * z / 5.0).max(0.0),
            _ => (1.0 - (z.abs() / (243.0_f64 / 35.0).sqrt()).powi(3))
                .max(0.0)
                .powi(3),
        };
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum += weight * z.powi(k as i32);
        }
        for (k, sum) in of_y.iter_mut().enumerate() {
            *sum += weight * y * z.powi(k as i32);
        }
    }
    match estimator {
        Estimator::NadarayaWatson => of_y[0] / sums[0],
        _ => (sums[2] * of_y[0] - sums[1] * of_y[1]) / (sums[0] * sums[2] - sums[1] * sums[1]),
    }
}

#[test]
fn points_of_a_bin_get_the_same_x_on_both_sides() {
    let mut sides = [
        vec![(0.0, 1.0), (1.0, 2.0), (9.0, 3.0)],
        vec![(2.0, 4.0), (10.0, 5.0)],
    ];
    Bins::EqualWidth(2).apply(&mut sides);
    assert_eq!(
        sides,
        [
            vec![(1.0, 1.0), (1.0, 2.0), (9.5, 3.0)],
            vec![(1.0, 4.0), (9.5, 5.0)]
        ]
    );
    let mut skewed = [vec![
        (1.0, 0.0),
        (2.0, 0.0),
        (3.0, 0.0),
        (100.0, 0.0),
        (100.0, 1.0),
    ]];
    Bins::EqualCount(2).apply(&mut skewed);
    let x: Vec<f64> = skewed[0].iter().map(|point| point.0).collect();
    assert_eq!(x, [2.0, 2.0, 2.0, 100.0, 100.0]);
    let mut equal = [vec![(4.0, 0.0); 3]];
    for bins in [Bins::EqualWidth(0), Bins::EqualCount(u32::MAX)] {
        bins.apply(&mut equal);
        assert_eq!(equal[0], [(4.0, 0.0); 3]);
    }
    Bins::EqualCount(3).apply(&mut []);
}

#[test]
fn kernels_over_an_infinite_range_of_x_do_not_panic() {
    let points = points(&[-1e308, 0.0, 1e308], &[2.0, 3.0, 1.0]);
    for bandwidth in [Bandwidth::Scott, Bandwidth::Width(1.0)] {
        let fitted = kernel_regression(
            &points,
            Kernel::Gaussian,
            Estimator::NadarayaWatson,
            bandwidth,
        );
        assert!(fitted.is_ok_and(|model| model.smoothing.is_some_and(f64::is_finite)));
    }
    let _ = kernel_ridge(&points, &[1e-4, 1.0]);
}
