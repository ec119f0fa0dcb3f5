//! The share of the variance that each kind of curve explains for a thousand points with a little noise.

use sto_stats::models::{
    Average, Bandwidth, Buckets, Estimator, Fit, Kernel, Middle, Points, RollingWindow,
};

/// Returns reproducible points on a curve, with noise of less than a hundredth of the variance.
fn points(f: impl Fn(f64) -> f64) -> Points {
    let curve = |ix: u32| f(f64::from(ix));
    let size = curve(1000) - curve(1);
    let noise = |ix: u32| f64::from(ix * 7919 % 1000) / 1000.0 - 0.4995;
    let point = |ix| (f64::from(ix), curve(ix) + 0.03 * size * noise(ix));
    Points::new((1..=1000).map(point)).unwrap()
}

/// Table 6.1 of the description of Perun's models has the R² of regression, ten buckets, a centred window of 300
/// points, and the Epanechnikov kernel with Scott's rule. It does not specify the points; those at equal steps from 1
/// to 1000 have the same R², except for logarithms: 0.90, 0.88 and 0.91 instead of 0.821, 0.802 and 0.843.
#[test]
fn r_square_agrees_with_published_values() {
    type Row = (&'static str, fn(f64) -> f64, [f64; 4]);
    let table: [Row; 5] = [
        ("constant", |_| 5.0, [1.0, 1.0, 1.0, 1.0]),
        ("linear", |x| x, [0.999, 0.989, 0.993, 0.996]),
        (
            "exponential",
            |x| (x / 333.0).exp(),
            [0.999, 0.981, 0.977, 0.987],
        ),
        ("power", |x| x.powf(1.5), [0.999, 0.989, 0.991, 0.995]),
        ("quadratic", |x| x * x, [0.999, 0.987, 0.989, 0.994]),
    ];
    let fits = [
        Fit::default(),
        Fit::Regressogram {
            buckets: Buckets::Number(10),
            middle: Middle::Mean,
        },
        Fit::MovingAverage(Average::Simple(RollingWindow::new(300, true))),
        Fit::KernelRegression {
            kernel: Kernel::Epanechnikov,
            estimator: Estimator::NadarayaWatson,
            bandwidth: Bandwidth::Scott,
        },
    ];
    for (name, curve, published) in table {
        let points = points(curve);
        for (fit, published) in fits.iter().zip(published) {
            let found = fit.models(&points);
            let ours = found.models[0].r_square;
            let off = (ours - published).abs();
            assert!(
                off <= 0.02,
                "{name}, {fit:?}: {ours}, published is {published}"
            );
        }
    }
}
