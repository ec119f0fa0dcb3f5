//! Weights of points whose y varies more for larger values.

use super::candidates::fit_all;
use super::condensed::Condensed;
use super::model::{Model, ModelKind};

/// Range of powers of the fitted value that are tried, from 0 (equal variance), and the number of steps.
const LARGEST: f64 = 1.5;
const STEPS: usize = 30;
/// Number of iterations of fitting and estimating the variance.
const CYCLES: usize = 3;
/// Lower bound on a fitted value, as a share of the largest, because a formula may come near zero.
const MIN_FITTED_SHARE: f64 = 1e-4;

/// Returns the points weighted by their inverse variance, and the power of the fitted value that the standard
/// deviation is proportional to; `None` if there are too few points or all lie on a curve.
///
/// This is generalised least squares with the power of the mean as variance function, estimated by pseudo-likelihood
/// (R. J. Carroll and D. Ruppert, Transformation and Weighting in Regression, 1988, sections 2.3 and 3.3.1). The
/// fitted values come from the best model among the kinds.
pub(super) fn weight_by_variance(data: Condensed, kinds: &[ModelKind]) -> (Condensed, Option<f64>) {
    let (mut weighed, mut found) = (None, None);
    for _ in 0..CYCLES {
        let models = fit_all(weighed.as_ref().unwrap_or(&data), kinds).models;
        let best = models.into_iter().next();
        let Some(best) = best.filter(|best| best.aicc.is_some() && best.r_square < 1.0) else {
            break;
        };
        let sizes = sizes(&data, &best);
        let power = power(&data, &best, &sizes);
        let weights = sizes.iter().map(|size| size.powf(-2.0 * power));
        weighed = Some(data.reweighed(weights.collect()));
        found = Some(power);
    }
    (weighed.unwrap_or(data), found)
}

/// Returns the fitted value of each node as a share of the largest.
fn sizes(data: &Condensed, model: &Model) -> Vec<f64> {
    let sizes: Vec<f64> = data.x.iter().map(|&x| model.curve.at(x).abs()).collect();
    let largest = sizes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let part = |size: f64| (size / largest).max(MIN_FITTED_SHARE);
    sizes.into_iter().map(part).collect()
}

/// Returns the power with the highest likelihood of these residuals.
fn power(data: &Condensed, model: &Model, sizes: &[f64]) -> f64 {
    let points = data.points as f64;
    let residuals: Vec<f64> = (0..sizes.len())
        .map(|ix| data.residual_square(ix, model.curve.at(data.x[ix])))
        .collect();
    let logarithms: f64 = (0..sizes.len())
        .map(|ix| data.weights_of(ix).0 * sizes[ix].ln())
        .sum();
    let step = LARGEST / STEPS as f64;
    let of_step: Vec<f64> = sizes.iter().map(|size| size.powf(-2.0 * step)).collect();
    let mut weighed = residuals;
    let mut unlikely = |power: f64| {
        let squares = weighed.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let next = weighed.iter_mut().zip(&of_step);
        next.for_each(|(residual, times)| *residual *= times);
        points * (squares / points).ln() + 2.0 * power * logarithms
    };
    let tried = (0..=STEPS).map(|ix| step * ix as f64);
    // Of equal likelihoods, the smallest power wins.
    tried
        .map(|power| (unlikely(power), power))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map_or(0.0, |(_, power)| power)
}
