//! Kernel regression with a Gaussian kernel and a cross-validated width.

use super::{Estimator, Kernel, Problem};
use crate::models::candidates::Why;
use crate::models::model::{Model, ModelKind};
use crate::models::points::Points;

/// Fits the mean of all points weighted by e^(-gamma d²) at distance d. Uses the gamma, above 0, with the least
/// leave-one-out prediction error; of equals, the first.
pub fn kernel_ridge(points: &Points, gammas: &[f64]) -> Result<Model, Why> {
    let problem = Problem::new(points, Kernel::Gaussian, Estimator::NadarayaWatson)?;
    let width = |gamma: f64| (0.5 / gamma).sqrt();
    let usable = |gamma: &f64| *gamma > 0.0 && width(*gamma).is_finite();
    let mut best: Option<(f64, f64)> = None;
    let gammas: Vec<f64> = gammas.iter().copied().filter(usable).collect();
    if let [only] = gammas[..] {
        best = Some((only, 0.0));
    } else {
        for gamma in gammas {
            let left_out = problem.smooth(width(gamma)).left_out;
            if left_out.is_finite() && best.is_none_or(|(_, least)| left_out < least) {
                best = Some((gamma, left_out));
            }
        }
    }
    let (gamma, _) = best.ok_or(Why::NoBest)?;
    let smooth = problem.smooth(width(gamma));
    problem.model(ModelKind::KernelRidge, &smooth, gamma)
}
