//! Shrinkage of variances with few degrees of freedom towards the variances of similar functions.
//!
//! Variances are modelled as a scaled F distribution with d0 prior degrees of freedom around a prior variance that
//! depends on abundance. Both are estimated from the logarithms of the observed variances (G. K. Smyth, Statistical
//! Applications in Genetics and Molecular Biology 3:3, 2004; the trend with abundance: B. Phipson and others, Annals
//! of Applied Statistics 10:946, 2016).

use super::special::{trigamma, trigamma_inverse};
use super::spline::{Spline, quantile};
use super::trend::MIN_TREND;
use statrs::function::gamma::{checked_gamma_ur, digamma};

/// Probability that some variance is called erratic although all are equal.
const ERRATIC: f64 = 0.25;

/// An observed variance.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObservedVariance {
    pub(super) abundance: f64,
    pub(super) variance: f64,
    pub(super) degrees_of_freedom: f64,
}

/// Prior distribution of a variance.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    /// Mean logarithm of the variances by abundance.
    mean_log: Spline,
    /// Difference between the logarithm of the prior variance and `mean_log`; usually below zero.
    shift: f64,
    /// Variance of the logarithms of variances beyond chance, and its standard error.
    between: f64,
    error: f64,
    /// Whether some variance is larger than chance would make it if all were equal.
    has_erratic: bool,
    /// Prior degrees of freedom; infinite if all variances seem equal.
    pub(super) degrees_of_freedom: f64,
}

impl Prior {
    /// Estimates the prior from at least one variance, each with at least one degree of freedom.
    pub(super) fn estimate(seen: &[ObservedVariance]) -> Prior {
        let mut sorted: Vec<f64> = seen.iter().map(|seen| seen.variance).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        // A variance of zero would dominate through its logarithm.
        let least = (1e-5 * quantile(&sorted, 0.5)).max(f64::MIN_POSITIVE);
        let half = |seen: &ObservedVariance| seen.degrees_of_freedom / 2.0;
        let logs: Vec<f64> = seen
            .iter()
            .map(|s| s.variance.max(least).ln() - digamma(half(s)) + half(s).ln())
            .collect();
        let abundances: Vec<f64> = seen.iter().map(|seen| seen.abundance).collect();
        let degrees = match seen.len() {
            0..MIN_TREND => 1,
            _ => 4,
        };
        let trend = Spline::fit(&abundances, &logs, degrees);
        let residuals = logs
            .iter()
            .zip(&abundances)
            .map(|(log, &a)| log - trend.at(a));
        let squares: Vec<f64> = residuals.map(|residual| residual * residual).collect();
        let of_seen = seen.iter().map(|seen| trigamma(half(seen))).sum::<f64>();
        let left = seen.len().saturating_sub(trend.degrees()).max(1) as f64;
        let variance = squares.iter().sum::<f64>() / left;
        let between = (variance - of_seen / seen.len() as f64).max(0.0);
        let degrees_of_freedom = degrees_of_freedom(between);
        let shift = if degrees_of_freedom.is_finite() {
            let half = degrees_of_freedom / 2.0;
            digamma(half) - half.ln()
        } else if trend.degrees() == 1 {
            // If all variances are equal, their mean is the best estimate.
            let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
            mean.max(least).ln() - trend.at(0.0)
        } else {
            0.0
        };
        let count = seen.len() as f64;
        let has_erratic = seen.iter().any(|seen| {
            let ratio = seen.variance / trend.at(seen.abundance).exp();
            // The upper tail of chi-squared. For ratios below 1, it is more than a quarter.
            ratio > 1.0
                && checked_gamma_ur(half(seen), half(seen) * ratio)
                    .is_ok_and(|tail| tail * count < ERRATIC)
        });
        Prior {
            has_erratic,
            mean_log: trend,
            shift,
            between,
            error: variance * (2.0 / left).sqrt(),
            degrees_of_freedom,
        }
    }

    /// Returns a more conservative prior for few variances. Few degrees of freedom may make variances look equal by
    /// chance, so `between` is raised by one standard error, and by two if one variance is erratic, because others
    /// may be erratic unnoticed. The prior variance of most functions is not lowered because a few are large.
    pub(super) fn cautious(self) -> Prior {
        let errors = if self.has_erratic { 2.0 } else { 1.0 };
        Prior {
            shift: 0.0,
            degrees_of_freedom: degrees_of_freedom(self.between + errors * self.error),
            ..self
        }
    }

    pub(super) fn variance(&self, abundance: f64) -> f64 {
        (self.mean_log.at(abundance) + self.shift).exp()
    }

    /// Returns the posterior variance for an observed one.
    pub(super) fn posterior(&self, seen: ObservedVariance) -> f64 {
        let prior = self.variance(seen.abundance);
        let (d0, d) = (self.degrees_of_freedom, seen.degrees_of_freedom);
        if d0.is_infinite() {
            prior
        } else {
            (d0 * prior + d * seen.variance) / (d0 + d)
        }
    }
}

/// Returns the degrees of freedom of variances whose logarithms vary by `between`.
fn degrees_of_freedom(between: f64) -> f64 {
    if between > 0.0 {
        2.0 * trigamma_inverse(between)
    } else {
        f64::INFINITY
    }
}
