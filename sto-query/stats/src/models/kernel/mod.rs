//! Kernel regression: averages of neighbouring points whose weights decrease with distance.

mod bandwidth;
mod compact;
mod gaussian;
mod ridge;

use super::candidates::Why;
use super::curve::Curve;
use super::model::{Fitness, Model, ModelKind};
use super::moving_average::sampled_curve;
use super::points::Points;
pub use bandwidth::Bandwidth;
pub use ridge::kernel_ridge;
use serde::{Deserialize, Serialize};

/// Weight function of the distance. All kernels except those of fourth order have a standard deviation of one
/// bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kernel {
    /// e^(-z²/2)
    #[default]
    Gaussian,
    /// 1 - z²/5
    Epanechnikov,
    /// (1 - |z/a|³)³ with a² = 243/35
    Tricube,
    /// (1 - z²/7)²
    Quartic,
    /// (3 - z²) e^(-z²/2); the second moment is 0.
    Gaussian4,
    /// 9 - 15 z² up to 1; the second moment is 0.
    Epanechnikov4,
}

/// Statistic of the weighted neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Estimator {
    /// The weighted mean (E. A. Nadaraya, Theory Probab. Appl. 9:141, 1964; G. S. Watson, Sankhya A 26:359, 1964).
    #[default]
    NadarayaWatson,
    /// The value of the weighted straight line.
    LocalLinear,
}

/// Fits a kernel regression; weights of points are ignored.
pub fn kernel_regression(
    points: &Points,
    kernel: Kernel,
    estimator: Estimator,
    bandwidth: Bandwidth,
) -> Result<Model, Why> {
    let problem = Problem::new(points, kernel, estimator)?;
    let width = bandwidth::choose(&problem, bandwidth).ok_or(Why::NoBest)?;
    let smooth = problem.smooth(width);
    problem.model(ModelKind::KernelRegression, &smooth, width)
}

/// Returns the criterion of [`Bandwidth::CrossValidation`]: the mean squared leave-one-out prediction error.
pub fn cross_validation(
    points: &Points,
    kernel: Kernel,
    estimator: Estimator,
    bandwidth: f64,
) -> Result<f64, Why> {
    let problem = Problem::new(points, kernel, estimator)?;
    Ok(problem.smooth(bandwidth).left_out / points.len() as f64)
}

/// Returns the criterion of [`Bandwidth::Aicc`]: the corrected Akaike criterion of Hurvich and others.
pub fn hurvich(
    points: &Points,
    kernel: Kernel,
    estimator: Estimator,
    bandwidth: f64,
) -> Result<f64, Why> {
    let problem = Problem::new(points, kernel, estimator)?;
    Ok(problem.smooth(bandwidth).hurvich(points.len() as f64))
}

/// Points to be smoothed with several bandwidths.
struct Problem<'a> {
    points: &'a Points,
    kernel: Kernel,
    estimator: Estimator,
    /// Points grouped by x, for kernels of bounded support.
    by_x: Option<super::condensed::Condensed>,
}

/// A smoothed curve.
struct Smooth {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Sum of squared residuals.
    residual: f64,
    /// Sum of squared leave-one-out residuals.
    left_out: f64,
    /// Trace of the smoothing matrix: the sum of the weight of each point in its own value.
    trace: f64,
}

impl Smooth {
    fn hurvich(&self, points: f64) -> f64 {
        let free = 1.0 - (self.trace + 2.0) / points;
        if free > 0.0 {
            (self.residual / points).ln() + (1.0 + self.trace / points) / free
        } else {
            f64::INFINITY
        }
    }
}

impl<'a> Problem<'a> {
    fn new(points: &'a Points, kernel: Kernel, estimator: Estimator) -> Result<Problem<'a>, Why> {
        let found = points.x().chunk_by(|a, b| a == b).take(3).count();
        let needed = 3;
        if found < needed {
            return Err(Why::TooFewX { needed, found });
        }
        let is_fourth = matches!(kernel, Kernel::Gaussian4 | Kernel::Epanechnikov4);
        if is_fourth && estimator == Estimator::LocalLinear {
            return Err(Why::FourthOrder);
        }
        let is_gaussian = matches!(kernel, Kernel::Gaussian | Kernel::Gaussian4);
        Ok(Problem {
            points,
            kernel,
            estimator,
            by_x: (!is_gaussian).then(|| super::condensed::Condensed::from_distinct_x(points)),
        })
    }

    fn smooth(&self, width: f64) -> Smooth {
        match &self.by_x {
            Some(by_x) => compact::smooth(by_x, self.kernel, self.estimator, width),
            None => gaussian::smooth(self.points, self.kernel, self.estimator, width),
        }
    }

    fn model(&self, kind: ModelKind, smooth: &Smooth, smoothing: f64) -> Result<Model, Why> {
        let y = super::sums::sums(self.points.y());
        let all = (smooth.residual, y.squared_deviations(), y.squares);
        let fitness = Fitness::new((self.points.len() as f64, smooth.trace), all, 0.0);
        let curve: Curve = sampled_curve(&smooth.x, &smooth.y);
        let model = fitness.smoothed(kind, self.points, smooth.trace, smoothing, curve);
        smooth
            .residual
            .is_finite()
            .then_some(model)
            .ok_or(Why::NoBest)
    }
}

/// Sums around one x: of weights times powers 0 to 2 of the distance, and of y times powers 0 and 1.
#[derive(Clone, Copy, Default)]
struct Around {
    weights: [f64; 3],
    of_y: [f64; 2],
}

impl Around {
    /// Returns the value at this x, and the weight in it of a point there whose kernel weight is `own`.
    fn value(&self, estimator: Estimator, own: f64) -> (f64, f64) {
        let [zero, one, two] = self.weights;
        let mean = (self.of_y[0] / zero, own / zero);
        match estimator {
            Estimator::NadarayaWatson => mean,
            Estimator::LocalLinear => {
                let determinant = zero * two - one * one;
                // All neighbours have the same x.
                if determinant.abs() <= 1e-12 * (zero * two).abs() {
                    return mean;
                }
                let value = (two * self.of_y[0] - one * self.of_y[1]) / determinant;
                (value, own * two / determinant)
            }
        }
    }
}

/// Computes the sums of squares and the trace from each node's value and own weight.
fn smooth_of(data: &super::condensed::Condensed, values: Vec<(f64, f64)>) -> Smooth {
    let (mut residual, mut left_out, mut trace) = (0.0, 0.0, 0.0);
    for (ix, (value, own)) in values.iter().enumerate() {
        let square = data.residual_square(ix, *value);
        residual += square;
        left_out += square / ((1.0 - own) * (1.0 - own));
        trace += own * data.weights_of(ix).0;
    }
    Smooth {
        x: data.x.clone(),
        y: values.into_iter().map(|(value, _)| value).collect(),
        residual: residual.max(0.0),
        left_out,
        trace,
    }
}
